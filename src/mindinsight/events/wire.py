"""Protobuf wire format, read in place: fields of a message as numbers and spans. Nothing is copied or trusted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_F32, _F64 = struct.Struct("<f"), struct.Struct("<d")


class Malformed(ValueError):
    """Bytes that are no message."""


class Field(NamedTuple):
    """A field: its number, its wire type, an integer (varint) or where its bytes are."""

    number: int
    kind: int
    value: int
    begin: int
    end: int


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number and the place after it."""
    result = shift = 0
    while True:
        if at >= end or shift > 63:
            raise Malformed("a number is cut or too long")
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def fields(data: bytes, begin: int = 0, end: int | None = None) -> Iterator[Field]:
    """The fields of the message in `data[begin:end]`."""
    at, stop = begin, len(data) if end is None else end
    while at < stop:
        key, at = varint(data, at, stop)
        number, kind = key >> 3, key & 7
        value, first = 0, at
        if kind == VARINT:
            value, at = varint(data, at, stop)
        elif kind == BYTES:
            value, first = varint(data, at, stop)
            at = first + value
        elif kind in (FIXED32, FIXED64):
            at += 4 if kind == FIXED32 else 8
        else:
            raise Malformed(f"wire type {kind} is not known")
        if at > stop or number == 0:
            raise Malformed("a field is longer than its message")
        yield Field(number, kind, value, first, at)


def spans(data: bytes, begin: int, end: int) -> list[tuple[int, int, int, int]]:
    """The fields of a message as (number, kind, value or begin, end): what `fields` says, for messages of which there are many."""
    found = []
    at = begin
    while at < end:
        key = data[at]
        if key < 128:
            at += 1
        else:
            key, at = varint(data, at, end)
        kind = key & 7
        if kind == BYTES:
            size = data[at] if at < end else 128
            if size < 128:
                at += 1
            else:
                size, at = varint(data, at, end)
            found.append((key >> 3, kind, at, at + size))
            at += size
        elif kind == VARINT:
            value, at = varint(data, at, end)
            found.append((key >> 3, kind, value, at))
        elif kind in (FIXED32, FIXED64):
            found.append((key >> 3, kind, at, at + (4 if kind == FIXED32 else 8)))
            at += 4 if kind == FIXED32 else 8
        else:
            raise Malformed(f"wire type {kind} is not known")
        if at > end or key < 8:
            raise Malformed("a field is longer than its message")
    return found


def signed(value: int) -> int:
    """An int64 from its wire form."""
    return value - (1 << 64) if value >> 63 else value


def float32(data: bytes, field: Field) -> float:
    """A float field."""
    return float(_F32.unpack_from(data, _sized(field, 4))[0])


def float64(data: bytes, field: Field) -> float:
    """A double field."""
    return float(_F64.unpack_from(data, _sized(field, 8))[0])


def _sized(field: Field, size: int) -> int:
    if field.end - field.begin != size:
        raise Malformed(f"field {field.number} should have {size} bytes")
    return field.begin


def text(data: bytes, field: Field) -> str:
    """A string field; bytes that are no UTF-8 are replaced."""
    if field.kind != BYTES:
        raise Malformed(f"field {field.number} should be a text")
    return data[field.begin : field.end].decode("utf-8", "replace")


def numbers(data: bytes, field: Field, dtype: str) -> NDArray[np.generic]:
    """The numbers of a repeated field, packed or not: `<f4`, `<f8`, or `i8` and `u8` for varints."""
    if dtype in ("<f4", "<f8"):
        size = np.dtype(dtype).itemsize
        if (field.end - field.begin) % size or field.kind == VARINT:
            raise Malformed(f"field {field.number} is no list of numbers")
        return np.frombuffer(data, dtype, (field.end - field.begin) // size, field.begin)
    if field.kind == VARINT:
        return np.array([field.value], np.uint64).view(dtype)
    return _varints(np.frombuffer(data, np.uint8, field.end - field.begin, field.begin)).view(dtype)


def _varints(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """All varints of a packed field at once: bytes without the high bit end a number."""
    ends = np.flatnonzero(data < 128)
    if data.size and (not ends.size or ends[-1] != data.size - 1):
        raise Malformed("a list of numbers is cut")
    begins = np.concatenate(([0], ends[:-1] + 1)) if ends.size else ends
    widths = ends - begins + 1
    if widths.size and widths.max() > 10:
        raise Malformed("a number is too long")
    result = np.zeros(ends.size, np.uint64)
    for place in range(int(widths.max()) if widths.size else 0):
        has = widths > place
        result[has] |= (data[begins[has] + place] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * place)
    return result
