"""Central differential privacy: clip each client's change, add noise to the sum, count what it costs.

McMahan et al., "Learning Differentially Private Recurrent Language Models", ICLR 2018; the clipping norm may follow a
quantile of the clients' norms: Andrew et al., "Differentially Private Learning with Adaptive Clipping", NeurIPS 2021.
The noise comes from the system's generator.
"""
from __future__ import annotations

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Round
from mindspore_federated.privacy.accounting import gaussian_epsilon


class CentralDP(FedAvg):
    """FedAvg whose rounds are differentially private for whole clients; every client counts the same."""

    def __init__(self, clip: float = 1.0, noise_multiplier: float = 1.0, *, quantile: float | None = None,
                 clip_rate: float = 0.2, count_noise: float = 1.0) -> None:
        if clip <= 0 or noise_multiplier < 0:
            raise ValueError(f"clip should be above 0 and noise_multiplier at least 0, but got {clip}, {noise_multiplier}")
        if quantile is not None and (not 0 < quantile < 1 or noise_multiplier >= 2 * count_noise):
            raise ValueError("quantile should be in (0, 1) and noise_multiplier below 2 * count_noise, but got "
                             f"{quantile}, {noise_multiplier}, {count_noise}")
        self.clip = clip
        self.noise_multiplier = noise_multiplier
        self.quantile = quantile
        self._clip_rate, self._count_noise = clip_rate, count_noise
        self._random = np.random.default_rng()

    def prepare(self, size: int, clients: int) -> None:
        self._clients, self._rounds, self._sampled = clients, 0, 0
        self._within = 0

    def local_end(self, weights: Floats, round: Round) -> tuple[Floats, Floats]:
        change = weights - round.start
        norms = np.linalg.norm(change, axis=1)
        self._within += int((norms <= self.clip).sum())
        shrunk: Floats = change * np.minimum(1.0, self.clip / np.maximum(norms, 1e-12)).astype(np.float32)[:, None]
        return shrunk, np.ones_like(round.sizes)

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        noise = self._random.normal(0.0, self._sum_noise() * self.clip / clients, mean.shape)
        self._rounds += 1
        self._sampled = max(self._sampled, clients)
        if self.quantile is not None:
            share = (self._within + self._random.normal(0.0, self._count_noise)) / clients
            self.clip *= float(np.exp(-self._clip_rate * (share - self.quantile)))
        self._within = 0
        moved: Floats = (start + mean + noise).astype(np.float32)
        return moved

    def _sum_noise(self) -> float:
        """The sum's noise, a bit larger where the count of small norms is published as well."""
        if self.quantile is None or not self.noise_multiplier:
            return self.noise_multiplier
        return float((self.noise_multiplier ** -2 - (2 * self._count_noise) ** -2) ** -0.5)

    def epsilon(self, delta: float) -> float:
        """What the rounds so far cost each client."""
        return gaussian_epsilon(self.noise_multiplier, max(self._sampled, 1) / self._clients, self._rounds, delta)
