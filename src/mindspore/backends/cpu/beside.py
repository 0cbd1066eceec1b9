"""Work done on other cores while Python goes on: machine code is generated beside lowering.

Helpers are threads that live as long as jobs wait. Whoever needs the result of a job that nobody has begun does it itself, and
does others while somebody else is at it; so a single job never starts a thread, and on one core there are none. Python's
interpreter runs one thread at a time: it pays for jobs that spend their time outside it, in few and long calls.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_MOST = 3  # more helpers than this wait for the interpreter more than they work


class Job(Generic[T]):
    """`make()`, done by the thread that comes to it first, and by the next one if that fails. What nobody holds is not done."""

    def __init__(self, make: Callable[[], T]):
        self._make = make
        self._turn = threading.Lock()  # held by who is at it
        self._made: list[T] = []
        _HELPERS.offer(self)

    def attempt(self) -> None:
        """Do it, unless somebody is at it. Whoever needs the result meets the error, too, and in its own thread."""
        if self._turn.acquire(blocking=False):
            try:
                with contextlib.suppress(RuntimeError, MemoryError):
                    self._finish()
            finally:
                self._turn.release()

    def result(self) -> T:
        while self._turn.locked() and (other := _HELPERS.take(last=True)) is not None:
            other.attempt()
        with self._turn:
            return self._finish()

    def _finish(self) -> T:
        if not self._made:
            self._made.append(self._make())
            del self._make  # and what it needed
        return self._made[0]


class _Helpers:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: deque[weakref.ref[Job]] = deque()
        self.threads: set[threading.Thread] = set()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._pause, after_in_parent=self.lock.release, after_in_child=self.lock.release)

    def offer(self, job: Job) -> None:
        with self.lock:
            self.waiting.append(weakref.ref(job))
            if len(self.waiting) > 1 and len(self.threads) < min(_MOST, _cores() - 1):
                thread = threading.Thread(target=self._help, name="compile")
                self.threads.add(thread)
                thread.start()

    def take(self, last: bool = False) -> Job | None:
        with self.lock:
            while self.waiting:
                job = (self.waiting.pop if last else self.waiting.popleft)()()
                if job is not None:
                    return job
        return None

    def _help(self) -> None:
        while (job := self.take()) is not None:
            job.attempt()
            del job  # or it would be kept while this thread waits for the next
        with self.lock:
            self.threads.discard(threading.current_thread())

    def _pause(self) -> None:
        """Before a fork: a child would wait for ever for what threads of its parent had begun. None starts until it is over."""
        while True:
            self.lock.acquire()
            self.waiting.clear()  # done by who needs it
            if not self.threads:
                return
            threads = list(self.threads)
            self.lock.release()
            for thread in threads:
                thread.join()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_HELPERS = _Helpers()
