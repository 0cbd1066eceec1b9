"""Local differential privacy of an upload: the change is clipped and noised before it leaves the client.

The noise is as large as (eps, delta) needs, no larger and no smaller: Balle and Wang, "Improving the Gaussian Mechanism for
Differential Privacy", ICML 2018, which holds for every eps (the classical sqrt(2 log(1.25/delta))/eps does for eps < 1
only). Nobody else's noise helps a single client, so two changes it may have made have to look alike: they are up to twice
the clipping norm apart.
"""
from __future__ import annotations

from collections.abc import Mapping
from math import erfc, exp, log, sqrt

import numpy as np

from mindspore_federated.algorithms.base import Floats
from mindspore_federated.privacy.accounting import Rounds, epsilon


def _below(x: float) -> float:
    return 0.5 * erfc(-x / sqrt(2))


def gaussian_noise(eps: float, delta: float) -> float:
    """The standard deviation, over the distance of two inputs, that gives (eps, delta)."""
    if not eps > 0 or not 0 < delta < 1:
        raise ValueError(f"eps should be above 0 and delta in (0, 1), but got {eps} and {delta}")

    def lost(noise: float) -> float:
        behind = _below(-0.5 / noise - eps * noise)
        return _below(0.5 / noise - eps * noise) - (exp(eps + log(behind)) if behind else 0.0)

    low, high = 1e-6, 1.0
    while lost(high) > delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(middle) > delta else (low, middle)
    return high


class LocalDP:
    """Noises the uploads of one client and counts what they cost it."""

    def __init__(self) -> None:
        self._random = np.random.default_rng()              # seeded by the system: it protects this client
        self._uploads: list[Rounds] = []

    def __call__(self, model: Mapping[str, Floats], update: Mapping[str, Floats], eps: float, delta: float, clip: float
                 ) -> dict[str, Floats]:
        """`update` with its change from `model` clipped to `clip` and noised."""
        noise = gaussian_noise(eps, delta)
        self._uploads.append(Rounds(noise))
        norm = sqrt(sum(float(np.sum((value - model[name]).astype(np.float64) ** 2)) for name, value in update.items()))
        keep = min(1.0, clip / norm) if norm else 1.0
        return {name: (model[name] + keep * (value - model[name])
                       + self._random.normal(0, 2 * clip * noise, value.shape)).astype(np.float32)
                for name, value in update.items()}

    def epsilon(self, delta: float) -> float:
        """What all uploads so far cost together."""
        return epsilon(self._uploads, delta)
