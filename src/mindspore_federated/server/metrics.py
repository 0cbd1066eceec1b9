"""One JSON line per iteration in the metrics file, one line per failure in the event file."""
from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mindspore_federated.common.settings import Settings

_COUNTED = ("startFLJob", "updateModel", "getModel", "getResult")


def short(value: float) -> float:
    """The shortest decimal that is the same float32: 6.9, not 6.900000095367432."""
    return float(str(np.float32(value)))


class Visits:
    """How many requests of a round one server took and refused, and how long clients needed from their place to their upload.

    `participationTimeLevel1` counts those below the first limit of `summary.participation_time_level` (in minutes), `2` those
    below the second, `3` all.
    """

    def __init__(self, settings: Settings) -> None:
        self._limits = [60 * float(part) for part in settings.word("summary.participation_time_level").split(",")]
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def asked(self, round_name: str, *, accepted: bool) -> None:
        """A request was answered."""
        if round_name in _COUNTED:
            with self._lock:
                self._counts[f"{round_name}TotalClientNum"] += 1
                self._counts[f"{round_name}{'Accept' if accepted else 'Reject'}ClientNum"] += 1

    def participated(self, seconds: float) -> None:
        """A client's update came so long after it got its place."""
        with self._lock:
            for level, limit in enumerate((*self._limits, float("inf")), 1):
                self._counts[f"participationTimeLevel{level}"] += seconds < limit

    def taken(self) -> dict[str, int]:
        """The counts so far."""
        with self._lock:
            return dict(self._counts)

    def reset(self) -> None:
        """A new round begins."""
        with self._lock:
            self._counts.clear()

    @staticmethod
    def together(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
        """The counts of several servers, all names present."""
        names = [f"{name}{kind}ClientNum" for name in _COUNTED for kind in ("Total", "Accept", "Reject")]
        total: Counter[str] = Counter(dict.fromkeys((*names, *(f"participationTimeLevel{level}" for level in (1, 2, 3))), 0))
        for some in counts:
            total.update(some)
        return dict(total)


class Metrics:
    """The files that tell how the iterations went."""

    def __init__(self, settings: Settings) -> None:
        self._metrics_file = settings.word("summary.metrics_file")
        self._event_file = settings.word("summary.failure_event_file")
        self._event_after = settings.whole("summary.continuous_failure_times")

    def iteration(self, **values: Any) -> None:
        """Add the line of an iteration."""
        _append(self._metrics_file, json.dumps(values))

    def failures(self, count: int, fl_name: str, iteration: int, reason: str) -> None:
        """Tell of iterations that keep failing."""
        if count and count % self._event_after == 0:
            _append(self._event_file, json.dumps({
                "flName": fl_name, "currentIteration": iteration, "failureTimes": count, "failureEvent": reason,
                "time": time.strftime("%Y-%m-%d %H:%M:%S")}))


def _append(path: str, line: str) -> None:
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)   # one write: lines never mix
    try:
        os.write(handle, (line + "\n").encode())
    finally:
        os.close(handle)
