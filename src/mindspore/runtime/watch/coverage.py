"""Which tensors of a graph must be looked at to know that none of them holds NaN or an infinity.

A product of matrices with a NaN in an argument has one in its result, so its arguments need no look if the result gets one:
such primitives *spread* what is not finite. What ReLU gives is finite if its argument is: such primitives *keep finite* what is, and
need no look if their arguments are looked at. Both are stated in the primitives' classes. What remains of a network's tensors
is mostly what stands before a non-linearity.
"""

from __future__ import annotations

from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.structural import TupleGetItem


def observers(graph: FuncGraph, candidates: set[int], observed: set[int]) -> set[int]:
    """The nodes among the candidates that must be looked at; `observed` are looked at anyway."""
    nodes = graph.nodes()
    users: dict[int, list[CNode]] = {}
    for user in nodes:
        for arg in user.args:
            users.setdefault(arg.id, []).append(user)
    telling = set(observed)  # what is not finite there will be known
    needed: set[int] = set()
    tensors: list[Node] = [*reversed(nodes), *graph.parameters]
    for node in tensors:
        if node.id not in candidates or node.id in telling:
            continue
        if any(_is_spread(node, user, users, telling) for user in users.get(node.id, ())):
            telling.add(node.id)
        elif not _inherits(node, candidates):
            telling.add(node.id)
            needed.add(node.id)
    return needed


def _is_spread(node: Node, user: CNode, users: dict[int, list[CNode]], telling: set[int]) -> bool:
    """Whether what is not finite in an argument of an operation will be known by its (first) result."""
    spreads = user.op.spreads
    if not spreads or (isinstance(spreads, tuple) and not any(user.args[i] is node for i in spreads)):
        return False
    if user.id in telling:
        return True
    firsts = (u for u in users.get(user.id, ()) if isinstance(u.op, TupleGetItem) and u.args[1].value == 0)  # type: ignore[attr-defined]
    return any(u.id in telling for u in firsts)


def _inherits(node: Node, candidates: set[int]) -> bool:
    """Whether a tensor is finite if those are that it is made of, and they are candidates themselves."""
    source, _ = source_of(node)
    if source is None or not source.op.keeps_finite:
        return False
    return all(a.id in candidates or not _may_overflow(a) for a in source.args)


def _may_overflow(node: Node) -> bool:
    abstract = node.abstract
    return isinstance(abstract, AbstractTensor) and abstract.dtype.kind == "f" and not isinstance(node, ValueNode)


def source_of(node: Node) -> tuple[CNode | None, int]:
    """The operation that makes a tensor, and which of its results it is."""
    if not isinstance(node, CNode):
        return None, 0
    if isinstance(node.op, TupleGetItem):
        inner, index = node.args
        return (inner, int(index.value)) if isinstance(inner, CNode) and isinstance(index, ValueNode) else (None, 0)
    return node, 0
