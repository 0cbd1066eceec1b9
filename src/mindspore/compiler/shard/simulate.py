"""A step of a plan on imagined devices: what runs when, what waits for what, how much memory is in use.

All devices of a stage do the same at the same time, so one stands for all of them, and thousands cost no more than eight. A stage
has three resources, each of which does one thing at a time in the order of the program: computing, the links within a node, the links
between nodes. An operator starts when it is its turn and its arguments are there; a collective travels while operators compute that
do not need its result. Times of single operators and collectives are those of the cost model (cost.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindspore._base.files import atomic_write
from mindspore.compiler.shard import cost
from mindspore.compiler.shard.layout import Layout
from mindspore.compiler.shard.memory import made_bytes, peaks
from mindspore.compiler.shard.pipeline import Stages
from mindspore.compiler.shard.plan import Plan, flops_of
from mindspore.ir import AbstractTuple, CNode, Node
from mindspore.prims.structural import MakeTuple, TupleGetItem

COMPUTE, NEAR, FAR = "compute", "links within a node", "links between nodes"
RESOURCES = (COMPUTE, NEAR, FAR)


class Task(NamedTuple):
    """Something that a stage's devices do."""

    name: str
    stage: int
    resource: str
    start: float  #: seconds since the step began
    seconds: float
    sent: float = 0.0  #: bytes that a device sends


class Timeline:
    """What `simulate` found."""

    def __init__(self, plan: Plan, tasks: list[Task], peaks: list[float]):
        self.plan, self.tasks = plan, tasks
        self.peak_bytes = peaks  #: for each stage: the most memory that a device needs, weights and states included
        self.seconds = max((t.start + t.seconds for t in tasks), default=0.0)

    def busy(self, stage: int, resource: str = COMPUTE) -> float:
        return sum(t.seconds for t in self.tasks if (t.stage, t.resource) == (stage, resource))

    @property
    def waiting(self) -> float:
        """Seconds in which the busiest stage does not compute: communication that nothing hides, and a pipeline's bubble."""
        stages = {t.stage for t in self.tasks}
        return self.seconds - max((self.busy(stage) for stage in stages), default=0.0)

    def save(self, path: str) -> None:
        """Write the timeline as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing show."""
        size = self.plan.mesh.size
        events: list[dict[str, Any]] = []
        for stage in range(self.plan.options.stages):
            names = f"devices {stage * size} to {(stage + 1) * size - 1}"
            events.append({"ph": "M", "name": "process_name", "pid": stage, "args": {"name": f"stage {stage}: {names}"}})
            for number, resource in enumerate(RESOURCES):
                about = {"ph": "M", "name": "thread_name", "pid": stage, "tid": number, "args": {"name": resource}}
                events.append(about)
        for task in self.tasks:
            events.append({
                "ph": "X", "name": task.name, "pid": task.stage, "tid": RESOURCES.index(task.resource),
                "ts": task.start * 1e6, "dur": task.seconds * 1e6, "args": {"bytes sent": task.sent},
            })  # fmt: skip
        with atomic_write(path, "w") as stream:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, stream)


def _late(nodes: Sequence[CNode]) -> set[int]:
    """What updates weights, and what needs the new ones: sums of gradients travel while others are computed, and these wait for them."""
    late: set[int] = set()
    for node in nodes:
        if node.op.writes or any(a.id in late for a in node.args):
            late.add(node.id)
    return late


def simulate(plan: Plan) -> Timeline:
    return _Simulation(plan).run()


