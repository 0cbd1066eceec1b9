"""Plans for networks of many equal layers on many devices: stages, micro-batches, recomputation, and how a layer is cut.

A step of a pipeline of p stages, each of L / p layers on its share of the devices, takes

    (m + p - 1) · L / p · (a layer's time for a micro-batch) + L / p · (the sums of a layer's gradients over devices),

with m micro-batches (1F1B; Narayanan et al. 2021, section 2.2). For every choice of p, m and of how
many devices share a sample, the best cut of a layer comes from the exact search (search.py), in which sums of gradients weigh
1 / (m + p - 1): they are paid once a step. A device keeps the
weights, gradients and states of its layers (in as many parts as optimizer parallelism allows: Rajbhandari et al. 2020), and the
results of as many micro-batches as stages follow (1F1B); with recomputation (Chen et al. 2016) only what goes into each layer,
and a third more work. Plans that do not fit the memory are priced by a multiplier within the search of the layer, and dropped if
none fits. What stands before and behind the layers (embeddings, the loss) is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from mindspore.compiler.shard import cost
from mindspore.compiler.shard.layout import Mesh
from mindspore.compiler.shard.plan import Options, input_layouts, output_layouts
from mindspore.compiler.shard.search import Search, _weight
from mindspore.compiler.shard.strategy import Assignment
from mindspore.ir import AbstractTuple, CNode, FuncGraph

#: bytes that the optimizer keeps of an element, by the size of the weight's: two states, and a copy in 32 bits of shorter ones
_STATES = {2: 12, 4: 8}


#: seconds per byte of weights that a search may be charged
_PRICES = (0.0, 1e-12, 1e-9)


class LayerPlan(NamedTuple):
    """One way to train a network of equal layers."""

    seconds: float  #: of a step
    stages: int
    devices: int  #: of a stage
    micro_batch: int  #: samples, over the devices of a stage
    micro_batches: int
    recompute: bool
    optimizer_parallel: bool
    memory: float  #: bytes per device
    sharing: int  #: devices that work on the same samples, next to one another
    weight_parts: int  #: into how many parts the largest weight is cut
    cuts: dict[str, list[list[int]]]  #: of the operators of a layer


class Work(NamedTuple):
    """What a plan must do: `layer(samples)` is the forward graph of one layer for so many samples."""

    layer: Callable[[int], FuncGraph]
    layers: int
    batch: int  #: samples of a step
    devices: int


class _Layer(NamedTuple):
    """The best cut of one layer, and what it costs a device."""

    forward: float  #: seconds of computing for a micro-batch
    moved: float  #: seconds of communication for a micro-batch, both ways
    summed: float  #: seconds of summing gradients, once a step
    weights: float  #: bytes
    states: float  #: bytes
    copies: int  #: devices that hold the same part of the weights
    kept: float  #: bytes of all results of the forward pass
    passed: float  #: bytes of what a layer hands to the next
    chosen: dict[int, Assignment]
    nodes: list[CNode]


def find_layer_plans(work: Work, machine: cost.Machine) -> list[LayerPlan]:
    """All plans that fit the memory, the fastest first."""
    found: list[LayerPlan] = []
    for stages in _divisors(math.gcd(work.layers, work.devices)):
        devices = work.devices // stages
        for sharing in _divisors(math.gcd(devices, machine.node)):
            for micro in _micro_batches(work.batch, devices // sharing, stages):
                search = LayerSearch(work.layer(micro), devices, sharing, machine)
                found += _plans(work, machine, search, stages, micro)
    return sorted(found, key=lambda plan: plan.seconds)


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def _micro_batches(batch: int, groups: int, stages: int) -> list[int]:
    """Sizes of micro-batches: one, two, four … samples for each group of devices, as long as there is work for every stage."""
    sizes = [groups * n for n in (1, 2, 4, 8, 16, 32, 64) if batch % (groups * n) == 0]
    return [size for size in sizes if batch // size >= stages] or sizes[:1]


def _plans(work: Work, machine: cost.Machine, search: LayerSearch, stages: int, micro: int) -> list[LayerPlan]:
    found = []
    for recompute in (False, True):
        for parallel in (False, True):
            shape = Shape(work.layers // stages, stages, work.batch // micro, recompute, parallel)
            layer = search.within(shape)
            if layer is not None:
                found.append(search.described(layer, shape, micro))
    return found


class Shape(NamedTuple):
    """What the outer loop chose."""

    layers: int  #: of a stage
    stages: int
    micro_batches: int
    recompute: bool
    optimizer_parallel: bool

    @property
    def turns(self) -> int:
        """How often a stage's time for a micro-batch passes in a step."""
        return self.micro_batches + self.stages - 1

    def seconds(self, layer: _Layer, machine: cost.Machine) -> float:
        passes, moves = (4.0, 1.5) if self.recompute else (3.0, 1.0)
        hop = 2.0 * (machine.slow.latency + layer.passed / machine.slow.bandwidth) if self.stages > 1 else 0.0
        turn = self.layers * (passes * layer.forward + moves * layer.moved) + hop
        return self.turns * turn + self.layers * layer.summed

    def memory(self, layer: _Layer) -> float:
        """Bytes of a device of the first stage, which waits longest for its gradients."""
        states = layer.states / layer.copies if self.optimizer_parallel else layer.states
        waiting = min(self.micro_batches, self.stages)
        kept = layer.kept + self.layers * layer.passed * waiting if self.recompute else self.layers * layer.kept * waiting
        return self.layers * (2.0 * layer.weights + states) + kept


