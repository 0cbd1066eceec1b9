"""How long the steps of running pipelines take, and how much is ready when the consumer asks: measured while somebody wants to
know (`settings().stopwatch`), else not at all. Steps in worker processes are not seen; that their results are waited for is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

_clock = time.perf_counter_ns


class Step(Protocol):
    """What is timed: see `step.py`."""

    workers: int

    def run(self, epoch: int, keys: Sequence[int], rows: Sequence) -> tuple[Any, Any]: ...

    def describe(self) -> str: ...


class Lap(NamedTuple):
    """One task in one step, in nanoseconds."""

    step: Step
    start: int
    end: int
    thread: int
    rows: int


class Stopwatch:
    """What is measured; lists grow by single appends, which threads may make at once."""

    def __init__(self) -> None:
        self.laps: list[Lap] = []
        self.ready: list[tuple[int, int]] = []  # when the consumer asked, and how many rows or batches were ready

    def timed(self, step: Step, epoch: int, keys: Sequence[int], rows: Sequence) -> tuple[Any, Any]:
        """Run a step."""
        start = _clock()
        found = step.run(epoch, keys, rows)
        self.laps.append(Lap(step, start, _clock(), threading.get_ident(), max(len(keys), len(found[0]))))
        return found

    def asked(self, ready: int) -> None:
        """Note that the consumer asks for a row."""
        self.ready.append((_clock(), ready))
