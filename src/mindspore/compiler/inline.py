"""Re-emitting a closed graph into a Builder: inlining, and the forward half of every transformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, AbstractTuple, FuncGraph, Node, ValueNode
from mindspore.prims import values
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.structural import MakeTuple, TupleGetItem

GRAPH_VALUED = (Cond, While, Call)


def inline(graph: FuncGraph, operands: Sequence[Node], builder: Builder) -> list[Node]:
    """Add the nodes of `graph` applied to `operands`; returns the elements of its output tuple."""
    env: dict[int, Node] = {p.id: o for p, o in zip(graph.parameters, operands)}
    for node in graph.nodes():
        args = tuple(env.get(a.id, a) for a in node.args)
        with builder.at(node.location, node.scope), builder.unchecked():  # the graph has its checks, as nodes
            env[node.id] = reapply(builder, node.op, args)
    output = env.get(graph.output.id, graph.output)
    if isinstance(output.abstract, AbstractTuple):
        return [builder.get_item(output, i) for i in range(len(output.abstract.elements))]
    return [output]


def reapply(builder: Builder, op: Any, args: tuple[Node, ...]) -> Node:
    """One node on new arguments. Structure is resolved at once; constants fold."""
    if isinstance(op, MakeTuple):
        return builder.make_tuple(list(args))
    if isinstance(op, TupleGetItem):
        return builder.get_item(args[0], args[1].value)  # type: ignore[attr-defined]
    if isinstance(op, GRAPH_VALUED) or op.effect or op.writes:
        return builder.emit(op, args)
    result = builder.apply(op, tuple(public_argument(builder, a) for a in args))
    return (
        builder.make_tuple([builder.node_of(r) for r in result])
        if isinstance(result, tuple)
        else builder.node_of(result)
    )


def public_argument(builder: Builder, node: Node) -> Any:
    """What a primitive's rule sees of an argument node: tensors, numbers, tuples, or the plain constant."""
    if isinstance(node, ValueNode):
        if isinstance(node.abstract, AbstractTensor):
            return values.from_array(node.value)
        if type(node.abstract).__name__ == "AbstractScalar":
            return values.from_node(node)
        return node.value
    return builder.public(node)
