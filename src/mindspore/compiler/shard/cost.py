"""How long operations and collectives take: a roofline for each device, latency and bandwidth for each class of links.

Ranks within a node talk over the fast links, others over the slow ones; a collective over several axes of the mesh runs at
the speed of its slowest link. Times of collectives are those of rings: n members move (n-1)/n of the bytes in n-1 steps. Sums of short
messages double the distance in each round instead, as libraries do (Thakur, Rabenseifner and Gropp 2005).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from dataclasses import dataclass
from typing import Any

from mindspore.compiler.shard.layout import Axes, Layout, Mesh
from mindspore.compiler.shard.redistribute import Step, steps
from mindspore.prims.factors import Factors


@dataclass(frozen=True)
class Link:
    """A class of links between devices."""

    latency: float  #: seconds per message
    bandwidth: float  #: bytes per second and device


@dataclass(frozen=True)
class Machine:
    """What one device does, and what links there are."""

    flops: float = 150e12
    memory_rate: float = 1.5e12  #: bytes per second
    launch: float = 4e-6  #: seconds per operation
    memory: float = 64e9  #: bytes
    node: int = 8  #: devices that share the fast links
    fast: Link = Link(3e-6, 200e9)
    slow: Link = Link(10e-6, 20e9)
    hidden: float = 0.0  #: the share of communication that computing hides, where plans are not simulated

    @classmethod
    def load(cls, path: str) -> Machine:
        """A machine measured by `mindspore.parallel.calibrate`."""
        with open(path, encoding="utf-8") as stream:
            known = json.load(stream)
        links: dict[str, Any] = {name: Link(**known.pop(name)) for name in ("fast", "slow") if name in known}
        fields = {f.name for f in dataclasses.fields(cls)}
        return cls(**{k: v for k, v in known.items() if k in fields}, **links)

    def with_free_work(self) -> Machine:
        """A machine on which only bytes that are sent take time worth mentioning."""
        fast, slow = (dataclasses.replace(link, latency=0.0) for link in (self.fast, self.slow))
        return dataclasses.replace(
            self, flops=self.flops * 1e6, memory_rate=self.memory_rate * 1e6, launch=0.0, fast=fast, slow=slow
        )

    def link(self, mesh: Mesh, axes: Axes) -> Link:
        far = any(mesh.stride(a) * mesh.shape[a] > self.node for a in axes)
        return self.slow if far else self.fast

    def collective(self, kind: str, nbytes: float, mesh: Mesh, axes: Axes) -> float:
        """Seconds; `nbytes` are those of a device's part before (gathers: after) the step."""
        return min(start + each * nbytes for start, each in self.ways(kind, mesh, axes))

    def ways(self, kind: str, mesh: Mesh, axes: Axes) -> list[tuple[float, float]]:
        """Of each algorithm for a collective: seconds however short the message, and seconds per byte of it."""
        members = mesh.parts(axes)
        if members == 1 or kind == "cut":
            return [(0.0, 0.0)]
        link, shown = self.link(mesh, axes), 1.0 - self.hidden
        return [(rounds * link.latency * shown, share / link.bandwidth * shown) for rounds, share in algorithms(kind, members)]

    def operation(self, flops: float, nbytes: float) -> float:
        return self.launch + max(flops / self.flops, nbytes / self.memory_rate)


@functools.cache
def algorithms(kind: str, members: int) -> list[tuple[int, float]]:
    """Of each algorithm for a collective: rounds, and the share of the bytes that a member sends; that for long messages is the last."""
    around, others = members - 1, (members - 1) / members
    if kind == "all_reduce":
        doublings = math.ceil(math.log2(members))
        return [(doublings, doublings), (2 * around, 2 * others)]
    return [(around, others)]


def redistribution(source: Layout, target: Layout, nbytes: float, mesh: Mesh, machine: Machine) -> float:
    """Seconds to bring a tensor of so many bytes in all from one layout to another."""
    return sum(seconds for _, seconds, _ in timed_steps(source, target, nbytes, mesh, machine))


def timed_steps(
    source: Layout, target: Layout, nbytes: float, mesh: Mesh, machine: Machine
) -> list[tuple[Step, float, float]]:
    """Each step with its seconds and the bytes that a device sends."""
    here = nbytes / max(1, math.prod(source.cuts(mesh)))
    found = []
    for step in steps(source, target):
        members = mesh.parts(step.axes)
        if step.kind == "all_gather":
            here *= members
        seconds = machine.collective(step.kind, here, mesh, step.axes)
        sent = 0.0 if step.kind == "cut" else here * (members - 1) / members * (2 if step.kind == "all_reduce" else 1)
        found.append((step, seconds, sent))
        if step.kind in ("cut", "reduce_scatter"):
            here /= members
    return found


def label_sizes(rule: Factors, shapes: list[tuple[int, ...] | None], outputs: list[tuple[int, ...]]) -> dict[str, int]:
    """The largest size that each label stands for."""
    sizes: dict[str, int] = {}
    pairs = [*zip(rule.inputs, shapes), *zip(rule.outputs, outputs)]
    for labels, shape in pairs:
        for label, size in zip(labels or (), shape or ()):
            if label:
                sizes[label] = max(sizes.get(label, 1), size)
    return sizes


def flops_of(rule: Factors, shapes: list[Any], outputs: list[tuple[int, ...]]) -> float:
    """Multiply-adds counted twice: every combination of labels is a term, where something is contracted; else one each."""
    sizes = label_sizes(rule, shapes, outputs)
    total = math.prod(sizes.values())
    return 2.0 * total if rule.contracted and len([s for s in shapes if s]) > 1 else float(total)
