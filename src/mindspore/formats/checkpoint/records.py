"""The content of a `.ckpt` file: a protobuf `Checkpoint`, a run of named tensors.

    Checkpoint{1: repeated Value{1: tag, 2: Tensor{1: dims, 2: type name, 3: little-endian data}}}

A tensor above 512 MB is cut into several entries of the same tag, one after the other. A string has type "str", dims
[0] and UTF-32 data. A file may end with "crc_num" and the CRC-32 of all before it, ten bytes big-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.protobuf import DecodeError, Message, element_count, field

SLICE = 512 << 20
_CRC_MARK = b"crc_num"
_CRC_SIZE = 10
TYPE_OF_NAME = {str(d): d for d in (*mstype.NUMBER_TYPES, mstype.float8_e4m3fn, mstype.float8_e5m2, mstype.hifloat8)}
TYPE_OF_NAME["Int4"] = mstype.qint4x2  # two numbers in a byte; a tensor of bytes here

Entry = np.ndarray | str


class TensorRecord(Message):
    """A tensor's shape, type name and bytes."""

    dims = field(1, "int64", repeated=True)
    tensor_type = field(2, "string")
    tensor_content = field(3, "bytes")


class MapRecord(Message):
    """The keys, values and states of a hash table."""

    tensor = field(1, lambda: TensorRecord, repeated=True)


class ValueRecord(Message):
    """One entry."""

    tag = field(1, "string")
    tensor = field(2, lambda: TensorRecord)
    maptensor = field(3, lambda: MapRecord)


class CheckpointRecord(Message):
    """A whole file, or, since repeated fields may be concatenated, any part of it."""

    value = field(1, lambda: ValueRecord, repeated=True)


def encode(entries: Iterable[tuple[str, Entry]], slice_bytes: int = SLICE) -> Iterator[bytes]:
    """The bytes of a file, part by part."""
    for name, entry in entries:
        yield from _encode_entry(name, entry, slice_bytes)


def _encode_entry(name: str, entry: Entry, slice_bytes: int) -> Iterator[bytes]:
    if isinstance(entry, str):
        dims, type_name, data = [0], "str", memoryview(entry.encode("utf-32-le"))
    else:
        dims, type_name = list(entry.shape), str(mstype.from_numpy(entry.dtype))
        if type_name not in TYPE_OF_NAME:
            raise TypeError(f"a checkpoint file cannot hold '{name}' of type {type_name}")
        data = _little_endian(entry).reshape(-1).view(np.uint8).data
    for start in range(0, max(len(data), 1), slice_bytes):
        tensor = TensorRecord(dims=dims, tensor_type=type_name, tensor_content=data[start : start + slice_bytes])
        yield CheckpointRecord(value=[ValueRecord(tag=name, tensor=tensor)]).encode()


def _little_endian(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.astype(array.dtype.newbyteorder("<"), copy=False) if array.dtype.byteorder == ">" else array


def crc_trailer(crc: int) -> bytes:
    """What follows the content when it is protected by a CRC."""
    return _CRC_MARK + crc.to_bytes(_CRC_SIZE, "big")


def split_crc(data: memoryview) -> tuple[memoryview, int | None]:
    """The content and the stored CRC, if the file has one."""
    size = len(_CRC_MARK) + _CRC_SIZE
    if len(data) >= size and data[-size:-_CRC_SIZE] == _CRC_MARK:
        return data[:-size], int.from_bytes(data[-_CRC_SIZE:], "big")
    return data, None


def crc32(parts: Iterable[Any]) -> int:
    """The CRC-32 of parts that follow each other."""
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc


def decode(data: memoryview, wanted: Callable[[str], bool]) -> dict[str, Entry | list[np.ndarray]]:
    """The entries whose name is `wanted`, in file order; DecodeError when the content is damaged.

    A hash table comes as the list of its key, value and status arrays.
    """
    found: dict[str, list[ValueRecord]] = {}
    for value in CheckpointRecord.decode(data).value:
        if value.tag is None or (value.tensor is None and value.maptensor is None):
            raise DecodeError("an entry has no name or no tensor")
        if wanted(value.tag):
            found.setdefault(value.tag, []).append(value)
    return {name: _decode_entry(name, values) for name, values in found.items()}


def _decode_entry(name: str, values: list[ValueRecord]) -> Entry | list[np.ndarray]:
    if values[0].tensor is None:
        return _decode_map(name, values)
    tensors = [v.tensor for v in values if v.tensor is not None]
    first = tensors[0]
    if any(t.tensor_content is None or t.tensor_type != first.tensor_type or t.dims != first.dims for t in tensors):
        raise DecodeError(f"the parts of '{name}' do not belong together")
    content = tensors[0].tensor_content if len(tensors) == 1 else b"".join(t.tensor_content for t in tensors)
    if first.tensor_type == "str":
        try:
            return str(content, "utf-32-le").rstrip("\0")
        except UnicodeDecodeError:
            raise DecodeError(f"the text '{name}' is damaged") from None
    return _to_array(name, first.dims, first.tensor_type, content)


def _to_array(name: str, dims: list[int], type_name: str | None, content: Any) -> np.ndarray:
    dtype = TYPE_OF_NAME.get(type_name or "")
    if dtype is None:
        raise DecodeError(f"'{name}' has the unknown element type {type_name!r}")
    numpy_type = dtype.np
    if dims == [0] and len(content):  # how old files wrote a scalar
        dims = []
    expected = element_count(name, dims) * numpy_type.itemsize
    if expected != len(content):
        raise DecodeError(
            f"'{name}' of shape {tuple(dims)} and type {type_name} must have {expected} bytes, not {len(content)}"
        )
    array = np.frombuffer(content, np.uint8).copy()  # aligned, writable, and free of the file's buffer
    return array.view(numpy_type).reshape(dims)


def _decode_map(name: str, values: list[ValueRecord]) -> list[np.ndarray]:
    columns: list[list[np.ndarray]] = []
    for value in values:
        tensors = value.maptensor.tensor if value.maptensor is not None else []
        arrays = []
        for t in tensors:
            try:
                type_name = str(mstype.from_numpy(np.dtype(t.tensor_type)))
            except TypeError:
                raise DecodeError(f"'{name}' has the unknown element type {t.tensor_type!r}") from None
            arrays.append(_to_array(name, t.dims, type_name, t.tensor_content or b""))
        columns.append(arrays)
    if any(len(c) != len(columns[0]) for c in columns):
        raise DecodeError(f"the parts of '{name}' do not belong together")
    try:
        return [np.concatenate(parts) for parts in zip(*columns)]
    except ValueError:
        raise DecodeError(f"the parts of '{name}' do not belong together") from None
