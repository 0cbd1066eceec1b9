"""Which of two ways is quicker, on a machine that others use, too.

Both are measured in turns of some steps, in changing order, so that what else the machine does meets both. A turn gives a pair of
middle times, and the pairs decide together: one is quicker if it is so by a margin in the middle pair and in its quickest step,
and at all in all pairs but one. Chance alone brings the last in one of sixteen cases, and hardly the margins as well.

What share of the processors others took meanwhile is read from the system. Where they took much, the number of threads cannot be
judged: two threads that share a processor with somebody lose, and would win on the same machine an hour later.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

TURNS = 7
#: from this share of the processors on, others disturb
BUSY = 0.15


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two ways by turns: the milliseconds of the steps of each turn, and the share of the processors that others took."""

    first: list[list[float]]
    second: list[list[float]]
    others: float

    @property
    def before(self) -> float:
        return statistics.median(t for turn in self.first for t in turn)

    @property
    def after(self) -> float:
        return statistics.median(t for turn in self.second for t in turn)

    @property
    def share(self) -> float:
        """The second way's time over the first's, in the middle pair of turns."""
        return statistics.median(_shares(self.first, self.second))

    def second_is_quicker(self, share: float) -> bool:
        """Whether it clearly needs less than this share of the first way's time."""
        pairs = _shares(self.first, self.second)
        most = sum(pair < 1.0 for pair in pairs) >= len(pairs) - 1
        return most and self.share < share and min(map(min, self.second)) < share * min(map(min, self.first))


def _shares(first: list[list[float]], second: list[list[float]]) -> list[float]:
    return [statistics.median(b) / statistics.median(a) for a, b in zip(first, second)]


def by_turns(first: Callable[[], list[float]], second: Callable[[], list[float]], turns: int = TURNS) -> Comparison:
    """Compare two ways; each call gives the milliseconds of some steps."""
    times: tuple[list[list[float]], list[list[float]]] = ([], [])
    others = Others()
    for turn in range(turns):
        for way in (0, 1) if turn % 2 == 0 else (1, 0):
            times[way].append((first, second)[way]())
    return Comparison(*times, others.share())


class Others:
    """What share of the processors others take, from its making on; 0 where the system does not say."""

    def __init__(self) -> None:
        self.begin = processor_seconds()

    def share(self) -> float:
        own, busy, total = (now - then for now, then in zip(processor_seconds(), self.begin))
        return min(max(busy - own, 0.0) / total, 1.0) if total > 0 else 0.0


def processor_seconds() -> tuple[float, float, float]:
    """The seconds that this process, all processes together, and all with the idle time have had of the processors."""
    try:
        with Path("/proc/stat").open() as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        tick = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0, 0.0, 0.0
    idle = sum(fields[3:5])
    return time.process_time(), (sum(fields) - idle) / tick, sum(fields) / tick
