"""Graphs as text, in MindSpore's own format.

#IR entry      : @construct.1
#Total params  : 2
%para1_x : <Tensor[Float32], (2, 3)>

subgraph @construct.1() {
  %0([CNode]5) = Add(%para1_x, %para2_y) primitive_attrs: {…} scope: Default
      : (<Tensor[Float32], (2, 3)>, …) -> (<Tensor[Float32], (2, 3)>)
      # In file net.py(14)/    x = x + y/
  Return(%0)
      : (<…>)
}
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.ir.graph import CNode, FuncGraph, Node, ValueNode


def graph_text(graph: FuncGraph) -> str:
    """The whole program: the entry graph, then every graph it reaches."""
    graphs = graph.all_graphs()
    lines = [f"#IR entry      : {_graph_name(graph)}", "#attrs         :"]
    lines += [f"{k} : {v}" for k, v in graph.attrs.items()]
    lines.append(f"#Total params  : {len(graph.parameters)}")
    names = _parameter_names(graph)
    lines += [f"{names[p.id]} : {_parameter_type(p)}" for p in graph.parameters]
    lines += ["", f"#Total subgraph : {len(graphs)}"]
    for g in graphs:
        lines += ["", *_subgraph(g, _parameter_names(g), g is not graph)]
    return "\n".join(lines) + "\n"


def _graph_name(graph: FuncGraph) -> str:
    return f"@{graph.name}.{graph.id}"


def _parameter_names(graph: FuncGraph) -> dict[int, str]:
    return {p.id: f"%para{i}_{p.name}" for i, p in enumerate(graph.parameters, 1)}


def _parameter_type(parameter: Any) -> str:
    text = str(parameter.abstract)
    if parameter.default is not None:
        text = f"<Ref[{text[1:-1]}], ref_key={parameter.default.name}> : weight"
    return text


def _subgraph(graph: FuncGraph, names: dict[int, str], show_parameters: bool) -> list[str]:
    lines = ["subgraph attr:", *(f"{k} : {v}" for k, v in graph.attrs.items())]
    shown = ", ".join(f"{names[p.id]} : {p.abstract}" for p in graph.parameters) if show_parameters else ""
    lines.append(f"subgraph {_graph_name(graph)}({shown}) {{")
    for i, node in enumerate(graph.nodes()):
        names[node.id] = f"%{i}"
        lines += _node_lines(i, node, names)
    lines.append(f"  Return({_reference(graph.output, names)})")
    lines.append(f"      : ({graph.output.abstract})")
    lines.append("}")
    return lines


def _node_lines(index: int, node: CNode, names: dict[int, str]) -> list[str]:
    arguments = ", ".join(_reference(a, names) for a in node.args)
    attrs = ", ".join(f"{k}: {_attribute(v)}" for k, v in node.op.attrs.items())
    head = f"  %{index}([CNode]{node.id}) = {node.op.name}({arguments})"
    head += f" primitive_attrs: {{{attrs}}}" if attrs else ""
    head += f" scope: ({node.scope})" if node.scope else ""
    types = ", ".join(str(a.abstract) for a in node.args)
    lines = [head, f"      : ({types}) -> ({node.abstract})"]
    lines += [f"      # {place.describe()}" for place in node.location[:4]]
    return lines


def _reference(node: Node, names: dict[int, str]) -> str:
    if isinstance(node, ValueNode):
        return _constant(node.value)
    return names.get(node.id, f"%free_{node.id}")


def _constant(value: Any) -> str:
    if isinstance(value, FuncGraph):
        return _graph_name(value)
    if isinstance(value, np.ndarray):
        if value.size <= 4:
            return f"Tensor(shape={list(value.shape)}, dtype={value.dtype}, value={value.tolist()})"
        return f"Tensor(shape={list(value.shape)}, dtype={value.dtype})"
    return repr(value)


def _attribute(value: Any) -> str:
    return getattr(value, "__name__", None) or repr(value)
