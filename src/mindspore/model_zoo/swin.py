"""Swin: attention within windows that shift from block to block.

Liu et al. 2021, "Swin Transformer: Hierarchical vision transformer using shifted windows".

Tensors are (batch, height, width, channels). A shifted block rolls the image so that its windows are plain ones again; positions
that came together only by the roll may not see each other, which `_strangers` writes into the scores.
"""

from __future__ import annotations

import functools

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import TruncatedNormal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import DropPath, Mlp, attend, conv, dense, images, join_heads, sequence, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


def _offsets(window: int) -> np.ndarray:
    """For each pair of positions of a window, the row of the bias table that their distance has."""
    grid = np.stack(np.meshgrid(np.arange(window), np.arange(window), indexing="ij")).reshape(2, -1)
    distance = grid[:, :, None] - grid[:, None, :] + window - 1
    return (distance[0] * (2 * window - 1) + distance[1]).reshape(-1).astype(np.int32)


def _strangers(side: int, window: int, shift: int) -> np.ndarray:
    """(windows, 1, window², window²): very negative for positions that a roll by `shift` brought together."""
    region = np.zeros(side, np.int32)
    region[side - window : side - shift], region[side - shift :] = 1, 2
    areas = region[:, None] * 3 + region[None, :]
    count = side // window
    areas = areas.reshape(count, window, count, window).swapaxes(1, 2).reshape(count * count, window * window)
    return np.where(areas[:, None, :, None] != areas[:, None, None, :], np.float32(-100), np.float32(0))


class WindowAttention(nn.Cell):
    """Attention within windows, with a learned bias for each distance."""

    def __init__(self, width: int, heads: int, side: int, window: int, shift: int):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.qkv, self.proj = dense(width, 3 * width), dense(width, width)
        table = initializer(TruncatedNormal(0.02), ((2 * window - 1) ** 2, heads))
        self.relative_position_bias_table = Parameter(table, name="relative_position_bias_table")
        self.offsets = Tensor(_offsets(window))
        self.strangers = Tensor(_strangers(side, window, shift)) if shift else None

    def construct(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        w, rows, columns = self.window, height // self.window, width // self.window
        if self.shift:
            x = ops.roll(x, (-self.shift, -self.shift), (1, 2))
        x = x.reshape(batch, rows, w, columns, w, channels).swapaxes(2, 3).reshape(-1, w * w, channels)
        query, key, value = (split_heads(part, self.heads) for part in ops.chunk(self.qkv(x), 3, -1))
        x = self.proj(join_heads(attend(query, key, value, self._bias(batch))))
        x = x.reshape(batch, rows, columns, w, w, channels).swapaxes(2, 3).reshape(batch, height, width, channels)
        return ops.roll(x, (self.shift, self.shift), (1, 2)) if self.shift else x

    def _bias(self, batch: int) -> Tensor:
        area = self.window**2
        bias = ops.gather(self.relative_position_bias_table, self.offsets, 0)
        bias = bias.reshape(area, area, self.heads).transpose(2, 0, 1).expand_dims(0)
        return bias if self.strangers is None else bias + ops.tile(self.strangers, (batch, 1, 1, 1))


class SwinBlock(nn.Cell):
    """Attention and a perceptron, each after a normalisation and beside a shortcut."""

    def __init__(self, width: int, heads: int, side: int, window: int, shift: int, drop: float):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm((width,), epsilon=1e-5), WindowAttention(width, heads, side, window, shift)
        self.norm2, self.mlp = nn.LayerNorm((width,), epsilon=1e-5), Mlp(width, 4 * width)
        self.drop = DropPath(drop)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.drop(self.attn(self.norm1(x)))
        return x + self.drop(self.mlp(self.norm2(x)))


class PatchMerging(nn.Cell):
    """Four neighbours become one position of twice the width."""

    def __init__(self, width: int):
        super().__init__()
        self.reduction, self.norm = dense(4 * width, 2 * width, bias=False), nn.LayerNorm((4 * width,), epsilon=1e-5)

    def construct(self, x: Tensor) -> Tensor:
        parts = (x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2])
        return self.reduction(self.norm(ops.cat(parts, -1)))


class ChannelsLast(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x.transpose(0, 2, 3, 1)


class Swin(nn.Cell):
    """Patches of 4 × 4, four stages with mergings between them, the mean over the image, a classifier."""

    def __init__(
        self, width: int = 96, depths: tuple[int, ...] = (2, 2, 6, 2), heads: tuple[int, ...] = (3, 6, 12, 24), num_classes: int = 1000,
        in_channels: int = 3, image_size: int = 224, window: int = 7, drop_path: float = 0.2,
    ):  # fmt: skip
        super().__init__()
        coarsest = 4 * window << (len(depths) - 1)
        if image_size % coarsest:
            raise ValueError(f"For 'swin', 'image_size' must be a multiple of {coarsest}, but got {image_size}.")
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        stem = [conv(in_channels, width, 4, 4, bias=True, padding=0), ChannelsLast(), nn.LayerNorm((width,), epsilon=1e-5)]
        layers: list[nn.Cell] = [sequence(stem)]
        side, done = image_size // 4, 0
        for stage, (depth, count) in enumerate(zip(depths, heads)):
            blocks = []
            for i in range(depth):
                shift = window // 2 if i % 2 and side > window else 0
                drop = drop_path * done / max(1, sum(depths) - 1)
                blocks.append(SwinBlock(width, count, side, window, shift, drop))
                done += 1
            layers.append(sequence(blocks))
            if stage < len(depths) - 1:
                layers.append(PatchMerging(width))
                width, side = 2 * width, side // 2
        self.features = sequence(layers)
        self.norm, self.head = nn.LayerNorm((width,), epsilon=1e-5), dense(width, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(ops.mean(self.norm(self.features(x)), (1, 2)))


for _name, _width, _depths, _heads, _drop in (
    ("swin_t", 96, (2, 2, 6, 2), (3, 6, 12, 24), 0.2), ("swin_s", 96, (2, 2, 18, 2), (3, 6, 12, 24), 0.3),
    ("swin_b", 128, (2, 2, 18, 2), (4, 8, 16, 32), 0.5),
):  # fmt: skip
    model(
        _name, task="images", origin=f"torchvision:{_name}",
        paper="Liu et al. 2021, Swin Transformer: Hierarchical vision transformer using shifted windows",
        recipe=Recipe(epochs=300, batch=1024, optimizer="adamw", rate=1e-3, weight_decay=0.05, warmup=0.067, label_smoothing=0.1, clip=5.0),
        tiny={"num_classes": 10, "image_size": 32, "width": 24, "depths": (2, 2), "heads": (2, 4), "window": 4, "drop_path": 0.0},
    )(functools.partial(Swin, width=_width, depths=_depths, heads=_heads, drop_path=_drop))  # fmt: skip
