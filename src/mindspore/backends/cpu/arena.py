"""Memory for what lives only while a graph runs.

Graphs share arenas: whoever runs holds an arena's lock, and a graph called meanwhile (by another thread, or from within a
host step) uses another arena. So a process needs as much memory as its largest graph, not as all of them together: a
network compiled for ten lengths of sentences costs what the longest one does. An arena reserves far more addresses
than any graph needs; memory comes into being where it is first touched. When the last graph that used an arena is
gone, its memory goes back to the system.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading

_HUGE_PAGE = 1 << 21
_RESERVED = 1 << 36  # more than any graph needs; less where the machine has less memory than that
_WITHOUT_SWAP_SPACE = getattr(mmap, "MAP_NORESERVE", 0x4000)


class Arena:
    """Anonymous memory, in huge pages where the system allows. `lock` is held by the graph that runs in it."""

    def __init__(self, nbytes: int, flags: int = 0):
        self.nbytes = nbytes
        self.lock = threading.Lock()
        self.users = 0  # instances of graphs whose tables point into it
        self.memory = mmap.mmap(-1, nbytes + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags)
        if hasattr(mmap, "MADV_HUGEPAGE") and nbytes >= _HUGE_PAGE:
            self.memory.madvise(mmap.MADV_HUGEPAGE)
        self._pin = (ctypes.c_char * 1).from_buffer(self.memory)
        base = ctypes.addressof(self._pin)
        self.address = -(-base // _HUGE_PAGE) * _HUGE_PAGE if nbytes >= _HUGE_PAGE else -(-base // 64) * 64

    def join(self) -> None:
        with _GUARD:
            self.users += 1

    def leave(self) -> None:
        """One user less; the last one lets the memory go."""
        with _GUARD:
            self.users -= 1
            if self.users == 0:
                self.release()

    def release(self) -> None:
        """Give the memory back to the system; the addresses stay ours, and the contents are lost."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.memory.madvise(mmap.MADV_DONTNEED)


_GUARD = threading.RLock()  # a collection of garbage may come at any time, also while it is held
_SHARED: list[Arena] = []


def acquire(nbytes: int) -> Arena:
    """An arena of at least so many bytes, locked for the caller."""
    with _GUARD:
        for arena in _SHARED:
            if arena.nbytes >= nbytes and arena.lock.acquire(blocking=False):
                return arena
        arena = _reserve(nbytes)
        arena.lock.acquire()
        _SHARED.append(arena)
        return arena


def _reserve(nbytes: int) -> Arena:
    most = min(_RESERVED, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if nbytes <= most:
        try:
            return Arena(most, _WITHOUT_SWAP_SPACE)
        except (OSError, ValueError, OverflowError):  # a limit on address space
            pass
    try:
        return Arena(nbytes)
    except (OSError, ValueError, OverflowError) as error:
        raise MemoryError(f"Running a graph takes {nbytes / 2**30:.4g} GiB beside its results, which the system does not give.") from error
