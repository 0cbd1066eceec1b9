"""Cutting a graph into the stages of a pipeline, one after the other on different devices.

The batch comes in micro-batches (`MicroBatch` marks what each of them is computed from), so that a stage works on one while the
next stage works on the one before. Forward pass, gradients and optimizer are one graph; here it is taken apart:

1. A node belongs to the stage of its cell (`Cell.pipeline_stage`), a gradient to the stage of what it is the gradient of. What lies
   between (losses, sums of gradients, updates) belongs to a stage of its arguments. What needs none of these, such as the data, is
   computed wherever it is used. A batch that is not divided, as in inference, goes through the stages as a whole.
2. The schedule orders the work of all stages: GPipe (Huang et al. 2019) runs all micro-batches forwards, then backwards; 1F1B
   (Narayanan et al. 2019) lets each stage turn to the oldest backward pass as soon as it can, so that it keeps the activations of as
   many micro-batches as stages follow, not of all. Where cells have segments as well (`Cell.pipeline_segment`), a stage holds a chunk of
   layers of each segment, micro-batches go around through all stages once for each segment, and the pipeline fills in chunks instead
   of stages (interleaved 1F1B, Narayanan et al. 2021): the bubble shrinks by the number of segments, for as many more messages.
3. A stage's graph has its nodes in that order. A value from another stage is received before its first use. Messages are sent
   without waiting, and each receive stands behind all sends that come before it in the order of all stages: nobody waits for
   a message that its sender would send later than something it waits for itself.

A weight that several stages use is read by each of them and updated by one, to which the others send their gradients.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from mindspore.compiler.builder import Builder, array_node
from mindspore.compiler.rewrite.passes import substitute
from mindspore.compiler.rewrite.rules import repeated_value
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.exchange import Receive, Send
from mindspore.prims.mesh import MicroBatch
from mindspore.prims.requirements import Note
from mindspore.prims.structural import MakeTuple, TupleGetItem

SCHEDULES = ("1f1b", "gpipe")
#: tags of messages between stages start here
_FIRST_TAG = 4096


class Slot(NamedTuple):
    """One piece of a stage's work."""

    backward: bool
    micro: int
    segment: int = 0


