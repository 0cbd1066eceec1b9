"""Differential privacy under masks: each client adds a part of the noise, and nobody sees less than all of it.

Agarwal et al., "The Skellam Mechanism for Differentially Private Federated Learning", NeurIPS 2021.

A client cuts its change to the norm `norm_clip`, puts it into the ring of `secagg` and adds the difference of two Poisson
numbers to each coordinate, before it masks the vector. Such noise (Skellam) adds up to noise of the same kind: the sum of
`least` clients has a standard deviation of `noise` times the largest norm. Clients give their shares only where at least so
many uploads are in the sum, so the server never learns a sum with less noise, whoever vanishes. All clients count the same:
weights by numbers of samples would tell of a single client. The ring is only so fine that a client's noise has 2^16 steps:
rounding is nothing beside it, and NumPy's Poisson numbers are wrong where their mean is beyond 10^12 or so.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from mindspore_federated.algorithms.base import Floats
from mindspore_federated.common.settings import Settings
from mindspore_federated.secagg.ring import Ring, ring_scale, to_ring

_ROOM_SIGMAS = 10.0                              # of noise that the ring has room for beside the sum
_STEPS = 1 << 16                                 # of the ring in the standard deviation of one client's noise
_ORDERS = (*(1 + step / 10 for step in range(1, 100)), *range(11, 64), *(2 ** power for power in range(6, 16)))


@dataclass(frozen=True)
class DistributedDP:
    """What the plan of a job says of its noise."""
    noise: float                                 # standard deviation of the sum's noise over `norm_clip`
    norm_clip: float
    least: int                                   # clients whose noise is that much

    @classmethod
    def of(cls, settings: Settings) -> DistributedDP | None:
        """The noise under masks that a job has, if it has some."""
        noise = settings.number("encrypt.pw_encrypt.noise_multiplier")
        if not settings.masked or not noise:
            return None
        return cls(noise, settings.number("encrypt.pw_encrypt.norm_clip"), settings.update_threshold)

    def ring_clip(self, clients: int) -> float:
        """The `clip` of the ring in which the sum of so many clients and its noise fit."""
        fitting = self.norm_clip * (1 + _ROOM_SIGMAS * self.noise / clients)
        return max(fitting, fitting * ring_scale(fitting, clients) * self.noise * self.norm_clip / (_STEPS * sqrt(self.least)))

    def vector(self, change: Floats, clients: int, random: np.random.Generator) -> Ring:
        """A client's change, cut and noised, in the ring."""
        norm = float(np.linalg.norm(change.astype(np.float64)))
        cut = change * np.float32(min(1.0, self.norm_clip / norm)) if norm else change
        half = (self.noise * self._largest(change.size, clients)) ** 2 / self.least / 2
        noise = random.poisson(half, change.size) - random.poisson(half, change.size)
        vector: Ring = to_ring(cut, self.ring_clip(clients), clients) + noise.astype(np.int64).astype(np.uint32)
        return vector

    def _largest(self, size: int, clients: int) -> float:
        """The largest norm of a vector in the ring, rounding included."""
        return self.norm_clip * ring_scale(self.ring_clip(clients), clients) + sqrt(size) / 2

    def divergence(self, order: float, size: int, clients: int) -> float:
        """The Rényi divergence of a round: that of Gaussian noise, and a little more (theorem 3.5 of the paper)."""
        largest = self._largest(size, clients)
        variance, first = (self.noise * largest) ** 2, min(sqrt(size) * largest, largest ** 2)
        more = min(((2 * order - 1) * largest ** 2 + 6 * first) / (4 * variance ** 2), 1.5 * first / variance)
        return order / (2 * self.noise ** 2) + more


@dataclass
class Spent:
    """The rounds that one client took part in under such noise."""
    _rounds: Counter[tuple[DistributedDP, int, int]] = field(default_factory=Counter)

    def add(self, plan: DistributedDP, size: int, clients: int) -> None:
        """One more round."""
        self._rounds[plan, size, clients] += 1

    def epsilon(self, delta: float) -> float:
        """What the rounds cost together, by Rényi divergences (Mironov 2017; conversion of Canonne et al. 2020)."""
        if not self._rounds:
            return 0.0
        cheapest: float = min(sum(count * plan.divergence(order, size, clients) for (plan, size, clients), count
                                  in self._rounds.items())
                              + log((order - 1) / order) - (log(delta) + log(order)) / (order - 1) for order in _ORDERS)
        return max(0.0, cheapest)
