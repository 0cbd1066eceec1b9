"""The OpenMP runtime and the oneDNN library, found and loaded once per process.

Both come from PyPI wheels (`onednn-cpu-gomp`, or `onednn-cpu-iomp` with Intel's runtime); oneDNN and our own kernels
share one pool of threads because our kernels call the same runtime's `GOMP_parallel`.

A thread that waits for others spins before it sleeps. GNU's runtime spins for milliseconds, which is a disaster when
other processes want the same cores: the spinning thread uses up the time slice that the thread it waits for needs (a
LeNet step next to two busy processes: 296 ms instead of 5 ms). It reads how long to spin from the environment when it
is loaded, so that is set around loading it, unless the user has said something.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from pathlib import Path

#: turns of the waiting loop: long enough to bridge the gap between two kernels of a graph, short next to a time slice
_SPIN_COUNT = "2000"
_WAITING_VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_PAUSE_HARD = 2
_INTEL_RUNTIME = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libiomp5.so")


def _library_folders() -> list[Path]:
    """Where wheels put shared libraries: beside the interpreter's prefix, or where their file lists say."""
    folders = [Path(sys.prefix) / "lib"]
    for name in ("onednn-cpu-gomp", "onednn-cpu-iomp", "intel-openmp"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            for file in importlib.metadata.files(name) or ():
                if ".so" in file.name:
                    folders.append(Path(os.path.realpath(str(file.locate()))).parent)
    return list(dict.fromkeys(f for f in folders if f.is_dir()))


def _load(name: str, folders: list[Path]) -> ctypes.CDLL | None:
    for candidate in [*(folder / name for folder in folders), Path(name)]:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(str(candidate), mode=ctypes.RTLD_GLOBAL)
    return None


@contextlib.contextmanager
def _short_spinning() -> Iterator[None]:
    """Let an OpenMP runtime loaded here spin briefly only."""
    if any(name in os.environ for name in _WAITING_VARIABLES):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = _SPIN_COUNT
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)


@functools.cache
def runtime() -> ctypes.CDLL | None:
    """The OpenMP runtime, with its symbols visible to generated code; None where there is none."""
    with _short_spinning():
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


def set_threads(count: int) -> None:
    library = runtime()
    if library is not None and count > 0:
        library.omp_set_num_threads(int(count))
