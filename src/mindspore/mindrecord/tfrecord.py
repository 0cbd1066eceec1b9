"""TFRecord files and the `tf.train.Example` messages in them, without TensorFlow or protobuf.

A file is a run of records: u64 length, masked CRC-32C of these 8 bytes, the data, masked CRC-32C of the data; all
little-endian. An Example is a map from names to lists of bytes, float32 or int64, in protobuf's wire format:
Example{1: Features{1: repeated entry{1: name, 2: Feature{1: BytesList | 2: FloatList | 3: Int64List}}}}, each list
holding its values in field 1, packed or one by one. https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.crc32c import crc32c, mask, masked_crc32c_of_lengths
from mindspore._base.file_bytes import FileBytes
from mindspore._base.files import atomic_write

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_HEADER = struct.Struct("<QI")
_HEAD = _HEADER.size
_WINDOW = 1 << 16  # bytes that are read at once in search of records
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT = 10

Values = np.ndarray | list[bytes]


class Damaged(RuntimeError):
    """A TFRecord file or an Example in it cannot be read."""


# ---------------------------------------------------------------------------------------------------------------------
# Records


def find_records(data: FileBytes | bytes, path: str) -> tuple[np.ndarray, np.ndarray]:
    """Where the records of a whole file lie: (starts, lengths) of their data, int64.

    All length checksums are checked, and the data checksum of the first record.
    """
    total = len(data)
    starts: list[int] = []
    sizes: list[int] = []
    checksums: list[int] = []
    at = 0
    window, begin = b"", 0  # what has been read of the file, and where
    unpack = _HEADER.unpack_from
    while at + _HEAD <= total:
        if at + _HEAD > begin + len(window):
            window, begin = data[at : at + (_HEAD if starts and sizes[-1] > _WINDOW else _WINDOW)], at
        size, checksum = unpack(window, at - begin)
        starts.append(at + _HEAD)
        sizes.append(size)
        checksums.append(checksum)
        at += _HEAD + size + _CRC.size
    if at != total:
        raise Damaged(f"Invalid file, {path} is cut short, damaged, or no TFRecord file (at record {len(starts)}).")
    begins, lengths = np.array(starts, np.int64), np.array(sizes, np.int64)
    wrong = np.array(checksums, np.uint32) != masked_crc32c_of_lengths(lengths)
    if wrong.any():
        raise Damaged(f"Invalid file, {path} is no TFRecord file or is damaged at record {int(np.argmax(wrong))}.")
    if len(starts):
        check_record(data, starts[0], sizes[0], path, 0)
    return begins, lengths


def check_record(data: FileBytes | bytes, start: int, length: int, path: str, number: int) -> None:
    """Damaged when the checksum of a record's data is wrong."""
    record = data[start : start + length + _CRC.size]
    if mask(crc32c(memoryview(record)[:length])) != _CRC.unpack_from(record, length)[0]:
        raise Damaged(f"Invalid file, record {number} of {path} is damaged: its checksum does not match.")


class TFRecordWriter:
    """Writes a TFRecord file; it appears under its name when the `with` block ends well.

    >>> with TFRecordWriter("data.tfrecord") as writer:
    ...     writer.write(encode_example({"label": [1], "name": b"a"}))
    """

    def __init__(self, path: str):
        self._path = path

    def __enter__(self) -> TFRecordWriter:
        self._stack = contextlib.ExitStack()
        self._stream = self._stack.enter_context(atomic_write(self._path))
        return self

    def __exit__(self, *exc: Any) -> None:
        self._stack.__exit__(*exc)

    def write(self, record: bytes) -> None:
        length = _LENGTH.pack(len(record))
        parts = (length, _CRC.pack(mask(crc32c(length))), record, _CRC.pack(mask(crc32c(record))))
        self._stream.write(b"".join(parts))


# ---------------------------------------------------------------------------------------------------------------------
# Examples


def encode_example(features: Mapping[str, Any]) -> bytes:
    """An Example of int64, float32 or bytes features; str counts as UTF-8 bytes, a scalar as a list of one."""
    entries = []
    for name, value in features.items():
        feature = _encode_feature(name, value)
        entries.append(_field(1, _field(1, name.encode("utf-8")) + _field(2, feature)))
    return _field(1, b"".join(entries))


def _encode_feature(name: str, value: Any) -> bytes:
    if isinstance(value, (bytes, str)):
        value = [value]
    elif not isinstance(value, (list, tuple)):
        value = np.asarray(value).reshape(-1)
    if len(value) and isinstance(value[0], (bytes, str)):
        items = [item.encode("utf-8") if isinstance(item, str) else bytes(item) for item in value]
        return _field(1, b"".join(_field(1, item) for item in items))
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        return _field(3, _field(1, b"".join(_varint(int(item) & (1 << 64) - 1) for item in array)))
    if array.dtype.kind == "f":
        return _field(2, _field(1, array.astype("<f4").tobytes()))
    raise TypeError(f"feature '{name}' holds {array.dtype}; an Example can hold integers, floats and bytes")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, body: bytes) -> bytes:
    return bytes((number << 3 | _BYTES,)) + _varint(len(body)) + body


