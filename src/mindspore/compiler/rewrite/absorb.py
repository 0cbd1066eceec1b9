"""Casts and sums around an operation that can do them itself.

Mixed precision puts casts around normalisations: to float32 before, back to 16 bits after. The normalisation computes in
float32 in any case, so that on 16-bit floats it gives the same bits, and reads and writes half as much. Where an operation is
one kernel, nothing else can take these casts in. The same holds for a gradient that is added to its first result.

Everything here keeps values exactly. A primitive says what it can take in (`absorbs_casts`, `absorbs_sum`).
"""

from __future__ import annotations

from mindspore.compiler.builder import infer_argument
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.elementwise import Add, Cast
from mindspore.prims.primitive import Primitive
from mindspore.prims.structural import TupleGetItem

Users = dict[int, list[CNode]]


def absorb(graph: FuncGraph) -> dict[int, Node]:
    """Change operations that can take in what surrounds them; returns which nodes others are to replace."""
    nodes = list(graph.nodes())
    chosen = [n for n in nodes if n.op.absorbs_casts or n.op.absorbs_sum >= 0]
    if not chosen:
        return {}
    users: Users = {}
    for node in nodes:
        for argument in node.args:
            users.setdefault(argument.id, []).append(node)
    replaced: dict[int, Node] = {}
    for node in chosen:
        for number in node.op.absorbs_casts:
            _absorb_cast(graph, node, number, users, replaced)
        if node.op.absorbs_sum >= 0:
            _absorb_sum(graph, node, users, replaced)
    return replaced


def _absorb_cast(graph: FuncGraph, node: CNode, number: int, users: Users, replaced: dict[int, Node]) -> None:
    cast = node.args[number]
    if not isinstance(cast, CNode) or not isinstance(cast.op, Cast):
        return
    source = cast.args[0]
    before, after = source.abstract, cast.abstract
    if not (isinstance(before, AbstractTensor) and isinstance(after, AbstractTensor)):
        return
    if after.dtype.name != "float32" or before.dtype.kind != "f" or before.dtype.itemsize > 2:
        return
    if number:
        _give(node, number, source)
        return
    # The first result takes the type of the first argument: nobody may want more of it than that.
    first = _first(graph, node, users)
    uses = users.get(first.id, []) if first is not None else []
    if first is None or not uses or not all(_casts_to(u, before) for u in uses):
        return
    _give(node, 0, source)
    first.abstract = node.abstract.elements[0]  # type: ignore[attr-defined]
    for use in uses:
        replaced[use.id] = first
    users[first.id] = [u for use in uses for u in users.get(use.id, [])]


def _absorb_sum(graph: FuncGraph, node: CNode, users: Users, replaced: dict[int, Node]) -> None:
    first = _first(graph, node, users)
    uses = users.get(first.id, []) if first is not None else []
    if first is None or len(uses) != 1 or len(node.args) != node.op.absorbs_sum:
        return
    total = uses[0]
    if not isinstance(total.op, Add) or total.abstract != first.abstract:
        return
    ours = [replaced.get(a.id, a) is first for a in total.args]
    other = total.args[1] if ours[0] else total.args[0]
    other = replaced.get(other.id, other)
    if ours.count(True) != 1 or other.abstract != first.abstract or _depends(other, node):
        return
    node.args = (*node.args, other)
    replaced[total.id] = first


def _first(graph: FuncGraph, node: CNode, users: Users) -> CNode | None:
    """The node that takes the first result, if there is one, and only one, and the results go nowhere as a whole."""
    parts = users.get(node.id, [])
    if graph.output is node or not all(isinstance(p.op, TupleGetItem) for p in parts):
        return None
    firsts = [p for p in parts if isinstance(p.args[1], ValueNode) and p.args[1].value == 0]
    return firsts[0] if len(firsts) == 1 and graph.output is not firsts[0] else None


def _casts_to(node: CNode, abstract: AbstractTensor) -> bool:
    return isinstance(node.op, Cast) and node.abstract == abstract


def _give(node: CNode, number: int, argument: Node) -> None:
    node.args = (*node.args[:number], argument, *node.args[number + 1 :])
    prim: Primitive = node.op
    node.abstract = prim.infer(*(infer_argument(a) for a in node.args))


def _depends(node: Node, on: CNode) -> bool:
    seen: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current is on:
            return True
        if current.id not in seen and isinstance(current, CNode):
            seen.add(current.id)
            stack.extend(current.args)
    return False
