"""Local training by the small runtime (`mindspore_lite`), for devices that hold no framework.

    trainer = LiteTrainer("net.ms", x, y)                   # a model converted with --trainModel=true
    FederatedClient(Connection("server:6666"), "job", trainer, len(y)).run()

The model has its loss and its optimizer inside; the server's plan sets the learning rate and the number of epochs. A model
whose batch has a fixed size keeps it, whatever the plan says.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore_federated.client.samples import batches, checked_samples
from mindspore_federated.server.features import Arrays

if TYPE_CHECKING:
    from mindspore_federated.client.client import Plan


class LiteTrainer:
    """Trains a `.ms` model with inputs (x, y) on the samples `x` and `y`; call it with the global weights and the plan."""

    def __init__(self, model_file: str, x: Any, y: Any, *, seed: int | None = None) -> None:
        try:
            from mindspore_lite import TrainModel
        except ImportError as error:
            raise ImportError("LiteTrainer needs mindspore_lite") from error
        self._x, self._y = checked_samples(x, y)
        self._model = TrainModel()
        self._model.build_from_file(model_file)
        self._random = np.random.default_rng(seed)
        first = self._model.inputs()[0].shape
        self._batch = first[0] if first and first[0] > 0 else None

    def __call__(self, weights: Arrays, plan: Plan) -> tuple[Mapping[str, Any], float]:
        """The weights after the plan's local epochs, and the mean loss of the last one."""
        model = self._model
        known = {name: model.weights[name].shape for name in weights if name in model.weights}
        if not known:
            raise ValueError(f"the model has none of the global weights {sorted(weights)}, it has {sorted(model.weights)}")
        model.update_weights({name: weights[name].reshape(shape) for name, shape in known.items()})
        model.learning_rate = plan.learning_rate
        losses: list[float] = []
        for epoch in batches(len(self._y), self._batch or plan.batch_size, plan.epochs, self._random):
            losses = [model.run_step([self._x[some], self._y[some]]) for some in epoch]
        return {name: np.array(model.weights[name]) for name in known}, float(np.mean(losses))
