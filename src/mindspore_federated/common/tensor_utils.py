"""Nested dicts of tensors as bytes: a JSON header that says where each array lies, then the arrays.

Only numbers are written and read; sizes are checked against the body before anything is made from it.
"""
from __future__ import annotations

import json
import struct
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindspore import Tensor
from mindspore_federated.compression import bit_pack, bit_unpack, min_max_compress, min_max_decompress
from mindspore_federated.startup.compress_config import CompressConfig

_NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
            "float64")
_FLOATS = ("float16", "float32", "float64")


def pack_tensors(tensors: Mapping[str, Any], compress: Mapping[str, CompressConfig]) -> bytes:
    """The bytes of a dict of tensors and dicts."""
    bodies: list[bytes] = []
    head = json.dumps(_describe(tensors, compress, bodies)).encode()
    return b"".join([struct.pack("<I", len(head)), head, *bodies])


def _describe(tensors: Mapping[str, Any], compress: Mapping[str, CompressConfig], bodies: list[bytes]) -> list[Any]:
    entries: list[Any] = []
    for name, value in tensors.items():
        if isinstance(value, Mapping):
            entries.append([name, _describe(value, compress, bodies)])
            continue
        array = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if str(array.dtype) not in _NUMBERS:
            raise TypeError(f"The tensor '{name}' should hold numbers, but its type is {array.dtype}")
        note: dict[str, Any] = {"dtype": str(array.dtype), "shape": list(array.shape)}
        config = compress.get(name)
        body = _shrunk(array, config, note) if config and str(array.dtype) in _FLOATS else \
            np.ascontiguousarray(array).tobytes()
        note["bytes"] = len(body)
        bodies.append(body)
        entries.append([name, note])
    return entries


def _shrunk(array: Any, config: CompressConfig, note: dict[str, Any]) -> bytes:
    note["bits"] = config.bit_num
    if config.compress_type == "min_max":
        codes, note["low"], note["high"] = min_max_compress(array, config.bit_num)
    else:
        if not np.array_equal(array, array.astype(np.uint8)):
            raise ValueError("bit_pack takes whole numbers from 0 to 255; use min_max for others")
        codes = array.astype(np.uint8).reshape(-1)
    return bit_pack(codes, config.bit_num)


def unpack_tensors(data: bytes) -> OrderedDict[str, Any]:
    """What `pack_tensors` wrote, as tensors."""
    if len(data) < 4:
        raise ValueError("the message has no header")
    (size,) = struct.unpack_from("<I", data)
    entries = json.loads(data[4:4 + size])
    result, at = _restore(entries, memoryview(data), 4 + size)
    if at != len(data):
        raise ValueError(f"the message has {len(data) - at} bytes too many")
    return result


def _restore(entries: list[Any], data: memoryview, at: int) -> tuple[OrderedDict[str, Any], int]:
    result: OrderedDict[str, Any] = OrderedDict()
    for name, note in entries:
        if isinstance(note, list):
            result[name], at = _restore(note, data, at)
            continue
        body = data[at:at + note["bytes"]]
        at += note["bytes"]
        result[name] = Tensor(_array(note, body))
    return result, at


def _array(note: Mapping[str, Any], body: memoryview) -> Any:
    if note["dtype"] not in _NUMBERS:
        raise ValueError(f"tensors of type {note['dtype']} are not exchanged")
    count = int(np.prod(note["shape"], dtype=np.int64))
    if "bits" not in note:
        return np.frombuffer(body, note["dtype"], count).reshape(note["shape"]).copy()
    codes = bit_unpack(bytes(body), count, note["bits"])
    values = min_max_decompress(codes, note["low"], note["high"], note["bits"]) if "low" in note else codes
    return values.astype(note["dtype"]).reshape(note["shape"])
