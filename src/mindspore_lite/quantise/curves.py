"""Curves: functions of one number that follow a layer (SiLU, GELU, sigmoids, tanh) as tables of 256 results.

A layer in whole numbers hands its sums on as bytes; a byte has 256 values, so whatever is computed from it element by element is a table
that is filled at conversion. The grid of these bytes need not have a zero (a bias moves it for nothing), so it spans just what
calibration has seen, less the ends where the curve does not change the byte that comes out: SiLU far below zero, a sigmoid's shoulders.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mindspore.ir import AbstractTensor, CNode, Node, ValueNode
from mindspore.prims import elementwise
from mindspore_lite.quantise.ranges import Range

#: operations that alone are no reason for a table: fused loops compute them as fast as they read
_LIGHT = (elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Maximum, elementwise.Minimum, elementwise.ReLU)
_SAMPLES = 4097  # of a curve, to find its flat ends

Fixed = Callable[[Node], "np.ndarray | None"]


class Curve(NamedTuple):
    """`nodes` compute it from `source` alone; the last one's value is the result, and nobody else reads the others."""

    source: CNode
    nodes: list[CNode]
    fixed: Fixed

    def at(self, x: np.ndarray) -> np.ndarray:
        """The curve's values at some places."""
        found: dict[int, object] = {self.source.id: x.astype(np.float32)}
        for node in self.nodes:
            found[node.id] = node.op.eval(np, *(found[a.id] if a.id in found else self._constant(a) for a in node.args))
        return np.asarray(found[self.nodes[-1].id], np.float32)

    def _constant(self, node: Node) -> object:
        value = self.fixed(node)
        if value is not None:
            return value.reshape(())
        assert isinstance(node, ValueNode)
        return node.value


def follow(
    source: CNode, output: Node, users: Mapping[int, Sequence[CNode]], order: Mapping[int, int], fixed: Fixed
) -> Curve | None:
    """The longest curve behind a value; None if there is none that is worth a table. `order`: places of nodes in the graph."""
    reached, inside, best = {source.id}, list[CNode](), list[CNode]()
    waiting = [(order[user.id], user) for user in users.get(source.id, ())]
    heapq.heapify(waiting)
    while waiting:
        _, node = heapq.heappop(waiting)
        if node.id in reached or not _is_function(node, source, reached, fixed):
            continue
        reached.add(node.id)
        inside.append(node)
        if _closed([source, *inside[:-1]], reached, output, users):
            best = list(inside)
        for user in users.get(node.id, ()):
            heapq.heappush(waiting, (order[user.id], user))
    return Curve(source, best, fixed) if any(type(node.op) not in _LIGHT for node in best) else None


def _is_function(node: CNode, source: CNode, reached: set[int], fixed: Fixed) -> bool:
    """Whether a node computes element by element from values that are reached and from single numbers."""
    abstract = node.abstract
    if not getattr(node.op, "elementwise", False) or not isinstance(abstract, AbstractTensor):
        return False
    if abstract.shape != source.abstract.shape or abstract.dtype != source.abstract.dtype:
        return False
    return all(argument.id in reached or _is_number(argument, fixed) for argument in node.args)


def _is_number(node: Node, fixed: Fixed) -> bool:
    if not isinstance(node.abstract, AbstractTensor):
        return isinstance(node, ValueNode)
    value = fixed(node)
    return value is not None and value.size == 1


def _closed(nodes: Iterable[CNode], reached: set[int], output: Node, users: Mapping[int, Sequence[CNode]]) -> bool:
    """Whether nobody outside reads any of these nodes."""
    return all(n is not output and all(user.id in reached for user in users.get(n.id, ())) for n in nodes)


class Grid(NamedTuple):
    """Whole numbers n of an element type stand for `low + n * step`."""

    kind: str
    step: float
    low: float = 0.0

    def codes(self, values: np.ndarray) -> np.ndarray:
        limits = np.iinfo(self.kind)
        return np.clip(np.rint((values - self.low) / self.step), limits.min, limits.max).astype(self.kind)

    @classmethod
    def between(cls, low: float, high: float) -> Grid:
        """All 256 numbers of a byte."""
        return cls("uint8", float(np.float32(max(high - low, 1e-8) / 255)), float(np.float32(low)))


def operand_grid(curve: Curve, span: Range, method: str, result: Grid) -> Grid:
    """The grid of a curve's operand that gives most for results on a grid: none of it lies where they do not change."""
    low, high = span.ends(method)
    places = np.linspace(low, high, _SAMPLES)
    changes = np.flatnonzero(np.diff(result.codes(curve.at(places)).astype(np.int32)))
    if changes.size:
        low, high = float(places[changes[0]]), float(places[changes[-1] + 1])
    return Grid.between(low, high)


def entries(curve: Curve, operand: Grid, result: Grid) -> np.ndarray:
    """The table from one grid to the other."""
    return result.codes(curve.at(operand.low + operand.step * np.arange(256)))
