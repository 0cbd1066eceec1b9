"""Floating-point operations of a graph, by the usual counts: two per multiply-add, one per element elsewhere."""

from __future__ import annotations

from typing import Any

from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.control import Cond


def count_flops(graph: FuncGraph) -> float:
    """The operations of one run. A loop counts once per known trip, a branch by its dearer side."""
    return sum(_of_node(node) for node in graph.nodes())


def flops_by_scope(graph: FuncGraph) -> dict[str, float]:
    """The operations of one run by the cell they belong to; gradients are told apart by their scopes."""
    found: dict[str, float] = {}
    for node in graph.nodes():
        found[node.scope] = found.get(node.scope, 0.0) + _of_node(node)
    return {scope: count for scope, count in found.items() if count}


def _of_node(node: CNode) -> float:
    graphs = [a.value for a in node.args if isinstance(a, ValueNode) and isinstance(a.value, FuncGraph)]
    if graphs:
        costs = [count_flops(g) for g in graphs]
        return max(costs) if isinstance(node.op, Cond) else sum(costs) * (getattr(node.op, "bound", None) or 1)
    if node.op.moves:
        return 0.0
    found = node.op.flops(*(_argument(a) for a in node.args))
    if found:
        return found
    first = node.args[0].abstract if node.args else node.abstract
    return float(max(_elements(node.abstract), _elements(first)))


def _argument(node: Node) -> Any:
    """An argument as the rules of primitives take it."""
    if isinstance(node, ValueNode) and not isinstance(node.abstract, AbstractTensor):
        return node.value
    return node.abstract


def _elements(abstract: Any) -> int:
    if isinstance(abstract, AbstractTuple):
        return max((_elements(e) for e in abstract.elements), default=0)
    return getattr(abstract, "size", 0)
