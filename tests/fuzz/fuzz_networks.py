"""Random networks with their training step's gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_compare import compare

import mindspore as ms
from mindspore import Tensor, nn, ops


def _dense_part(rng: np.random.Generator, width: int) -> tuple[nn.Cell, int]:
    to = int(rng.choice([1, 3, 8, 17]))
    choices: list[Callable[[], tuple[nn.Cell, int]]] = [
        lambda: (nn.Dense(width, to, activation=rng.choice([None, "relu", "tanh", "gelu"])), to),
        lambda: (nn.LayerNorm((width,)), width),
        lambda: (nn.BatchNorm1d(width), width),
        lambda: (nn.SequentialCell(nn.Dense(width, width), nn.ReLU()), width),
        lambda: (nn.Softmax(-1), width),
    ]
    return choices[int(rng.integers(len(choices)))]()


def _image_part(rng: np.random.Generator, channels: int) -> tuple[nn.Cell, int]:
    to = int(rng.choice([1, 3, 8]))
    choices: list[Callable[[], tuple[nn.Cell, int]]] = [
        lambda: (nn.Conv2d(channels, to, int(rng.integers(1, 4)), stride=int(rng.integers(1, 3)), has_bias=True), to),
        lambda: (nn.BatchNorm2d(channels), channels),
        lambda: (nn.MaxPool2d(2, 2, pad_mode="same"), channels),
        lambda: (nn.AvgPool2d(3, 1, pad_mode="same"), channels),
        lambda: (nn.ReLU(), channels),
        lambda: (nn.Conv2d(channels, channels, 3, group=channels, weight_init="normal"), channels),
    ]
    return choices[int(rng.integers(len(choices)))]()


def _network(rng: np.random.Generator) -> tuple[nn.Cell, tuple[int, ...]]:
    part: Any = _dense_part if rng.random() < 0.5 else _image_part
    width = int(rng.choice([1, 3, 8]))
    size = (width,) if part is _dense_part else (width, int(rng.integers(4, 12)), int(rng.integers(4, 12)))
    cells = []
    for _ in range(int(rng.integers(1, 6))):
        cell, width = part(rng, width)
        cells.append(cell)
    return nn.SequentialCell(cells), (int(rng.integers(2, 6)), *size)


def case(rng: np.random.Generator, scratch: str) -> None:
    """The loss of a random network and the gradients of its weights and its input."""
    ms.set_seed(int(rng.integers(1 << 30)))
    net, shape = _network(rng)
    for weight in net.trainable_params():
        weight.set_data(Tensor((rng.standard_normal(weight.shape) * 0.5).astype(np.float32)))
    net.set_train(bool(rng.random() < 0.5))
    x = Tensor(rng.standard_normal(shape).astype(np.float32))
    weights = net.trainable_params() or None
    state = [(p, p.asnumpy().copy()) for p in net.get_parameters()]
    gradients = ms.value_and_grad(lambda x: ops.tanh(net(x)).mean(), 0, weights)

    def forget() -> None:
        for parameter, value in state:
            parameter.set_data(Tensor(value))

    compare(f"{net!r}\n  on {list(shape)}", lambda x: gradients(x), (x,), before=forget, noise=0.05)
