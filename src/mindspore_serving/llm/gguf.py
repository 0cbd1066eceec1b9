"""GGUF files (llama.cpp's): one file with the configuration, the tokens and the weights of a model.

    "GGUF" · version · number of tensors · number of settings
    settings   name, type, value (numbers, texts, arrays of these)
    tensors    name, sizes (fastest first), type, place
    data       aligned; blocks of 32 or 256 numbers with their scales

Weights become float32 when they are asked for, one at a time. Sizes are checked against the file before anything is read by them.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_MAX_DIMS = 4


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self.data, self.at = data, 0

    def bytes(self, count: int) -> memoryview:
        if count > len(self.data) - self.at:
            raise ValueError("it ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form: str) -> Any:
        return struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))[0]

    def text(self) -> str:
        return bytes(self.bytes(self.number("Q"))).decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            if kind not in _NUMBERS:
                raise ValueError(f"a setting has the unknown type {kind}")
            return self.number(_NUMBERS[kind])
        item, count = self.number("I"), self.number("Q")
        if item == _TEXT:
            if 8 * count > len(self.data) - self.at:
                raise ValueError("it ends too early")
            return [self.text() for _ in range(count)]
        if item not in _NUMBERS:
            raise ValueError(f"a setting is an array of the unknown type {item}")
        form = np.dtype("<" + _NUMBERS[item])
        return np.frombuffer(self.bytes(count * form.itemsize), form)


# -- blocks of numbers: bytes (blocks, size) → float32 (blocks, numbers)
def _halves(raw: Array, begin: int) -> Array:
    return np.ascontiguousarray(raw[:, begin : begin + 2]).view(np.float16).astype(np.float32)


def _q8_0(raw: Array) -> Array:
    return _halves(raw, 0) * raw[:, 2:].view(np.int8)


def _q4_0(raw: Array) -> Array:
    return _halves(raw, 0) * (np.concatenate([raw[:, 2:] & 15, raw[:, 2:] >> 4], 1).astype(np.int8) - 8)


def _q4_1(raw: Array) -> Array:
    found: Array = _halves(raw, 0) * np.concatenate([raw[:, 4:] & 15, raw[:, 4:] >> 4], 1) + _halves(raw, 2)
    return found


def _q4_k(raw: Array) -> Array:
    """Eight runs of 32, each with a scale and an offset of 6 bits."""
    packed = raw[:, 4:16]
    low, high, last = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([low & 63, (last & 15) | (low >> 6) << 4], 1).astype(np.float32)
    offsets = np.concatenate([high & 63, (last >> 4) | (high >> 6) << 4], 1).astype(np.float32)
    pairs = raw[:, 16:].reshape(len(raw), 4, 1, 32)
    numbers = np.concatenate([pairs & 15, pairs >> 4], 2).reshape(len(raw), 8, 32)
    scaled: Array = (_halves(raw, 0) * scales)[..., None] * numbers - (_halves(raw, 2) * offsets)[..., None]
    return scaled.reshape(len(raw), 256)


def _q6_k(raw: Array) -> Array:
    """Sixteen runs of 16 with scales of 8 bits; four bits of a number lie in one place, two in another."""
    low, high = raw[:, :128].reshape(-1, 2, 2, 32), raw[:, 128:192].reshape(-1, 2, 1, 32)
    fours = np.concatenate([low & 15, low >> 4], 2)
    twos = np.concatenate([high >> shift & 3 for shift in (0, 2, 4, 6)], 2)
    numbers = (fours | twos << 4).astype(np.int8).reshape(len(raw), 16, 16) - 32
    scales = _halves(raw, 208) * raw[:, 192:208].view(np.int8)
    scaled: Array = scales[..., None] * numbers
    return scaled.reshape(len(raw), 256)


class _Format(NamedTuple):
    numbers: int  # of a block
    nbytes: int
    read: Callable[[Array], Array]


_FORMATS = {
    0: _Format(1, 4, lambda raw: raw.view(np.float32)),
    1: _Format(1, 2, lambda raw: raw.view(np.float16).astype(np.float32)),
    2: _Format(32, 18, _q4_0),
    3: _Format(32, 20, _q4_1),
    8: _Format(32, 34, _q8_0),
    12: _Format(256, 144, _q4_k),
    14: _Format(256, 210, _q6_k),
    30: _Format(1, 2, lambda raw: (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)),
}


@dataclass(frozen=True)
class _Tensor:
    shape: tuple[int, ...]
    format: _Format
    begin: int

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) // self.format.numbers * self.format.nbytes


class File:
    """`settings` by name; weights by `read`."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        try:
            self.settings, self._tensors, start = _header(_Reader(data))
            self._data = np.frombuffer(data, np.uint8)[start:]
            for name, tensor in self._tensors.items():
                if tensor.begin + tensor.nbytes > len(self._data):
                    raise ValueError(f"the data of '{name}' lies behind its end")
        except ValueError as error:
            raise ValueError(f"The file {path} is no GGUF file that can be read: {error}.") from None

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    @property
    def names(self) -> list[str]:
        return list(self._tensors)

    def read(self, name: str) -> Array:
        tensor = self._tensors[name]
        raw = self._data[tensor.begin : tensor.begin + tensor.nbytes].reshape(-1, tensor.format.nbytes)
        return tensor.format.read(np.ascontiguousarray(raw)).reshape(tensor.shape)


def _header(reader: _Reader) -> tuple[dict[str, Any], dict[str, _Tensor], int]:
    if bytes(reader.bytes(4)) != b"GGUF":
        raise ValueError("it does not begin with GGUF")
    version = reader.number("I")
    if version not in (2, 3):
        raise ValueError(f"version {version} is unknown")
    tensors, settings = reader.number("Q"), reader.number("Q")
    found: dict[str, Any] = {}
    for _ in range(settings):
        name = reader.text()
        found[name] = reader.value(reader.number("I"))
    entries = dict(_entry(reader) for _ in range(tensors))
    alignment = int(found.get("general.alignment", 32))
    if not 0 < alignment <= 1 << 16:
        raise ValueError(f"the alignment {alignment} is not possible")
    return found, entries, -(-reader.at // alignment) * alignment


def _entry(reader: _Reader) -> tuple[str, _Tensor]:
    name, dims = reader.text(), reader.number("I")
    if not 0 < dims <= _MAX_DIMS:
        raise ValueError(f"'{name}' has {dims} dimensions")
    shape = tuple(reversed([reader.number("Q") for _ in range(dims)]))
    kind, begin = reader.number("I"), reader.number("Q")
    if kind not in _FORMATS:
        raise ValueError(f"'{name}' has the type {kind}, which is not supported")
    if shape[-1] % _FORMATS[kind].numbers:
        raise ValueError(f"rows of {shape[-1]} numbers of '{name}' are no whole blocks")
    return name, _Tensor(shape, _FORMATS[kind], begin)


__all__ = ["File"]
