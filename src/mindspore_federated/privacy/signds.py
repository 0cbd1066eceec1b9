"""SignDS: a client uploads a sign and a few coordinate numbers instead of its update.

Jiang et al., "SignDS-FL: Local Differentially Private Federated Learning with Sign-based Dimension Selection", TIST 2022.
The client draws a sign s, takes the k coordinates with the largest s * change as the "top" set, and draws h coordinates
of which, with the exponential mechanism, at least a threshold lies in the top set. The server moves each of them by
s * learning rate. The draw is eps-locally differentially private in the whole change.
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import ceil, lgamma

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_MAX_DIM_OUT = 50


def select(change: Floats, sign_k: float, eps: float, threshold: float, dim_out: int, rng: np.random.Generator
           ) -> tuple[int, NDArray[np.int32]]:
    """The sign and the coordinates to upload; `dim_out` 0 chooses their number."""
    size = change.size
    top = max(1, int(size * sign_k))
    sign = 1 if rng.random() < 0.5 else -1
    order = np.argpartition(-sign * change.reshape(-1), min(top, size - 1))                # the top set first
    out = min(dim_out or _best_dim_out(size, top, eps, threshold), top, size - top) if size > top else 1
    inside = int(rng.choice(out + 1, p=_inside_odds(size, top, out, eps, threshold)))
    chosen = np.concatenate([rng.choice(order[:top], inside, replace=False),
                             rng.choice(order[top:], out - inside, replace=False)])
    indices: NDArray[np.int32] = np.sort(chosen).astype(np.int32)
    return sign, indices


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) if 0 <= k <= n else -np.inf


def _inside_odds(size: int, top: int, out: int, eps: float, threshold: float) -> NDArray[np.float64]:
    """How likely each number of coordinates from the top set is."""
    need = ceil(threshold * out)
    logs = np.array([_log_choose(top, inside) + _log_choose(size - top, out - inside) + (eps if inside >= need else 0)
                     for inside in range(out + 1)])
    odds = np.exp(logs - logs.max())
    shares: NDArray[np.float64] = odds / odds.sum()
    return shares


@lru_cache(maxsize=64)
def _best_dim_out(size: int, top: int, eps: float, threshold: float) -> int:
    """The number that brings the most coordinates of the top set on average."""
    best, gain = 1, -1.0
    for out in range(1, min(_MAX_DIM_OUT, top, max(1, size - top)) + 1):
        odds = _inside_odds(size, top, out, eps, threshold)
        expected = float(odds @ np.arange(out + 1))
        right = 2 * expected - out
        if right > gain:
            best, gain = out, right
    return best


def apply_signds(model: Mapping[str, Floats], fixed: frozenset[str], sign: int, indices: NDArray[np.int32],
                 rate: float, data_size: float) -> dict[str, Floats]:
    """The update, times the client's number of samples, that the uploaded sign and coordinates stand for.

    Coordinates count through the whole model as clients get it; those of `fixed` weights move nothing.
    """
    total = sum(value.size for value in model.values())
    if sign not in (1, -1) or not indices.size or int(indices.min()) < 0 or int(indices.max()) >= total:
        raise ValueError(f"sign should be 1 or -1 and index_array should lie in [0, {total})")
    flat = np.concatenate([value.reshape(-1) for value in model.values()])
    flat[np.unique(indices)] += np.float32(sign * rate)
    result, at = {}, 0
    for name, value in model.items():
        if name not in fixed:
            result[name] = flat[at:at + value.size].reshape(value.shape) * np.float32(data_size)
        at += value.size
    return result
