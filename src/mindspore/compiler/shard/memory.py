"""How much memory the devices of a plan need: what is alive at each moment of a step.

Beside weights, states, data and the results of operators these are copies: values brought into another layout, weights gathered from
the parts in which they are stored, what came from another stage. Sums of gradients travel together, so all terms and all sums are there
at once. New values of weights take the place of the old; what an operator needs within itself is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from mindspore.compiler.shard.layout import Layout
from mindspore.compiler.shard.plan import Plan
from mindspore.ir import AbstractTuple, CNode, Node, Parameter
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore.prims.update import Update


class _Value(NamedTuple):
    """A value, or a copy of it in a layout of its own, on the devices of a stage."""

    node: int
    layout: Layout | None  #: None: as it was made
    stage: int


class _Span(NamedTuple):
    first: int
    last: int
    nbytes: float


def peaks(plan: Plan, order: Sequence[CNode], late: Collection[int], stage_of: Callable[[CNode], int]) -> list[float]:
    """For each stage, the most bytes that a device holds at once while operators run in this order; `late`: those that wait for the
    sums of all gradients, by node id.
    """
    spans = _Lives(plan, order, late, stage_of).found
    changes = [[0.0] * (len(order) + 1) for _ in range(plan.options.stages)]
    for value, span in spans.items():
        changes[value.stage][span.first] += span.nbytes
        changes[value.stage][span.last + 1] -= span.nbytes
    return [_inputs(plan, order, stage_of, stage) + _highest(changes[stage]) for stage in range(plan.options.stages)]


def _highest(changes: list[float]) -> float:
    most = now = 0.0
    for change in changes:
        now += change
        most = max(most, now)
    return most


class _Lives:
    """From which operator to which each value is there, by their numbers in the order."""

    def __init__(self, plan: Plan, order: Sequence[CNode], late: Collection[int], stage_of: Callable[[CNode], int]):
        self.plan, self.late, self.stage_of = plan, late, stage_of
        self.number = {node.id: number for number, node in enumerate(order)}
        self.sums = min((self.number[i] for i in late), default=len(order))  # when the sums of gradients travel
        self.found: dict[_Value, _Span] = {}
        for number, node in enumerate(order):
            stage = stage_of(node)
            self._need(_Value(node.id, None, stage), number, number, made_bytes(node, plan))
            for arg, wanted in zip(node.args, self._wanted(node)):
                self._use(arg, wanted, node, stage)

    def _wanted(self, node: CNode) -> list[Layout | None]:
        if isinstance(node.op, (MakeTuple, TupleGetItem)):
            return [None] * len(node.args)
        return self.plan.inputs_wanted(node)

    def _need(self, value: _Value, first: int, last: int, nbytes: float) -> None:
        known = self.found.get(value)
        self.found[value] = _Span(min(first, known.first), max(last, known.last), nbytes) if known else _Span(first, last, nbytes)

    def _use(self, arg: Node, wanted: Layout | None, user: CNode, stage: int) -> None:
        """An operator takes a value: as it lies, or a copy for which the value must be there once."""
        number, layout = self.number[user.id], self.plan.layout_of(arg)
        moves = wanted is not None and isinstance(layout, Layout) and wanted != layout
        for source in _held(arg):
            here = isinstance(source, Parameter) or self.stage_of(source) == stage
            if not moves and here:
                self._keep(source, stage, number)
                continue
            made = 0 if isinstance(source, Parameter) else self.number[source.id]
            copied = max(made, min(number, self.sums)) if user.id in self.late else number
            self._keep(source, stage if here else self.stage_of(source), copied)  # type: ignore[arg-type]
            nbytes = part_bytes(arg.abstract, wanted, self.plan) if moves else made_bytes(source, self.plan)
            self._need(_Value(arg.id if moves else source.id, wanted if moves else None, stage), copied, number, nbytes)

    def _keep(self, source: Node, stage: int, number: int) -> None:
        """A value is needed as it was made; of weights this may be a copy, gathered from parts."""
        if not isinstance(source, Parameter):
            self._need(_Value(source.id, None, stage), number, number, made_bytes(source, self.plan))
        elif self.plan.storage_of(source) != (layout := self.plan.layout_of(source)):
            self._need(_Value(source.id, None, stage), number, number, part_bytes(source.abstract, layout, self.plan))


def made_bytes(node: Node, plan: Plan) -> float:
    """Of a device's part of what an operator computes."""
    if isinstance(node, CNode) and isinstance(node.op, (MakeTuple, TupleGetItem, Update)):
        return 0.0  # no copy
    layout, abstract = plan.layout_of(node), node.abstract
    pairs = zip(layout, abstract.elements) if isinstance(abstract, AbstractTuple) else ((layout, abstract),)
    return sum(part_bytes(leaf, part, plan) for part, leaf in pairs)


def part_bytes(abstract: Any, layout: Any, plan: Plan) -> float:
    """Of a device's part of a tensor."""
    if not isinstance(layout, Layout) or not hasattr(abstract, "nbytes"):
        return 0.0
    return float(math.prod(layout.local(abstract.shape, plan.mesh)) * abstract.dtype.itemsize)


def _held(node: Node) -> list[CNode | Parameter]:
    """Whose results a value is or holds: tuples and their elements are no copies."""
    if isinstance(node, CNode) and isinstance(node.op, (MakeTuple, TupleGetItem)):
        return [source for a in node.args for source in _held(a)]
    if isinstance(node, CNode) or (isinstance(node, Parameter) and hasattr(node.abstract, "nbytes")):
        return [node]
    return []


def _inputs(plan: Plan, order: Sequence[CNode], stage_of: Callable[[CNode], int], stage: int) -> float:
    """Bytes of the weights, states and data that a stage uses, per device."""
    users: dict[int, set[int]] = {}
    for node in order:
        for arg in node.args:
            users.setdefault(arg.id, set()).add(stage_of(node))
    return sum(
        part_bytes(parameter.abstract, plan.storage_of(parameter), plan)
        for parameter in plan.graph.parameters
        if hasattr(parameter.abstract, "nbytes") and stage in users.get(parameter.id, {0})
    )
