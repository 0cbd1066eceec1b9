"""CRC-32C (Castagnoli), the checksum of TFRecord files, in NumPy.

A CRC is linear over GF(2): that of a block is the XOR, over its bytes, of what each byte contributes when k zero bytes
follow it. One table of those contributions for k < 1024 turns a block of 1 KB into one gather and one XOR reduction;
the state so far enters a block by XOR into its first four bytes.
"""

from __future__ import annotations

import functools

import numpy as np

_POLYNOMIAL = 0x82F63B78  # bit-reversed
_BLOCK = 1024
_MASK_DELTA = 0xA282EAD8


@functools.cache
def _tables() -> np.ndarray:
    """(1024, 256): row r is for a byte at place r of a block, that is, with 1023 - r bytes after it."""
    step = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        step = step >> np.uint32(1) ^ (step & np.uint32(1)) * np.uint32(_POLYNOMIAL)
    tables = np.empty((_BLOCK, 256), np.uint32)
    tables[-1] = step
    for place in range(_BLOCK - 2, -1, -1):
        after = tables[place + 1]
        tables[place] = (after >> 8) ^ step[after & 0xFF]
    return tables


def crc32c(data: bytes | memoryview) -> int:
    """The checksum of `data`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    tables = _tables()
    values = np.frombuffer(data, np.uint8)
    first = values.size % _BLOCK
    state = _block(tables, values[:first], 0xFFFFFFFF)
    blocks = values[first:].reshape(-1, _BLOCK)
    if len(blocks):
        places = np.arange(_BLOCK)
        for part in np.array_split(blocks, -(-len(blocks) // 256)):  # bounds the memory of the gather
            for own in np.bitwise_xor.reduce(tables[places, part], axis=1).tolist():
                state = own ^ _shifted(tables, state)
    return state ^ 0xFFFFFFFF


def _block(tables: np.ndarray, values: np.ndarray, state: int) -> int:
    if values.size < 4:
        step = tables[-1]
        for value in values.tolist():
            state = (state >> 8) ^ int(step[(state ^ value) & 0xFF])
        return state
    mixed = values.copy()
    mixed[:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)
    return int(np.bitwise_xor.reduce(tables[np.arange(_BLOCK - mixed.size, _BLOCK), mixed]))


def _shifted(tables: np.ndarray, state: int) -> int:
    """What the state contributes when a whole block follows it."""
    return int(
        tables[0, state & 0xFF] ^ tables[1, state >> 8 & 0xFF] ^ tables[2, state >> 16 & 0xFF] ^ tables[3, state >> 24]
    )


def mask(crc: int) -> int:
    """The form in which TFRecord stores a checksum."""
    return ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c_of_lengths(lengths: np.ndarray) -> np.ndarray:
    """Stored checksums of many 8-byte little-endian numbers at once."""
    values = np.ascontiguousarray(lengths, "<u8").view(np.uint8).reshape(-1, 8).copy()
    values[:, :4] ^= 0xFF
    crc = np.bitwise_xor.reduce(_tables()[np.arange(_BLOCK - 8, _BLOCK), values], axis=1) ^ np.uint32(0xFFFFFFFF)
    return (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(_MASK_DELTA)
