"""FlatBuffers, read and written by the tables of `schema.py`.

A buffer starts with the offset of its root table. A table starts with the distance back to its vtable, a list of
16-bit positions of the fields; strings, vectors and tables are reached by offsets forward. The writer here lays a
parent out before its children and patches the offsets, so one pass over a `bytearray` is enough.

All offsets are relative: a vector that is laid out once (`lay_out`) can stand at the end of many messages, which share its
bytes (`encode_parts`). A server sends its model to every client that way.

The reader trusts nothing: each access is checked against the buffer, nesting and the number of values are bounded,
numbers in vectors are NumPy views of the body (no copy).
"""
from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore_federated.wire.schema import TABLES, Field

Message = dict[str, Any]

_SCALARS = {"int": ("<i", 4), "float": ("<f", 4), "bool": ("<?", 1), "byte": ("<b", 1)}
_ARRAYS: dict[str, np.dtype[Any]] = {"int": np.dtype("<i4"), "float": np.dtype("<f4"), "byte": np.dtype("i1"), "bool": np.dtype("i1")}
_DEFAULTS: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "byte": 0, "string": ""}
_MAX_DEPTH = 8
_MAX_ITEMS = 1 << 20


class WireError(ValueError):
    """The bytes are no message of the expected kind."""


@dataclass(frozen=True)
class Laid:
    """The bytes of a vector, for fields of the outermost table."""
    data: bytes


def lay_out(table: str, field_name: str, value: Any) -> Laid:
    """The value of a vector field as it stands in messages."""
    (field,) = (field for field in TABLES[table] if field.name == field_name)
    out = bytearray()
    _write_child(out, field, value)
    _align(out)
    return Laid(bytes(out))


def encode(table: str, values: Mapping[str, Any]) -> bytes:
    """The message `table` with these fields; fields left out take their default."""
    return b"".join(encode_parts(table, values))


def encode_parts(table: str, values: Mapping[str, Any]) -> list[bytes]:
    """The message in pieces: all that is new, then each field that is laid out already."""
    unknown = set(values) - {field.name for field in TABLES[table]}
    if unknown:
        raise KeyError(f"{table} has no field {sorted(unknown)}")
    out = bytearray(4)
    start = _write_table(out, table, values)
    struct.pack_into("<I", out, 0, start)
    laid = [(slot, values[field.name]) for slot, field in enumerate(TABLES[table]) if isinstance(values.get(field.name), Laid)]
    if laid:
        _align(out)
    vtable, end = start - struct.unpack_from("<i", out, start)[0], len(out)
    for slot, value in laid:
        at = start + struct.unpack_from("<H", out, vtable + 4 + 2 * slot)[0]
        struct.pack_into("<I", out, at, end - at)
        end += len(value.data)
    return [bytes(out), *(value.data for _, value in laid)]


def decode(table: str, body: bytes | memoryview) -> Message:
    """All fields of the message `table` in `body`, or WireError."""
    view = memoryview(body).cast("B")
    return _Reader(view).table(table, _Reader(view).uint(0), 0)


def _align(out: bytearray, extra: int = 0) -> None:
    out.extend(bytes(-(len(out) + extra) % 4))


def _write_table(out: bytearray, table: str, values: Mapping[str, Any]) -> int:
    fields = [(slot, field) for slot, field in enumerate(TABLES[table]) if values.get(field.name) is not None]
    slots = fields[-1][0] + 1 if fields else 0
    _align(out, 4 + 2 * slots)
    vtable = len(out)
    positions, size = {}, 4
    for wide in (True, False):                     # four-byte fields first: all of them stay aligned
        for slot, field in fields:
            if (_width(field) == 4) == wide:
                positions[slot] = size
                size += _width(field)
    out += struct.pack(f"<HH{slots}H", 4 + 2 * slots, size, *(positions.get(slot, 0) for slot in range(slots)))
    start = len(out)
    out += struct.pack("<i", start - vtable) + bytes(size - 4)
    children = []
    for slot, field in fields:
        at = start + positions[slot]
        if isinstance(values[field.name], Laid):
            continue                               # it follows at the end
        if field.vector or field.kind not in _SCALARS:
            children.append((at, field))
        else:
            struct.pack_into(_SCALARS[field.kind][0], out, at, values[field.name])
    for at, field in children:
        child = _write_child(out, field, values[field.name])
        struct.pack_into("<I", out, at, child - at)
    return start