class LayerSearch(Search):
    """The search for the cut of one layer on the devices of a stage."""

    counts_all = True

    def __init__(self, graph: FuncGraph, devices: int, sharing: int, machine: cost.Machine):
        super().__init__(graph, Options(devices, search=True, dataset="full_batch", machine=machine))
        apart, together = Mesh.of(devices // sharing), Mesh.of(sharing)
        self.mesh = self.inputs.mesh = Mesh((*apart.shape, *together.shape))  # neighbours share samples
        self.sharing, axes, first = sharing, self.mesh.axes, len(apart.shape)
        self.groups = [group for group in (axes[:first], axes[first:]) if group]
        self.trains, self.turns = True, 1
        self.nodes = self._searched()
        self._found: dict[tuple[int, float], _Layer] = {}

    def within(self, shape: Shape) -> _Layer | None:
        """The fastest cut with which a device has enough memory; None: there is none."""
        self.turns = shape.turns
        for price in _PRICES:
            key = (self.turns, price)
            if key not in self._found:
                self._found[key] = self._summary(self._solve(self.nodes, price))
            if shape.memory(self._found[key]) <= self.machine.memory:
                return self._found[key]
        return None

    def _sum_of_gradients(self, seconds: float) -> float:
        return seconds / self.turns

    def _summary(self, chosen: dict[int, Assignment]) -> _Layer:
        forward = moved = summed = weights = states = kept = 0.0
        largest, copies = 0, 1
        for node in self.nodes:
            rule, own = self.rules[node.id], chosen[node.id]
            leaves = node.abstract.elements if isinstance(node.abstract, AbstractTuple) else (node.abstract,)
            forward += self._work(node, own)
            for leaf, layout in zip(leaves, output_layouts(rule, own)):
                moved += 2.0 * self._move(layout, layout.paid(), getattr(leaf, "nbytes", 0))
                kept += getattr(leaf, "nbytes", 0) / max(1, math.prod(layout.cuts(self.mesh)))
            for arg, wanted in zip(node.args, input_layouts(rule, own)):
                weight = _weight(arg)
                if weight is None or wanted is None:
                    continue
                stored = weight.abstract.nbytes / max(1, math.prod(wanted.cuts(self.mesh)))
                weights += stored
                states += stored * _STATES.get(weight.abstract.dtype.itemsize, 8) / weight.abstract.dtype.itemsize
                free = tuple(sorted({a for axes in own.values() for a in axes} - wanted.used))
                summed += self.machine.collective("all_reduce", stored, self.mesh, free)
                if weight.abstract.nbytes > largest:
                    largest, copies = weight.abstract.nbytes, self.mesh.size // math.prod(wanted.cuts(self.mesh))
            moved += self._between(node, chosen)
        passed = getattr(self.graph.output.abstract, "nbytes", 0) / max(1, self._parts_of_samples(chosen))
        return _Layer(forward, moved, summed, weights, states, copies, kept, passed, chosen, self.nodes)

    def _between(self, node: CNode, chosen: dict[int, Assignment]) -> float:
        """Seconds of bringing a node's arguments into place, and their gradients back."""
        seconds = 0.0
        for place in range(len(node.args)):
            edge = self._edge_of(node, place)
            if edge is not None:
                maker, output = edge
                made, wanted = self.choices[maker.id].index(chosen[maker.id]), self.choices[node.id].index(chosen[node.id])
                seconds += float(self._table(maker, output, node, place)[made, wanted])
        return seconds

    def _parts_of_samples(self, chosen: dict[int, Assignment]) -> int:
        """Into how many parts the first dimension of the layer's results is cut."""
        last = self.nodes[-1]
        labels = self.rules[last.id].outputs[0]
        return self.mesh.parts(chosen[last.id].get(labels[0], ())) if labels else 1

    def described(self, layer: _Layer, shape: Shape, micro: int) -> LayerPlan:
        cuts = {}
        for number, node in enumerate(layer.nodes):
            layouts = input_layouts(self.rules[node.id], layer.chosen[node.id])
            cuts[f"{node.op.name}-{number}"] = [list(lay.cuts(self.mesh)) for lay in layouts if lay is not None]
        return LayerPlan(
            shape.seconds(layer, self.machine), shape.stages, self.mesh.size, micro, shape.micro_batches, shape.recompute,
            shape.optimizer_parallel, shape.memory(layer), self.sharing, self.mesh.size // layer.copies, cuts,
        )  # fmt: skip
