"""The data and network that the examples of this folder share: learn y = x · w + 0.5 from noise-free samples."""

from __future__ import annotations

import numpy as np

from mindspore import dataset as ds
from mindspore import nn


def make_data(samples: int = 64, batch: int = 8) -> ds.Dataset:
    x = np.random.default_rng(0).random((samples, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [3.0]], np.float32) + 0.5
    return ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=True).batch(batch)


def make_net() -> nn.Cell:
    return nn.SequentialCell([nn.Dense(3, 16), nn.ReLU(), nn.Dense(16, 1)])
