"""Random networks with their training step's gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz_compare import compare, some_backends

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
        lambda: (_Residual(nn.SequentialCell(nn.Dense(width, to), nn.Tanh(), nn.Dense(to, width))), width),
        lambda: (_Attention(width), width),
        lambda: (nn.GLU(-1) if width % 2 == 0 else nn.GELU(), width // 2 if width % 2 == 0 else width),
    ]
    return choices[int(rng.integers(len(choices)))]()


class _Residual(nn.Cell):
    def __init__(self, inner: nn.Cell):
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class _Attention(nn.Cell):
    """The rows of a batch look at each other."""

    def __init__(self, width: int):
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmax(ops.matmul(self.query(x), self.key(x).T), -1) @ self.value(x)


def _image_part(rng: np.random.Generator, channels: int) -> tuple[nn.Cell, int]:
    to = int(rng.choice([1, 3, 8]))
    choices: list[Callable[[], tuple[nn.Cell, int]]] = [
        lambda: (nn.Conv2d(channels, to, int(rng.integers(1, 4)), stride=int(rng.integers(1, 3)), has_bias=True), to),
        lambda: (nn.BatchNorm2d(channels), channels),
        lambda: (nn.MaxPool2d(2, 2, pad_mode="same"), channels),
        lambda: (nn.AvgPool2d(3, 1, pad_mode="same"), channels),
        lambda: (nn.ReLU(), channels),
        lambda: (nn.GroupNorm(1, channels), channels),
        lambda: (_Residual(nn.SequentialCell(nn.Conv2d(channels, channels, 3), nn.BatchNorm2d(channels), nn.ReLU6())), channels),
        lambda: (nn.Conv2dTranspose(channels, to, 2, stride=2, has_bias=True), to),
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


DRAWS = 16


def case(rng: np.random.Generator, scratch: str) -> int:
    """The loss of a random network and the gradients of its weights and its input, on a few inputs."""
    ms.set_seed(int(rng.integers(1 << 30)))
    net, shape = _network(rng)
    for weight in net.trainable_params():
        weight.set_data(Tensor((rng.standard_normal(weight.shape) * 0.5).astype(np.float32)))
    net.set_train(bool(rng.random() < 0.5))
    draws = [(Tensor(rng.standard_normal(shape).astype(np.float32)),) for _ in range(DRAWS)]
    weights = net.trainable_params() or None
    state = [(p, p.asnumpy().copy()) for p in net.get_parameters()]
    gradients = ms.value_and_grad(lambda x: ops.tanh(net(x)).mean(), 0, weights)

    def forget() -> None:
        for parameter, value in state:
            parameter.set_data(Tensor(value))

    what = f"{net!r}\n  on {list(shape)}"
    compare(what, lambda x: gradients(x), *draws, backends=some_backends(rng), before=forget, noise=0.05)
    return DRAWS
