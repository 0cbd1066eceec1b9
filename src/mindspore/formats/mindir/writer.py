"""From graphs to a MindIR model.

The writer knows the shape of the format; how a primitive is spelled in official MindSpore is told to it by a `lower`
function, which is handed the writer and a node and emits one or several official nodes for it.

Control flow has no nodes of its own there: graphs are values. `Cond` becomes Switch over two partial applications,
which is then called; `While` becomes a header graph that calls itself through its body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.formats.mindir import messages as proto
from mindspore.formats.mindir.messages import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    PrimitiveProto,
    SeqInfo,
    ValueInfoProto,
)
from mindspore.formats.mindir.values import MONAD, TensorProto, tensor_proto, type_attribute, value_attribute
from mindspore.ir.abstract import Abstract, AbstractFunction, AbstractNone, AbstractTuple
from mindspore.ir.graph import CNode, FuncGraph, Node, ValueNode, arguments_first

Lower = Callable[["GraphWriter", CNode, list[str]], str]


class ModelWriter:
    """Builds a ModelProto: the main graph, the graphs it uses and the primitives they all use."""

    def __init__(self, lower: Lower, version: str):
        self.lower = lower
        self.model = ModelProto(
            ir_version=proto.IR_VERSION, producer_name="MindSpore", model_version=version, little_endian=True,
            mind_ir_version=proto.FORMAT_VERSION,
        )  # fmt: skip
        self._primitives: dict[tuple, str] = {}
        self._graphs: dict[int, str] = {}
        self._count = 0

    def number(self) -> int:
        self._count += 1
        return self._count

    def primitive(self, name: str, attributes: dict[str, Any], is_function: bool) -> str:
        """The reference to a primitive, stored once per name and attributes."""
        encoded = [value_attribute(k, v) for k, v in attributes.items()]
        key = (name, is_function, b"".join(a.encode() for a in encoded))
        if key not in self._primitives:
            reference = f"{name}:{self.number()}"
            self._primitives[key] = reference
            kind = proto.PRIMITIVE_FUNCTION if is_function else proto.PRIMITIVE
            self.model.primitives.append(
                PrimitiveProto(name=reference, op_type=name, attribute=encoded, instance_name="", prim_type=kind)
            )
        return f"REF::{self._primitives[key]}"

    def graph(self, graph: FuncGraph) -> str:
        """The name of a subgraph, written when it is first met."""
        if graph.id not in self._graphs:
            self._graphs[graph.id] = f"{graph.name}_{self.number()}"
            writer = GraphWriter(self, self._graphs[graph.id])
            self.model.functions.append(writer.proto)
            writer.inputs(graph)
            writer.finish(writer.name_of(graph.output), graph.output.abstract)
        return self._graphs[graph.id]

    def new_graph(self, label: str) -> GraphWriter:
        """An empty function graph."""
        writer = GraphWriter(self, f"{label}_{self.number()}")
        self.model.functions.append(writer.proto)
        return writer


class GraphWriter:
    """Writes the nodes of one graph."""

    def __init__(self, owner: ModelWriter, name: str):
        self.owner = owner
        self.name = name
        self.proto = GraphProto(name=name, bprop_hash="", bprop_filepath="")
        self._names: dict[int, str] = {}
        self._constants: dict[Any, str] = {}

    # -- parts ----------------------------------------------------------------------------------------------------
    def inputs(self, graph: FuncGraph) -> list[str]:
        """Declare the parameters of a graph as inputs."""
        return [self._bind(p, self.input(p.name, p.abstract)) for p in graph.parameters]

    def _bind(self, node: Node, name: str) -> str:
        self._names[node.id] = name
        return name

    def bind(self, node: Node, name: str) -> None:
        """Say under which name a node's value is known."""
        self._names[node.id] = name

    def input(self, label: str, abstract: Abstract, dynamic_length: bool = False) -> str:
        """Declare an input; `dynamic_length` says that a sequence may have more or fewer items."""
        name = self._unique(label)
        info = ValueInfoProto(name=name)
        if isinstance(abstract, AbstractTuple):
            info.attr_info = type_attribute("", abstract)
            info.denotation = "Tuple"
            if dynamic_length:
                item = type_attribute("", abstract.elements[0])
                info.attr_info.seq_info = SeqInfo(is_dyn_len=True, tuple_elem_item=item)
        else:
            info.tensor = list(type_attribute("", abstract).tensors)
            if info.tensor:
                info.tensor[0].dims = list(abstract.shape)  # type: ignore[attr-defined]
        self.proto.input.append(info)
        return name

    def parameter(self, label: str, array: np.ndarray) -> str:
        """Declare a weight with its data."""
        name = f"{self.name}:{label}"
        self.proto.parameter.append(tensor_proto(array, name=name, ref_key=label, compression_type=0))
        return name

    def finish(self, output: str, abstract: Abstract) -> None:
        """Declare the output."""
        info = ValueInfoProto(name=output)
        if isinstance(abstract, (AbstractTuple, AbstractNone)):
            info.attr_info = type_attribute("", abstract)
        else:
            info.tensor = list(type_attribute("", abstract).tensors)
        self.proto.output.append(info)

    def _unique(self, label: str) -> str:
        return f"{self.name}:{label}:{self.owner.number()}"

    # -- nodes ----------------------------------------------------------------------------------------------------
    def name_of(self, node: Node) -> str:
        """The name of a node's value, emitting it and what it needs."""
        for needed in arguments_first(node, self._names):
            self._names[needed.id] = self._emit_node(needed)
        return self._names[node.id]

    def _emit_node(self, node: Node) -> str:
        if isinstance(node, ValueNode):
            return self.owner.graph(node.value) if isinstance(node.value, FuncGraph) else self.constant(node.value)
        if not isinstance(node, CNode):
            raise ValueError(
                f"the graph {self.name} uses {node!r} of another graph; only closed graphs can be exported"
            )
        inputs = [self._names[a.id] for a in node.args]
        rule = _CONTROL.get(node.op.name)
        return rule(self, node, inputs) if rule is not None else self.owner.lower(self, node, inputs)

    def emit(
        self,
        op: str,
        inputs: Sequence[str],
        abstract: Abstract,
        attributes: dict[str, Any] | None = None,
        is_function: bool = True,
        scope: str = "",
    ) -> str:
        """Apply an official primitive."""
        return self._node(self.owner.primitive(op, attributes or {}, is_function), op, inputs, abstract, scope)

    def call(self, function: str, inputs: Sequence[str], abstract: Abstract) -> str:
        """Call a graph or closure by its name."""
        return self._node(f"REF::{function}", "call", inputs, abstract, "")

    def _node(self, op_type: str, label: str, inputs: Sequence[str], abstract: Abstract, scope: str) -> str:
        name = self._unique(label)
        attribute = [type_attribute("shape", abstract)]
        node = NodeProto(input=list(inputs), output=[name], name=name, op_type=op_type, attribute=attribute)
        node.domain = f"{scope or 'Default'}/{label}-op{self.owner.number()}"
        self.proto.node.append(node)
        return name

    def constant(self, value: Any) -> str:
        """A constant, stored once per value in a graph."""
        attribute = value_attribute("value", value)
        key = attribute.encode()
        if key not in self._constants:
            name = f"{self.name}:constant:{self.owner.number()}"
            self.proto.node.append(NodeProto(output=[name], name=name, op_type="Constant", attribute=[attribute]))
            self._constants[key] = name
        return self._constants[key]

    def make_tuple(self, names: Sequence[str], abstract: Abstract) -> str:
        return self.emit("MakeTuple", names, abstract, is_function=False)

    def get_item(self, name: str, index: int, abstract: Abstract) -> str:
        return self.emit("TupleGetItem", [name, self.constant(index)], abstract, is_function=False)

    def after(self, output: str, abstract: Abstract, effects: Sequence[str]) -> str:
        """`output`, once the named nodes with side effects have run."""
        token = self.constant(MONAD)
        for effect in effects:
            token = self.emit("UpdateState", [token, effect], AbstractFunction(None), is_function=False)
        return self.emit("Depend", [output, token], abstract, {"side_effect_propagate": 1}, is_function=False)

    def partial(self, graph: str, operands: Sequence[str]) -> str:
        """A graph with arguments bound to it."""
        name = self.emit(
            "Partial", [graph, *operands], AbstractNone(), {"side_effect_propagate": 1}, is_function=False
        )  # fmt: skip
        self.proto.node[-1].attribute = [
            AttributeProto(name="shape", type=proto.GRAPH_CLOSURE, s=graph.encode("utf-8"))
        ]
        return name

    def switch(self, predicate: str, then: str, otherwise: str, graphs: Sequence[str], abstract: Abstract) -> str:
        """Call one of two closures without arguments."""
        chosen = self.emit("Switch", [predicate, then, otherwise], AbstractNone(), is_function=False)
        closures = [AttributeProto(type=proto.GRAPH_CLOSURE, s=g.encode("utf-8")) for g in graphs]
        self.proto.node[-1].attribute = [AttributeProto(name="shape", type=proto.UNION_CLOSURE, values=closures)]
        name = self.call(chosen, [], abstract)
        self.proto.node[-1].domain = "1"
        return name


