"""Arena planning: tensors whose lifetimes do not overlap share memory.

Greedy by size: the largest tensors are placed first, each at the lowest gap that is free for its whole lifetime
(Pisarchyk & Lee 2020, "Efficient memory management for deep neural net inference").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 64


@dataclass(frozen=True)
class Interval:
    """A tensor of `nbytes` alive from step `first` to step `last`, both included."""

    nbytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Plan:
    """`offsets[i]`: where tensor i starts. `peak`: bytes of the arena. `total`: bytes without reuse."""

    offsets: tuple[int, ...]
    peak: int
    total: int

    @property
    def ratio(self) -> float:
        return self.peak / self.total if self.total else 1.0


def round_up(n: int) -> int:
    return -(-n // ALIGNMENT) * ALIGNMENT


def plan(intervals: Sequence[Interval]) -> Plan:
    """Assign offsets so that tensors alive together do not overlap."""
    offsets = [0] * len(intervals)
    placed: list[int] = []  # by offset
    order = sorted(range(len(intervals)), key=lambda i: (-intervals[i].nbytes, intervals[i].first))
    for i in order:
        mine = intervals[i]
        size = round_up(mine.nbytes)
        start = 0
        for j in placed:
            other = intervals[j]
            if other.last < mine.first or other.first > mine.last:
                continue
            if offsets[j] >= start + size:
                break
            start = max(start, offsets[j] + round_up(other.nbytes))
        offsets[i] = start
        placed.append(i)
        placed.sort(key=offsets.__getitem__)
    ends = [offsets[i] + round_up(intervals[i].nbytes) for i in range(len(intervals))]
    return Plan(tuple(offsets), max(ends, default=0), sum(round_up(i.nbytes) for i in intervals))
