"""VGG: 3 × 3 convolutions in five stages.

Simonyan & Zisserman 2015, "Very deep convolutional networks for large-scale image recognition".
"""

from __future__ import annotations

import functools

from mindspore import nn
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import conv, images, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model

WIDTHS = (64, 128, 256, 512, 512)


class VGG(nn.Cell):
    """Stages of `depths` convolutions, each stage ended by a pooling; three dense layers."""

    def __init__(
        self, depths: tuple[int, ...], norm: bool, num_classes: int = 1000, in_channels: int = 3, image_size: int = 224,
        widths: tuple[int, ...] = WIDTHS, hidden: int = 4096, dropout: float = 0.5,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        layers: list[nn.Cell] = []
        channels = in_channels
        for depth, width in zip(depths, widths):
            for _ in range(depth):
                layers += [conv(channels, width, bias=True), *([nn.BatchNorm2d(width)] if norm else []), nn.ReLU()]
                channels = width
            layers.append(nn.MaxPool2d(2, 2))
        self.features = sequence(layers)
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = sequence([
            nn.Dense(channels * 49, hidden), nn.ReLU(), nn.Dropout(p=dropout),
            nn.Dense(hidden, hidden), nn.ReLU(), nn.Dropout(p=dropout), nn.Dense(hidden, num_classes),
        ])  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        x = self.avgpool(self.features(x))
        return self.classifier(x.reshape(x.shape[0], -1))


for _name, _depths in {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}.items():
    for _suffix, _norm in (("", False), ("_bn", True)):
        model(
            _name + _suffix,
            task="images",
            paper="Simonyan & Zisserman 2015, Very deep convolutional networks for large-scale image recognition",
            recipe=Recipe(epochs=74, rate=0.01, schedule="steps", weight_decay=5e-4),
            tiny={"num_classes": 10, "image_size": 32, "widths": (8, 8, 16, 16, 16), "hidden": 32},
            origin=f"torchvision:{_name}{_suffix}",
        )(functools.partial(VGG, _depths, _norm))
