"""Where steps run: in the calling thread, in threads, or (see `process.py`) in worker processes.

Every executor maps a function over an iterator of tasks, gives results in the order of the tasks, and holds only a
bounded number of them at once.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol


class Executor(Protocol):
    workers: int

    def imap(self, tasks: Iterable) -> Iterator: ...

    def close(self) -> None: ...


class Inline:
    """Run each task when its result is asked for."""

    workers = 1

    def __init__(self, function: Callable[[Any], Any]):
        self._function = function

    def imap(self, tasks: Iterable) -> Iterator:
        return map(self._function, tasks)

    def close(self) -> None:
        pass


class Threads:
    """Run tasks in a pool of threads; `workers` and `depth` may be changed while it runs."""

    def __init__(self, function: Callable[[Any], Any], workers: int, depth: int):
        self._function = function
        self.workers = workers
        self.depth = depth
        self._pool: ThreadPoolExecutor | None = None
        self._pool_size = 0
        self._lock = threading.Lock()
        self._closed = False
        self._waited = 0.0

    def imap(self, tasks: Iterable) -> Iterator:
        pending: deque[Future] = deque()
        try:
            for task in tasks:
                pending.append(self._submit(task))
                while len(pending) >= self.workers + self.depth:
                    yield self._wait(pending.popleft())
            while pending:
                yield self._wait(pending.popleft())
        finally:
            for future in pending:
                future.cancel()

    def _wait(self, future: Future) -> Any:
        if future.done():
            return future.result()
        began = time.monotonic()
        try:
            return future.result()
        finally:
            self._waited += time.monotonic() - began

    def take_waited(self) -> float:
        """Seconds the consumer has waited since the last call."""
        waited, self._waited = self._waited, 0.0
        return waited

    def _submit(self, task: Any) -> Future:
        with self._lock:
            if self._closed:
                raise RuntimeError("The pipeline has been closed.")
            if self._pool is None or self._pool_size != self.workers:
                if self._pool is not None:
                    self._pool.shutdown(wait=False)
                self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="mindspore-data")
                self._pool_size = self.workers
            return self._pool.submit(self._function, task)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = None
