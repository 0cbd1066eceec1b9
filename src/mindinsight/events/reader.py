"""An event file, from any place on, a stretch at a time.

What is there is read, and no more: a record whose end is not written yet is left for the next time. Memory is bounded by
the stretch and the longest record.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mindinsight.events import framing
from mindinsight.events.bulk import Batch, Decoder, Found
from mindinsight.events.framing import FRAME, Bytes

_STRETCH = 4 << 20


class Stretch(NamedTuple):
    """What a part of a file says, where it ends, and a word about damage."""

    batch: Batch
    end: int
    damage: str


def read(handle: int, begin: int, decoder: Decoder, lineage: bool = False, stretch: int = _STRETCH) -> Iterator[Stretch]:
    """The records from `begin` to what is now the end of the file."""
    at, size = begin, stretch
    while True:
        data = _pread(handle, at, size)
        if len(data) < FRAME:
            return
        chain = framing.chain(data)
        if chain.starts.size:
            for part in _decoded(data, chain, at, decoder, lineage):
                yield part
            at, size = part.end, stretch
            continue
        damaged = not framing.header_fits(data, 0)
        if not damaged and chain.wanted <= framing.LONGEST:
            if len(data) < size:
                return  # its end is still to be written
            size = chain.wanted + FRAME
            continue
        place = framing.resume(data, 1)
        yield Stretch(Batch(damaged=1), at + (place or len(data) - framing.HEADER + 1), f"damaged at byte {at:,}")
        at += place or len(data) - framing.HEADER + 1
        if place is None and len(data) < size:
            return


def _decoded(data: Bytes, chain: framing.Chain, at: int, decoder: Decoder, lineage: bool) -> Iterator[Stretch]:
    """Records of a chain; after one whose length is damaged, the chain is taken up again where a header fits."""
    batch, damaged = decoder.decode(data, chain.starts, chain.lengths, lineage)
    lost = next((int(n) for n in damaged if not framing.header_fits(data, int(chain.starts[n]))), None)
    if lost is None:
        words = f"damaged at byte {at + int(chain.starts[damaged[0]]):,}" if damaged.size else ""
        yield Stretch(_placed(batch, at), at + chain.end, words)
        return
    first = int(chain.starts[lost])
    batch, _ = decoder.decode(data, chain.starts[:lost], chain.lengths[:lost], lineage)
    batch.damaged += 1
    place = framing.resume(data, first + 1)
    end = len(data) - framing.HEADER + 1 if place is None else place
    yield Stretch(_placed(batch, at), at + end, f"damaged at byte {at + first:,}")
    if place is None:
        return
    rest = framing.chain(data[place:])
    if rest.starts.size:
        yield from _decoded(data[place:], rest, at + place, decoder, lineage)


def _placed(batch: Batch, at: int) -> Batch:
    batch.things = [Found(*thing[:4], thing.offset + at, thing.length) for thing in batch.things]
    return batch


def _pread(handle: int, at: int, size: int) -> Bytes:
    there = max(0, min(size, os.fstat(handle).st_size - at))
    buffer = np.empty(there, np.uint8)
    return buffer[: os.preadv(handle, [buffer.data], at)] if there else buffer
