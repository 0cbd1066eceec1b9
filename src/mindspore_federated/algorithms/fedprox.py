"""FedProx: a spring of strength mu ties local weights to the global ones.

Li et al., "Federated Optimization in Heterogeneous Networks", MLSys 2020.
"""
from __future__ import annotations

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Gradient, Round


class FedProx(FedAvg):
    """FedAvg with the gradient of mu/2 * |w - start|^2 added to each local step."""

    def __init__(self, mu: float = 0.01) -> None:
        self.mu = np.float32(mu)

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        return gradient + self.mu * (weights - round.start)
