"""The part of MessagePack that MindRecord rows use: one map of names to numbers and strings.

Encoding picks the shortest form of each value, as the reference writer does: non-negative integers in the unsigned
forms, and a double whose value a float holds exactly as a float. Decoding takes every scalar form.
Specification: https://github.com/msgpack/msgpack/blob/master/spec.md
"""

from __future__ import annotations

import math
import struct

_U8 = struct.Struct(">BB").pack
_U16 = struct.Struct(">BH").pack
_U32 = struct.Struct(">BI").pack
_U64 = struct.Struct(">BQ").pack
_I8 = struct.Struct(">Bb").pack
_I16 = struct.Struct(">Bh").pack
_I32 = struct.Struct(">Bi").pack
_I64 = struct.Struct(">Bq").pack
_F32 = struct.Struct(">Bf").pack
_F64 = struct.Struct(">Bd").pack
_FLOAT_MAX = 3.4028234663852886e38

# First byte of a fixed-width number -> how to read what follows it.
_NUMBERS = {
    0xCA: struct.Struct(">f"),
    0xCB: struct.Struct(">d"),
    0xCC: struct.Struct(">B"),
    0xCD: struct.Struct(">H"),
    0xCE: struct.Struct(">I"),
    0xCF: struct.Struct(">Q"),
    0xD0: struct.Struct(">b"),
    0xD1: struct.Struct(">h"),
    0xD2: struct.Struct(">i"),
    0xD3: struct.Struct(">q"),
}
_STRING_LENGTHS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_MAP_LENGTHS = {0xDE: 2, 0xDF: 4}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def pack_int(value: int) -> bytes:
    if value >= 0:
        if value < 0x80:
            return bytes((value,))
        if value <= 0xFF:
            return _U8(0xCC, value)
        if value <= 0xFFFF:
            return _U16(0xCD, value)
        if value <= 0xFFFFFFFF:
            return _U32(0xCE, value)
        return _U64(0xCF, value)
    if value >= -32:
        return bytes((value & 0xFF,))
    if value >= -0x80:
        return _I8(0xD0, value)
    if value >= -0x8000:
        return _I16(0xD1, value)
    if value >= -0x80000000:
        return _I32(0xD2, value)
    return _I64(0xD3, value)


def pack_float(value: float) -> bytes:
    if math.isfinite(value) and abs(value) <= _FLOAT_MAX:
        short = _F32(0xCA, value)
        if _NUMBERS[0xCA].unpack_from(short, 1)[0] == value:
            return short
    return _F64(0xCB, value)


def pack_str(value: str) -> bytes:
    body = value.encode("utf-8")
    size = len(body)
    if size < 32:
        return bytes((0xA0 | size,)) + body
    if size <= 0xFF:
        return _U8(0xD9, size) + body
    if size <= 0xFFFF:
        return _U16(0xDA, size) + body
    return _U32(0xDB, size) + body


def pack_map_head(size: int) -> bytes:
    if size < 16:
        return bytes((0x80 | size,))
    return _U16(0xDE, size) if size <= 0xFFFF else _U32(0xDF, size)


def unpack_map(data: bytes) -> dict[str, object]:
    """Decode one map of names to scalars; ValueError when `data` is anything else."""
    try:
        head = data[0]
        if 0x80 <= head <= 0x8F:
            size, at = head & 0x0F, 1
        else:
            width = _MAP_LENGTHS[head]
            size, at = int.from_bytes(data[1 : 1 + width], "big"), 1 + width
        found: dict[str, object] = {}
        for _ in range(size):
            name, at = _scalar(data, at)
            value, at = _scalar(data, at)
            found[name] = value  # type: ignore[index]
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"not a MessagePack map of scalars ({error})") from None
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes left over after a MessagePack map")
    return found


def _scalar(data: bytes, at: int) -> tuple[object, int]:
    head = data[at]
    if head < 0x80:
        return head, at + 1
    if head >= 0xE0:
        return head - 0x100, at + 1
    if 0xA0 <= head <= 0xBF:
        start = at + 1
        end = start + (head & 0x1F)
    elif head in _NUMBERS:
        number = _NUMBERS[head]
        return number.unpack_from(data, at + 1)[0], at + 1 + number.size
    elif head in _STRING_LENGTHS:
        start = at + 1 + _STRING_LENGTHS[head]
        end = start + int.from_bytes(data[at + 1 : start], "big")
    else:
        return _CONSTANTS[head], at + 1
    if end > len(data):
        raise IndexError("a string ends after the data")
    return data[start:end].decode("utf-8"), end
