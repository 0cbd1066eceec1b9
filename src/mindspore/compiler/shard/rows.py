"""Rows of steps and samples in an order in which devices can have parts of them.

Networks that hold steps first, (steps, samples, width), merge both dimensions for their products. Of merged dimensions only the first
can be cut, since elements are numbered with it slowest; but devices have other samples, not other steps, so all of it would be gathered.
Products do not care in which order rows are. Where everything that is computed on merged rows treats rows alike, they are numbered with
samples slowest instead: reshapes at the borders exchange the two dimensions.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from mindspore.compiler.builder import Builder
from mindspore.compiler.rewrite.passes import substitute
from mindspore.compiler.shard.layout import Layout
from mindspore.compiler.shard.plan import Plan, rule_of, shapes_of
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.factors import WHOLE
from mindspore.prims.linalg import MatrixProduct

_Sizes = tuple[int, int]


class Rows(NamedTuple):
    """All that is computed on rows that run together, by its borders."""

    sizes: _Sizes  #: of the two dimensions
    merges: list[CNode]  #: reshapes that make rows of them
    splits: list[CNode]  #: reshapes that take rows apart


def misplaced(plan: Plan) -> list[Rows]:
    """Rows of tensors that are cut along the second of the merged dimensions, and none of them along the first."""
    users: defaultdict[int, list[CNode]] = defaultdict(list)
    nodes = plan.graph.nodes()
    for node in nodes:
        for arg in node.args:
            users[arg.id].append(node)
    found: list[Rows] = []
    for node in nodes:
        if _merged(node) is not None and not any(node in rows.merges for rows in found):
            rows = _Search(node, users, plan.graph.output).run()
            if rows is not None and _is_cut_second(plan, rows):
                found.append(rows)
    return found


def _is_cut_second(plan: Plan, rows: Rows) -> bool:
    layouts = [layout for m in rows.merges if isinstance(layout := plan.layout_of(m.args[0]), Layout)]
    return any(layout.dims[1] for layout in layouts) and not any(layout.dims[0] for layout in layouts)


def exchange(graph: FuncGraph, found: list[Rows]) -> dict[int, Node]:
    """Number rows the other way, in place. The result, given to `substitute`, takes it back."""
    replaced: dict[int, Node] = {}
    undone: dict[int, Node] = {}
    builder = Builder(graph)
    with builder.active():
        for rows in found:
            first, second = rows.sizes
            for node in (*rows.merges, *rows.splits):
                value, shape = builder.public(node.args[0]), tuple(node.abstract.shape)  # type: ignore[attr-defined]
                order = (1, 0, *range(2, len(value.shape if node in rows.merges else shape)))
                with builder.at(node.location, node.scope):
                    if node in rows.merges:
                        made = Reshape()(Transpose()(value, order), shape)
                    else:
                        made = Transpose()(Reshape()(value, (second, first, *shape[2:])), order)
                replaced[node.id] = builder.node_of(made)
                undone[replaced[node.id].id] = node
    substitute(graph, replaced)
    return undone


def _merged(node: Node) -> _Sizes | None:
    """The first two dimensions of what a reshape makes one of."""
    if not isinstance(node, CNode) or not isinstance(node.op, Reshape):
        return None
    return _pair(shapes_of(node)[0], tuple(node.abstract.shape))  # type: ignore[attr-defined]


def _split(node: CNode) -> _Sizes | None:
    """The two dimensions that a reshape makes of the first."""
    return _pair(tuple(node.abstract.shape), shapes_of(node)[0]) if isinstance(node.op, Reshape) else None  # type: ignore[attr-defined]


def _pair(apart: tuple[int, ...], together: tuple[int, ...]) -> _Sizes | None:
    if len(apart) < 3 or min(apart[:2]) < 2 or together != (apart[0] * apart[1], *apart[2:]):
        return None
    return apart[0], apart[1]


class _Search:
    """Follows rows from a reshape that makes them to all others at their border."""

    def __init__(self, start: CNode, users: dict[int, list[CNode]], output: Node):
        self.users, self.output = users, output
        self.rows = Rows(_merged(start), [start], [])  # type: ignore[arg-type]
        self.places: dict[int, int] = {start.id: 0}  # of values: which dimension has the rows
        self.work: list[CNode] = [start]
        self.seen: set[int] = set()

    def run(self) -> Rows | None:
        """None if something needs rows in their order."""
        while self.work:
            value = self.work.pop()
            if value is self.output:
                return None
            makers = [] if value in self.rows.merges else [value]
            if not all(self._follow(operator) for operator in (*makers, *self.users.get(value.id, ()))):
                return None
        return self.rows

    def _follow(self, node: CNode) -> bool:
        if node.id in self.seen:
            return True
        self.seen.add(node.id)
        if _split(node) == self.rows.sizes and self.places.get(node.args[0].id) == 0:
            self.rows.splits.append(node)
            return True
        rule = rule_of(node)
        if rule is None or not isinstance(node.abstract, AbstractTensor) or node.op.effect or node.op.writes:
            return False
        if not (node.op.elementwise or isinstance(node.op, (MatrixProduct, ReduceSum, BroadcastTo))):
            return False
        sides = [(node, rule.outputs[0]), *((a, labels) for a, labels in zip(node.args, rule.inputs) if labels is not None)]
        known = {labels[self.places[v.id]] for v, labels in sides if v.id in self.places}
        if len(known) != 1 or WHOLE in known:
            return False
        (label,) = known
        return all(self._reach(value, dim) for value, labels in sides for dim, name in enumerate(labels) if name == label)

    def _reach(self, value: Node, dim: int) -> bool:
        """Note that a dimension of a value has the rows."""
        if value.abstract.shape[dim] == 1:  # type: ignore[attr-defined]  # broadcast
            return True
        if value.id in self.places:
            return self.places[value.id] == dim
        if not isinstance(value, CNode):
            return False
        self.places[value.id] = dim
        if dim == 0 and _merged(value) == self.rows.sizes:
            self.rows.merges.append(value)
        self.work.append(value)
        return True
