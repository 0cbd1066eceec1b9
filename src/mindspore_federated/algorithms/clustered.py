"""Clustered training (IFCA): clients of several kinds, and a model for each kind.

Ghosh et al., "An Efficient Framework for Clustered Federated Learning", NeurIPS 2020. A client tries all models on a batch of
its data and trains the one with the smallest loss; the server averages each model over the clients that chose it.
"""
from __future__ import annotations

from copy import copy

import numpy as np

from mindspore_federated.algorithms.base import FedAvg, Floats, Ids, Losses, Round


class Clustered(FedAvg):
    """`clusters` models that begin at the initial one plus random numbers of size `spread`. The common model is the mean of the
    clients' models; `personal(client)` is the one of the client's cluster."""

    def __init__(self, clusters: int = 2, spread: float = 0.1, seed: int = 0) -> None:
        if clusters < 1 or spread <= 0:
            raise ValueError(f"clusters should be at least 1 and spread above 0, but got {clusters} and {spread}")
        self.clusters, self.spread, self.seed = clusters, spread, seed

    def prepare(self, size: int, clients: int) -> None:
        self._models: Floats | None = None
        self._cluster: dict[int, int] = {}
        self._nothing_sent(size)

    def _nothing_sent(self, size: int) -> None:
        self._sums = np.zeros((self.clusters, size), np.float64)
        self._sizes = np.zeros(self.clusters, np.float64)

    def _known(self, start: Floats) -> Floats:
        if self._models is None:
            noise = np.random.default_rng(self.seed).standard_normal((self.clusters, start.size)).astype(np.float32)
            self._models = start + np.float32(self.spread) * noise
        return self._models

    def local_start(self, round: Round, losses: Losses) -> Floats:
        models = self._known(round.start)
        tried = np.stack([losses(np.repeat(model[None], len(round.ids), axis=0)) for model in models])
        best = tried.argmin(axis=0)
        self._cluster.update(zip(map(int, round.ids), map(int, best)))
        starts: Floats = models[best]
        return starts

    def local_end(self, weights: Floats, round: Round) -> tuple[Floats, Floats]:
        for row, client, size in zip(weights, round.ids, round.sizes):
            cluster = self._cluster[int(client)]
            self._sums[cluster] += size * row
            self._sizes[cluster] += size
        return weights - round.start, round.sizes

    def lend(self, ids: Ids) -> FedAvg:
        lent = copy(self)
        lent._cluster = {}
        lent._nothing_sent(self._sums.shape[1])
        return lent

    def take_back(self, lent: FedAvg) -> None:
        assert isinstance(lent, Clustered)
        self._cluster.update(lent._cluster)
        self._sums += lent._sums
        self._sizes += lent._sizes

    def server_step(self, start: Floats, mean: Floats, clients: int) -> Floats:
        models, chosen = self._known(start).copy(), self._sizes > 0
        models[chosen] = (self._sums[chosen] / self._sizes[chosen, None]).astype(np.float32)
        self._models = models
        self._nothing_sent(start.size)
        return start + mean

    def cluster(self, client: int) -> int | None:
        """The cluster that a client chose last."""
        return self._cluster.get(client)

    def personal(self, client: int, common: Floats) -> Floats:
        cluster = self.cluster(client)
        return common if cluster is None or self._models is None else self._models[cluster]
