"""Points as bytes: a small header, then steps, times and values, each in the narrowest form that loses nothing.

Steps that advance evenly are two numbers. Times are doubles near 1.7e9, whose last bit is 2**-22 s; counted in that unit
from the first, those of a quarter of an hour fit 32 bits exactly. Values are float32 as in the files.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from mindinsight.events.bulk import Columns

_HEAD = struct.Struct("<IBBBxqqd")  # count, forms of steps, times and values, first step, stride, first time
_EVEN, _WIDE = 0, 1
_TICKS = float(1 << 22)


def encode(columns: Columns) -> bytes:
    """The bytes of some points."""
    steps, times, values = columns
    count = len(steps)
    stride = int(steps[1] - steps[0]) if count > 1 else 1
    even = count < 2 or bool((np.diff(steps) == stride).all())
    ticks = (times - times[0]) * _TICKS
    close = bool(((ticks >= 0) & (ticks < 2**32)).all())
    if close:
        short = ticks.astype(np.uint32)
        close = bool((short / _TICKS + times[0] == times).all())
    double = values.dtype == np.float64
    head = _HEAD.pack(count, _EVEN if even else _WIDE, _EVEN if close else _WIDE, _WIDE if double else _EVEN,
                      int(steps[0]), stride, float(times[0]))  # fmt: skip
    return b"".join((head, b"" if even else steps.tobytes(), short.tobytes() if close else times.tobytes(), values.tobytes()))


def decode(data: bytes) -> Columns:
    """The points that `encode` wrote."""
    count, step_form, time_form, value_form, first, stride, begin = _HEAD.unpack_from(data)
    at = _HEAD.size
    if step_form == _EVEN:
        steps: NDArray[np.int64] = first + stride * np.arange(count, dtype=np.int64)
    else:
        steps = np.frombuffer(data, np.int64, count, at)
        at += 8 * count
    if time_form == _EVEN:
        times: NDArray[np.float64] = np.frombuffer(data, np.uint32, count, at) / _TICKS + begin
        at += 4 * count
    else:
        times = np.frombuffer(data, np.float64, count, at)
        at += 8 * count
    dtype: str = "<f8" if value_form == _WIDE else "<f4"
    return Columns(steps, times, np.frombuffer(data, dtype, count, at))


def joined(parts: list[Columns]) -> Columns:
    """Points after points."""
    if len(parts) == 1:
        return parts[0]
    steps, times, values = (np.concatenate(column) for column in zip(*parts))
    return Columns(steps, times, values)
