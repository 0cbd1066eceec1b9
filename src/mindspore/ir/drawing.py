"""Graphs as drawings: text in the language of Graphviz (`dot -Tsvg file.dot`)."""

from __future__ import annotations

from mindspore.ir.graph import CNode, FuncGraph, Node, ValueNode


def graph_drawing(graph: FuncGraph) -> str:
    """The whole program: one box per graph, one node per operation, arrows along the values."""
    lines = ["digraph program {", "  rankdir=TB;", '  node [shape=box, fontname="monospace", fontsize=10];']
    for g in graph.all_graphs():
        lines += [f"  subgraph cluster_{g.id} {{", f"    label={_quoted(f'{g.name}.{g.id}')};"]
        lines += [f"    n{p.id} [shape=ellipse, label={_quoted(f'{p.name} {p.abstract}')}];" for p in g.parameters]
        for node in g.nodes():
            lines += _operation(node)
        lines += [f"    r{g.id} [shape=plaintext, label=Return];", f"    n{g.output.id} -> r{g.id};", "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _operation(node: CNode) -> list[str]:
    constants = [_constant(a) for a in node.args if isinstance(a, ValueNode)]
    label = f"{node.op.name}({', '.join(constants)}) {node.abstract}"
    lines = [f"    n{node.id} [label={_quoted(label)}];"]
    return lines + [f"    n{a.id} -> n{node.id};" for a in node.args if not isinstance(a, ValueNode)]


def _constant(node: Node) -> str:
    value = node.value  # type: ignore[attr-defined]
    if isinstance(value, FuncGraph):
        return f"@{value.name}.{value.id}"
    text = repr(value)
    return text if len(text) <= 30 else f"{type(value).__name__} …"


def _quoted(text: str) -> str:
    """A label: Graphviz takes backslashes and quotes as its own."""
    return '"' + text.replace("\\", "\\\\").replace('"', "'").replace("\n", " ") + '"'
