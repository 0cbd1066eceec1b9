"""Work done on other cores while Python goes on: machine code is generated beside lowering.

Helpers are threads that live as long as jobs wait. Whoever needs the result of a job that nobody has begun does it itself, and
does others while somebody else is at it; so a single job never starts a thread, and on one core there are none. Python's
interpreter runs one thread at a time: it pays for jobs that spend their time outside it, in few and long calls.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from mindspore._base.interrupt import held_back, keep_interrupts

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
        if not self._turn.locked():
            with contextlib.suppress(RuntimeError, MemoryError), self._turn:  # `with`: no interrupt leaves it locked
                self._finish()

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
    """`lock` is held while a thread starts and during a fork. Nothing else needs it: deques and sets do one thing at a time.

    Nobody waits for it but who forks, so that other locks may be taken before it and after it. A destructor or a signal's handler may
    come in between and offer a job or fork: who holds it may take it again.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.waiting: deque[weakref.ref[Job]] = deque()
        self.threads: set[threading.Thread] = set()

    def offer(self, job: Job) -> None:
        self.waiting.append(weakref.ref(job))
        if len(self.waiting) > 1 and len(self.threads) < min(_MOST, _cores() - 1):
            self._start(threading.Thread(target=self._help, name="compile"))

    def _start(self, thread: threading.Thread) -> None:
        if not sys.is_finalizing() and self.lock.acquire(blocking=False):  # a thread would never begin then
            self.threads.add(thread)
            try:
                thread.start()
            except RuntimeError:  # no more threads are to be had: jobs are done by who needs them
                self.threads.discard(thread)
            finally:
                self.lock.release()

    def take(self, last: bool = False) -> Job | None:
        with contextlib.suppress(IndexError):  # empty
            while True:
                job = (self.waiting.pop if last else self.waiting.popleft)()()
                if job is not None:
                    return job
        return None

    def _help(self) -> None:
        try:
            while (job := self.take()) is not None:
                job.attempt()
                del job  # or it would be kept while this thread waits for the next
        finally:
            self.threads.discard(threading.current_thread())

    def pause(self) -> None:
        self.lock.acquire()
        with held_back():
            while threads := [t for t in list(self.threads) if t.is_alive() and t is not threading.current_thread()]:
                self.waiting.clear()  # done by who needs it
                threads[0].join()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_HELPERS = _Helpers()


def survive_forks(lock: threading.RLock) -> None:
    """A child would wait for ever for jobs that threads of its parent had begun, and for a lock that they held: before a fork helpers
    end, then `lock`, which jobs may need, is taken; neither is given free until it is over."""
    if hasattr(os, "register_at_fork"):
        keep_interrupts()  # Python ignores what is raised in a hook
        for taken in (lock.acquire, _HELPERS.pause):  # those registered last come first
            os.register_at_fork(before=taken)
        for free in (lock.release, _HELPERS.lock.release):
            os.register_at_fork(after_in_parent=free, after_in_child=free)
