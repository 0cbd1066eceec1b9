"""FedCM: clients mix the server's last direction into every local step.

Xu et al., "FedCM: Federated Learning with Client-level Momentum", 2021.
"""
from __future__ import annotations

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Gradient, Round


class FedCM(FedAvg):
    """`alpha` is the part of the client's own gradient."""

    def __init__(self, alpha: float = 0.1) -> None:
        self.alpha = np.float32(alpha)

    def prepare(self, size: int, clients: int) -> None:
        self._momentum = np.zeros(size, np.float32)
        self._scale = 1.0

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        self._scale = float(round.rate * max(1.0, float(round.steps.mean())))
        return self.alpha * gradient + (1 - self.alpha) * self._momentum

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, FedCM)
        self._scale = lent._scale

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        self._momentum = -mean / np.float32(self._scale)
        return start + mean
