"""Arrays whose elements lie in another order than their own: described by loops, (extent, stride in elements), outermost first."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_MOST_LOOPS = 64


def walked(elements: np.ndarray, loops: Sequence[Sequence[int]]) -> np.ndarray:
    """The elements as the loops meet them, each once; ValueError if the loops would leave the array."""
    extents, strides = [e for e, _ in loops], [s for _, s in loops]
    fits = len(loops) <= _MOST_LOOPS and all(isinstance(n, int) for pair in loops for n in pair)
    fits = fits and math.prod(extents) == len(elements) and all(e >= 1 and s >= 0 for e, s in loops)
    if not fits or sum((e - 1) * s for e, s in loops) >= max(len(elements), 1):
        raise ValueError("an order that does not fit the array")
    seen = np.lib.stride_tricks.as_strided(elements, extents, [s * elements.itemsize for s in strides], writeable=False)
    return np.ascontiguousarray(seen).reshape(-1)
