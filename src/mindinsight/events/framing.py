"""Where the records of an event file begin, and which of them are whole.

A record is `u64 length, u32 checksum of the length, data, u32 checksum of the data`; checksums are masked CRC-32C. Records
form a chain, which has to be walked; but writers repeat themselves (the same tags step after step), so the lengths are
nearly periodic. `chain` walks a few records, guesses the period, and checks the guess for thousands of records at once.

Checksums of short records are computed side by side: CRC is linear, so the checksum of a message of n bytes is the XOR of
one table entry per byte (the byte's effect after the bytes that follow it) and a constant of n.

A record whose data is damaged is passed over. If its length is damaged too, the chain is lost; `resume` looks for the next
header whose own checksum fits.
"""

from __future__ import annotations

import functools
import struct
from typing import NamedTuple

import google_crc32c
import numpy as np
from numpy.typing import NDArray

HEADER, FOOTER = 12, 4
FRAME = HEADER + FOOTER
#: longer records are taken for damage: nothing sensible is that long
LONGEST = 1 << 30
_SIDE_BY_SIDE = 160  # bytes; above, one call per record is faster than one table per byte
_WALK, _GUESS = 96, 1024
_LENGTH = struct.Struct("<Q")
_U32 = struct.Struct("<I")

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


class Chain(NamedTuple):
    """Records that follow each other: where each begins (its header) and how long its data is."""

    starts: Offsets
    lengths: Offsets
    end: int  #: first byte after the last whole record
    wanted: int  #: bytes the next record needs, from `end`; 0 when not even its header is there


def masked(crc: int) -> int:
    """The stored form of a checksum."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(data: bytes) -> bytes:
    """A record."""
    head = _LENGTH.pack(len(data))
    checksum = google_crc32c.value
    return b"".join((head, _U32.pack(masked(checksum(head))), data, _U32.pack(masked(checksum(data)))))


def chain(data: Bytes, begin: int = 0) -> Chain:
    """The records from `begin` on, by their lengths alone."""
    size = len(data)
    pieces: list[Offsets] = []
    lengths: list[Offsets] = []
    at, view = begin, data.data
    length_at = np.ndarray((max(size - 7, 0),), "<u8", data, strides=(1,))
    while True:
        walked, at, wanted = _walk(view, at)
        pieces.append(at - np.cumsum(walked[::-1] + FRAME)[::-1])
        lengths.append(walked)
        if walked.size < _WALK:
            return Chain(np.concatenate(pieces), np.concatenate(lengths), at, wanted)
        period = _period(walked)
        count = _GUESS
        while period is not None:
            guess = np.tile(period, count // period.size + 1)[:count]
            starts = at + np.concatenate(([0], np.cumsum(guess + FRAME)))
            inside = int(np.searchsorted(starts[1:], size, side="right"))
            good = length_at[starts[:inside]] == guess[:inside].view(np.uint64)
            right = inside if good.all() else int(np.argmin(good))
            pieces.append(starts[:right])
            lengths.append(guess[:right])
            at = int(starts[right])
            if right < count:
                break
            period = np.roll(period, -(count % period.size))
            count *= 2


def _walk(data: memoryview, at: int) -> tuple[Offsets, int, int]:
    """Up to `_WALK` lengths, where the chain has got to, and what the next record needs."""
    found: list[int] = []
    size, unpack = len(data), _LENGTH.unpack_from
    wanted = 0
    while len(found) < _WALK and at + FRAME <= size:
        length = unpack(data, at)[0]
        if at + FRAME + length > size:
            wanted = FRAME + length
            break
        found.append(length)
        at += FRAME + length
    return np.array(found, np.int64), at, wanted


def _period(lengths: Offsets) -> Offsets | None:
    """The lengths to come if the last ones repeat."""
    for period in range(1, _WALK // 2 + 1):
        if np.array_equal(lengths[period:], lengths[:-period]):
            return np.roll(lengths[:period], -(lengths.size % period))
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Checksums


@functools.cache
def _effects() -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """`effect[d][b]`: what byte b does to the checksum when d bytes follow; `start[n]`: the checksum of n zero bytes."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> np.uint32(1)) ^ np.where(table & 1, np.uint32(0x82F63B78), np.uint32(0))
    effect = np.empty((_SIDE_BY_SIDE, 256), np.uint32)
    start = np.empty(_SIDE_BY_SIDE + 1, np.uint32)
    effect[0], start[0] = table, 0xFFFFFFFF
    for d in range(1, _SIDE_BY_SIDE):
        effect[d] = (effect[d - 1] >> np.uint32(8)) ^ table[effect[d - 1] & 255]
    for n in range(1, _SIDE_BY_SIDE + 1):
        start[n] = (start[n - 1] >> np.uint32(8)) ^ table[start[n - 1] & 255]
    return effect, ~start


def rows(data: Bytes, starts: Offsets, length: int) -> Bytes:
    """Data and checksum of records of one length, a row for each."""
    width = length + FOOTER
    windows = np.ndarray((max(len(data) - width + 1, 0),), f"V{width}", data, strides=(1,))
    return windows[starts + HEADER].view(np.uint8).reshape(-1, width)


def intact(columns: Bytes) -> NDArray[np.bool_]:
    """Which records are whole. `columns` is `rows` transposed and contiguous."""
    length = len(columns) - FOOTER
    stored = np.ascontiguousarray(columns[length:].T).view("<u4").reshape(-1)
    if length > _SIDE_BY_SIDE:
        whole = np.ascontiguousarray(columns[:length].T)
        crc = np.fromiter((google_crc32c.value(row.tobytes()) for row in whole), np.uint32, len(whole))
    else:
        effect, start = _effects()
        crc = np.full(columns.shape[1], start[length])
        for position in range(length):
            crc ^= effect[length - 1 - position].take(columns[position])
    mask = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(0xA282EAD8)
    return np.asarray(mask == stored)


def header_fits(data: Bytes, at: int) -> bool:
    """Whether the length at `at` is what was written."""
    head = data[at : at + HEADER].tobytes()
    return len(head) == HEADER and masked(google_crc32c.value(head[:8])) == _U32.unpack_from(head, 8)[0]


def resume(data: Bytes, begin: int) -> int | None:
    """The first place from `begin` on where a sensible header is."""
    count = len(data) - HEADER + 1 - begin
    if count <= 0:
        return None
    lengths = np.ndarray((count,), "<u8", data, offset=begin, strides=(1,))
    for place in np.flatnonzero(lengths < LONGEST):
        if header_fits(data, begin + int(place)):
            return begin + int(place)
    return None
