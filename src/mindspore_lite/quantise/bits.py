"""Whole numbers of 2 to 16 bits, packed without gaps: two's complement, lowest bit first."""

from __future__ import annotations

import numpy as np


def pack_bits(codes: np.ndarray, bits: int) -> bytes:
    """The numbers (-2^(bits-1) … 2^(bits-1)-1) as bytes."""
    if bits in (8, 16):
        return codes.astype(f"<i{bits // 8}").tobytes()
    unsigned = codes.astype(np.int64) & ((1 << bits) - 1)
    if bits == 4 and len(codes) % 2 == 0:
        return (unsigned[0::2] | unsigned[1::2] << 4).astype(np.uint8).tobytes()
    planes = (unsigned[:, None] >> np.arange(bits)) & 1
    return np.packbits(planes.astype(np.uint8).reshape(-1), bitorder="little").tobytes()


def unpack_bits(content: bytes | memoryview, bits: int, count: int) -> np.ndarray:
    """`count` numbers, as float32 (they have at most 16 bits)."""
    if not 1 <= bits <= 16 or len(content) != -(-count * bits // 8):
        raise ValueError("its size")
    if bits in (8, 16):
        return np.frombuffer(content, f"<i{bits // 8}").astype(np.float32)
    raw = np.frombuffer(content, np.uint8)
    if bits == 4:
        codes = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[:count].astype(np.int32)
    else:
        planes = np.unpackbits(raw, bitorder="little")[: count * bits].reshape(count, bits)
        codes = (planes.astype(np.int32) << np.arange(bits, dtype=np.int32)).sum(1)
    sign = 1 << (bits - 1)
    return ((codes ^ sign) - sign).astype(np.float32)
