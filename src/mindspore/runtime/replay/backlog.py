"""Steps that wait to be written: as many as fit into some memory, so that a training waits for a slow disk only where it must."""

from __future__ import annotations

import threading
from collections import deque

from mindspore.runtime.replay.ring import StepRecord


class Backlog:
    """A queue that is bounded by the bytes of what waits in it; one step of any size may always wait."""

    def __init__(self, limit: int):
        self._limit = limit
        self._waiting: deque[StepRecord | None] = deque()
        self._bytes = 0
        self._changed = threading.Condition()

    def put(self, record: StepRecord | None) -> None:
        """Add a step, or None for the end; waits for room."""
        size = record.nbytes if record is not None else 0
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting or self._bytes + size <= self._limit)
            self._waiting.append(record)
            self._bytes += size
            self._changed.notify_all()

    def get(self) -> StepRecord | None:
        """Take the oldest step; waits for one."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting))
            record = self._waiting.popleft()
            self._bytes -= record.nbytes if record is not None else 0
            self._changed.notify_all()
            return record
