"""The bytes of an open file, by place.

Files of data sets are larger than memory and are read at random by many threads. Mapping them would do, but a mapped
file that somebody makes shorter kills the process that looks at it (SIGBUS); `pread` gives fewer bytes instead, which
is an error that names the file.
"""

from __future__ import annotations

import os
import weakref

import numpy as np

_DENSE = 4  # pieces that fill at least a quarter of the room they span are read in one go


class FileBytes:
    """A file like a `bytes`: `len(data)`, `data[start:end]`. It may be used by many threads at once.

    Args:
        descriptor: an open file; it may be closed afterwards.
        path: what errors call it.
    """

    def __init__(self, descriptor: int, path: str):
        self._path = path
        self._descriptor = os.dup(descriptor)
        self._size = os.fstat(self._descriptor).st_size
        self.close = weakref.finalize(self, os.close, self._descriptor)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: slice) -> bytes:
        start, end, _ = place.indices(self._size)
        length = max(end - start, 0)
        data = os.pread(self._descriptor, length, start)
        while len(data) < length:  # a system may give less than 2 GiB at once
            more = os.pread(self._descriptor, length - len(data), start + len(data))
            if not more:
                raise self._shorter()
            data += more
        return data

    def gather(self, starts: np.ndarray, length: int) -> np.ndarray:
        """(len(starts), length) uint8: the bytes at each of these places."""
        first, last = int(starts.min()), int(starts.max()) + length
        if last > self._size:
            raise self._shorter()
        if last - first <= _DENSE * length * len(starts):
            flat = np.frombuffer(self[first:last], np.uint8)
            return np.lib.stride_tricks.sliding_window_view(flat, length)[starts - first]
        rows = np.empty((len(starts), length), np.uint8)
        for row, start in zip(rows, starts.tolist()):
            row[:] = np.frombuffer(self[start : start + length], np.uint8)
        return rows

    def _shorter(self) -> RuntimeError:
        return RuntimeError(f"Invalid file, {self._path} has been made shorter while it was read.")
