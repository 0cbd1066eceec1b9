"""Per-FedAvg: federated meta-learning. The global vector is one from which a step on a client's data leads far.

Fallah et al., "Personalized Federated Learning with Theoretical Guarantees: A Model-Agnostic Meta-Learning Approach",
NeurIPS 2020, first-order variant.
"""
from __future__ import annotations

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Gradient, Round


class PerFedAvg(FedAvg):
    """Local steps follow the gradient after an inner step of size `inner_rate`."""

    def __init__(self, inner_rate: float = 0.01) -> None:
        self.inner_rate = np.float32(inner_rate)

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        return again(weights - self.inner_rate * gradient)
