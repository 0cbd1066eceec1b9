"""Aggregations that hold although some clients lie. Rows of `updates` are clients.

Median and trimmed mean: Yin et al., "Byzantine-Robust Distributed Learning", ICML 2018.
Krum, Multi-Krum: Blanchard et al., "Machine Learning with Adversaries", NeurIPS 2017.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def median(updates: Floats) -> Floats:
    """The median of each coordinate."""
    result: Floats = np.median(updates, axis=0).astype(np.float32)
    return result


def trimmed_mean(updates: Floats, ratio: float) -> Floats:
    """The mean of each coordinate without the `ratio` smallest and largest values."""
    cut = int(ratio * len(updates))
    ordered = np.sort(updates, axis=0)
    result: Floats = ordered[cut:len(updates) - cut].mean(axis=0, dtype=np.float64).astype(np.float32)
    return result


def krum_scores(updates: Floats, byzantine: int) -> NDArray[np.float64]:
    """For each update the sum of squared distances to its n - byzantine - 2 nearest neighbours."""
    wide = updates.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * wide @ wide.T, 0)
    np.fill_diagonal(distances, np.inf)
    nearest = max(1, len(updates) - byzantine - 2)
    scores: NDArray[np.float64] = np.sort(distances, axis=1)[:, :nearest].sum(axis=1)
    return scores


def krum(updates: Floats, byzantine: int) -> Floats:
    """The one update that lies closest to its neighbours."""
    best: Floats = updates[int(np.argmin(krum_scores(updates, byzantine))) if len(updates) > 1 else 0]
    return best


def multi_krum(updates: Floats, byzantine: int, keep: int | None = None) -> Floats:
    """The mean of the `keep` best updates by Krum's score (all but the byzantine ones)."""
    keep = max(1, len(updates) - byzantine) if keep is None else keep
    best = np.argsort(krum_scores(updates, byzantine), kind="stable")[:keep] if len(updates) > 1 else [0]
    result: Floats = updates[best].mean(axis=0, dtype=np.float64).astype(np.float32)
    return result
