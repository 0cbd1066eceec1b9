"""Ditto: FedAvg for all, and for each client weights of its own, tied to the global ones.

Li et al., "Ditto: Fair and Robust Federated Learning Through Personalization", ICML 2021.
"""
from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Gradient, Ids, Round


class Ditto(FedAvg):
    """`strength` 0 is local training alone, large values are the global vector."""

    def __init__(self, strength: float = 0.1) -> None:
        self.strength = np.float32(strength)

    def prepare(self, size: int, clients: int) -> None:
        self._personal: dict[int, Floats] = {}

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        own: Any = np.stack([self._personal.get(int(client), round.start) for client in round.ids])
        own = own - np.float32(round.rate) * (again(own) + self.strength * (own - round.start))
        for client, values in zip(round.ids, own):
            self._personal[int(client)] = values
        return gradient

    def lend(self, ids: Ids) -> FedAvg:
        lent = copy(self)
        lent._personal = {int(one): self._personal[int(one)] for one in ids if int(one) in self._personal}
        return lent

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, Ditto)
        self._personal.update(lent._personal)

    def personal(self, client: int, common: Floats) -> Floats:
        return self._personal.get(client, common)
