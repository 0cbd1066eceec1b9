"""Pieces that several networks share. Parameters are named as in torchvision, so that its files fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import HeNormal, TruncatedNormal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.registry import Takes

Layer = Callable[..., nn.Cell]


def images(channels: int, size: int) -> tuple[Takes, ...]:
    """What a network of images takes."""
    return (Takes("image", (channels, size, size)),)


def conv(
    inputs: int, outputs: int, kernel: Any = 3, stride: int = 1, groups: int = 1, dilation: int = 1, bias: bool = False,
    padding: Any = None,
) -> nn.Conv2d:  # fmt: skip
    """A convolution that keeps the size, but for its stride."""
    high, wide = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    if padding is None:
        padding = (dilation * (high - 1) // 2, dilation * (wide - 1) // 2)
    top, left = padding if isinstance(padding, tuple) else (padding, padding)
    return nn.Conv2d(
        inputs, outputs, kernel, stride, pad_mode="pad", padding=(top, top, left, left), dilation=dilation,
        group=groups, has_bias=bias, weight_init=HeNormal(mode="fan_out", nonlinearity="relu"), bias_init="zeros",
    )  # fmt: skip


def dense(inputs: int, outputs: int, bias: bool = True) -> nn.Dense:
    """A dense layer as transformers begin it."""
    return nn.Dense(inputs, outputs, weight_init=TruncatedNormal(0.02), bias_init="zeros", has_bias=bias)


def max_pool(kernel: int = 3, stride: int = 2, padding: int = 1, ceil: bool = False) -> nn.MaxPool2d:
    return nn.MaxPool2d(kernel, stride, pad_mode="pad", padding=padding, ceil_mode=ceil)


class ConvNormActivation(nn.SequentialCell):
    """Convolution, batch normalisation, activation (None: none)."""

    def __init__(
        self, inputs: int, outputs: int, kernel: Any = 3, stride: int = 1, groups: int = 1,
        activation: Layer | None = nn.ReLU, eps: float = 1e-5, dilation: int = 1,
    ):  # fmt: skip
        layers = [conv(inputs, outputs, kernel, stride, groups, dilation), nn.BatchNorm2d(outputs, eps=eps)]
        super().__init__([*layers, activation()] if activation else layers)


class BasicConv(nn.Cell):
    """Convolution, batch normalisation and ReLU as the Inception networks name them."""

    def __init__(self, inputs: int, outputs: int, kernel: Any = 1, stride: int = 1, padding: Any = 0):
        super().__init__()
        self.conv = conv(inputs, outputs, kernel, stride, padding=padding)
        self.bn = nn.BatchNorm2d(outputs, eps=1e-3)

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.bn(self.conv(x)))


class SqueezeExcite(nn.Cell):
    """Each channel scaled by a gate computed from the means of all (Hu et al. 2018)."""

    def __init__(self, channels: int, squeezed: int, activation: Layer = nn.ReLU, gate: Layer = nn.Sigmoid):
        super().__init__()
        self.fc1 = conv(channels, squeezed, 1, bias=True)
        self.fc2 = conv(squeezed, channels, 1, bias=True)
        self.activation, self.gate = activation(), gate()

    def construct(self, x: Tensor) -> Tensor:
        means = ops.mean(x, (2, 3), True)
        return x * self.gate(self.fc2(self.activation(self.fc1(means))))


class DropPath(nn.Cell):
    """Stochastic depth (Huang et al. 2016): in training, the branch of a whole sample is left out at rate `rate`."""

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate
        self.dropout = nn.Dropout(p=rate)

    def construct(self, x: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return x
        return x * self.dropout(ops.ones((x.shape[0],) + (1,) * (x.ndim - 1), x.dtype))


class Mlp(nn.SequentialCell):
    """Two dense layers around an activation, as transformers have them."""

    def __init__(self, width: int, hidden: int, dropout: float = 0.0):
        super().__init__(
            [dense(width, hidden), nn.GELU(approximate=False), nn.Dropout(p=dropout), dense(hidden, width), nn.Dropout(p=dropout)]
        )


class RMSNorm(nn.Cell):
    """Division by the root of the mean square (Zhang & Sennrich 2019)."""

    def __init__(self, width: int, eps: float = 1e-6):
        super().__init__()
        self.weight = Parameter(initializer("ones", (width,)), name="weight")
        self.eps = eps

    def construct(self, x: Tensor) -> Tensor:
        return x * ops.rsqrt(ops.mean(x * x, -1, True) + self.eps) * self.weight


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, heads · width) → (batch, heads, length, width)."""
    batch, length, width = x.shape
    if not heads or width % heads:
        raise ValueError(f"The width of attention, {width}, must be a multiple of its heads, but there are {heads}.")
    return x.reshape(batch, length, heads, width // heads).swapaxes(1, 2)


def join_heads(x: Tensor) -> Tensor:
    batch, heads, length, width = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * width)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Any = None, scale: float | None = None) -> Tensor:
    """softmax(q kᵀ · scale + bias) v over (batch, heads, length, width); the scale is 1/√width unless given."""
    scores = ops.matmul(query, key.swapaxes(-1, -2)) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    return ops.matmul(ops.softmax(scores, -1), value)


def causal_bias(length: int) -> Tensor:
    """0 where a position may look, very negative at those that come later."""
    return Tensor(np.triu(np.full((length, length), -1e9, np.float32), 1))


def check_length(ids: Tensor, longest: int) -> None:
    """Positions are known up to a length."""
    if ids.ndim != 2 or ids.shape[1] > longest:
        raise ValueError(f"This network takes tokens of shape (batch, at most {longest}), but got {ids.shape}.")


def sequence(layers: Sequence[nn.Cell]) -> nn.SequentialCell:
    return nn.SequentialCell(list(layers))


def image_head(x: Tensor) -> Tensor:
    """The mean over the image: (N, C, H, W) → (N, C)."""
    return ops.mean(x, (2, 3))
