"""Layers of External-Attention-MindSpore: the derivative of each along a direction is its quotient of differences."""

import importlib

import numpy as np

import mindspore as ms
from mindspore import nn

#: module, class, arguments, shape of the input
LAYERS = (
    ("attention.SEAttention", "SEAttention", {"channels": 16, "reduction": 4}, (2, 16, 5, 5)),
    ("attention.ECAAttention", "ECAAttention", {"kernel_size": 3}, (2, 8, 5, 5)),
    ("attention.ShuffleAttention", "ShuffleAttention", {"channels": 16, "G": 4}, (2, 16, 5, 5)),
    ("attention.SimAM", "SimAM", {}, (2, 6, 5, 5)),
    ("attention.UFOAttention", "UFOAttention", {"d_model": 16, "h": 2}, (2, 5, 16)),
    ("conv.Involution", "Involution", {"kernel_size": 3, "in_channels": 4}, (1, 4, 6, 6)),
)


def check(net, shape):
    rng = np.random.default_rng(0)
    x, way = (ms.Tensor(rng.normal(size=shape), ms.float32) for _ in range(2))
    weight = ms.Tensor(rng.normal(size=net(x).shape), ms.float32)

    class Weighted(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = net

        def construct(self, x):
            return (self.net(x) * weight).sum()

    loss = Weighted()
    slope = float((ms.grad(loss)(x) * way).sum())
    step = 1e-2
    quotient = (float(loss(x + step * way)) - float(loss(x - step * way))) / (2 * step)
    assert abs(slope - quotient) < 0.03 * max(1.0, abs(quotient)), (slope, quotient)


def main():
    for module, name, arguments, shape in LAYERS:
        made = getattr(importlib.import_module(f"model.{module}"), name)
        try:
            check(made(**arguments), shape)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
