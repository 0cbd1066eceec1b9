"""Noise for what a client tells of its cluster: the Laplace mechanism (Dwork et al., TCC 2006)."""
from __future__ import annotations

import numpy as np

from mindspore_federated.algorithms.base import Floats

_FARTHEST = 2.0                                  # between two vectors of shares, by the sum of their differences


def noised_memberships(shares: Floats, eps: float, random: np.random.Generator) -> Floats:
    """Shares of clusters, none below 0 and 1 together, with the noise that eps-local differential privacy needs."""
    if eps <= 0:
        raise ValueError(f"eps should be above 0, but got {eps}")
    if not shares.size or not np.isfinite(shares).all() or (shares < 0).any() or not shares.any():
        raise ValueError("memberships should be finite numbers of which none is below 0 and one is above")
    noised: Floats = (shares / shares.sum() + random.laplace(0.0, _FARTHEST / eps, shares.shape)).astype(np.float32)
    return noised