def stage_order(schedule: str, stages: int, stage: int, micros: int, segments: int = 1) -> list[Slot]:
    """The pieces of work of one stage, one after the other: with segments, as many micro-batches as there are stages at a time."""
    places = sorted((micro // stages, segment, micro) for segment in range(segments) for micro in range(micros))
    forward = [Slot(False, micro, segment) for _, segment, micro in places]
    back = sorted((micro // stages, -segment, micro) for segment in range(segments) for micro in range(micros))
    backward = [Slot(True, micro, -segment) for _, segment, micro in back]
    behind = stages - stage - 1
    ahead = behind + 1 if segments == 1 else 2 * behind + (segments - 1) * stages + 1
    ahead = len(forward) if schedule == "gpipe" else min(len(forward), ahead)
    order = forward[:ahead]
    for i, slot in enumerate(backward):
        order += [slot, *forward[ahead + i : ahead + i + 1]]
    return order


def _needed(stage: int, slot: Slot, stages: int, segments: int) -> tuple[int, Slot] | None:
    """The piece whose result another one needs from the stage before it (in the backward pass: behind it)."""
    place = slot.segment * stages + stage + (1 if slot.backward else -1)
    if not 0 <= place < stages * segments:
        return None
    return place % stages, slot._replace(segment=place // stages)


def timetable(schedule: str, stages: int, micros: int, segments: int = 1) -> dict[tuple[int, Slot], int]:
    """When each stage does each piece, if all take equally long and none starts before what it needs is there."""
    if segments > 1 and micros % stages:
        raise ValueError(
            f"Pipelines with segments take as many micro-batches at a time as there are stages: {micros} micro-batches are no "
            f"multiple of {stages} stages."
        )
    queues = [stage_order(schedule, stages, stage, micros, segments) for stage in range(stages)]
    done: dict[tuple[int, Slot], int] = {}
    time = 0
    while any(queues):
        for stage, queue in enumerate(queues):
            needed = _needed(stage, queue[0], stages, segments) if queue else None
            if queue and (needed is None or done.get(needed, time) < time):
                done[stage, queue.pop(0)] = time
        time += 1
    return done


def check_stages(graph: FuncGraph, count: int) -> None:
    """The cells of a network must belong to as many stages as the settings say."""
    found = set(graph.attrs.get("stages", {}).values())
    if found != set(range(count)):
        raise RuntimeError(
            f"There are {count} pipeline stages, but the cells of the network have the stages {sorted(found)}: set "
            f"'pipeline_stage' of cells to each of 0 to {count - 1}."
        )


class Stages:
    """Which stage each node of a graph belongs to, and when it is computed."""

    def __init__(self, graph: FuncGraph, stages: int, schedule: str = "1f1b"):
        self.graph, self.count = graph, stages
        self.scopes: dict[str, int] = graph.attrs.get("stages", {})
        in_segments: dict[str, int] = graph.attrs.get("segments", {})
        self.segments = 1 + max(in_segments.values(), default=0)
        check_stages(graph, stages)
        #: the place of each scope in the line of all stages of all segments
        self.lines = {scope: in_segments.get(scope, 0) * stages + stage for scope, stage in self.scopes.items()}
        _fold_repeated(graph)
        self.nodes = graph.nodes()
        self.line: dict[int, int] = {}
        self.stage: dict[int, int] = {}  # absent: computed wherever it is used
        self.backward: set[int] = set()
        self.micros: dict[int, frozenset[int]] = {}
        self.has_micros = any(isinstance(node.op, MicroBatch) for node in self.nodes)
        for node in self.nodes:
            self._place(node)
        self.stage = {node: place % stages for node, place in self.line.items()}
        micros = 1 + max((m for found in self.micros.values() for m in found), default=0)
        self.when: dict[int, int] = {}
        self._schedule(timetable(schedule, stages, micros, self.segments), micros)
        self.order = sorted(self.nodes, key=lambda n: self.when[n.id])  # stable: arguments stay before their users

    def _place(self, node: CNode) -> None:
        args = [a for a in node.args if isinstance(a, CNode)]
        self.micros[node.id] = frozenset().union(*(self.micros[a.id] for a in args))
        if isinstance(node.op, MicroBatch):
            self.micros[node.id] = frozenset((node.op.index,))
        if node.scope.startswith("Gradients/") or node.op.writes or any(a.id in self.backward for a in args):
            self.backward.add(node.id)
        around = {self.line[a.id] for a in args if a.id in self.line}
        own = self._of_scope(node.scope)
        if isinstance(node.op, MakeTuple):
            return
        if isinstance(node.op, Note):  # the record of errors: kept by one stage, or it would go around with every micro-batch
            self.line[node.id] = 0
        elif isinstance(node.op, TupleGetItem):
            if node.args[0].id in self.line:
                self.line[node.id] = self.line[node.args[0].id]
        elif own is not None and (around or self.micros[node.id] or not self.has_micros):
            self.line[node.id] = own
        elif around:
            self.line[node.id] = min(around) if node.id in self.backward else max(around)

    def _of_scope(self, scope: str) -> int | None:
        """The place in the line of the innermost cell around a node that has one."""
        scope = scope.removeprefix("Gradients/")
        while scope:
            if scope in self.lines:
                return self.lines[scope]
            scope = scope.rpartition("/")[0]
        return None

    def _schedule(self, times: dict[tuple[int, Slot], int], count: int) -> None:
        """The last micro-batch comes first: gradients are added up from the last on, so each is added as soon as it is there."""
        last = max(times.values()) + 1
        for node in self.nodes:
            moment = max((self.when[a.id] for a in node.args if isinstance(a, CNode)), default=0)
            if isinstance(node.op, Note):
                moment = last
            elif node.id in self.line and len(self.micros[node.id]) == 1:
                (micro,) = self.micros[node.id]
                slot = Slot(node.id in self.backward, count - 1 - micro, self.line[node.id] // self.count)
                moment = max(moment, times[self.stage[node.id], slot])
            self.when[node.id] = moment

    def graph_of(self, stage: int, peer: Any) -> FuncGraph:
        """The graph of a stage; `peer(stage)` is the rank of this device's counterpart in a stage."""
        return _StageGraph(self, stage, peer).run()


def _fold_repeated(graph: FuncGraph) -> None:
    """Tensors of one repeated number become constants: ones like the loss would wait for the loss of all micro-batches."""
    found: dict[int, Node] = {}
    for node in graph.nodes():
        number = repeated_value(node) if isinstance(node.abstract, AbstractTensor) else None
        if number is not None:
            found[node.id] = array_node(np.broadcast_to(np.asarray(number, node.abstract.dtype.np), node.abstract.shape))
    substitute(graph, found)


class _StageGraph:
    def __init__(self, stages: Stages, stage: int, peer: Any):
        self.stages, self.here, self.peer = stages, stage, peer
        self.graph = FuncGraph(stages.graph.name)
        self.builder = Builder(self.graph)
        self.done: dict[int, Node] = {}
        self.pending: list[Node] = []  # what the next receive comes after
        self.wanted = self._wanted()
        self.tags = {node.id: _FIRST_TAG + i for i, node in enumerate(stages.nodes)}

    def _wanted(self) -> dict[int, set[int]]:
        """The stages that use each node, all for results of the graph."""
        found: dict[int, set[int]] = {}
        free_users: dict[int, set[int]] = {}  # of nodes that are computed wherever they are used: where that is
        output = self.stages.graph.output
        results = output.args if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else (output,)
        everywhere = set(range(self.stages.count))
        for leaf in results:
            found.setdefault(leaf.id, set()).update(everywhere)
            free_users.setdefault(leaf.id, set()).update(everywhere)
        for node in reversed(self.stages.nodes):
            here = {self.stages.stage[node.id]} if node.id in self.stages.stage else free_users.get(node.id, set())
            for arg in node.args:
                found.setdefault(arg.id, set()).update(here)
                free_users.setdefault(arg.id, set()).update(here)
        return found

    def run(self) -> FuncGraph:
        stages = self.stages
        with self.builder.active():
            for parameter in stages.graph.parameters:
                self.done[parameter.id] = self.graph.add_parameter(parameter.name, parameter.abstract, parameter.default)
            for node in stages.order:
                if stages.stage.get(node.id) == self.here:
                    self._build(node)
                    self._send(node)
            output = stages.graph.output
            leaves = output.args if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else (output,)
            found = [self._value(leaf) for leaf in leaves]
            self.graph.output = self.builder.make_tuple([*found, *self.pending])
        # Errors are raised when the graph has run: ended early, it would leave the other stages waiting.
        self.graph.attrs = {k: v for k, v in stages.graph.attrs.items() if k not in ("record", "updates")}
        return self.graph

    def _build(self, node: CNode) -> None:
        args = tuple(self._value(a) for a in node.args)
        with self.builder.at(node.location, node.scope):
            self.done[node.id] = self.builder.emit(node.op, args)

    def _value(self, node: Node) -> Node:
        if isinstance(node, ValueNode):
            return node
        if node.id not in self.done:
            assert isinstance(node, CNode)
            if self.stages.stage.get(node.id, self.here) == self.here:
                self._build(node)
            else:
                self._receive(node)
        return self.done[node.id]

    def _send(self, node: CNode) -> None:
        if isinstance(node.abstract, AbstractTuple):
            return  # its elements are sent
        for stage in sorted(self.wanted.get(node.id, ())):
            if stage != self.here:
                self.pending.append(self.builder.emit(Send(self.tags[node.id], self.peer(stage)), (self.done[node.id],)))

    def _receive(self, node: CNode) -> None:
        if not isinstance(node.abstract, AbstractTensor):
            raise RuntimeError(f"'{node.op.name}' gives {node.abstract}, which cannot be sent from one pipeline stage to another.")
        source = self.peer(self.stages.stage[node.id])
        op = Receive(self.tags[node.id], source, node.abstract.shape, node.abstract.dtype)
        with self.builder.at(node.location, node.scope):
            self.done[node.id] = self.builder.emit(op, tuple(self.pending))
        self.pending = [self.done[node.id]]


def messages(graph: FuncGraph) -> Iterable[CNode]:
    """The sends and receives of a stage's graph."""
    return (n for n in graph.nodes() if isinstance(n.op, (Send, Receive)))


__all__ = ["SCHEDULES", "Slot", "Stages", "messages", "stage_order", "timetable"]
