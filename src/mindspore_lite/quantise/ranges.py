"""How large the numbers of an activation are, and what range 8 bits should stand for.

A histogram of magnitudes grows with the data: when a larger number comes, its bins are joined two by two until it fits.
KL follows Migacz, "8-bit inference with TensorRT" (2017): of all bounds, the one whose quantised distribution is closest to the original.
Divergence does not see how far away a number is that is cut off, which ruins networks whose few large numbers matter (gates); so bounds
are left out whose squared error is larger than that of no bound.
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
        self.low, self.high = np.inf, -np.inf
        self._sums: np.ndarray | None = None
        self._rows = 0

    def see(self, array: np.ndarray, axis: int) -> None:
        """`axis`: of the channels."""
        if not np.isfinite(array).all():
            raise ValueError("the calibration data gives NaN or infinity")
        magnitudes = np.abs(array.reshape(-1))
        top = float(magnitudes.max(initial=0.0))
        self.largest, self.negative = max(self.largest, top), self.negative or bool((array < 0).any())
        self.low, self.high = min(self.low, float(array.min(initial=np.inf))), max(self.high, float(array.max(initial=-np.inf)))
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
        return float(np.float32(max(self._bound(method, levels), 1e-8) / levels))

    def ends(self, method: str) -> tuple[float, float]:
        """The numbers between which whole numbers are to stand for anything, where zero has no part in it."""
        bound = self._bound(method, 255)
        return max(self.low, -bound), min(self.high, bound)

    def _bound(self, method: str, levels: int) -> float:
        if method == "KL":
            return self._closest(levels + 1)
        return self.largest if method == "MAX_MIN" else self._without_outliers()

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
        best, found, most = np.inf, _BINS, self._squared_error(_BINS, levels)
        for stop in range(levels, _BINS + 1, 16):
            if self._squared_error(stop, levels) > most:
                continue
            divergence = _divergence(counts, stop, levels)
            if divergence < best:
                best, found = divergence, stop
        return min(found * self.width, self.largest)


    def _squared_error(self, stop: int, levels: int) -> float:
        """What rounding below a bound and cutting above it take, in squares of a bin's width."""
        beyond = np.arange(stop, _BINS) + 0.5 - stop
        return float((self.counts[stop:] * beyond**2).sum() + self.counts[:stop].sum() * (stop / levels) ** 2 / 12)


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