# ---------------------------------------------------------------------------------------------------------------------
# Control flow and tuples


def _write_make_tuple(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    return writer.make_tuple(inputs, node.abstract)


def _write_get_item(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    return writer.emit("TupleGetItem", inputs, node.abstract, is_function=False)


def _write_cond(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    predicate, then, otherwise, *operands = inputs
    return writer.switch(
        predicate, writer.partial(then, operands), writer.partial(otherwise, operands), (then, otherwise), node.abstract
    )


def _write_call(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    return writer.call(inputs[0], inputs[1:], node.abstract)


def _write_while(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    condition, body, *operands = inputs
    kinds = [a.abstract for a in node.args[2:]]
    carried = node.op.carried
    header, step, leave = (writer.owner.new_graph(label) for label in ("while_header", "while_body", "while_end"))
    _write_loop_header(header, step, leave, condition, node.args[0], kinds, node.abstract)
    _write_loop_step(header, step, body, kinds, carried, node.abstract)
    inner = [leave.input(f"v{i}", kind) for i, kind in enumerate(kinds)]
    leave.finish(leave.make_tuple(inner[:carried], node.abstract), node.abstract)
    return writer.call(header.name, operands, node.abstract)


def _write_loop_header(
    header: GraphWriter, step: GraphWriter, leave: GraphWriter, condition: str, graph: Any, kinds: list, out: Abstract
) -> None:
    names = [header.input(f"v{i}", kind) for i, kind in enumerate(kinds)]
    tested = graph.value.output.abstract
    predicate = header.call(condition, names, tested)
    if isinstance(tested, AbstractTuple):
        predicate = header.get_item(predicate, 0, tested.elements[0])
    chosen = header.switch(
        predicate, header.partial(step.name, names), header.partial(leave.name, names), (step.name, leave.name), out
    )
    header.finish(chosen, out)


def _write_loop_step(
    header: GraphWriter, step: GraphWriter, body: str, kinds: list, carried: int, out: Abstract
) -> None:
    names = [step.input(f"v{i}", kind) for i, kind in enumerate(kinds)]
    assert isinstance(out, AbstractTuple)
    result = step.call(body, names, out)
    fresh = [step.get_item(result, i, out.elements[i]) for i in range(carried)]
    step.finish(step.call(header.name, [*fresh, *names[carried:]], out), out)


_CONTROL: dict[str, Callable[[GraphWriter, CNode, list[str]], str]] = {
    "MakeTuple": _write_make_tuple,
    "TupleGetItem": _write_get_item,
    "Cond": _write_cond,
    "While": _write_while,
    "Call": _write_call,
}

__all__ = ["GraphWriter", "ModelWriter", "TensorProto"]
