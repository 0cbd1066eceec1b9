"""CRNN: the text in an image of a line, read by convolutions, a recurrence and connectionist temporal classification.

Shi et al. 2016, "An end-to-end trainable neural network for image-based sequence recognition"; Graves et al. 2006, "Connectionist temporal
classification": the network says a symbol or "none" at each of the columns; repetitions and "none" fall away.
"""

from __future__ import annotations

import numpy as np

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import conv, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


@model(
    "crnn",
    task="lines of text",
    paper="Shi et al. 2016, An end-to-end trainable neural network for image-based sequence recognition",
    recipe=Recipe(epochs=10, batch=64, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="cosine", clip=5.0),
    tiny={"num_classes": 10, "high": 16, "wide": 48, "widths": (16, 32, 32), "hidden": 32},
)
class CRNN(nn.Cell):
    """image (N, C, high, wide) → logarithms of shares (columns, N, 1 + classes); class 0 is "none"."""

    def __init__(
        self, num_classes: int = 36, in_channels: int = 1, high: int = 32, wide: int = 100, widths: tuple[int, ...] = (64, 128, 256, 512),
        hidden: int = 256,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, (Takes("image", (in_channels, high, wide)),)
        layers: list[nn.Cell] = []
        channels, left = in_channels, high
        for i, width in enumerate(widths):
            across = 2 if i < 2 else 1  # the first two halve the width, too
            pool = nn.MaxPool2d((2, across), (2, across))
            layers += [conv(channels, width), nn.BatchNorm2d(width), nn.ReLU(), pool]
            channels, left = width, left // 2
        if left < 1 or wide < 8:
            raise ValueError(f"For 'crnn', images must have at least {2 ** len(widths)} × 8 pixels, but got {high} × {wide}.")
        self.features = sequence(layers)
        self.recurrent = nn.LSTM(channels * left, hidden, num_layers=2, bidirectional=True)
        self.output = nn.Dense(2 * hidden, num_classes + 1)
        self.columns = wide // 4

    def construct(self, image: Tensor) -> Tensor:
        x = self.features(image)  # (N, channels, rows, columns)
        x = x.transpose(3, 0, 1, 2).reshape(x.shape[3], x.shape[0], -1)
        states, _ = self.recurrent(x)
        return ops.log_softmax(self.output(states), -1)

    def loss(self, image: Tensor, label: Tensor, length: Tensor) -> Tensor:
        columns = ops.full((image.shape[0],), self.columns).astype("int32")
        return ops.ctc_loss(self(image), label, columns, length, reduction="mean", zero_infinity=True)[0]

    def read(self, image: Tensor) -> list[list[int]]:
        """The symbols, numbered from 0, of the likeliest way through the columns."""
        best = self(image).asnumpy().argmax(-1).T  # (N, columns)
        changed = np.concatenate((np.ones_like(best[:, :1], bool), best[:, 1:] != best[:, :-1]), 1)
        return [[int(s) - 1 for s in row[new & (row > 0)]] for row, new in zip(best, changed)]
