"""FedNova: changes are divided by the number of local steps before they are averaged.

Wang et al., "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization", NeurIPS 2020.
"""
from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids, Round


class FedNova(FedAvg):
    """FedAvg in which clients with more steps do not pull harder."""

    def prepare(self, size: int, clients: int) -> None:
        self._steps = 0.0
        self._weight = 0.0

    def local_end(self, weights: Floats, round: Round) -> tuple[Floats, Floats]:
        steps = np.maximum(round.steps, 1)
        self._steps += float(round.sizes @ steps)
        self._weight += float(round.sizes.sum())
        per_step: Any = (weights - round.start) / steps[:, None]
        return per_step, round.sizes

    def lend(self, ids: Ids) -> FedAvg:
        lent = copy(self)
        lent._steps = lent._weight = 0.0
        return lent

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, FedNova)
        self._steps += lent._steps
        self._weight += lent._weight

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        typical = np.float32(self._steps / self._weight)
        self._steps = self._weight = 0.0
        return start + typical * mean
