"""pFedMe: each client has weights of its own, tied to its copy of the global ones by a Moreau envelope.

Dinh et al., "Personalized Federated Learning with Moreau Envelopes", NeurIPS 2020.
"""
from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Gradient, Ids, Round


class PFedMe(FedAvg):
    """A local step solves the envelope with `inner_steps` gradient steps, then moves towards its solution."""

    def __init__(self, strength: float = 15.0, inner_steps: int = 5, inner_rate: float = 0.05) -> None:
        self.strength = np.float32(strength)
        self.inner_steps = inner_steps
        self.inner_rate = np.float32(inner_rate)

    def prepare(self, size: int, clients: int) -> None:
        self._personal: dict[int, Floats] = {}

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        own: Any = weights
        for step in range(self.inner_steps):
            slope = gradient if step == 0 else again(own)
            own = own - self.inner_rate * (slope + self.strength * (own - weights))
        for client, values in zip(round.ids, own):
            self._personal[int(client)] = values
        pull: Floats = self.strength * (weights - own)
        return pull

    def lend(self, ids: Ids) -> FedAvg:
        lent = copy(self)
        lent._personal = {int(one): self._personal[int(one)] for one in ids if int(one) in self._personal}
        return lent

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, PFedMe)
        self._personal.update(lent._personal)

    def personal(self, client: int, common: Floats) -> Floats:
        return self._personal.get(client, common)
