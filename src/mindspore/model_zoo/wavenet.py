"""WaveNet: the next sample of a sound from those before it, by convolutions whose reach doubles from layer to layer.

van den Oord et al. 2016, "WaveNet: A generative model for raw audio". Samples are 256 levels (μ-law).
"""

from __future__ import annotations

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import check_length
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


class CausalConv(nn.Cell):
    """A convolution of two samples, `reach` apart, that sees no later ones. (batch, width, length)."""

    def __init__(self, inputs: int, outputs: int, reach: int):
        super().__init__()
        self.reach = reach
        self.conv = nn.Conv1d(inputs, outputs, 2, pad_mode="valid", dilation=reach, has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        return self.conv(ops.pad(x, (self.reach, 0)))


class GatedLayer(nn.Cell):
    """tanh of one convolution times the sigmoid of another; the result goes on beside a shortcut, and to the output."""

    def __init__(self, width: int, skipped: int, reach: int, last: bool):
        super().__init__()
        self.both = CausalConv(width, 2 * width, reach)
        self.skip = nn.Conv1d(width, skipped, 1, pad_mode="valid", has_bias=True)
        self.go_on = None if last else nn.Conv1d(width, width, 1, pad_mode="valid", has_bias=True)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        content, gate = ops.chunk(self.both(x), 2, 1)
        heard = ops.tanh(content) * ops.sigmoid(gate)
        return (x if self.go_on is None else x + self.go_on(heard)), self.skip(heard)


@model(
    "wavenet",
    task="audio",
    paper="van den Oord et al. 2016, WaveNet: A generative model for raw audio",
    recipe=Recipe(epochs=100, batch=8, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="cosine"),
    tiny={"length": 64, "levels": 64, "width": 16, "skipped": 32, "depth": 5, "stacks": 1},
)
class WaveNet(nn.Cell):
    """Levels (batch, length) → scores of the next level at each place (batch, length, levels)."""

    def __init__(
        self, length: int = 4096, levels: int = 256, width: int = 64, skipped: int = 256, depth: int = 10, stacks: int = 3
    ):
        super().__init__()
        self.length, self.levels, self.takes = length, levels, (Takes("levels", (length,), levels),)
        self.table = nn.Embedding(levels, width, embedding_table=Normal(0.1))
        reaches = [2**i for _ in range(stacks) for i in range(depth)]
        self.layers = nn.CellList([GatedLayer(width, skipped, r, i == len(reaches) - 1) for i, r in enumerate(reaches)])
        self.first = nn.Conv1d(skipped, skipped, 1, pad_mode="valid", has_bias=True)
        self.second = nn.Conv1d(skipped, levels, 1, pad_mode="valid", has_bias=True)
        self.reach = sum(reaches) + 1

    def construct(self, levels: Tensor) -> Tensor:
        check_length(levels, self.length)
        x = self.table(levels).swapaxes(1, 2)
        total = Tensor(0.0)
        for layer in self.layers:
            x, skipped = layer(x)
            total = total + skipped
        return self.second(ops.relu(self.first(ops.relu(total)))).swapaxes(1, 2)

    def generate(self, begun: Tensor, count: int, seed: int = 0) -> np.ndarray:
        """`count` more levels after those given (batch, any length), drawn by their shares."""
        rng = np.random.default_rng(seed)
        levels = begun.asnumpy()
        for _ in range(count):
            seen = levels[:, -min(self.reach, self.length) :]
            shares = ops.softmax(self(Tensor(seen))[:, -1], -1).asnumpy().cumsum(-1)
            drawn = (rng.random((len(seen), 1)) * shares[:, -1:] > shares).sum(-1, keepdims=True)
            levels = np.concatenate((levels, drawn.astype(levels.dtype)), 1)
        return levels
