"""One JSON line per iteration in the metrics file, one line per failure in the event file."""
from __future__ import annotations

import json
import os
import time
from typing import Any

import numpy as np

from mindspore_federated.common.settings import Settings


def short(value: float) -> float:
    """The shortest decimal that is the same float32: 6.9, not 6.900000095367432."""
    return float(str(np.float32(value)))


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
