"""One operation, or its gradient rule, as a graph of its own: what PyNative mode compiles.

The same graph serves the native kernels of the CPU (`eager_kernels`) and the programs of an accelerator
(`device_kernels`): there is one way from a primitive to compiled code, whatever the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindspore.compiler import driver
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractNone, AbstractTensor, AbstractTuple, FuncGraph, Node
from mindspore.prims import values
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import SymbolicScalarBase, TensorBase


class OperationGraph(NamedTuple):
    """An optimised graph; its inputs are the tensors among the arguments, in order."""

    graph: FuncGraph
    inputs: tuple[int, ...]  #: numbers of the arguments that are tensors
    results: tuple[int, ...]  #: which results (or which arguments' gradients) the graph gives
    count: int  #: how many there are
    is_tuple: bool  #: whether the operation has several results


def forward_graph(prim: Primitive, arguments: Sequence[Any]) -> OperationGraph:
    """`prim(*arguments)`, where tensors are given as `AbstractTensor` and everything else as it is."""
    builder, symbols, inputs = _begin(prim.name, arguments)
    with builder.active():
        node = builder.emit(prim, tuple(builder.node_of(s) for s in symbols))
    several = isinstance(node.abstract, AbstractTuple)
    nodes = [builder.get_item(node, i) for i in range(len(node.abstract.elements))] if several else [node]
    return OperationGraph(_finish(builder, nodes), inputs, tuple(range(len(nodes))), len(nodes), several)


def gradient_graph(
    prim: Primitive, arguments: Sequence[Any], outs: Sequence[Any], is_tuple: bool, needed: Sequence[bool]
) -> OperationGraph:
    """`prim.bprop` as a function of (arguments, results, gradients of results), for the needed arguments only."""
    builder, symbols, inputs = _begin(f"{prim.name}_grad", [*arguments, *outs, *outs])
    count, half = len(arguments), len(arguments) + len(outs)
    out, dout = tuple(symbols[count:half]), tuple(symbols[half:])
    with builder.active():
        grads = prim.bprop(*symbols[:count], out if is_tuple else out[0], dout if is_tuple else dout[0])
        given = tuple(i for i, (grad, wanted) in enumerate(zip(grads, needed)) if wanted and _is_tensor(grad))
        nodes = [builder.node_of(grads[i]) for i in given]
    return OperationGraph(_finish(builder, nodes), inputs, given, len(grads), True)


def _begin(name: str, arguments: Sequence[Any]) -> tuple[Builder, list[Any], tuple[int, ...]]:
    builder = Builder(FuncGraph(name))
    inputs = tuple(i for i, a in enumerate(arguments) if isinstance(a, AbstractTensor))
    symbols = list(arguments)
    for i in inputs:
        symbols[i] = values.from_node(builder.graph.add_parameter(f"x{i}", arguments[i]))
    return builder, symbols, inputs


def _finish(builder: Builder, outputs: list[Node]) -> FuncGraph:
    builder.graph.output = builder.make_tuple(outputs)
    driver.optimise(builder.graph)
    return builder.graph


def _is_tensor(value: Any) -> bool:
    if value is None or isinstance(value, SymbolicScalarBase):
        return False
    return (
        not isinstance(value, TensorBase) or value._node is None or not isinstance(value._node.abstract, AbstractNone)
    )
