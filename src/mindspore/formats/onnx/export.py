"""From graphs to ONNX (opset 17).

Each primitive has a rule that emits ONNX nodes. Cond and While become If and Loop; their subgraphs may use names of the
surrounding graph, as ONNX allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore._base.files import atomic_write
from mindspore.compiler.parse.entry import Place, Traced
from mindspore.formats.decompositions import decomposed
from mindspore.formats.free_sizes import free_sizes, has_free_sizes, with_sizes
from mindspore.formats.onnx import (
    messages,
    rules_indexing,  # noqa: F401 - fills the table of rules
    rules_layers,  # noqa: F401 - fills the table of rules
)
from mindspore.formats.onnx.free_sizes import generalise
from mindspore.formats.onnx.messages import OnnxGraphMessage, OnnxModel, OnnxOpset
from mindspore.formats.onnx.rules import RULES
from mindspore.ir import AbstractScalar, AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.ir.graph import arguments_first

OPSET = 17
LARGE = (1 << 31) - (1 << 24)  # protobuf's limit, less what the nodes need
_SMALL, _ALIGNED, _EXTERNAL = 1024, 4096, 1


class OnnxGraph:
    """Collects the nodes and constants of one ONNX graph."""

    def __init__(self, outer: OnnxGraph | None = None):
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._names: dict[int, str] = {}
        self._root: OnnxGraph = outer._root if outer is not None else self
        self._count = 0

    # -- naming ---------------------------------------------------------------------------------------------------
    def fresh(self, label: str) -> str:
        self._root._count += 1
        return f"{label}_{self._root._count}"

    def bind(self, node: Node, name: Any) -> None:
        """Say under which name (or names, for several results) a node is known."""
        self._names[node.id] = name

    def name(self, node: Node) -> Any:
        """The name of a node's value, emitting what it needs."""
        for needed in arguments_first(node, self._names, _is_static):
            self._names[needed.id] = self._emit_node(needed)
        return self._names[node.id]

    def _emit_node(self, node: Node) -> Any:
        if isinstance(node, ValueNode):
            return self.constant(np.asarray(node.value))
        if not isinstance(node, CNode):
            raise ValueError(f"the graph uses {node!r} of another graph; only closed graphs can be exported")
        rule = RULES.get(node.op.name) or _CONTROL.get(node.op.name)
        carried = node.op.name in _TAKES_OPERANDS
        inputs = [self._argument(a, carried) for a in node.args]
        if rule is not None:
            return rule(self, node, *inputs)
        inner = decomposed(node)
        if inner is None:
            raise RuntimeError(f"The operation '{node.op.name}' cannot be exported to ONNX.")
        graph, places = inner
        part, results = self.subgraph(graph, [inputs[place] for place in places])
        self.nodes += part.nodes
        return results if isinstance(node.abstract, AbstractTuple) else results[0]

    def _argument(self, argument: Node, carried: bool) -> Any:
        """An argument as rules get it: a name, or a plain value. What branches and loops carry always has a name."""
        if not _is_static(argument):
            return self._names[argument.id]
        value = argument.value  # type: ignore[attr-defined]
        if carried and isinstance(argument.abstract, AbstractScalar):
            return self.constant(np.asarray(value, argument.abstract.dtype.np))
        return value

    # -- nodes ----------------------------------------------------------------------------------------------------
    def emit(self, op: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; returns the name of its result, or a list of names."""
        names = [self.fresh(op) for _ in range(outputs)]
        self.nodes.append(messages.node(op, inputs, names, attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array: np.ndarray) -> str:
        """A constant tensor."""
        name = self.fresh("constant")
        self._root.initializers.append(messages.tensor(name, array))
        return name

    def ints(self, values: Any) -> str:
        """A constant of 64-bit ints."""
        return self.constant(np.asarray(values, np.int64))

    def kind(self, dtype: Any) -> int:
        """ONNX's number of an element type."""
        return messages.data_type(dtype)

    def value_info(self, name: str, abstract: AbstractTensor) -> Any:
        return messages.value_info(name, self.kind(abstract.dtype), abstract.shape)

    def subgraph(self, graph: FuncGraph, names: Sequence[str]) -> tuple[OnnxGraph, list[str]]:
        """The nodes of a closed graph applied to values of this one; returns them and the names of its outputs."""
        inner = OnnxGraph(self)
        for parameter, name in zip(graph.parameters, names):
            inner.bind(parameter, name)
        return inner, inner.results(graph)

    def results(self, graph: FuncGraph) -> list[str]:
        found = self.name(graph.output)
        return list(found) if isinstance(found, (list, tuple)) else [found]


def _is_static(node: Node) -> bool:
    """Whether an argument is a plain Python value or graph rather than a tensor."""
    return isinstance(node, ValueNode) and not isinstance(node.abstract, AbstractTensor)


# ---------------------------------------------------------------------------------------------------------------------
# Control flow


def _cond(
    g: OnnxGraph, node: CNode, predicate: str, then: FuncGraph, otherwise: FuncGraph, *operands: str
) -> list[str]:
    branches = [_branch(g, graph, operands, label) for graph, label in ((then, "then"), (otherwise, "else"))]
    flag = g.emit("Reshape", [predicate, g.ints([])])
    count = len(node.abstract.elements)
    found = g.emit("If", [flag], count, then_branch=branches[0], else_branch=branches[1])
    return [found] if count == 1 else found


def _branch(g: OnnxGraph, graph: FuncGraph, operands: Sequence[str], label: str) -> Any:
    inner, results = g.subgraph(graph, operands)
    outputs = [inner.emit("Identity", [r]) for r in results]
    infos = [inner.value_info(n, a) for n, a in zip(outputs, graph.outputs)]  # type: ignore[arg-type]
    return OnnxGraphMessage(node=inner.nodes, name=g.fresh(label), output=infos)


def _while(g: OnnxGraph, node: CNode, condition: FuncGraph, body: FuncGraph, *operands: str) -> list[str]:
    carried = node.op.carried
    kinds = [a.abstract for a in node.args[2 : 2 + carried]]
    first, tested = g.subgraph(condition, operands)
    g.nodes += first.nodes
    start = g.emit("Reshape", [tested[0], g.ints([])])
    inner = OnnxGraph(g)
    state = [inner.fresh("state") for _ in kinds]
    trip, going = inner.fresh("trip"), inner.fresh("going")
    names = [*state, *operands[carried:]]
    stepped, fresh = inner.subgraph(body, names)
    inner.nodes += stepped.nodes
    again, flags = inner.subgraph(condition, [*fresh[:carried], *operands[carried:]])
    inner.nodes += again.nodes
    flag = inner.emit("Reshape", [flags[0], g.ints([])])
    results = [inner.emit("Identity", [n]) for n in fresh[:carried]]
    inputs = [
        messages.value_info(trip, messages.INT64, []),
        messages.value_info(going, messages.BOOL, []),
        *(inner.value_info(n, k) for n, k in zip(state, kinds)),  # type: ignore[arg-type]
    ]
    outputs = [
        messages.value_info(flag, messages.BOOL, []),
        *(inner.value_info(n, k) for n, k in zip(results, kinds)),  # type: ignore[arg-type]
    ]
    loop = OnnxGraphMessage(node=inner.nodes, name=g.fresh("body"), input=inputs, output=outputs)
    found = g.emit("Loop", ["", start, *operands[:carried]], carried, body=loop)
    return [found] if carried == 1 else found


def _call(g: OnnxGraph, node: CNode, graph: FuncGraph, *operands: str) -> list[str]:
    inner, results = g.subgraph(graph, operands)
    g.nodes += inner.nodes
    return results


_TAKES_OPERANDS = frozenset(("Cond", "While", "Call", "MakeTuple"))
_CONTROL: dict[str, Callable] = {
    "Cond": _cond,
    "While": _while,
    "Call": _call,
    "MakeTuple": lambda g, node, *names: list(names),
    "TupleGetItem": lambda g, node, names, index: names[index],
}


# ---------------------------------------------------------------------------------------------------------------------
# Whole models


def network_onnx(trace: Callable[[tuple], Traced], inputs: tuple) -> OnnxModel:
    """The ONNX model of a network, given by a function that traces it for inputs."""
    if not has_free_sizes(inputs):
        return build_onnx(trace(inputs))
    first, second = (build_onnx(trace(with_sizes(inputs, number))) for number in (0, 1))
    return generalise(first, second, free_sizes(inputs))


def save_onnx(model: OnnxModel, path: str) -> None:
    """Write a model as a file; weights that make it bigger than protobuf allows go to `<file>.data` beside it."""
    target = path if path.endswith(".onnx") else f"{path}.onnx"
    weights = model.graph.initializer  # type: ignore[union-attr]
    if sum(len(tensor.raw_data) for tensor in weights) > LARGE:
        _save_weights(weights, f"{target}.data")
    content = model.encode()
    with atomic_write(target) as stream:
        stream.write(content)


def _save_weights(weights: list[Any], path: str) -> None:
    """Put the data of big tensors into a file, and where it lies into the messages."""
    with atomic_write(path) as stream:
        for tensor in weights:
            if len(tensor.raw_data) < _SMALL:
                continue
            stream.write(bytes(-stream.tell() % _ALIGNED))
            place = {"location": os.path.basename(path), "offset": stream.tell(), "length": len(tensor.raw_data)}
            stream.write(tensor.raw_data)
            tensor.external_data = [messages.OnnxEntry(key=k, value=str(v)) for k, v in place.items()]
            tensor.data_location, tensor.raw_data = _EXTERNAL, None


def build_onnx(traced: Traced) -> OnnxModel:
    """The ONNX model of a traced network."""
    if traced.written:
        names = ", ".join(sorted({parameter.name for parameter, _ in traced.written}))
        raise RuntimeError(
            f"The network changes its parameters ({names}), which ONNX cannot say; call set_train(False) first, or export as 'MINDIR'."
        )
    g = OnnxGraph()
    graph = traced.graph
    infos = []
    taken = {"", *(weight.name for weight in traced.weights)}
    for place, node in enumerate(graph.parameters[: traced.arguments]):
        name = node.name if node.name not in taken else f"{node.name}_{place}"
        taken.add(name)
        g.bind(node, name)
        infos.append(g.value_info(name, node.abstract))  # type: ignore[arg-type]
    for node, weight in zip(graph.parameters[traced.arguments :], traced.weights):
        g.bind(node, weight.name)
        g.initializers.append(messages.tensor(weight.name, np.asarray(weight.asnumpy())))
    results = g.results(graph)
    outputs = []
    for number, index in enumerate(_places(traced.result)):
        name = f"output{number}"
        g.nodes.append(messages.node("Identity", [results[index]], [name], {}))
        outputs.append(g.value_info(name, graph.outputs[index]))  # type: ignore[arg-type]
    used = _used_names(g.nodes)
    made = OnnxGraphMessage(
        node=g.nodes, name=graph.name or "graph", input=infos, output=outputs,
        initializer=[t for t in g.initializers if t.name in used],
    )  # fmt: skip
    return OnnxModel(
        ir_version=8, producer_name="MindSpore", graph=made, opset_import=[OnnxOpset(version=OPSET, domain="")]
    )


def _used_names(nodes: list[Any]) -> set[str]:
    """The values that nodes and the graphs inside them use."""
    found: set[str] = set()
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.g is not None:
                found |= _used_names(attribute.g.node) | {o.name for o in attribute.g.output}
    return found


def _places(template: Any) -> list[int]:
    """The graph outputs that the user gets, in order; written Parameters are none of them."""
    if type(template) is Place:
        return [template.index]
    if isinstance(template, dict):
        template = list(template.values())
    if isinstance(template, (tuple, list)):
        return [i for item in template for i in _places(item)]
    return []


__all__ = ["OPSET", "build_onnx", "network_onnx", "save_onnx"]
