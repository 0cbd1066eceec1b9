"""Memory for batches: rows are written where the batch will have them, and large batches use the same memory again.

Fresh memory costs a page fault for every 4 KiB, which for images is as much work as normalising them. A block goes back
to its pool when the last array over it is gone: arrays are views of a small owner object, and its end is noticed.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import deque
from collections.abc import Sequence

import numpy as np

LARGE = 1 << 20
KEPT = 3  # free blocks a pool holds on to
ALIGNMENT = 64


class BlockPool:
    """Uninitialised arrays, large ones from blocks that are used again."""

    def __init__(self) -> None:
        self._free: deque[np.ndarray] = deque(maxlen=KEPT)

    def __reduce__(self):
        return BlockPool, ()  # a worker process has memory of its own

    def empty(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if size < LARGE:
            return np.empty(shape, dtype)
        block = self._block(size + ALIGNMENT)
        owner = (ctypes.c_char * size).from_buffer(block.data, -block.ctypes.data % ALIGNMENT)
        weakref.finalize(owner, self._free.append, block).atexit = False
        return np.frombuffer(memoryview(owner), dtype).reshape(shape)

    def _block(self, size: int) -> np.ndarray:
        try:
            while True:
                block = self._free.popleft()
                if block.size == size:
                    return block
        except IndexError:
            return np.empty(size, np.uint8)


class BatchRoom:
    """Room for one column of one batch, made when its first row is known."""

    def __init__(self, rows: int, pool: BlockPool):
        self._rows, self._pool = rows, pool
        self._buffer: np.ndarray | None = None
        self._given: list[np.ndarray] = []

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The place of the next row; an array of its own for a row that differs from the first."""
        if self._buffer is None:
            self._buffer = self._pool.empty((self._rows, *shape), dtype)
        if self._buffer.shape[1:] != tuple(shape) or self._buffer.dtype != dtype or len(self._given) >= self._rows:
            return np.empty(shape, dtype)
        place = self._buffer[len(self._given)]
        self._given.append(place)
        return place

    def filled(self, values: Sequence) -> np.ndarray | None:
        """The whole batch, if these are its rows, all in their places."""
        if len(values) != self._rows or len(self._given) != self._rows:
            return None
        return self._buffer if all(value is place for value, place in zip(values, self._given)) else None
