"""Graph mode: statistics as further results of a compiled graph.

    traced graph ──mark──▶ gradients of weights become results, so that passes keep track of them
                 ──optimise──▶
                 ──instrument──▶ they, and every tensor that a watchpoint looks at, give way to statistics; all numbers together
                                 are one vector, the graph's last result
                 ──compile──▶ without giving inputs away: the step's inputs are there until its numbers are judged

Looking for overflow alone, most tensors need no statistics of their own (`coverage.py`); when something has been found, the graph
with the statistics of all tensors runs on the same inputs and tells the first one. Then the part of the graph before the
operation that made it is compiled and run, to have what the operation was given. On an accelerator the vector is read when a later
step begins, so that the host does not wait.
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import keys
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.ir.naming import full_names
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.primitive import Primitive
from mindspore.prims.requirements import Note, Violation
from mindspore.prims.statistics import BadCount, ScalarVector, TensorStatistics
from mindspore.prims.structural import Identity, MakeTuple, TupleGetItem
from mindspore.runtime import choose_backend, devices
from mindspore.runtime.dump.graphs import DumpedGraph
from mindspore.runtime.watch import coverage
from mindspore.runtime.watch.coverage import source_of
from mindspore.runtime.watch.hits import Hit, Subject, Watch
from mindspore.runtime.watch.rules import Statistic, Watchpoint

SILENT = (MakeTuple, TupleGetItem, Identity, Cond, While, Call, Violation, Note)
#: graph attribute: (Parameter, node) of each gradient with respect to a weight, noted while the graph is traced
GRADIENTS = "gradients_of_weights"
#: unread vectors of an accelerator; of more the oldest is waited for
_LONGEST_QUEUE = 4
_GET, _MAKE = TupleGetItem(), MakeTuple()
#: elements of tensors that are counted together, and how many of these
_SMALL, _MOST_TOGETHER = 1 << 16, 16


class _Target(NamedTuple):
    """A tensor of the graph with the watchpoints that look at it."""

    subject: Subject
    node: Node
    points: list[Watchpoint]
    before: Node | None = None
    others: tuple[Node, ...] = ()  #: further tensors that are counted with it: which one it was, the graph with all statistics tells

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return tuple(dict.fromkeys(s for p in self.points for s in p.statistics()))


class Plan:
    """Which tensors of one graph are watched. Made before the graph is optimised."""

    def __init__(self, watch: Watch, graph: FuncGraph):
        self.watch = watch
        self.graph = graph
        self.results = graph.output.abstract.elements  # type: ignore[union-attr]
        noted = [(w, node) for w, node in graph.attrs.pop(GRADIENTS, []) if is_watchable(node) and node.graph is graph]
        self._weights = [parameter for parameter, _ in noted]
        self._extend([*graph.output.args, *(node for _, node in noted)])
        self.every: list[_Target] = []  #: all tensors that are watched, in the order of execution
        self.targets: list[_Target] = []  #: those whose statistics tell that something is wrong with any of them

    def _extend(self, nodes: list[Node]) -> None:
        graph = self.graph
        graph.output = CNode(_MAKE, nodes, AbstractTuple(tuple(n.abstract for n in nodes)), graph)

    def instrument(self) -> None:
        """Put the statistics in the place of what `__init__` added."""
        graph, count = self.graph, len(self.results)
        outputs = list(graph.output.args)
        results, gradients = outputs[:count], outputs[count:]
        self._extend(results)
        stored = {results[number].id for number in graph.attrs.get("updates", {}).values()}
        owned = [*self._gradients(gradients), *self._parameters(results)]
        tensors = [*self._inputs(), *(t for t in self._tensors() if t.node.id not in stored)]
        self.every = [*tensors, *owned]
        overflows = {t.node.id for t in tensors if all(p.finds_overflow_only for p in t.points)}
        needed = coverage.observers(graph, overflows, {t.node.id for t in owned if any(p.finds_overflow for p in t.points)})
        self.targets = [t for t in self.every if t.node.id in needed or t.node.id not in overflows or t in owned]
        self.targets = _grouped(self.targets)
        vector = statistics_vector(graph, self.targets)
        if vector is not None:
            self._extend([*results, vector])

    def _target(self, subject: Subject, node: Node, before: Node | None = None) -> list[_Target]:
        points = [
            p for p in self.watch.points_for(subject.kind, subject.name, subject.locations) if before is not None or not p.compares
        ]
        return [_Target(subject, node, points, before)] if points and subject.size else []

    def _inputs(self) -> list[_Target]:
        given = [p for p in self.graph.parameters if p.default is None and is_watchable(p)]
        return [t for p in given for t in self._target(Subject(p.name, 0, "tensor", _size(p)), p)]

    def _tensors(self) -> list[_Target]:
        nodes = self.graph.nodes()
        names = full_names(n for n in nodes if not isinstance(n.op, SILENT))
        found: list[_Target] = []
        for node in nodes:
            source, slot = source_of(node)
            if source is None or source.id not in names or not is_watchable(node):
                continue
            kind = "activation" if source.op.activation else "tensor"
            backward = source.scope.startswith("Gradients")
            subject = Subject(names[source.id], slot, kind, _size(node), source.location, backward)
            found += self._target(subject, node)
        return found

    def _gradients(self, nodes: list[Node]) -> list[_Target]:
        found: list[_Target] = []
        for parameter, node in zip(self._weights, nodes):
            locations = node.location if isinstance(node, CNode) else ()
            subject = Subject(f"Gradients/{parameter.name}", 0, "gradient", _size(node), locations, True)
            found += self._target(subject, node)
        return found

    def _parameters(self, results: list[Node]) -> list[_Target]:
        found: list[_Target] = []
        trained = {keys.ByIdentity(w) for w in self._weights}
        for place, number in self.graph.attrs.get("updates", {}).items():
            old, new = self.graph.parameters[place], results[number]
            if not is_watchable(new):
                continue
            is_weight = keys.ByIdentity(old.default) in trained if trained else old.default.requires_grad
            locations = new.location if isinstance(new, CNode) else ()
            found += self._target(Subject(old.name, 0, "weight" if is_weight else "state", _size(new), locations), new, old)
        return found


class WatchedGraph:
    """A compiled graph whose last result is looked at before anything else is stored."""

    def __init__(self, plan: Plan, executable: Any):
        self.watch = plan.watch
        self.graph = plan.graph
        self.targets, self.every = plan.targets, plan.every
        self.count = len(plan.results)
        self.executable = executable
        self._waiting: deque[tuple[int, bool, tuple, Any]] = deque()  # step, whether it is the first, inputs, numbers
        self.results = plan.graph.output.args[: self.count]
        self._dumped: DumpedGraph | None = None
        self._thorough: Any = None  # the graph with the statistics of all tensors
        self._runs = 0
        self.watch.note_unread(lambda: self.look(wait=True))

    keeps_inputs = True  # of the step: nothing is given away

    def __call__(self, *arrays: Any, **kept: Any) -> Any:
        outputs = self.executable(*arrays, **kept)
        self._waiting.append((self.watch.begin_step(), self._runs == 0, arrays, outputs[self.count]))
        self._runs += 1
        self.look(wait=devices.accelerator() is None)
        return outputs[: self.count]

    def look(self, wait: bool) -> None:
        """Judge the numbers of steps that are done, or of all steps."""
        while self._waiting:
            step, first, arrays, numbers = self._waiting[0]
            if not wait and len(self._waiting) <= _LONGEST_QUEUE and not numbers.is_ready():
                return
            self._waiting.popleft()
            self._judge(step, first, arrays, np.asarray(numbers))

    def _judge(self, step: int, first: bool, arrays: tuple, numbers: np.ndarray) -> None:
        hits = self._hits(step, first, self.targets, numbers)
        if hits and len(self.every) > len(self.targets):
            if self._thorough is None:
                vector = statistics_vector(self.graph, self.every)
                assert vector is not None
                self._thorough = part_of(self.graph, [vector])
            hits = self._hits(step, first, self.every, np.asarray(self._thorough(*arrays)[0])) or hits
        if hits:
            node = hits[0][1].node
            self.watch.act([h for h, _ in hits], lambda _: self._inputs_of(node, arrays), lambda: self._dump(step, arrays))

    def _hits(self, step: int, first: bool, targets: list[_Target], numbers: np.ndarray) -> list[tuple[Hit, _Target]]:
        hits: list[tuple[Hit, _Target]] = []
        position, values = 0, numbers.tolist()
        for target in targets:
            names = target.statistics
            found = dict(zip(names, values[position : position + len(names)]))
            position += len(names)
            hits += [(h, target) for h in self.watch.judge(step, target.subject, target.points, found, first)]
        return hits

    # -- what a bad operation was given ---------------------------------------------------------------------------------
    def _inputs_of(self, node: Node, arrays: tuple) -> dict[str, np.ndarray]:
        source, _ = source_of(node)
        if source is None:
            return {}
        wanted = [a for a in source.args if isinstance(a.abstract, AbstractTensor)]
        names = {n.id: name for n, name in zip(wanted, _names_of(self.graph, wanted))}
        return {names[n.id]: np.asarray(v) for n, v in zip(wanted, self.tensors(wanted, arrays))}

    def tensors(self, nodes: list[Node], arrays: tuple) -> list[Any]:
        """The values of any tensors of the graph in a step with these inputs."""
        graph = self.graph
        known: dict[int, Any] = {p.id: a for p, a in zip(graph.parameters, arrays)}
        known |= {n.id: n.value for n in nodes if isinstance(n, ValueNode)}
        missing = [n for n in nodes if n.id not in known]
        if missing:
            run = part_of(graph, missing)
            known |= dict(zip([n.id for n in missing], run(*arrays)))
        return [known[n.id] for n in nodes]

    def _dump(self, step: int, arrays: tuple) -> str:
        """Every tensor of the step, in files as official dumps have them."""
        with _output_of(self.graph, self.results):
            if self._dumped is None:
                self._dumped = DumpedGraph(self.graph, None)
            return self._dumped.write(self.watch.dumps(), step, arrays)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.executable, name)


def part_of(graph: FuncGraph, nodes: Sequence[Node]) -> Any:
    """The part of a graph that computes some of its nodes, compiled; it takes the same inputs and gives them as a tuple."""
    with _output_of(graph, nodes):
        return choose_backend.compile_graph(graph, frozenset())


@contextlib.contextmanager
def _output_of(graph: FuncGraph, nodes: Sequence[Node]) -> Iterator[None]:
    """The graph with other results and without updates, in a `with` block."""
    saved, attrs = graph.output, graph.attrs
    graph.output = CNode(_MAKE, nodes, AbstractTuple(tuple(n.abstract for n in nodes)), graph)
    graph.attrs = {name: value for name, value in attrs.items() if name not in ("updates", "record")}
    try:
        yield
    finally:
        graph.output, graph.attrs = saved, attrs


def _names_of(graph: FuncGraph, nodes: list[Node]) -> list[str]:
    names = full_names(n for n in graph.nodes() if not isinstance(n.op, SILENT))
    found = []
    for number, node in enumerate(nodes):
        source, slot = source_of(node)
        name = names.get(source.id, f"input {number}") if source is not None else getattr(node, "name", f"constant {number}")
        found.append(f"{name}:{slot}" if slot else name)
    return found


def is_watchable(node: Node) -> bool:
    abstract = node.abstract
    if not isinstance(abstract, AbstractTensor) or isinstance(node, ValueNode):
        return False
    return abstract.dtype.name in ("float16", "bfloat16", "float32", "float64")


def _size(node: Node) -> int:
    return math.prod(node.abstract.shape)  # type: ignore[attr-defined]


def _node(graph: FuncGraph, prim: Primitive, args: list[Node]) -> CNode:
    return CNode(prim, args, prim.infer(*(a.abstract for a in args)), graph)


def statistics_vector(graph: FuncGraph, targets: list[_Target]) -> Node | None:
    """The statistics of all targets, one after the other; None where there are none."""
    numbers = [n for target in targets for n in _statistics(graph, target)]
    return _node(graph, ScalarVector(), numbers) if numbers else None


def _grouped(targets: list[_Target]) -> list[_Target]:
    """Small tensors of one shape that are looked at for overflow alone share a reduction: on an accelerator each is a kernel of its
    own. Large tensors do so only with other results of the same operation (the moments of one weight): what shares a reduction is
    made by one kernel, and one that walks through the moments of several large weights at once finds none of them in the cache
    (AdamWeightDecay of four layers together took six times as long as one by one)."""
    found: list[_Target] = []
    groups: dict[Any, list[_Target]] = {}
    for target in targets:
        source, _ = source_of(target.node)
        is_small, shape = target.subject.size <= _SMALL, tuple(target.node.abstract.shape)  # type: ignore[attr-defined]
        if not all(p.finds_overflow_only for p in target.points) or not (is_small or source):
            found.append(target)
        else:
            groups.setdefault((target.subject.kind, shape, None if source is None or is_small else source.id), []).append(target)
    for members in groups.values():
        for at in range(0, len(members), _MOST_TOGETHER):
            first, *rest = members[at : at + _MOST_TOGETHER]
            points = list(dict.fromkeys(p for t in (first, *rest) for p in t.points))
            found.append(first._replace(points=points, before=None, others=tuple(t.node for t in rest)))
    return found


def _statistics(graph: FuncGraph, target: _Target) -> list[Node]:
    if target.others:
        return [_node(graph, BadCount(), [target.node, *target.others])]
    args = [target.node] if target.before is None else [target.node, target.before]
    if not any(p.compares for p in target.points):
        args = args[:1]
    together = _node(graph, TensorStatistics(target.statistics), args)
    scalars = together.abstract.elements  # type: ignore[union-attr]
    return [CNode(_GET, (together, ValueNode(i)), a, graph) for i, a in enumerate(scalars)]

