"""Wrong values that an accelerator has met, raised when the host next has reason to wait for it.

A graph, or an eager operation, computes a record of the first value that is not allowed (prims/requirements.py). Reading it
after each step would make the host wait for the step, and the device for the host. So records are queued: those that are
ready are read when the next step is started, all of them when a value is looked at or the device is synchronised. By then
a GPU has applied the step that met the wrong value; elsewhere the graph gives back the old weights (backends/xla).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

#: records not read yet; of more than these the oldest is waited for, which was done long ago
LONGEST_QUEUE = 64


class _Record:
    def __init__(self, code: Any, error: Callable[[int], BaseException]):
        self.code = code  # array: 0 or False while nothing is wrong
        self.error = error  # from the code
        self.on_its_way = False

    @property
    def is_pending(self) -> bool:
        """Whether the device was not even asked to compute it."""
        return getattr(self.code, "is_pending", False)

    @property
    def is_ready(self) -> bool:
        return not self.is_pending and self.code.is_ready()

    def send(self) -> None:
        """Have it copied to the host as soon as it is there, so that nobody waits for a copy later."""
        copy = getattr(self.code, "copy_to_host_async", None)
        if copy is not None:
            copy()
        self.on_its_way = True


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
        for record in reversed(self._queue):  # the newest come last
            if record.on_its_way:
                break
            if not record.is_pending:
                record.send()
        while self._queue and (wait or self._queue[0].is_ready):
            self._read_oldest()

    def _read_oldest(self) -> None:
        record = self._queue.popleft()
        code = int(np.asarray(record.code))
        if code:
            self._queue.clear()  # what follows from a wrong value says nothing new
            raise record.error(code)
