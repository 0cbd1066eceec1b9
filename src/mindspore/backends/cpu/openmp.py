"""The OpenMP runtime and the oneDNN library, found and loaded once per process.

Both come from PyPI wheels (`onednn-cpu-gomp`, or `onednn-cpu-iomp` with Intel's runtime); oneDNN and our own kernels
share one pool of threads because our kernels call the same runtime's `GOMP_parallel`.

A thread that waits for others spins before it sleeps. GNU's runtime spins for milliseconds, which is a disaster when
other processes want the same cores: the spinning thread uses up the time slice that the thread it waits for needs (a
LeNet step next to two busy processes: 296 ms instead of 5 ms). Likewise more threads than a container may use cores
only wait for one another. The runtime reads both from the environment when it is loaded, so they are set around loading
it, unless the user has said something.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

#: turns of the waiting loop: long enough to bridge the gap between two kernels of a graph, short next to a time slice
_SPIN_COUNT = "2000"
_PAUSE_HARD = 2
_INTEL_RUNTIME = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libiomp5.so")


def _library_folders() -> Iterator[Path]:
    """Where wheels put shared libraries: beside the interpreter's prefix, or where their file lists say."""
    yield Path(sys.prefix) / "lib"
    import importlib.metadata  # takes longer to load than most programs need it

    for name in ("onednn-cpu-gomp", "onednn-cpu-iomp", "intel-openmp"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found = (file for file in importlib.metadata.files(name) or () if ".so" in file.name)
            yield from dict.fromkeys(Path(os.path.realpath(str(file.locate()))).parent for file in found)


def _load(name: str, folders: Iterable[Path]) -> ctypes.CDLL | None:
    for candidate in itertools.chain((folder / name for folder in folders), (Path(name),)):
        with contextlib.suppress(OSError):
            return ctypes.CDLL(str(candidate), mode=ctypes.RTLD_GLOBAL)
    return None


def _quota(folder: Path = Path("/sys/fs/cgroup")) -> int:
    """How many cores' time a container may use, rounded up; 0 where there is no limit."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with contextlib.suppress(OSError, ValueError):
            share, period = " ".join((folder / f).read_text() for f in files).split()
            return max(1, -(-int(share) // int(period))) if share != "max" and int(share) > 0 else 0
    return 0


def _settings() -> dict[str, str]:
    """Variables for the runtime to read, without those that the user has set."""
    found = {}
    if not any(name in os.environ for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")):
        found["GOMP_SPINCOUNT"] = _SPIN_COUNT
    quota = _quota()
    if "OMP_NUM_THREADS" not in os.environ and 0 < quota < (os.cpu_count() or 1):
        found["OMP_NUM_THREADS"] = str(quota)
    return found


@contextlib.contextmanager
def _in_environment(settings: dict[str, str]) -> Iterator[None]:
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            os.environ.pop(name, None)


@functools.cache
def runtime() -> ctypes.CDLL | None:
    """The OpenMP runtime, with its symbols visible to generated code; None where there is none."""
    with _in_environment(_settings()):
        library = _load("libgomp.so.1", [])
        if library is None:
            for name in _INTEL_RUNTIME:
                library = _load(name, _library_folders())
    if library is None or not hasattr(library, "GOMP_parallel"):
        return None
    _survive_forks(library)
    return library


def _survive_forks(library: ctypes.CDLL) -> None:
    """End the threads before a fork: a child that believes to have the parent's threads would wait for them for ever."""
    if hasattr(os, "register_at_fork") and hasattr(library, "omp_pause_resource_all"):
        os.register_at_fork(before=lambda: library.omp_pause_resource_all(_PAUSE_HARD))


@functools.cache
def onednn() -> ctypes.CDLL | None:
    """oneDNN 3.x, or None."""
    if runtime() is None:
        return None
    library = _load("libdnnl.so.3", _library_folders())
    return library if library is not None and hasattr(library, "dnnl_memory_desc_query") else None


def threads() -> int:
    """How many threads a parallel region uses."""
    library = runtime()
    return int(library.omp_get_max_threads()) if library is not None else 1


@contextlib.contextmanager
def limited(count: int) -> Iterator[None]:
    """Have parallel regions of the calling thread use so many threads; 0 changes nothing."""
    if not count:
        yield
        return
    before = threads()
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


def alone(function: Callable[..., T], *args: Any) -> T:
    """`function(*args)` with parallel regions of one thread: `limited(1)`, where half a microsecond counts."""
    library = runtime()
    if library is None:
        return function(*args)
    before = library.omp_get_max_threads()
    library.omp_set_num_threads(1)
    try:
        return function(*args)
    finally:
        library.omp_set_num_threads(before)


def set_threads(count: int) -> None:
    """Of parallel regions that the calling thread begins; others have their own number."""
    library = runtime()
    if library is not None and count > 0:
        library.omp_set_num_threads(int(count))
