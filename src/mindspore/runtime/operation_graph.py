"""One operation, or its gradient rule, as a graph of its own or as a part of one: what PyNative mode compiles.

The same graph serves the native kernels of the CPU (`eager_kernels`) and the programs of an accelerator (`deferred`):
there is one way from a primitive to compiled code, whatever the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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
    results_in_all: int  #: how many there are
    is_tuple: bool  #: whether the operation has several results


def forward_graph(prim: Primitive, arguments: Sequence[Any]) -> OperationGraph:
    """`prim(*arguments)`, where tensors are given as `AbstractTensor` and everything else as it is."""
    builder, symbols, inputs = _begin(prim.name, arguments)
    nodes, is_tuple = emit_forward(builder, prim, symbols)
    return OperationGraph(finish(builder, nodes), inputs, tuple(range(len(nodes))), len(nodes), is_tuple)


def gradient_graph(
    prim: Primitive, arguments: Sequence[Any], count: int, is_tuple: bool, needed: Sequence[bool]
) -> OperationGraph:
    """`prim.bprop` as a function of `count` arguments, the results, and the gradients of results (None: it is zero).

    Gives the gradients of the needed arguments only.
    """
    builder, symbols, inputs = _begin(f"{prim.name}_grad", arguments)
    nodes, given, count = emit_gradient(builder, prim, symbols, count, is_tuple, needed)
    return OperationGraph(finish(builder, nodes), inputs, given, count, True)


def read_by_gradient(prim: Primitive, arguments: Sequence[Any], results: Sequence[Any], is_tuple: bool) -> frozenset[int]:
    """Whose values `prim.bprop` uses: numbers of arguments and, counted on, of results. All, if the rule looks at them itself."""
    count, half = len(arguments), len(arguments) + len(results)
    try:
        found = gradient_graph(prim, [*arguments, *results, *results], count, is_tuple, [True] * count)
    except values.ValueUnknownError:
        return frozenset(range(half))
    used = {id(arg) for node in (*found.graph.nodes(), found.graph.output) for arg in node.args}
    return frozenset(i for i, x in zip(found.inputs, found.graph.parameters) if id(x) in used and i < half)


def updates_graph(prims: Sequence[Primitive], arguments: Sequence[Sequence[Any]]) -> OperationGraph:
    """Several operations that do not use each other's results, with `arguments` as in `forward_graph`."""
    given = [a for each in arguments for a in each]
    builder, symbols, inputs = _begin("updates", given)
    left = iter(symbols)
    nodes: list[Node] = []
    for prim, each in zip(prims, arguments):
        nodes += emit_forward(builder, prim, [next(left) for _ in each])[0]
    return OperationGraph(finish(builder, nodes), inputs, tuple(range(len(nodes))), len(nodes), True)


def emit_forward(builder: Builder, prim: Primitive, symbols: Sequence[Any]) -> tuple[list[Node], bool]:
    """Add an operation to a graph: the nodes of its results, and whether it has several."""
    with builder.active():
        node = builder.emit(prim, tuple(builder.node_of(s) for s in symbols))
        if not isinstance(node.abstract, AbstractTuple):
            return [node], False
        return [builder.get_item(node, i) for i in range(len(node.abstract.elements))], True


def emit_gradient(
    builder: Builder, prim: Primitive, symbols: Sequence[Any], count: int, is_tuple: bool, needed: Sequence[bool]
) -> tuple[list[Node], tuple[int, ...], int]:
    """Add a gradient rule to a graph; `symbols` as the arguments of `gradient_graph`.

    The nodes of the wanted gradients, which arguments they belong to, and how many the rule gives.
    """
    half = count + (len(symbols) - count) // 2
    out = tuple(symbols[count:half])
    dout = tuple(_zeros(o) if d is None else d for o, d in zip(out, symbols[half:]))
    with builder.active():
        grads = prim.bprop(*symbols[:count], out if is_tuple else out[0], dout if is_tuple else dout[0])
        given = tuple(i for i, (grad, wanted) in enumerate(zip(grads, needed)) if wanted and _is_tensor(grad))
        return [builder.node_of(grads[i]) for i in given], given, len(grads)


def _zeros(like: Any) -> Any:
    """A constant of zeros, of which the compiler sees that it is one number."""
    abstract = values.abstract_of(like)
    return values.from_array(np.broadcast_to(np.zeros((), abstract.dtype.np), abstract.shape))


def _begin(name: str, arguments: Sequence[Any]) -> tuple[Builder, list[Any], tuple[int, ...]]:
    builder = Builder(FuncGraph(name))
    inputs = tuple(i for i, a in enumerate(arguments) if isinstance(a, AbstractTensor))
    symbols = list(arguments)
    for i in inputs:
        symbols[i] = values.from_node(builder.graph.add_parameter(f"x{i}", arguments[i]))
    return builder, symbols, inputs


def finish(builder: Builder, outputs: list[Node]) -> FuncGraph:
    """The graph with these results, optimised."""
    builder.graph.output = builder.make_tuple(outputs)
    driver.optimise(builder.graph)
    return builder.graph


def _is_tensor(value: object) -> bool:
    if value is None or isinstance(value, SymbolicScalarBase):
        return False
    return (
        not isinstance(value, TensorBase) or value._node is None or not isinstance(value._node.abstract, AbstractNone)
    )
