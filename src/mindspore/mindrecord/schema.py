"""Schemas: which fields a row has, whether a row fits, and how its two parts are encoded and decoded.

A field is a scalar (int32, int64, float32, float64, string), `bytes`, or an array of numbers with a shape in which one
dimension may be -1. Scalars form the raw part of a row, a MessagePack map; bytes and arrays form its blob part: the
value itself when there is one such field, else each value after its length (u64, big-endian), in the order of names.
A row that would have an empty part gets a filler: `{"id": 0}`, or four zero bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from . import intcodec, msgpack
from .common.exceptions import MRMBuildSchemaError, MRMInvalidSchemaError

SCALAR_TYPES = ("int32", "int64", "float32", "float64", "string", "bytes")
ARRAY_TYPES = ("int32", "int64", "float32", "float64")
EMPTY_RAW = msgpack.pack_map_head(1) + msgpack.pack_str("id") + msgpack.pack_int(0)
EMPTY_BLOB = bytes(4)

_NAME = re.compile(r"[0-9a-zA-Z_]+")
_BLOB_LENGTH = struct.Struct(">Q")
_INT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_PACKERS: dict[str, Callable[[Any], bytes]] = {
    "int32": lambda value: msgpack.pack_int(int(value)),
    "int64": lambda value: msgpack.pack_int(int(value)),
    "float32": lambda value: msgpack.pack_float(float(value)),
    "float64": lambda value: msgpack.pack_float(float(value)),
    "string": msgpack.pack_str,
}
_PYTHON_TYPES: dict[str, Callable[[Any], Any]] = {
    "int32": int,
    "int64": int,
    "float32": float,
    "float64": float,
    "string": str,
}
# Python type of a value -> the field types it may be written to.
_ACCEPTED: dict[type, tuple[str, ...]] = {
    int: ("int32", "int64"),
    float: ("float32", "float64"),
    str: ("string",),
    bytes: ("bytes",),
    np.int32: ("int32",),
    np.int64: ("int64",),
    np.float32: ("float32",),
    np.float64: ("float64",),
}


class Encoded(NamedTuple):
    """A row ready to be written: its two parts, and how many bytes packing integers saved."""

    raw: bytes
    blob: bytes
    saved: int


class Schema:
    """The fields of a dataset, in the order of their names."""

    def __init__(self, content: dict[str, dict[str, Any]], desc: str = ""):
        self.content: dict[str, dict[str, Any]] = {
            name: {key: content[name][key] for key in sorted(content[name])} for name in sorted(content)
        }
        self.desc = desc
        self.blob_fields = [name for name, kind in self.content.items() if "shape" in kind or kind["type"] == "bytes"]
        self.raw_fields = [name for name in self.content if name not in self.blob_fields]
        self.has_integer_array = any("shape" in self.content[n] and self.is_integer(n) for n in self.blob_fields)
        self._raw_plan = [
            (name, msgpack.pack_str(name), _PACKERS[self.content[name]["type"]]) for name in self.raw_fields
        ]
        self._map_head = msgpack.pack_map_head(len(self.raw_fields))

    @classmethod
    def checked(cls, content: Any, desc: str | None = None) -> Schema:
        """The schema a user wrote; MRMInvalidSchemaError or MRMBuildSchemaError when it is not one."""
        if not content:
            raise MRMInvalidSchemaError("Schema content is empty.")
        if not isinstance(content, dict):
            raise MRMInvalidSchemaError("Schema content should be dict.")
        for name, kind in content.items():
            _check_field(name, kind)
        return cls(content, desc or "")

    def is_integer(self, name: str) -> bool:
        return self.content[name]["type"] in _INT_RANGES

    def problem(self, row: dict[str, Any]) -> str | None:
        """Why `row` cannot be written, or None."""
        for name, kind in self.content.items():
            if name not in row:
                return f"there is not field: '{name}' in the raw data."
            value, wanted = row[name], kind["type"]
            if isinstance(value, np.ndarray):
                reason = _array_problem(value, kind)
            elif "shape" in kind or wanted not in _ACCEPTED.get(type(value), ()):
                reason = f"data type: '{type(value).__name__}' for field: '{name}' is not matched."
            elif wanted in _INT_RANGES and not _INT_RANGES[wanted][0] <= value <= _INT_RANGES[wanted][1]:
                reason = f"value: {value} of field: '{name}' does not fit in {wanted}."
            else:
                reason = None
            if reason:
                return reason.format(name=name)
        return None

    def encode(self, row: dict[str, Any]) -> Encoded:
        """Both parts of a row that has no `problem`."""
        if self._raw_plan:
            raw = b"".join([self._map_head, *(head + pack(row[name]) for name, head, pack in self._raw_plan)])
        else:
            raw = EMPTY_RAW
        if not self.blob_fields:
            return Encoded(raw, EMPTY_BLOB, 0)
        saved = 0
        values = []
        for name in self.blob_fields:
            value, size = self._encode_blob_value(name, row[name])
            values.append(value)
            saved += size - len(value)
        if len(values) == 1:
            return Encoded(raw, values[0], saved)
        return Encoded(raw, b"".join([part for v in values for part in (_BLOB_LENGTH.pack(len(v)), v)]), saved)

    def _encode_blob_value(self, name: str, value: Any) -> tuple[bytes, int]:
        if not isinstance(value, np.ndarray):
            return value, len(value)
        if self.is_integer(name):
            return intcodec.compress(value.reshape(-1)), value.nbytes
        return value.tobytes(), value.nbytes

    def scalars(self, row: dict[str, Any], names: Iterable[str]) -> list[Any]:
        """Plain Python values of scalar fields, for the index."""
        return [_PYTHON_TYPES[self.content[name]["type"]](row[name]) for name in names]

    def split_blob(self, blob: memoryview) -> dict[str, memoryview]:
        """The blob part of a row, by field; ValueError when it does not add up."""
        if len(self.blob_fields) == 1:
            return {self.blob_fields[0]: blob}
        parts = {}
        at = 0
        for name in self.blob_fields:
            start = at + _BLOB_LENGTH.size
            if start > len(blob):
                raise ValueError(f"field '{name}' is missing from the blob")
            at = start + _BLOB_LENGTH.unpack_from(blob, at)[0]
            if at > len(blob):
                raise ValueError(f"field '{name}' reaches beyond the blob")
            parts[name] = blob[start:at]
        return parts

    def decode_array(self, name: str, data: memoryview, packed: bool) -> np.ndarray:
        """A writable array of an array field; ValueError when the bytes do not fill its shape."""
        kind = self.content[name]
        dtype = np.dtype(kind["type"])
        if packed and self.is_integer(name):
            flat = intcodec.decompress(data, dtype)
        else:
            flat = np.frombuffer(data, dtype).copy()
        return flat.reshape(kind["shape"]) if flat.size else flat


def _check_field(name: Any, kind: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MRMInvalidSchemaError(f"Field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'.")
    if not kind or not isinstance(kind, dict):
        raise MRMInvalidSchemaError(f"Field '{name}' should be dict.")
    if set(kind) not in ({"type"}, {"type", "shape"}):
        raise MRMInvalidSchemaError(f"Field '{name}' contains illegal attributes: {kind}.")
    allowed = ARRAY_TYPES if "shape" in kind else SCALAR_TYPES
    if kind["type"] not in allowed:
        raise MRMInvalidSchemaError(
            f"Field '{name}' contain illegal attribute '{kind['type']}'; allowed: {', '.join(allowed)}."
        )
    if "shape" not in kind:
        return
    shape = kind["shape"]
    if not isinstance(shape, list):
        raise MRMInvalidSchemaError(f"Field '{name}' contain illegal attribute '{shape}': a shape is a list.")
    if not all(isinstance(n, int) and (n > 0 or n == -1) for n in shape) or shape.count(-1) > 1:
        raise MRMBuildSchemaError(
            f"Failed to build schema. The shape {shape} of field '{name}' should hold positive integers "
            "and at most one -1."
        )


def _array_problem(value: np.ndarray, kind: dict[str, Any]) -> str | None:
    if "shape" not in kind:
        return "data shape for field: '{name}' is not specified."
    if str(value.dtype) != kind["type"]:
        return f"data type: '{value.dtype}' for field: '{{name}}' is not matched."
    try:
        value.reshape(kind["shape"])
    except ValueError:
        return f"data shape: '{value.shape}' for field: '{{name}}' is not matched."
    return None
