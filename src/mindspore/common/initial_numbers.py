"""The random numbers of initial values: those that official MindSpore draws for the same seed.

Each array has a seed of its own, which is drawn from NumPy's global generator (in a local context from that context's own). Of
it Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) makes 32-bit words, four for each value of a
counter, and the words become numbers in double precision:

    uniform    one word each
    normal     two words for two numbers (Box and Muller), of 23 bits each
    truncated  one word each, put through the inverse of the distribution function (Wichura's AS 241)

So any part of an array can be drawn without the parts before it: blocks small enough for the cache, on all cores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

_BLOCK = 1 << 15
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
#: single precision, which the official transformation computes with
_PI, _LEAST, _ROOT_TWO = (float(np.float32(v)) for v in (3.1415926, 1e-7, 1.4142135))


def words(seed: int, first: int, count: int) -> np.ndarray:
    """`count` words (uint32) of the seed's stream from number `first` on, which is a multiple of four."""
    start = first // 4
    c0 = np.arange(start, start + -(-count // 4), dtype=np.uint64)
    c0, c1 = c0 & _LOW, c0 >> _HALF
    c2, c3 = (np.full_like(c0, word) for word in (seed & 0xFFFFFFFF, seed >> 32))
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(_ROUNDS):
        c0 *= _FACTORS[0]
        c2 *= _FACTORS[1]
        c1 ^= c2 >> _HALF
        c1 ^= np.uint64(keys[0])
        c3 ^= c0 >> _HALF
        c3 ^= np.uint64(keys[1])
        c2 &= _LOW
        c0 &= _LOW
        c0, c1, c2, c3 = c1, c2, c3, c0
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, _STEPS)]
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32).reshape(-1)[:count]


def uniform(seed: int, low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
    """Evenly from [low, high)."""
    low, high = map(_single, (low, high))

    def draw(first: int, count: int) -> np.ndarray:
        return words(seed, first, count) * ((high - low) / 2**32) + low

    return _drawn(draw, shape)


def normal(seed: int, mean: float, sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    mean, sigma = map(_single, (mean, sigma))

    def draw(first: int, count: int) -> np.ndarray:
        even = words(seed, first, count + count % 2)
        parts = np.maximum((even & np.uint32(0x7FFFFF)) / 2.0**23, _LEAST).reshape(-1, 2)
        radius, angle = np.sqrt(-2 * np.log(parts[:, 0])) * sigma, 2 * _PI * parts[:, 1]
        pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) + mean
        return pairs.reshape(-1)[:count]

    return _drawn(draw, shape)


def truncated(seed: int, mean: float, sigma: float, low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
    """A normal distribution cut off at the values `low` and `high`."""
    if not low < high:
        raise ValueError(f"A truncated normal distribution needs a < b, but got a={low} and b={high}.")
    mean, sigma, low, high = map(_single, (mean, sigma, low, high))
    a, b = (low - mean) / sigma, (high - mean) / sigma
    upper = a > 0  # the lower tail has more digits
    below, above = _share_below(-a if upper else a), _share_below(-b if upper else b)

    def draw(first: int, count: int) -> np.ndarray:
        share = words(seed, first, count) * ((above - below) / 2**32) + below
        z = _normal_quantile(np.clip(share, 1e-300, 1 - 2.0**-53))
        return np.clip(mean + (-z if upper else z) * sigma, low, high)

    return _drawn(draw, shape)


def _single(number: float) -> float:
    return float(np.float32(number))


def _drawn(draw: Callable[[int, int], np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """An array of numbers in single precision, block by block."""
    out = np.empty(math.prod(shape), np.float32)

    def fill(first: int) -> None:
        part = out[first : first + _BLOCK]
        part[...] = draw(first, part.size)

    blocks = range(0, out.size, _BLOCK)
    if len(blocks) < 32:
        for first in blocks:
            fill(first)
    else:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) as pool:
            for _ in pool.map(fill, blocks):
                pass
    return out.reshape(shape)


def _share_below(z: float) -> float:
    return math.erfc(-z / _ROOT_TWO) / 2


#: numerators and denominators, highest power first, of the middle and the two parts of a tail
_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080),
    (5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867, 5394.1960214247511077,
     687.18700749205790830, 42.313330701600911252, 1.0),
)  # fmt: skip
_NEAR = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258, 3.64784832476320460504,
     5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def _normal_quantile(share: np.ndarray) -> np.ndarray:
    """Below which value the given share of a standard normal distribution lies."""
    q = share - 0.5
    out = q * _ratio(_MIDDLE, 0.180625 - q * q)
    tail = np.flatnonzero(np.abs(q) > 0.425)
    r = np.sqrt(-np.log(np.where(q[tail] < 0, share[tail], 1 - share[tail])))
    out[tail] = np.copysign(np.where(r <= 5, _ratio(_NEAR, r - 1.6), _ratio(_FAR, r - 5)), q[tail])
    return out


def _ratio(polynomials: tuple, x: np.ndarray) -> np.ndarray:
    above, below = (np.polyval(coefficients, x) for coefficients in polynomials)
    return above / below
