"""FedAdam and FedYogi in simulation; see `server_optimizers.py` for the paper."""
from __future__ import annotations

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats
from mindspore_federated.algorithms.server_optimizers import adam_step, yogi_step


class FedAdam(FedAvg):
    """The mean change is a gradient for Adam on the server."""

    rule = staticmethod(adam_step)

    def __init__(self, server_rate: float = 0.01) -> None:
        self.server_rate = server_rate

    def prepare(self, size: int, clients: int) -> None:
        self._moment = np.zeros(size, np.float32)
        self._square = np.zeros(size, np.float32)

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        result, self._moment, self._square = self.rule(start, mean, self._moment, self._square, self.server_rate)
        return result


class FedYogi(FedAdam):
    """The same with Yogi's second moment."""

    rule = staticmethod(yogi_step)
