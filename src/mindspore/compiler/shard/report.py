"""What a plan does, operator by operator: layouts, bytes sent, seconds, memory, and who decided."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from mindspore.compiler.shard import cost
from mindspore.compiler.shard.layout import Layout
from mindspore.compiler.shard.plan import (
    Plan,
    flops_of,
    input_layouts,
    is_forward,
    operator_names,
    outputs_of,
    parts_worked,
    shapes_of,
)
from mindspore.compiler.shard.simulate import Timeline, simulate
from mindspore.ir import AbstractTuple, CNode
from mindspore.prims.structural import MakeTuple, TupleGetItem


class Row(NamedTuple):
    """One operator."""

    name: str
    strategy: list[list[int]]
    why: str  #: "given", "chosen", "whole" (no index rule), "inside" (a branch or loop: see its operators)
    collectives: list[str]
    sent: float  #: bytes that a device sends for it
    seconds: float  #: of computing
    waiting: float  #: of communicating


def strategies(plan: Plan, of_gradients: bool = False) -> dict[str, list[list[int]]]:
    """The cuts of the inputs of each operator of the forward pass (or of all), by its scope, name and number."""
    found: dict[str, list[list[int]]] = {}
    for inner in plan.with_inner():
        found.update(_strategies(inner, of_gradients))
    return found


def _strategies(plan: Plan, of_gradients: bool) -> dict[str, list[list[int]]]:
    """Of one graph, without the insides of its branches and loops."""
    found: dict[str, list[list[int]]] = {}
    names = operator_names(plan.graph)
    for node in _operators(plan):
        if not of_gradients and not is_forward(node):
            continue
        rule = plan.rules[node.id]
        layouts = (
            input_layouts(rule, plan.assignments[node.id]) if rule is not None else plan.inputs_wanted(node)
        )
        cuts = [list(layout.cuts(plan.mesh)) for layout in layouts if layout is not None]
        scope, _, own = names[node.id].rpartition("/")
        found[names[node.id] if rule is not None else f"{scope}/StandAlone/{own}"] = cuts
    return found


def _operators(plan: Plan) -> list[CNode]:
    return [n for n in plan.graph.nodes() if not isinstance(n.op, (MakeTuple, TupleGetItem))]


class Report:
    """The whole plan. `str()` is a table, `to_dict()` the numbers."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.rows = list(self._rows(plan))
        self.seconds = sum(r.seconds for r in self.rows)
        self.waiting = sum(r.waiting for r in self.rows)
        self.sent = sum(r.sent for r in self.rows)
        self.weights = sum(
            p.abstract.nbytes / max(1, math.prod(plan.storage_of(p).cuts(plan.mesh)))
            for p in plan.graph.parameters
            if p.default is not None and hasattr(p.abstract, "nbytes")
        )

    def _rows(self, plan: Plan, times: int = 1) -> Iterator[Row]:
        """Of all operators, those within branches and loops included; `times`: how often they run (once, where nobody knows)."""
        for node, (name, cuts) in zip(_operators(plan), _strategies(plan, of_gradients=True).items()):
            row = self._row(plan, node, name, cuts)
            yield row._replace(sent=row.sent * times, seconds=row.seconds * times, waiting=row.waiting * times)
            region = plan.regions.get(node.id)
            for inner in region.plans if region is not None else ():
                yield from self._rows(inner, times * region.trips)  # type: ignore[union-attr]

    def _row(self, plan: Plan, node: CNode, name: str, cuts: list[list[int]]) -> Row:
        mesh, machine = plan.mesh, plan.options.machine
        collectives, sent, waiting = [], 0.0, 0.0
        for arg, wanted in zip(node.args, plan.inputs_wanted(node)):
            layout = plan.layout_of(arg)
            if wanted is None or not isinstance(layout, Layout) or layout == wanted:
                continue
            for step, seconds, nbytes in cost.timed_steps(layout, wanted, arg.abstract.nbytes, mesh, machine):
                if step.kind != "cut":
                    collectives.append(f"{step.kind}({mesh.parts(step.axes)})")
                sent, waiting = sent + nbytes, waiting + seconds
        rule = plan.rules[node.id]
        leaves = node.abstract.elements if isinstance(node.abstract, AbstractTuple) else (node.abstract,)
        nbytes = sum(getattr(a, "nbytes", 0) for a in (*leaves, *(a.abstract for a in node.args)))
        chosen = plan.assignments.get(node.id, {})
        parts = parts_worked(rule, chosen, shapes_of(node), outputs_of(node), mesh) if rule is not None else 1.0
        flops = flops_of(node, rule) if rule is not None else 0.0
        why = "inside" if node.id in plan.regions else "whole" if rule is None else "given" if node.id in plan.fixed else "chosen"
        return Row(name, cuts, why, collectives, sent, machine.operation(flops / parts, nbytes / parts), waiting)

    def simulate(self) -> Timeline:
        """A step on imagined devices: `.seconds`, `.waiting`, `.peak_bytes` per stage, and `.save("trace.json")` for Perfetto."""
        return simulate(self.plan)

    def to_dict(self) -> dict[str, Any]:
        return {
            "devices": self.plan.mesh.size,
            "compute_seconds": self.seconds,
            "communication_seconds": self.waiting,
            "bytes_sent_per_device": self.sent,
            "weight_bytes_per_device": self.weights,
            "operators": [row._asdict() for row in self.rows],
        }

    def __str__(self) -> str:
        lines = [
            f"{self.plan.mesh.size} devices: {self.seconds * 1e3:.3f} ms of computing, {self.waiting * 1e3:.3f} ms of "
            f"communication, {self.sent / 1e6:.3f} MB sent and {self.weights / 1e6:.3f} MB of weights and states per device "
            "(estimates)",
            f"{'operator':60} {'cuts':30} {'why':7} {'MB sent':>9} {'ms':>8}  collectives",
        ]
        for row in self.rows:
            name = row.name if len(row.name) <= 60 else "…" + row.name[-59:]
            lines.append(
                f"{name:60} {row.strategy!s:30} {row.why:7} {row.sent / 1e6:9.3f} {(row.seconds + row.waiting) * 1e3:8.3f}  "
                + ", ".join(row.collectives)
            )
        return "\n".join(lines)


