"""Reading flatbuffers: tables, vectors and strings at offsets, every one looked at before it is followed.

A table begins with a signed 32-bit distance back to its vtable: u16 size of the vtable, u16 size of the table, then a u16 per field, the
field's place within the table or 0. Vectors and strings are a u32 count and their items; references are u32 distances.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


class FlatbufferError(ValueError):
    """An offset leads outside of the file."""


class Table:
    """A table at a place of a buffer; fields are asked for by number."""

    __slots__ = ("_at", "_data", "_fields", "_vtable")

    def __init__(self, data: memoryview, at: int):
        self._data, self._at = data, at
        self._vtable = at - _unpack(data, "<i", at)
        self._fields = _unpack(data, "<H", self._vtable) // 2 - 2

    @classmethod
    def root(cls, data: memoryview) -> Table:
        return cls(data, _unpack(data, "<I", 0))

    def _place(self, field: int) -> int | None:
        if field >= self._fields:
            return None
        offset = _unpack(self._data, "<H", self._vtable + 4 + 2 * field)
        return self._at + offset if offset else None

    def number(self, field: int, kind: str, default: Any = 0) -> Any:
        """A number of a struct format character: b B h H i I q f ?."""
        place = self._place(field)
        return default if place is None else _unpack(self._data, f"<{kind}", place)

    def _target(self, field: int) -> int | None:
        place = self._place(field)
        return None if place is None else place + _unpack(self._data, "<I", place)

    def table(self, field: int) -> Table | None:
        target = self._target(field)
        return None if target is None else Table(self._data, target)

    def tables(self, field: int) -> list[Table]:
        """A vector of tables."""
        return [Table(self._data, at) for at in self._references(field)]

    def array(self, field: int, dtype: str) -> np.ndarray:
        """A vector of numbers, empty if it is left out."""
        target = self._target(field)
        kind = np.dtype(dtype)
        if target is None:
            return np.empty(0, kind)
        count = _unpack(self._data, "<I", target)
        if target + 4 + count * kind.itemsize > len(self._data):
            raise FlatbufferError("a vector reaches beyond the file")
        return np.frombuffer(self._data, kind, count, target + 4)

    def text(self, field: int) -> str:
        return self.array(field, "u1").tobytes().decode("utf-8", "replace")

    def _references(self, field: int) -> list[int]:
        target = self._target(field)
        if target is None:
            return []
        offsets = self.array(field, "<u4")
        return [target + 4 + 4 * n + int(offset) for n, offset in enumerate(offsets)]


def _unpack(data: memoryview, kind: str, at: int) -> Any:
    if at < 0:
        raise FlatbufferError("an offset leads before the file")
    try:
        return struct.unpack_from(kind, data, at)[0]
    except struct.error:
        raise FlatbufferError("an offset leads beyond the file") from None
