"""ConvNeXt: a convolutional network with a transformer's proportions (Liu et al. 2022, "A ConvNet for the 2020s")."""

from __future__ import annotations

import functools

from mindspore import nn
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import DropPath, conv, dense, images, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


class Permute(nn.Cell):
    """The dimensions in another order."""

    def __init__(self, *order: int):
        super().__init__()
        self.order = order

    def construct(self, x: Tensor) -> Tensor:
        return x.transpose(self.order)


class ChannelNorm(nn.LayerNorm):
    """Layer normalisation over the channels of (N, C, H, W)."""

    def __init__(self, width: int):
        super().__init__((width,), epsilon=1e-6)

    def construct(self, x: Tensor) -> Tensor:
        return super().construct(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


class Block(nn.Cell):
    """A 7 × 7 convolution of each channel, then a perceptron across channels, scaled by a small learned factor."""

    def __init__(self, width: int, drop: float, scale: float):
        super().__init__()
        self.layer_scale = Parameter(initializer(scale, (width, 1, 1)), name="layer_scale")
        self.block = sequence([
            conv(width, width, 7, groups=width, bias=True), Permute(0, 2, 3, 1), nn.LayerNorm((width,), epsilon=1e-6),
            dense(width, 4 * width), nn.GELU(approximate=False), dense(4 * width, width), Permute(0, 3, 1, 2),
        ])  # fmt: skip
        self.drop = DropPath(drop)

    def construct(self, x: Tensor) -> Tensor:
        return x + self.drop(self.layer_scale * self.block(x))


class ConvNeXt(nn.Cell):
    """Patches of 4 × 4, four stages with halvings between them, a classifier of normalised means."""

    def __init__(
        self, widths: tuple[int, ...] = (96, 192, 384, 768), depths: tuple[int, ...] = (3, 3, 9, 3), num_classes: int = 1000,
        in_channels: int = 3, image_size: int = 224, drop_path: float = 0.1, layer_scale: float = 1e-6,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        layers: list[nn.Cell] = [
            sequence([conv(in_channels, widths[0], 4, 4, bias=True, padding=0), ChannelNorm(widths[0])])
        ]
        done = 0
        for stage, (width, depth) in enumerate(zip(widths, depths)):
            blocks = []
            for _ in range(depth):
                blocks.append(Block(width, drop_path * done / max(1, sum(depths) - 1), layer_scale))
                done += 1
            layers.append(sequence(blocks))
            if stage < len(depths) - 1:
                halve = conv(width, widths[stage + 1], 2, 2, bias=True, padding=0)
                layers.append(sequence([ChannelNorm(width), halve]))
        self.features = sequence(layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = sequence([ChannelNorm(widths[-1]), nn.Flatten(), dense(widths[-1], num_classes)])

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)))


for _name, _widths, _depths, _drop in (
    ("convnext_tiny", (96, 192, 384, 768), (3, 3, 9, 3), 0.1), ("convnext_small", (96, 192, 384, 768), (3, 3, 27, 3), 0.4),
    ("convnext_base", (128, 256, 512, 1024), (3, 3, 27, 3), 0.5), ("convnext_large", (192, 384, 768, 1536), (3, 3, 27, 3), 0.5),
):  # fmt: skip
    model(
        _name, task="images", paper="Liu et al. 2022, A ConvNet for the 2020s", origin=f"torchvision:{_name}",
        recipe=Recipe(epochs=300, batch=4096, optimizer="adamw", rate=4e-3, weight_decay=0.05, warmup=0.067, label_smoothing=0.1),
        tiny={
            "num_classes": 10, "image_size": 32, "widths": (16, 32), "depths": (1, 1), "drop_path": 0.0, "layer_scale": 0.1,
        },
    )(functools.partial(ConvNeXt, widths=_widths, depths=_depths, drop_path=_drop))  # fmt: skip
