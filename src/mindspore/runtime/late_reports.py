"""Wrong values that an accelerator has met, raised when the host next has reason to wait for it.

A graph, or an eager operation, computes a record of the first value that is not allowed (prims/requirements.py). Reading it
after each step would make the host wait for the step, and the device for the host. So records are queued: those that are
ready are read when the next step is started, all of them when a value is looked at or the device is synchronised. By then
a GPU has applied the step that met the wrong value; elsewhere the graph gives back the old weights (backends/xla).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: records not read yet; of more than these the oldest is waited for, which was done long ago
LONGEST_QUEUE = 64


class _Record(NamedTuple):
    code: Any  # array: 0 or False while nothing is wrong
    error: Callable[[int], BaseException]  # from the code

    @property
    def is_ready(self) -> bool:
        return not getattr(self.code, "is_pending", False) and self.code.is_ready()


class LateReports:
    """The records of one device that nobody has read yet, oldest first."""

    def __init__(self) -> None:
        self._queue: deque[_Record] = deque()

    def add(self, code: Any, error: Callable[[int], BaseException]) -> None:
        self._queue.append(_Record(code, error))
        if len(self._queue) > LONGEST_QUEUE:
            self._read_oldest()

    def check(self, wait: bool) -> None:
        """Raise the first error among the records that are ready, or that are there at all."""
        while self._queue and (wait or self._queue[0].is_ready):
            self._read_oldest()

    def _read_oldest(self) -> None:
        record = self._queue.popleft()
        code = int(np.asarray(record.code))
        if code:
            self._queue.clear()  # what follows from a wrong value says nothing new
            raise record.error(code)
