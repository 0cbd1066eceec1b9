"""How MindRecord (file version 3.0) packs an array of integers.

    element count      4 bytes, big-endian
    width codes        2 bits per element, four to a byte, first element in the high bits: 0, 1, 2, 3 = 1, 2, 4, 8 bytes
    elements           each in its own width, little-endian two's complement, the narrowest that holds it

Arrays of one width (most of them) take a straight path; mixed ones are scattered and gathered by width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_WIDTHS = np.array([1, 2, 4, 8])
_TYPES: list[np.dtype[Any]] = [np.dtype("<i1"), np.dtype("<i2"), np.dtype("<i4"), np.dtype("<i8")]
_SHIFTS = np.array([6, 4, 2, 0], np.uint8)
_COUNT_BYTES = 4


def compress(values: np.ndarray) -> bytes:
    """Pack a flat array of int32 or int64."""
    count = values.size
    head = count.to_bytes(_COUNT_BYTES, "big")
    if not count:
        return head
    low, high = int(values.min()), int(values.max())
    widest = _code_of(low, high)
    if widest == 0:
        return head + bytes((count + 3) // 4) + values.astype(_TYPES[0]).tobytes()
    codes = np.zeros(count, np.uint8)
    for code in range(widest):
        limits = np.iinfo(_TYPES[code])
        codes += (values < limits.min) | (values > limits.max)
    padded = np.zeros((count + 3) // 4 * 4, np.uint8)
    padded[:count] = codes
    bitmap = np.bitwise_or.reduce(padded.reshape(-1, 4) << _SHIFTS, axis=1).tobytes()
    if codes.min() == widest:
        return head + bitmap + values.astype(_TYPES[widest]).tobytes()
    ends = np.cumsum(_WIDTHS[codes])
    body = np.empty(int(ends[-1]), np.uint8)
    for code in range(widest + 1):
        chosen = np.flatnonzero(codes == code)
        width = 1 << code
        places = (ends[chosen] - width)[:, None] + np.arange(width)
        body[places] = values[chosen].astype(_TYPES[code]).view(np.uint8).reshape(-1, width)
    return head + bitmap + body.tobytes()


def _code_of(low: int, high: int) -> int:
    for code, kind in enumerate(_TYPES):
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return code
    raise ValueError(f"the integers {low} to {high} need more than 64 bits")


def decompress(data: bytes | memoryview, dtype: np.dtype) -> np.ndarray:
    """Unpack to a flat array of `dtype`; ValueError when `data` is not such an array."""
    if len(data) < _COUNT_BYTES:
        raise ValueError("a packed integer array is cut short")
    count = int.from_bytes(data[:_COUNT_BYTES], "big")
    start = _COUNT_BYTES + (count + 3) // 4
    if not count:
        return np.empty(0, dtype)
    if start + count > len(data):
        raise ValueError("a packed integer array is cut short")
    bitmap = np.frombuffer(data, np.uint8, start - _COUNT_BYTES, _COUNT_BYTES)
    codes = ((bitmap[:, None] >> _SHIFTS) & 3).reshape(-1)[:count]
    first = int(codes[0])
    if (codes == first).all():
        if start + (count << first) != len(data):
            raise ValueError("a packed integer array is cut short")
        return np.frombuffer(data, _TYPES[first], count, start).astype(dtype)
    ends = np.cumsum(_WIDTHS[codes])
    if start + int(ends[-1]) != len(data):
        raise ValueError("a packed integer array is cut short")
    body = np.frombuffer(data, np.uint8, offset=start)
    values = np.empty(count, np.int64)
    for code in range(4):
        chosen = np.flatnonzero(codes == code)
        if chosen.size:
            width = 1 << code
            places = (ends[chosen] - width)[:, None] + np.arange(width)
            values[chosen] = body[places].view(_TYPES[code]).reshape(-1)
    return values.astype(dtype)
