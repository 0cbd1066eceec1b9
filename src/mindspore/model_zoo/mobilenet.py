"""MobileNetV2 and V3: inverted residuals, narrow outside and wide within.

Sandler et al. 2018, "MobileNetV2: Inverted residuals and linear bottlenecks"; Howard et al. 2019, "Searching for MobileNetV3".
"""

from __future__ import annotations

import functools

from mindspore import nn
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import ConvNormActivation, SqueezeExcite, conv, dense, image_head, images, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


def divisible(value: float, by: int = 8) -> int:
    """The nearest multiple, at most a tenth below the value."""
    rounded = max(by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded


class InvertedResidual(nn.Cell):
    """V2's block: widen, filter each channel, narrow without an activation."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int):
        super().__init__()
        hidden = inputs * expansion
        layers: list[nn.Cell] = [ConvNormActivation(inputs, hidden, 1, activation=nn.ReLU6)] if expansion != 1 else []
        layers += [
            ConvNormActivation(hidden, hidden, 3, stride, hidden, nn.ReLU6), conv(hidden, outputs, 1), nn.BatchNorm2d(outputs)
        ]  # fmt: skip
        self.conv = sequence(layers)
        self.residual = stride == 1 and inputs == outputs

    def construct(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.residual else self.conv(x)


#: expansion, channels, blocks, stride
V2_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


@model(
    "mobilenet_v2",
    task="images",
    paper="Sandler et al. 2018, MobileNetV2: Inverted residuals and linear bottlenecks",
    recipe=Recipe(epochs=300, batch=96, rate=0.045, weight_decay=4e-5),
    tiny={"num_classes": 10, "image_size": 32, "multiplier": 0.25},
    origin="torchvision:mobilenet_v2",
)
class MobileNetV2(nn.Cell):
    """`multiplier` scales all widths."""

    def __init__(
        self, num_classes: int = 1000, in_channels: int = 3, image_size: int = 224, multiplier: float = 1.0, dropout: float = 0.2
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        channels, last = divisible(32 * multiplier), divisible(1280 * max(1.0, multiplier))
        layers: list[nn.Cell] = [ConvNormActivation(in_channels, channels, 3, 2, activation=nn.ReLU6)]
        for expansion, width, depth, stride in V2_STAGES:
            for i in range(depth):
                outputs = divisible(width * multiplier)
                layers.append(InvertedResidual(channels, outputs, 1 if i else stride, expansion))
                channels = outputs
        self.features = sequence([*layers, ConvNormActivation(channels, last, 1, activation=nn.ReLU6)])
        self.classifier = sequence([nn.Dropout(p=dropout), dense(last, num_classes)])

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(image_head(self.features(x)))


#: kernel, hidden, channels, squeeze-and-excite, hard swish, stride
V3_LARGE = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
    (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
    (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1),
)  # fmt: skip
V3_SMALL = (
    (3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1), (5, 96, 40, 1, 1, 2), (5, 240, 40, 1, 1, 1),
    (5, 240, 40, 1, 1, 1), (5, 120, 48, 1, 1, 1), (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2), (5, 576, 96, 1, 1, 1),
    (5, 576, 96, 1, 1, 1),
)  # fmt: skip


class InvertedResidualV3(nn.Cell):
    """V3's block: squeeze-and-excite within, hard swish in the later ones."""

    def __init__(self, inputs: int, kernel: int, hidden: int, outputs: int, excite: int, swish: int, stride: int):
        super().__init__()
        activation = nn.HSwish if swish else nn.ReLU
        layers: list[nn.Cell] = []
        if hidden != inputs:
            layers.append(ConvNormActivation(inputs, hidden, 1, activation=activation, eps=1e-3))
        layers.append(ConvNormActivation(hidden, hidden, kernel, stride, hidden, activation, 1e-3))
        if excite:
            layers.append(SqueezeExcite(hidden, divisible(hidden / 4), gate=nn.HSigmoid))
        layers.append(ConvNormActivation(hidden, outputs, 1, activation=None, eps=1e-3))
        self.block = sequence(layers)
        self.residual = stride == 1 and inputs == outputs

    def construct(self, x: Tensor) -> Tensor:
        return x + self.block(x) if self.residual else self.block(x)


class MobileNetV3(nn.Cell):
    """Blocks as in the table `stages`; the last dense layers work on the means of the image."""

    def __init__(
        self, stages: tuple[tuple[int, ...], ...], hidden: int, num_classes: int = 1000, in_channels: int = 3, image_size: int = 224,
        multiplier: float = 1.0, dropout: float = 0.2,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        channels = divisible(16 * multiplier)
        layers: list[nn.Cell] = [ConvNormActivation(in_channels, channels, 3, 2, activation=nn.HSwish, eps=1e-3)]
        for kernel, inner, width, excite, swish, stride in stages:
            outputs = divisible(width * multiplier)
            layers.append(InvertedResidualV3(channels, kernel, divisible(inner * multiplier), outputs, excite, swish, stride))
            channels = outputs
        self.features = sequence([*layers, ConvNormActivation(channels, 6 * channels, 1, activation=nn.HSwish, eps=1e-3)])
        self.classifier = sequence(
            [dense(6 * channels, hidden), nn.HSwish(), nn.Dropout(p=dropout), dense(hidden, num_classes)]
        )

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(image_head(self.features(x)))


for _name, _stages, _hidden in (("mobilenet_v3_large", V3_LARGE, 1280), ("mobilenet_v3_small", V3_SMALL, 1024)):
    model(
        _name, task="images", paper="Howard et al. 2019, Searching for MobileNetV3", origin=f"torchvision:{_name}",
        recipe=Recipe(epochs=600, batch=1024, optimizer="rmsprop", rate=0.064, weight_decay=1e-5, warmup=0.01),
        tiny={"num_classes": 10, "image_size": 32, "multiplier": 0.25},
    )(functools.partial(MobileNetV3, _stages, _hidden))  # fmt: skip
