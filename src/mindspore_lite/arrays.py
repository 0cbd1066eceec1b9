"""Arrays of a model file: a row of JSON each, and bytes in one block.

    row = {"dtype": the type in memory, "shape": […], "at": offset, "size": bytes [, "stored": how the bytes are to be read]}

`stored` is the name of another float type ("float16"), or {"bits": 2…8, "axis": channel axis or null, "scale": row, "zero":
row}: whole numbers of so many bits, packed without gaps, for which x = (q - zero) * scale; or {"order": [[extent, stride], …], "within":
shape}: the elements lie as a convolution or product reads them, and loops of these extents and strides, the first one outermost, meet
them in the order of an array of the shape `within`, whose first elements along each dimension are meant. Equal arrays are stored once.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base.dtype import DType, from_numpy, type_of_name
from mindspore._base.strided import walked
from mindspore_lite.container import BadModelError, padded
from mindspore_lite.quantise.bits import pack_bits, unpack_bits

_MOST_DIMENSIONS = 64


def numpy_type(name: Any) -> np.dtype:
    """The NumPy type of an element type's name."""
    found = type_of_name(name) if isinstance(name, str) else None
    if not isinstance(found, DType):
        raise BadModelError(f"it has an array of the unknown type {name!r}")
    return found.np


def _digest(array: np.ndarray) -> bytes:
    return hashlib.blake2b(array.reshape(-1).view(np.uint8).data, digest_size=20).digest()


class ArrayWriter:
    """Collects arrays; each gets a number."""

    def __init__(self, half: bool = False, smallest: int = 256):
        self.rows: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._size = 0
        self._known: dict[tuple[str, tuple[int, ...], bytes], int] = {}
        self._half, self._smallest = half, smallest

    def add(self, array: np.ndarray, weight: bool = False) -> int:
        """Store an array as it is; with 16 bits where that was asked for and it is a weight."""
        kind = from_numpy(array.dtype).name
        content = np.ascontiguousarray(array)
        key = (kind, array.shape, _digest(content))
        if key not in self._known:
            stored = weight and self._half and kind == "float32" and array.size >= self._smallest
            content = content.astype(np.float16) if stored else content
            row = {"dtype": kind, "shape": list(array.shape), **self._place(content.tobytes())}
            if stored:
                row["stored"] = "float16"
            self._known[key] = self._append(row)
        return self._known[key]

    def add_quantised(
        self, array: np.ndarray, codes: np.ndarray, bits: int, axis: int | None, scale: np.ndarray, zero: np.ndarray
    ) -> int:
        """Store the codes of a quantised array. Afterwards `add(array)` finds it."""
        kind = from_numpy(array.dtype).name
        row: dict[str, Any] = {
            "dtype": kind, "shape": list(array.shape),
            **self._place(pack_bits(codes.reshape(-1), bits)),
            "stored": {"bits": bits, "axis": axis, "scale": self.add(scale), "zero": self.add(zero)},
        }  # fmt: skip
        number = self._append(row)
        self._known[(kind, array.shape, _digest(np.ascontiguousarray(array)))] = number
        return number

    def is_coded(self, array: np.ndarray) -> bool:
        """Whether an array is, or would be, stored with fewer bits."""
        kind = from_numpy(array.dtype).name
        known = self._known.get((kind, array.shape, _digest(np.ascontiguousarray(array))))
        if known is not None:
            return "stored" in self.rows[known]
        return self._half and kind == "float32" and array.size >= self._smallest

    def add_in_order(
        self, array: np.ndarray, content: np.ndarray, pairs: Sequence[Sequence[int]], within: Sequence[int]
    ) -> int:
        """Store an array whose elements `content` has in another order. Afterwards `add(array)` finds it."""
        kind = from_numpy(array.dtype).name
        key = (kind, array.shape, _digest(np.ascontiguousarray(array)))
        if key not in self._known:
            stored = {"order": [[int(e), int(s)] for e, s in pairs], "within": list(within)}
            row = {"dtype": kind, "shape": list(array.shape), **self._place(content.tobytes()), "stored": stored}
            self._known[key] = self._append(row)
        return self._known[key]

    def _append(self, row: dict[str, Any]) -> int:
        self.rows.append(row)
        return len(self.rows) - 1

    def _place(self, content: bytes) -> dict[str, int]:
        at = self._size
        self._parts += [content, b"\0" * (padded(len(content)) - len(content))]
        self._size += padded(len(content))
        return {"at": at, "size": len(content)}

    def data(self) -> bytes:
        return b"".join(self._parts)


class ArrayReader:
    """Arrays by number. Those stored as they are in memory are views of the file."""

    def __init__(self, rows: Any, data: memoryview):
        if not isinstance(rows, list):
            raise BadModelError("its table of arrays is damaged")
        self._rows, self._data = rows, data
        self._made: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, number: Any) -> np.ndarray:
        if not isinstance(number, int) or not 0 <= number < len(self._rows):
            raise BadModelError(f"it refers to an array that is not there ({number!r})")
        if number not in self._made:
            try:
                self._made[number] = self._read(self._rows[number])
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise BadModelError(f"its array {number} is damaged ({error})") from None
        return self._made[number]

    def raw(self, number: Any) -> np.ndarray:
        """The stored bytes of an array, in the order in which they lie in the file."""
        if not isinstance(number, int) or not 0 <= number < len(self._rows):
            raise BadModelError(f"it refers to an array that is not there ({number!r})")
        at, size = self._rows[number]["at"], self._rows[number]["size"]
        if not 0 <= at <= at + size <= len(self._data):
            raise BadModelError(f"its array {number} is damaged")
        return np.frombuffer(self._data[at : at + size], np.uint8)

    def _read(self, row: dict[str, Any]) -> np.ndarray:
        kind, shape, at, size = numpy_type(row["dtype"]), tuple(row["shape"]), row["at"], row["size"]
        if len(shape) > _MOST_DIMENSIONS or any(not isinstance(n, int) or n < 0 for n in shape):
            raise ValueError("its shape")
        if not 0 <= at <= at + size <= len(self._data):
            raise ValueError("its place")
        content, count, stored = self._data[at : at + size], math.prod(shape), row.get("stored")
        if isinstance(stored, dict) and "order" in stored:
            whole = walked(np.frombuffer(content, kind), stored["order"]).reshape(stored["within"])
            if whole.ndim != len(shape) or any(n > w for n, w in zip(shape, whole.shape)):
                raise ValueError("its shape")
            return np.ascontiguousarray(whole[tuple(slice(n) for n in shape)])
        if isinstance(stored, dict):
            return self._dequantised(content, kind, shape, stored)
        as_stored = numpy_type(stored) if stored is not None else kind
        if count * as_stored.itemsize != size:
            raise ValueError("its size")
        array = np.frombuffer(content, as_stored).reshape(shape)
        return array if stored is None else array.astype(kind)

    def _dequantised(
        self, content: memoryview, kind: np.dtype, shape: tuple[int, ...], how: dict[str, Any]
    ) -> np.ndarray:
        codes = unpack_bits(content, int(how["bits"]), math.prod(shape)).reshape(shape)
        scale, zero = self.get(how["scale"]), self.get(how["zero"])
        if how["axis"] is not None:
            along = [1] * len(shape)
            along[how["axis"]] = -1
            scale, zero = scale.reshape(along), zero.reshape(along)
        return np.asarray((codes - zero.astype(np.float32)) * scale, kind)
