"""Counts and times of a version of a servable, for metrics and the statistics of protocol v2."""

from __future__ import annotations

import bisect
import threading
from dataclasses import dataclass, field
from typing import Any

from mindspore_serving.engine.errors import ServingError

#: upper bounds, in seconds, of the histogram of latencies
BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass
class MethodStatistics:
    requests: int = 0
    failures: int = 0
    instances: int = 0
    executions: int = 0
    total_s: float = 0.0
    queue_s: float = 0.0
    compute_s: float = 0.0
    last: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    #: size of a batch -> (how often, seconds)
    batches: dict[int, tuple[int, float]] = field(default_factory=dict)

    def note_latency(self, seconds: float) -> None:
        self.total_s += seconds
        self.buckets[bisect.bisect_left(BUCKETS, seconds)] += 1


class Statistics:
    """Written by the threads of the workers, read by the protocols."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.methods: dict[str, MethodStatistics] = {}
        self.worker_restarts = 0

    def of(self, method: str) -> MethodStatistics:
        with self._lock:
            return self.methods.setdefault(method, MethodStatistics())

    def note_batch(self, method: str, answered: list[tuple[Any, list[Any]]], now: float) -> None:
        found = self.of(method)
        with self._lock:
            size = sum(len(answers) for _, answers in answered)
            seconds = now - answered[0][0].started_at
            often, before = found.batches.get(size, (0, 0.0))
            found.batches[size] = (often + 1, before + seconds)
            found.executions += 1
            found.instances += size
            for request, answers in answered:
                found.requests += 1
                found.failures += any(isinstance(answer, ServingError) for answer in answers)
                found.queue_s += request.started_at - request.queued_at
                found.compute_s += now - request.started_at
                found.note_latency(now - request.queued_at)
