"""Central differential privacy: clip each client's change, add noise to the sum, count what it costs.

McMahan et al., "Learning Differentially Private Recurrent Language Models", ICLR 2018; the clipping norm may follow a
quantile of the clients' norms: Andrew et al., "Differentially Private Learning with Adaptive Clipping", NeurIPS 2021.
The noise comes from the system's generator.

What it costs depends on how clients are chosen. With `simulate(..., sampling="poisson")` each takes part by a coin of its
own, the sum is divided by the expected number (the true one would tell who was there), and the sampling makes every round
cheaper. With a fixed number per round no such gain is claimed: a client pays for each round it was in.
"""
from __future__ import annotations

from copy import copy

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids, Round
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
        self._clients, self._rounds = clients, 0
        self._within = 0
        self._expected, self._poisson = clients, False
        self._took_part: dict[int, int] = {}

    def selection(self, expected: int, poisson: bool) -> None:
        self._expected, self._poisson = expected, poisson

    def local_end(self, weights: Floats, round: Round) -> tuple[Floats, Floats]:
        change = weights - round.start
        norms = np.linalg.norm(change, axis=1)
        self._within += int((norms <= self.clip).sum())
        for client in round.ids:
            self._took_part[int(client)] = self._took_part.get(int(client), 0) + 1
        shrunk: Floats = change * np.minimum(1.0, self.clip / np.maximum(norms, 1e-12)).astype(np.float32)[:, None]
        return shrunk, np.ones_like(round.sizes)

    def lend(self, ids: Ids) -> FedAvg:
        lent = copy(self)
        lent._within, lent._took_part = 0, {}
        return lent

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, CentralDP)
        self._within += lent._within
        for client, times in lent._took_part.items():
            self._took_part[client] = self._took_part.get(client, 0) + times

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        divisor = self._expected if self._poisson else clients
        noise = self._random.normal(0.0, self._sum_noise() * self.clip / divisor, mean.shape)
        self._rounds += 1
        if self.quantile is not None:
            share = (self._within + self._random.normal(0.0, self._count_noise)) / divisor
            self.clip *= float(np.exp(-self._clip_rate * (share - self.quantile)))
        self._within = 0
        moved: Floats = (start + mean * np.float32(clients / divisor) + noise).astype(np.float32)
        return moved

    def nobody(self, start: Floats) -> Floats:
        return self.server_step(start, np.zeros_like(start), 0) if self._poisson else start      # or it would show

    def _sum_noise(self) -> float:
        """The sum's noise, a bit larger where the count of small norms is published as well."""
        if self.quantile is None or not self.noise_multiplier:
            return self.noise_multiplier
        return float((self.noise_multiplier ** -2 - (2 * self._count_noise) ** -2) ** -0.5)

    def epsilon(self, delta: float) -> float:
        """What the rounds so far cost each client at most."""
        if self._poisson:
            return gaussian_epsilon(self.noise_multiplier, self._expected / self._clients, self._rounds, delta)
        return gaussian_epsilon(self.noise_multiplier, 1.0, max(self._took_part.values(), default=0), delta)

    def client_epsilon(self, client: int, delta: float) -> float:
        """What the rounds so far cost one client, if it is known in which of them it was."""
        return gaussian_epsilon(self.noise_multiplier, 1.0, self._took_part.get(client, 0), delta)
