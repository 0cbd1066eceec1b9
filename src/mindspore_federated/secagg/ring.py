"""Real vectors in the ring of integers modulo 2**32, as fixed-point numbers. Sums in the ring are exact."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ring = NDArray[np.uint32]


def to_ring(values: NDArray[np.float32], clip: float, clients: int, weight: int = 1) -> Ring:
    """Values, clipped to [-clip, clip] and times `weight`, so fine that a sum of weights up to `clients` still fits."""
    if not np.isfinite(values).all():
        raise ValueError("values that are not finite have no place in the ring")
    scale = ring_scale(clip, clients) * weight
    fixed = np.rint(np.clip(values.astype(np.float64), -clip, clip) * scale).astype(np.int64)
    return fixed.astype(np.uint32)


def from_ring(total: Ring, clip: float, clients: int) -> NDArray[np.float64]:
    """The sum that ring elements stand for."""
    values: NDArray[np.float64] = total.view(np.int32).astype(np.float64) / ring_scale(clip, clients)
    return values


def ring_scale(clip: float, clients: int) -> float:
    """How many steps of the ring a value of 1 has."""
    if clip <= 0 or clients < 1:
        raise ValueError(f"clip should be above 0 and clients at least 1, but got {clip} and {clients}")
    return float((2 ** 31 - 1 - clients) / (clip * clients))
