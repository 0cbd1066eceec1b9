"""Local training of a network for `FederatedClient`: SGD over the client's samples as the server's plan says.

    trainer = NetworkTrainer(nn.WithLossCell(network, nn.CrossEntropyLoss()), x, y)
    FederatedClient(Connection("server:6666"), "job", trainer, len(y)).run()

The network may be an exported one: `nn.GraphCell(mindspore.load("network.mindir"))`.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import mindspore
from mindspore import Tensor, nn
from mindspore_federated.client.samples import batches, checked_samples
from mindspore_federated.server.features import Arrays

if TYPE_CHECKING:
    from mindspore_federated.client.client import Plan


class NetworkTrainer:
    """Trains a network that ends in its loss on the samples `x` and `y`; call it with the global weights and the plan."""

    def __init__(self, network: nn.Cell, x: Any, y: Any, *, seed: int | None = None) -> None:
        self._network = network
        self._x, self._y = checked_samples(x, y)
        self._random = np.random.default_rng(seed)
        self._step: nn.Cell | None = None
        self._rate = 0.0

    def __call__(self, weights: Arrays, plan: Plan) -> tuple[Mapping[str, Any], float]:
        """The weights after the plan's local epochs, and the mean loss of the last one."""
        parameters = {item.name: item for item in self._network.trainable_params()}
        unknown = [name for name in parameters if name not in weights]
        if unknown:
            raise ValueError(f"the global model has no weight '{unknown[0]}', it has {sorted(weights)}")
        for name, parameter in parameters.items():
            parameter.set_data(Tensor(weights[name].reshape(parameter.shape).copy()))
        step = self._compiled(plan.learning_rate)
        losses: list[float] = []
        for epoch in batches(len(self._y), plan.batch_size, plan.epochs, self._random):
            losses = [float(step(Tensor(self._x[some]), Tensor(self._y[some])).asnumpy()) for some in epoch]
        return {name: item.asnumpy().copy() for name, item in parameters.items()}, float(np.mean(losses))

    def _compiled(self, rate: float) -> nn.Cell:
        if self._step is None or rate != self._rate:
            self._step = nn.TrainOneStepCell(self._network, nn.SGD(self._network.trainable_params(), rate))
            self._step.set_train()
            self._rate = rate
        return self._step


def file_trainer(model: str, loss: str, x: Any, y: Any) -> Any:
    """A trainer for a model file: `.ms` by the small runtime, `.mindir` by the framework with one of `nn`'s losses."""
    if model.endswith(".ms"):
        from mindspore_federated.client.lite_training import LiteTrainer

        return LiteTrainer(model, x, y)
    network = nn.GraphCell(mindspore.load(model))
    return NetworkTrainer(nn.WithLossCell(network, getattr(nn, loss)()), x, y)