def _width(field: Field) -> int:
    return _SCALARS[field.kind][1] if field.kind in _SCALARS and not field.vector else 4


def _write_child(out: bytearray, field: Field, value: Any) -> int:
    if not field.vector:
        return _write_string(out, value) if field.kind == "string" else _write_table(out, field.kind, value)
    if field.kind in _ARRAYS:
        return _write_array(out, field.kind, value)
    return _write_vector(out, field.kind, value)


def _write_string(out: bytearray, text: str | bytes) -> int:
    data = text.encode() if isinstance(text, str) else text
    _align(out)
    start = len(out)
    out += struct.pack("<I", len(data)) + data + b"\0"
    return start


def _write_array(out: bytearray, kind: str, value: Any) -> int:
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = np.frombuffer(value, np.int8)
    array = np.ascontiguousarray(value, _ARRAYS[kind]).reshape(-1)
    _align(out)
    start = len(out)
    out += struct.pack("<I", array.size)
    out += array.data.cast("B") if array.size else b""
    return start


def _write_vector(out: bytearray, kind: str, items: Sequence[Any]) -> int:
    _align(out)
    start = len(out)
    out += struct.pack("<I", len(items)) + bytes(4 * len(items))
    for index, item in enumerate(items):
        at = start + 4 + 4 * index
        child = _write_string(out, item) if kind == "string" else _write_table(out, kind, item)
        struct.pack_into("<I", out, at, child - at)
    return start


class _Reader:
    def __init__(self, view: memoryview) -> None:
        self.view = view
        self.items = 0

    def unpack(self, form: str, at: int) -> Any:
        if at < 0 or at + struct.calcsize(form) > len(self.view):
            raise WireError(f"position {at} is outside the {len(self.view)} bytes of the message")
        return struct.unpack_from(form, self.view, at)[0]

    def uint(self, at: int) -> int:
        value: int = self.unpack("<I", at)
        return value

    def table(self, table: str, start: int, depth: int) -> Message:
        if depth > _MAX_DEPTH:
            raise WireError(f"tables are nested more than {_MAX_DEPTH} deep")
        vtable = start - self.unpack("<i", start)
        slots = (self.unpack("<H", vtable) - 4) // 2
        size = self.unpack("<H", vtable + 2)
        message: Message = {}
        for slot, field in enumerate(TABLES[table]):
            inside = self.unpack("<H", vtable + 4 + 2 * slot) if slot < slots else 0
            if inside and inside + _width(field) > size:
                raise WireError(f"{table}.{field.name} lies outside its table")
            message[field.name] = self.field(field, start + inside, depth) if inside else _default(field)
        return message

    def field(self, field: Field, at: int, depth: int) -> Any:
        if field.vector:
            return self.vector(field.kind, at + self.uint(at), depth)
        if field.kind in _SCALARS:
            return self.unpack(_SCALARS[field.kind][0], at)
        at += self.uint(at)
        return self.string(at) if field.kind == "string" else self.table(field.kind, at, depth + 1)

    def span(self, at: int, width: int) -> tuple[int, int]:
        count = self.uint(at)
        if at + 4 + count * width > len(self.view):
            raise WireError(f"a vector of {count} values does not fit in the message")
        return at + 4, count

    def string(self, at: int) -> str:
        start, count = self.span(at, 1)
        try:
            return bytes(self.view[start:start + count]).decode()
        except UnicodeDecodeError as error:
            raise WireError(f"a string is not UTF-8: {error}") from None

    def vector(self, kind: str, at: int, depth: int) -> Any:
        if kind in _ARRAYS:
            dtype = _ARRAYS[kind]
            start, count = self.span(at, dtype.itemsize)
            return np.frombuffer(self.view, dtype, count, start)
        start, count = self.span(at, 4)
        self.items += count
        if self.items > _MAX_ITEMS:
            raise WireError(f"the message has more than {_MAX_ITEMS} parts")
        places = [at + self.uint(at) for at in range(start, start + 4 * count, 4)]
        return [self.string(at) if kind == "string" else self.table(kind, at, depth + 1) for at in places]


def _default(field: Field) -> Any:
    if field.vector:
        return np.empty(0, _ARRAYS[field.kind]) if field.kind in _ARRAYS else []
    return _DEFAULTS.get(field.kind)
