"""Equations with a known answer: the data are random points of the domain."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.physics import solution
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, OwnLoss, Task, existing
from mindspore.nn.cell import Cell


class Physics(Task):
    name = "physics"
    wanted = f"no data of their own: say '{SYNTHETIC}'"
    figure = "relative error"
    higher_is_better = False

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return OwnLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        if place != SYNTHETIC:
            raise ValueError(f"Networks for {self.name} want {self.wanted}, but got '{place}'.")
        points = np.random.default_rng(int(training)).random((limit or 4096, 2)).astype(np.float32)
        return ds.NumpySlicesDataset((points,), ["points"], shuffle=training).batch(batch, drop_remainder=training)

    def predict(self, net: Cell, file: str) -> str:
        """The temperature at each point: a CSV file of lines 'x,t', both from 0 to 1."""
        try:
            points = np.loadtxt(existing(file), delimiter=",", dtype=np.float32, ndmin=2)
        except ValueError:
            points = np.zeros((0, 0), np.float32)
        if points.shape[1:] != (2,) or not ((points >= 0) & (points <= 1)).all():
            raise ValueError(f"'{file}' must have lines 'x,t', both from 0 to 1.")
        net.set_train(False)
        return "\n".join(f"x {x:g}, t {t:g}: {u:.4f}" for (x, t), u in zip(points, net(Tensor(points)).asnumpy()))

    def evaluate(self, net: Cell, data: Any) -> float:
        """The distance from the exact answer, as a share of its size."""
        net.set_train(False)
        points = np.concatenate([p.asnumpy() for (p,) in data.create_tuple_iterator(num_epochs=1)])
        found = np.concatenate([net(p).asnumpy() for (p,) in data.create_tuple_iterator(num_epochs=1)])
        wanted = solution(points, net.diffusivity)
        return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
