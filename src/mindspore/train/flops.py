"""Floating-point operations of a graph, by the usual counts: two per multiply-add, one per element elsewhere."""

from __future__ import annotations

import math
from typing import Any

from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, ValueNode


def count_flops(graph: FuncGraph) -> float:
    """The operations of one run. A loop counts once per known trip, a branch by its dearer side."""
    return sum(_of_node(node) for node in graph.nodes())


def _of_node(node: CNode) -> float:
    graphs = [a.value for a in node.args if isinstance(a, ValueNode) and isinstance(a.value, FuncGraph)]
    if graphs:
        costs = [count_flops(g) for g in graphs]
        return max(costs) if node.op.name == "Cond" else sum(costs) * (getattr(node.op, "bound", None) or 1)
    name = node.op.name
    out = _elements(node.abstract)
    if name in ("MatMul", "BatchMatMul"):
        return 2.0 * out * _inner_size(node)
    if name.startswith("Conv"):
        return _convolution(node)
    if name in (
        "MakeTuple",
        "TupleGetItem",
        "Reshape",
        "Transpose",
        "Cast",
        "GetItem",
        "SetItem",
        "Fill",
        "Concat",
        "Stack",
    ):
        return 0.0
    first = node.args[0].abstract if node.args else node.abstract
    return float(max(out, _elements(first)))


def _inner_size(node: CNode) -> int:
    shape = node.args[0].abstract.shape
    return shape[-2] if getattr(node.op, "transpose_a", False) else shape[-1]


def _convolution(node: CNode) -> float:
    """Every weight meets every output position once, whether forward or backward."""
    op = node.op
    shapes = [a.abstract.shape for a in node.args if isinstance(a.abstract, AbstractTensor)]
    filters = getattr(op, "out_channel", 1)
    kernel = math.prod(getattr(op, "kernel_size", (1,)))
    images = [s for s in (*shapes, getattr(node.abstract, "shape", ())) if len(s) > 2]
    positions = min((s[0] * math.prod(s[2:]) for s in images), default=1)
    channels = max((s[1] for s in images), default=1) // max(getattr(op, "group", 1), 1)
    return 2.0 * positions * filters * channels * kernel


def _elements(abstract: Any) -> int:
    if isinstance(abstract, AbstractTuple):
        return max((_elements(e) for e in abstract.elements), default=0)
    return getattr(abstract, "size", 0)
