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


def _fours(raw: Array, begin: int) -> Array:
    """Two numbers of four bits in a byte: the first half of a block, and the second."""
    return np.concatenate([raw[:, begin:] & 15, raw[:, begin:] >> 4], 1)


def _fives(raw: Array, begin: int) -> Array:
    """The fifth bits lie before the others."""
    found: Array = _fours(raw, begin + 4) | np.unpackbits(raw[:, begin : begin + 4], axis=1, bitorder="little") << 4
    return found


def _q4_0(raw: Array) -> Array:
    found: Array = _halves(raw, 0) * (_fours(raw, 2).astype(np.int8) - 8)
    return found


def _q4_1(raw: Array) -> Array:
    found: Array = _halves(raw, 0) * _fours(raw, 4) + _halves(raw, 2)
    return found


def _q5_0(raw: Array) -> Array:
    found: Array = _halves(raw, 0) * (_fives(raw, 2).astype(np.int8) - 16)
    return found


def _q5_1(raw: Array) -> Array:
    found: Array = _halves(raw, 0) * _fives(raw, 4) + _halves(raw, 2)
    return found


def _runs(raw: Array, scales: Array, offsets: Array | int, numbers: Array) -> Array:
    """Runs of numbers, (blocks, runs, length), each with a scale and an offset."""
    scaled: Array = np.multiply(scales[..., None], numbers, dtype=np.float32) - np.asarray(offsets, np.float32)[..., None]
    return scaled.reshape(len(raw), 256)


def _sixes(raw: Array) -> tuple[Array, Array]:
    """The eight scales and offsets of Q4_K and Q5_K, of 6 bits each."""
    packed = raw[:, 4:16]
    low, high, last = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([low & 63, (last & 15) | (low >> 6) << 4], 1).astype(np.float32)
    offsets = np.concatenate([high & 63, (last >> 4) | (high >> 6) << 4], 1).astype(np.float32)
    return _halves(raw, 0) * scales, _halves(raw, 2) * offsets


def _eight_runs(raw: Array, begin: int) -> Array:
    """Four bits of 256 numbers: two runs of 32 share their bytes."""
    pairs = raw[:, begin:].reshape(len(raw), 4, 1, 32)
    return np.concatenate([pairs & 15, pairs >> 4], 2).reshape(len(raw), 8, 32)


def _q4_k(raw: Array) -> Array:
    return _runs(raw, *_sixes(raw), _eight_runs(raw, 16))


def _q5_k(raw: Array) -> Array:
    """The fifth bit of a run's numbers is one bit of 32 bytes."""
    fifth = raw[:, 16:48].reshape(len(raw), 1, 32) >> np.arange(8, dtype=np.uint8)[:, None] & 1
    return _runs(raw, *_sixes(raw), _eight_runs(raw, 48) | fifth << 4)


def _twos(raw: Array, begin: int) -> Array:
    """Two bits of 256 numbers: four runs of 32 share their bytes."""
    fours = raw[:, begin : begin + 64].reshape(len(raw), 2, 1, 32)
    return fours >> np.array([[0], [2], [4], [6]], np.uint8) & 3


def _q2_k(raw: Array) -> Array:
    """Sixteen runs of 16, each with a scale and an offset of 4 bits."""
    scales, offsets = _halves(raw, 80) * (raw[:, :16] & 15), _halves(raw, 82) * (raw[:, :16] >> 4)
    return _runs(raw, scales, offsets, _twos(raw, 16).reshape(len(raw), 16, 16))


def _q3_k(raw: Array) -> Array:
    """Sixteen runs of 16 with scales of 6 bits, two of which lie apart, as the third bits of the numbers do."""
    packed = raw[:, 96:108]
    low = np.concatenate([packed[:, :8] & 15, packed[:, :8] >> 4], 1)
    high = np.concatenate([packed[:, 8:] >> shift & 3 for shift in (0, 2, 4, 6)], 1)
    scales = _halves(raw, 108) * ((low | high << 4).astype(np.int8) - 32)
    third = raw[:, :32].reshape(len(raw), 1, 32) >> np.arange(8, dtype=np.uint8)[:, None] & 1
    numbers = (_twos(raw, 32).reshape(len(raw), 8, 32) | third << 2).astype(np.int8) - 4
    return _runs(raw, scales, 0, numbers.reshape(len(raw), 16, 16))


#: what four bits stand for where the steps are not equal
_UNEVEN = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)


def _iq4_nl(raw: Array) -> Array:
    return _halves(raw, 0) * _UNEVEN[_fours(raw, 2)]


def _iq4_xs(raw: Array) -> Array:
    """Eight runs of 32 with scales of 6 bits, two of which lie apart."""
    high = np.ascontiguousarray(raw[:, 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    low = np.stack([raw[:, 4:8] & 15, raw[:, 4:8] >> 4], 2).reshape(len(raw), 8)
    scales = _halves(raw, 0) * ((low | high << 4).astype(np.int8) - 32)
    parts = raw[:, 8:].reshape(len(raw), 8, 16)
    return _runs(raw, scales, 0, _UNEVEN[np.concatenate([parts & 15, parts >> 4], 2)])


def _q6_k(raw: Array) -> Array:
    """Sixteen runs of 16 with scales of 8 bits; four bits of a number lie in one place, two in another."""
    low, high = raw[:, :128].reshape(-1, 2, 2, 32), raw[:, 128:192].reshape(-1, 2, 1, 32)
    fours = np.concatenate([low & 15, low >> 4], 2)
    twos = np.concatenate([high >> shift & 3 for shift in (0, 2, 4, 6)], 2)
    numbers = (fours | twos << 4).astype(np.int8).reshape(len(raw), 16, 16) - 32
    return _runs(raw, _halves(raw, 208) * raw[:, 192:208].view(np.int8), 0, numbers)


class _Format(NamedTuple):
    numbers: int  # of a block
    nbytes: int
    read: Callable[[Array], Array]


_FORMATS = {
    0: _Format(1, 4, lambda raw: raw.view(np.float32)),
    1: _Format(1, 2, lambda raw: raw.view(np.float16).astype(np.float32)),
    2: _Format(32, 18, _q4_0),
    3: _Format(32, 20, _q4_1),
    6: _Format(32, 22, _q5_0),
    7: _Format(32, 24, _q5_1),
    8: _Format(32, 34, _q8_0),
    10: _Format(256, 84, _q2_k),
    11: _Format(256, 110, _q3_k),
    12: _Format(256, 144, _q4_k),
    13: _Format(256, 176, _q5_k),
    14: _Format(256, 210, _q6_k),
    20: _Format(32, 18, _iq4_nl),
    23: _Format(256, 136, _iq4_xs),
    30: _Format(1, 2, lambda raw: (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)),
}


#: formats that are not read, by name: most of them need tables of the points that groups of numbers may be
_OTHERS = {9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 21: "IQ3_S", 22: "IQ2_S", 24: "I8", 25: "I16",
           26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4"}  # fmt: skip


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
        raise ValueError(f"'{name}' has the type {_OTHERS.get(kind, kind)}, which is not supported")
    if shape[-1] % _FORMATS[kind].numbers:
        raise ValueError(f"rows of {shape[-1]} numbers of '{name}' are no whole blocks")
    return name, _Tensor(shape, _FORMATS[kind], begin)


__all__ = ["File"]