class Span(NamedTuple):
    """Where the values of one feature lie in a record: kind 1 bytes, 2 floats, 3 integers; (start, end) runs."""

    kind: int
    runs: list[tuple[int, int]]
    packed: bool


def find_features(record: bytes) -> dict[str, Span]:
    """The features of an Example and where their values lie; ValueError when it is not one."""
    found: dict[str, Span] = {}
    for number, _, start, end in _fields(record, 0, len(record)):
        if number != 1:
            continue
        for entry, _, entry_start, entry_end in _fields(record, start, end):
            if entry == 1:
                name, span = _entry(record, entry_start, entry_end)
                found[name] = span
    return found


def _entry(record: bytes, start: int, end: int) -> tuple[str, Span]:
    name, span = "", Span(0, [], False)
    for number, wire, at, stop in _fields(record, start, end):
        if wire != _BYTES:
            raise ValueError("a feature is malformed")
        if number == 1:
            name = record[at:stop].decode("utf-8")
        elif number == 2:
            span = _feature(record, at, stop)
    return name, span


def _feature(record: bytes, start: int, end: int) -> Span:
    kind, packed = 0, False
    runs: list[tuple[int, int]] = []
    for number, wire, at, stop in _fields(record, start, end):
        if number not in (1, 2, 3) or wire != _BYTES:
            continue
        kind, runs = number, []
        for inner, inner_wire, value, value_end in _fields(record, at, stop):
            if inner == 1:
                packed = inner_wire == _BYTES
                runs.append((value, value_end))
    return Span(kind, runs, packed)


def _fields(record: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, start, end) of each field; for a varint the span is that of its bytes."""
    while at < end:
        tag, at = _read_varint(record, at, end)
        wire = tag & 7
        if wire == _BYTES:
            length, at = _read_varint(record, at, end)
            stop = at + length
        elif wire == _VARINT:
            _, stop = _read_varint(record, at, end)
        elif wire in (_FIXED32, _FIXED64):
            stop = at + (4 if wire == _FIXED32 else 8)
        else:
            raise ValueError(f"unknown wire type {wire}")
        if stop > end:
            raise ValueError("a field reaches beyond its message")
        yield tag >> 3, wire, at, stop
        at = stop


def _read_varint(record: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    for place in range(at, min(end, at + _MAX_VARINT)):
        byte = record[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise ValueError("a number is cut short")


def read_values(record: bytes, span: Span) -> Values:
    """The values of a feature: int64 or float32 array, or a list of bytes."""
    if span.kind == 1:
        return [record[start:end] for start, end in span.runs]
    if span.kind == 2:
        data = record[slice(*span.runs[0])] if len(span.runs) == 1 else b"".join(record[s:e] for s, e in span.runs)
        return np.frombuffer(data, "<f4")
    if span.kind == 3:
        data = record[slice(*span.runs[0])] if len(span.runs) == 1 else b"".join(record[s:e] for s, e in span.runs)
        return decode_varints(data)
    return np.empty(0, np.float32)


def decode_varints(data: bytes) -> np.ndarray:
    """A run of varints as int64."""
    if len(data) <= 2 * _MAX_VARINT:  # NumPy pays off only for longer ones
        found, at = [], 0
        while at < len(data):
            value, at = _read_varint(data, at, len(data))
            found.append(value)
        return np.array(found, np.uint64).astype(np.int64)
    codes = np.frombuffer(data, np.uint8)
    last = codes < 0x80
    if last.all():
        return codes.astype(np.int64)
    ends = np.flatnonzero(last)
    if not ends.size or ends[-1] != codes.size - 1:
        raise ValueError("a number is cut short")
    starts = np.concatenate([[0], ends[:-1] + 1])
    widths = ends - starts + 1
    if widths.max() > _MAX_VARINT:
        raise ValueError("a number is too long")
    shifts = (np.arange(codes.size) - np.repeat(starts, widths)).astype(np.uint64) * np.uint64(7)
    return np.add.reduceat((codes & 0x7F).astype(np.uint64) << shifts, starts).astype(np.int64)


def decode_example(record: bytes, names: Sequence[str] | None = None) -> dict[str, Values]:
    """The features of an Example, or those of `names` that it has."""
    spans = find_features(record)
    wanted = spans if names is None else [name for name in names if name in spans]
    return {name: read_values(record, spans[name]) for name in wanted}
