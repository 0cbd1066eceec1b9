"""Recomputation (Chen et al. 2016, "Training deep nets with sublinear memory cost").

Nodes built within a region (a Cell after `recompute()`) are not kept for the backward pass: the gradient rules get copies
of them, computed again from what the region was given. The copies start from `Later` nodes, which wait for the
gradient that arrives at the region's end; so no backend can merge them with the originals or compute them early, and the
originals are free as soon as the forward pass has used them.
"""

from __future__ import annotations

from typing import Any

from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, CNode, Node
from mindspore.prims.structural import Identity, Later, MakeTuple, TupleGetItem

_LATER = Later()
_STRUCTURE = (MakeTuple, TupleGetItem)


def _is_weight(node: Node) -> bool:
    """Whether a node stands for a Parameter, which is kept anyway."""
    while isinstance(node, CNode) and isinstance(node.op, Identity):  # as what it is differentiated by
        node = node.args[0]
    return getattr(node, "default", None) is not None


class Recomputation:
    """The copies made for one backward pass."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.regions = builder.root.regions
        self.copies: dict[tuple[int, int], Node] = {}
        self.gates: dict[int, Node] = {}  # region -> the gradient its copies wait for

    def region_of(self, node: Node) -> Any:
        """The region of a node, or None. Tuples belong where their elements do."""
        if not self.regions:
            return None
        while isinstance(node, CNode) and isinstance(node.op, _STRUCTURE) and node.args:
            node = node.args[0]
        return self.regions.get(node.id)

    def enter(self, region: Any, dout: Any) -> None:
        """The backward pass reaches a node of the region with this gradient."""
        parts = dout if isinstance(dout, (tuple, list)) else (dout,)
        known = [d for d in parts if d is not None]
        if known:
            self.gates.setdefault(id(region), self.builder.node_of(known[0]))

    def copy(self, node: Node, region: Any) -> Node:
        """What stands for `node` in the backward pass of a region."""
        stack = [node]
        while stack:  # not by recursion: regions may be deep
            top = stack[-1]
            inner = self._is_inside(top, region)
            missing = [a for a in top.args if (a.id, id(region)) not in self.copies] if inner else []
            if missing:
                stack += missing
                continue
            stack.pop()
            if (top.id, id(region)) not in self.copies:
                self.copies[top.id, id(region)] = self._again(top, region) if inner else self._boundary(top, region)
        return self.copies[node.id, id(region)]

    def _is_inside(self, node: Node, region: Any) -> bool:
        """Nodes with effects (random numbers, printing) are not repeated: their results are kept."""
        return isinstance(node, CNode) and not node.op.effect and self.region_of(node) is region

    def _again(self, node: Any, region: Any) -> Node:
        args = tuple(self.copies[a.id, id(region)] for a in node.args)
        if all(a is b for a, b in zip(args, node.args)):
            return node  # made of constants and weights alone
        return CNode(node.op, args, node.abstract, self.builder.graph, node.location, node.scope)

    def _boundary(self, node: Node, region: Any) -> Node:
        gate = self.gates.get(id(region))
        is_weight = _is_weight(node)
        is_data = isinstance(node.abstract, AbstractTensor) and node.graph is not None
        return self.builder.emit(_LATER, (node, gate)) if gate is not None and is_data and not is_weight else node
