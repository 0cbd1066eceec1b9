"""Scaffold: control variates estimate how far a client's gradients are from everybody's and correct each step.

Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning", ICML 2020, option II.
"""
from __future__ import annotations

from copy import copy

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Gradient, Ids, Round


class Scaffold(FedAvg):
    """Keeps one vector per client that took part and one for the server."""

    def prepare(self, size: int, clients: int) -> None:
        self._clients = clients
        self._server = np.zeros(size, np.float32)
        self._local: dict[int, Floats] = {}
        self._change = np.zeros(size, np.float32)

    def _controls(self, round: Round) -> Floats:
        zero = np.zeros_like(self._server)
        return np.stack([self._local.get(int(client), zero) for client in round.ids])

    def direction(self, weights: Floats, gradient: Floats, round: Round, again: Gradient) -> Floats:
        return gradient - self._controls(round) + self._server

    def local_end(self, weights: Floats, round: Round) -> tuple[Floats, Floats]:
        change = weights - round.start
        old = self._controls(round)
        new = old - self._server - change / (np.maximum(round.steps, 1) * np.float32(round.rate))[:, None]
        self._change = self._change + (new - old).sum(axis=0)
        for client, control in zip(round.ids, new):
            self._local[int(client)] = control
        return change, np.ones_like(round.sizes)

    def lend(self, ids: Ids) -> FedAvg:
        lent = copy(self)
        lent._change = np.zeros_like(self._server)
        lent._local = {int(one): self._local[int(one)] for one in ids if int(one) in self._local}
        return lent

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, Scaffold)
        self._change = self._change + lent._change
        self._local.update(lent._local)

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        self._server = self._server + self._change / np.float32(self._clients)
        self._change = np.zeros_like(self._server)
        return start + mean
