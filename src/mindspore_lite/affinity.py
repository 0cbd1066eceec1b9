"""Threads bound to cores: `context.cpu.thread_affinity_mode` and `thread_affinity_core_list`.

OpenMP keeps a team of threads for every thread that calls it. The first run of a caller has each thread of its team bind itself, for good;
the caller is bound while a model runs and gets its own cores back.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from mindspore.backends.cpu import openmp

UNBOUND, FAST_FIRST, SLOW_FIRST = 0, 1, 2
_Body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def wanted_cores(mode: int, listed: Sequence[int], threads: int) -> list[int]:
    """The cores that a context asks for, one per thread; none if threads are free. ValueError for cores that are not there."""
    if mode not in (UNBOUND, FAST_FIRST, SLOW_FIRST):
        raise ValueError(f"cpu.thread_affinity_mode must be 0 (free), 1 (fast cores first) or 2 (slow cores first), but got {mode}")
    if mode == UNBOUND and not listed:
        return []
    allowed = sorted(os.sched_getaffinity(0))
    missing = [core for core in listed if core not in allowed]
    if missing:
        raise ValueError(f"cpu.thread_affinity_core_list names core {missing[0]}; this process may use {allowed}")
    if listed:
        return list(listed)
    ordered = sorted(allowed, key=lambda core: (_frequency(core) * (-1 if mode == FAST_FIRST else 1), core))
    return ordered[: threads or openmp.threads()]


def _frequency(core: int) -> int:
    """The highest one of a core; 0 where the system does not tell, so that all are alike."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/sys/devices/system/cpu/cpu{core}/cpufreq/cpuinfo_max_freq").read_text())
    return 0


class Binding:
    """Cores for a number of threads (0: as many as OpenMP uses)."""

    def __init__(self, cores: Sequence[int], threads: int):
        self.cores, self._threads = list(cores), threads
        self._bound = threading.local()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While a model runs in the calling thread."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.cores[0]})
        try:
            if not getattr(self._bound, "team", False):
                self._bind_team()
                self._bound.team = True
            yield
        finally:
            os.sched_setaffinity(0, before)

    def _bind_team(self) -> None:
        library = openmp.runtime()
        count = self._threads or openmp.threads()
        if library is None or count < 2:
            return

        def bind(_: int | None) -> None:
            os.sched_setaffinity(0, {self.cores[library.omp_get_thread_num() % len(self.cores)]})

        library.GOMP_parallel(_Body(bind), None, ctypes.c_uint(count), ctypes.c_uint(0))
