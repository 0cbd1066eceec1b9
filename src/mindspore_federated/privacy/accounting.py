"""How much privacy many noisy rounds cost: Renyi accounting of the subsampled Gaussian mechanism.

Mironov et al., "Renyi Differential Privacy of the Sampled Gaussian Mechanism", 2019 (section 3.3, integer orders);
conversion to (eps, delta): Canonne et al., NeurIPS 2020, proposition 12.
"""
from __future__ import annotations

from math import exp, inf, lgamma, log, log1p

_ORDERS = (*range(2, 65), 80, 96, 128, 192, 256, 384, 512)


def _log_add(a: float, b: float) -> float:
    low, high = min(a, b), max(a, b)
    return high if low == -inf else high + log1p(exp(low - high))


def _renyi(noise: float, sampling: float, order: int) -> float:
    """The Renyi divergence of one round at an integer order."""
    if sampling == 1.0:
        return order / (2 * noise * noise)
    total = -inf
    for k in range(order + 1):
        choose = lgamma(order + 1) - lgamma(k + 1) - lgamma(order - k + 1)
        term = choose + (order - k) * log1p(-sampling) + k * (k - 1) / (2 * noise * noise)
        total = _log_add(total, term + k * log(sampling) if k else term)
    return total / (order - 1)


def gaussian_epsilon(noise_multiplier: float, sampling_rate: float, rounds: int, delta: float) -> float:
    """eps at `delta` after `rounds` rounds, each with a Poisson sample of the clients and noise of
    `noise_multiplier` times the clipping norm."""
    if noise_multiplier <= 0:
        return inf
    if not 0 < sampling_rate <= 1 or not 0 < delta < 1 or rounds < 0:
        raise ValueError("sampling_rate should be in (0, 1], delta in (0, 1) and rounds at least 0")
    if rounds == 0:
        return 0.0
    best = inf
    for order in _ORDERS:
        cost = rounds * _renyi(noise_multiplier, sampling_rate, order)
        best = min(best, cost + log1p(-1 / order) - (log(delta) + log(order)) / (order - 1))
    return max(0.0, best)