class _Simulation:
    def __init__(self, plan: Plan):
        self.plan, self.mesh, self.machine = plan, plan.mesh, plan.options.machine
        self.stages = Stages(plan.graph, plan.options.stages, plan.options.schedule) if plan.options.stages > 1 else None
        self.late = _late(plan.graph.nodes())
        in_turn = sorted(plan.graph.nodes(), key=lambda node: node.id in self.late)
        self.order = self.stages.order if self.stages is not None else in_turn
        self.tasks: list[Task] = []
        self.free = {(stage, r): 0.0 for stage in range(plan.options.stages) for r in RESOURCES}
        self.ready: dict[tuple[int, Any, int], float] = {}  # (value, layout, stage) -> when it is there

    def run(self) -> Timeline:
        for node in self.order:
            self._node(node, self._stage(node))
        return Timeline(self.plan, self.tasks, peaks(self.plan, self.order, self.late, self._stage))

    def _stage(self, node: CNode) -> int:
        """The stage that computes a node: its own; what belongs to none is taken to be computed by the first."""
        return self.stages.stage.get(node.id, 0) if self.stages is not None else 0

    # -- time -------------------------------------------------------------------------------------------------------------
    def _node(self, node: CNode, stage: int) -> None:
        if isinstance(node.op, (MakeTuple, TupleGetItem)):
            times = [self._arrival(a, None, stage) for a in node.args]
            self.ready[node.id, None, stage] = max(times, default=0.0)
            return
        begin = max((self._arrival(a, w, stage) for a, w in zip(node.args, self.plan.inputs_wanted(node))), default=0.0)
        rule = self.plan.rules.get(node.id)
        leaves = node.abstract.elements if isinstance(node.abstract, AbstractTuple) else (node.abstract,)
        nbytes = sum(getattr(a, "nbytes", 0) for a in (*leaves, *(a.abstract for a in node.args)))
        parts = self.mesh.parts(a for axes in self.plan.assignments.get(node.id, {}).values() for a in axes)
        flops = flops_of(node, rule) if rule is not None else 0.0
        name = f"{node.scope}/{node.op.name}" if node.scope else node.op.name
        seconds = self.machine.operation(flops / parts, nbytes / parts)
        self.ready[node.id, None, stage] = self._task(name, stage, COMPUTE, begin, seconds)

    def _task(self, name: str, stage: int, resource: str, begin: float, seconds: float, sent: float = 0.0) -> float:
        """Do something as soon as the resource is free; when it ends."""
        start = max(begin, self.free[stage, resource])
        self.tasks.append(Task(name, stage, resource, start, seconds, sent))
        self.free[stage, resource] = start + seconds
        return start + seconds

    def _arrival(self, node: Node, wanted: Layout | None, stage: int) -> float:
        """When a value is there in a layout: sent from its stage, and redistributed."""
        if not isinstance(node, CNode):
            return 0.0
        if (node.id, wanted, stage) in self.ready:
            return self.ready[node.id, wanted, stage]
        if (node.id, None, stage) not in self.ready:
            self.ready[node.id, None, stage] = self._received(node, stage)
        time = self.ready[node.id, None, stage]
        layout = self.plan.layout_of(node)
        if wanted is None or not isinstance(layout, Layout) or layout == wanted:
            return time
        for step, seconds, sent in cost.timed_steps(layout, wanted, node.abstract.nbytes, self.mesh, self.machine):
            if step.kind != "cut":
                far = self.machine.link(self.mesh, step.axes) is self.machine.slow
                name = f"{step.kind} over {self.mesh.parts(step.axes)}"
                time = self._task(name, stage, FAR if far else NEAR, time, seconds, sent)
        self.ready[node.id, wanted, stage] = time
        return time

    def _received(self, node: CNode, stage: int) -> float:
        """When a value of another stage has arrived in this one."""
        source = self._stage(node)
        if isinstance(node.op, (MakeTuple, TupleGetItem)) and (node.id, None, source) not in self.ready:
            return max((self._arrival(a, None, stage) for a in node.args), default=0.0)
        near = self.mesh.size * self.plan.options.stages <= self.machine.node
        link, nbytes = (self.machine.fast if near else self.machine.slow), made_bytes(node, self.plan)
        seconds = link.latency + nbytes / link.bandwidth
        return self._task(f"to stage {stage}", source, NEAR if near else FAR, self.ready[node.id, None, source], seconds, nbytes)
