"""How large the numbers of an activation are, and what range 8 bits should stand for.

A histogram of magnitudes grows with the data: when a larger number comes, its bins are joined two by two until it fits.
KL follows Migacz, "8-bit inference with TensorRT" (2017): of all bounds, the one whose quantised distribution is closest to the original.
"""

from __future__ import annotations

import numpy as np

_BINS = 2048
METHODS = ("MAX_MIN", "KL", "REMOVAL_OUTLIER")
_OUTLIERS = 1e-4  # of the numbers, at the most


class Range:
    """Magnitudes of a value, whether it is ever negative, and its mean per channel."""

    def __init__(self) -> None:
        self.counts = np.zeros(_BINS, np.int64)
        self.width = 0.0  # of a bin
        self.largest = 0.0
        self.negative = False
        self._sums: np.ndarray | None = None
        self._rows = 0

    def see(self, array: np.ndarray, axis: int) -> None:
        """`axis`: of the channels."""
        if not np.isfinite(array).all():
            raise ValueError("the calibration data gives NaN or infinity")
        magnitudes = np.abs(array.reshape(-1))
        top = float(magnitudes.max(initial=0.0))
        self.largest, self.negative = max(self.largest, top), self.negative or bool((array < 0).any())
        self._widen(top)
        if self.width:
            self.counts += np.bincount(np.minimum((magnitudes / self.width).astype(np.int64), _BINS - 1), minlength=_BINS)
        sums = array.sum(axis=tuple(d for d in range(array.ndim) if d != axis % array.ndim), dtype=np.float64)
        self._sums = sums if self._sums is None else self._sums + sums
        self._rows += array.size // max(sums.size, 1)

    def _widen(self, top: float) -> None:
        if not self.width:
            self.width = top / _BINS
        while self.width and top > self.width * _BINS * 1.000001:
            self.counts[: _BINS // 2] = self.counts.reshape(-1, 2).sum(axis=1)
            self.counts[_BINS // 2 :] = 0
            self.width *= 2

    @property
    def kind(self) -> str:
        return "int8" if self.negative else "uint8"

    def means(self) -> np.ndarray:
        assert self._sums is not None
        return self._sums / max(self._rows, 1)

    def scale(self, method: str) -> float:
        """What one step of the whole numbers stands for."""
        levels = 127 if self.negative else 255
        if method == "KL":
            bound = self._closest(levels + 1)
        else:
            bound = self.largest if method == "MAX_MIN" else self._without_outliers()
        return float(np.float32(max(bound, 1e-8) / levels))

    def _without_outliers(self) -> float:
        total = self.counts.sum()
        within = np.searchsorted(np.cumsum(self.counts), total * (1 - _OUTLIERS))
        return min((int(within) + 1) * self.width, self.largest)

    def _closest(self, levels: int) -> float:
        """The bound with the least divergence."""
        counts = self.counts.astype(np.float64)
        counts[0] = 0  # zeros (of a ReLU) are exact under every bound
        if counts.sum() == 0:
            return self.largest
        best, found = np.inf, _BINS
        for stop in range(levels, _BINS + 1, 16):
            divergence = _divergence(counts, stop, levels)
            if divergence < best:
                best, found = divergence, stop
        return min(found * self.width, self.largest)


def _divergence(counts: np.ndarray, stop: int, levels: int) -> float:
    """Between numbers up to bin `stop`, larger ones moved there, and the same in `levels` steps."""
    wanted = counts[:stop].copy()
    wanted[-1] += counts[stop:].sum()
    group = np.arange(stop) * levels // stop
    filled = counts[:stop] > 0
    sums, sizes = np.bincount(group, counts[:stop], levels), np.bincount(group, filled, levels)
    given = np.where(filled, (sums / np.maximum(sizes, 1))[group], 0)
    p, q = wanted / wanted.sum(), given / max(given.sum(), 1e-30)
    both = p > 0
    return float((p[both] * np.log(p[both] / np.maximum(q[both], 1e-12))).sum())
