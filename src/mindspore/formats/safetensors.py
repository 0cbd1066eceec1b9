"""The safetensors file format: u64 length, a JSON header of names, types, shapes and byte ranges, then the data.

Written here rather than taken from the `safetensors` package so that it needs nothing but NumPy and can hold bfloat16
and 8-bit floats. The reader checks everything the format demands: a bounded header, ranges that lie one after the other
without gaps and fill the file, sizes that fit shape and type. https://github.com/huggingface/safetensors
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from mindspore import log as logger
from mindspore._base import dtype as mstype
from mindspore._base.files import write_parts
from mindspore._base.protobuf import DecodeError, element_count

_LENGTH = struct.Struct("<Q")
_MAX_HEADER = 100 << 20
_NAMES = {
    "BOOL": mstype.bool_, "U8": mstype.uint8, "I8": mstype.int8, "U16": mstype.uint16, "I16": mstype.int16,
    "U32": mstype.uint32, "I32": mstype.int32, "U64": mstype.uint64, "I64": mstype.int64, "F16": mstype.float16,
    "BF16": mstype.bfloat16, "F32": mstype.float32, "F64": mstype.float64, "C64": mstype.complex64,
    "F8_E4M3": mstype.float8_e4m3fn, "F8_E5M2": mstype.float8_e5m2,
}  # fmt: skip
_CODES = {dtype.name: code for code, dtype in _NAMES.items()}


class TensorEntry(NamedTuple):
    """Where a tensor lies in the data part of the file."""

    dtype: mstype.DType
    shape: tuple[int, ...]
    begin: int
    end: int


def encode(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> Iterator[Any]:
    """The bytes of a file, part by part. Wider types come first, so that every tensor is aligned."""
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for name in order:
        dtype = mstype.from_numpy(arrays[name].dtype)
        if dtype.name not in _CODES:
            raise TypeError(f"the safetensors format cannot hold '{name}' of type {dtype}; save it as 'ckpt'")
        size = arrays[name].nbytes
        header[name] = {"dtype": _CODES[dtype.name], "shape": list(arrays[name].shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    yield _LENGTH.pack(len(text)) + text
    for name in order:
        yield np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data


def read_header(data: memoryview) -> tuple[dict[str, TensorEntry], dict[str, str], memoryview]:
    """The entries, the metadata and the data part; DecodeError when it is not a safetensors file."""
    if len(data) < _LENGTH.size:
        raise DecodeError("the file is too short for a safetensors file")
    (size,) = _LENGTH.unpack_from(data)
    if size > min(_MAX_HEADER, len(data) - _LENGTH.size):
        raise DecodeError(f"a safetensors header of {size} bytes does not fit the file")
    try:
        header = json.loads(bytes(data[_LENGTH.size : _LENGTH.size + size]))
    except (ValueError, RecursionError):
        raise DecodeError("the safetensors header is no JSON") from None
    if not isinstance(header, dict):
        raise DecodeError("the safetensors header is no JSON object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or any(not isinstance(v, str) for v in metadata.values()):
        raise DecodeError("the metadata of the safetensors header must map strings to strings")
    body = data[_LENGTH.size + size :]
    entries = {name: _entry(name, spec) for name, spec in header.items()}
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != at:
            raise DecodeError(f"the data of '{name}' overlaps another tensor or leaves a gap")
        at = entry.end
    if at != len(body):
        raise DecodeError(f"the header describes {at} bytes of data, but there are {len(body)}")
    return entries, metadata, body


def _entry(name: str, spec: Any) -> TensorEntry:
    if not isinstance(spec, dict) or spec.get("dtype") not in _NAMES:
        raise DecodeError(f"'{name}' has no known element type")
    shape: list[int] = spec.get("shape")  # type: ignore[assignment]
    offsets: list[int] = spec.get("data_offsets")  # type: ignore[assignment]
    if not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2:
        raise DecodeError(f"'{name}' has no valid shape and data range")
    dtype = _NAMES[spec["dtype"]]
    if element_count(name, shape) * dtype.itemsize != offsets[1] - offsets[0]:
        raise DecodeError(f"the data range of '{name}' does not fit its shape {tuple(shape)} and type {dtype}")
    return TensorEntry(dtype, tuple(shape), offsets[0], offsets[1])


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and v >= 0 for v in value)


def read_array(entry: TensorEntry, body: memoryview) -> np.ndarray:
    """One tensor, with its own memory."""
    raw = np.frombuffer(body[entry.begin : entry.end], np.uint8).copy()
    return raw.view(entry.dtype.np).reshape(entry.shape)


# -- files as official MindSpore writes them: texts and a checksum in the metadata ---------------------------------------
_TEXT_PREFIX = "str:"
_MAX_ZEROS = 1 << 24


def write(
    path: str, entries: Mapping[str, np.ndarray | str], checksum: bool = False, redundancy: bool | None = None
) -> None:
    """Write named arrays and texts; the file appears whole or not at all."""
    metadata = {"format": "ms"}
    if redundancy is not None:
        metadata["remove_redundancy"] = str(redundancy)
    arrays: dict[str, np.ndarray] = {}
    for name, entry in entries.items():
        if isinstance(entry, str):
            metadata[_TEXT_PREFIX + name] = entry
        else:
            arrays[name] = entry
    if checksum:
        metadata["crc_num"] = str(_crc(arrays.items()))
    write_parts(path, encode(arrays, metadata), 0o400)


def _crc(arrays: Iterable[tuple[str, np.ndarray]]) -> int:
    """The checksum of names and data in the order of names.

    A whole number n without dimensions counts as n zero bytes, because official MindSpore takes `bytes(array)` of it.
    """
    crc = 0
    for name, array in sorted(arrays, key=lambda item: item[0]):
        crc = zlib.crc32(name.encode("utf-8"), crc)
        if array.shape == () and array.dtype.kind in "iu" and 0 <= int(array) <= _MAX_ZEROS:
            crc = zlib.crc32(bytes(int(array)), crc)
        else:
            crc = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, crc)
    return crc


def read(
    data: memoryview, shown: str, wanted: Callable[[str], bool] = lambda name: True, checksum: bool = False
) -> dict[str, Any]:
    """The arrays and texts whose names are `wanted`, of a file's bytes; errors call it `shown`."""
    try:
        entries, metadata, body = read_header(data)
    except DecodeError as error:
        raise ValueError(f"The file {shown} is no safetensors file, is cut short or is damaged: {error}.") from None
    if checksum:
        if "crc_num" not in metadata:
            logger.warning("For 'load_checkpoint', the file %s has no checksum to check.", shown)
        elif str(_crc((n, read_array(e, body)) for n, e in entries.items())) != metadata["crc_num"]:
            raise ValueError(f"The crc check of {shown} failed: the checkpoint file is damaged.")
    found: dict[str, Any] = {n: read_array(e, body) for n, e in entries.items() if wanted(n)}
    texts = {name.removeprefix(_TEXT_PREFIX): text for name, text in metadata.items() if name.startswith(_TEXT_PREFIX)}
    found.update({name: text for name, text in texts.items() if wanted(name)})
    return found
