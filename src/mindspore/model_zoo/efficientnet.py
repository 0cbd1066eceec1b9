"""EfficientNet: MobileNet blocks whose depth, width and image size grow together.

Tan & Le 2019, "EfficientNet: Rethinking model scaling for convolutional neural networks".
"""

from __future__ import annotations

import functools
import math

from mindspore import nn
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import ConvNormActivation, DropPath, SqueezeExcite, dense, image_head, images, sequence
from mindspore.model_zoo.mobilenet import divisible
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model

#: expansion, kernel, stride, inputs, outputs, blocks
STAGES = (
    (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1),
)  # fmt: skip


class MBConv(nn.Cell):
    """Widen, filter each channel, excite, narrow; left out at random in training."""

    def __init__(self, inputs: int, outputs: int, expansion: int, kernel: int, stride: int, drop: float, eps: float):
        super().__init__()
        hidden = divisible(inputs * expansion)
        layers: list[nn.Cell] = []
        if hidden != inputs:
            layers.append(ConvNormActivation(inputs, hidden, 1, activation=nn.SiLU, eps=eps))
        layers += [
            ConvNormActivation(hidden, hidden, kernel, stride, hidden, nn.SiLU, eps),
            SqueezeExcite(hidden, max(1, inputs // 4), nn.SiLU), ConvNormActivation(hidden, outputs, 1, activation=None, eps=eps),
        ]  # fmt: skip
        self.block = sequence(layers)
        self.drop = DropPath(drop)
        self.residual = stride == 1 and inputs == outputs

    def construct(self, x: Tensor) -> Tensor:
        return x + self.drop(self.block(x)) if self.residual else self.block(x)


class EfficientNet(nn.Cell):
    """The base network of the paper's table 1, scaled."""

    def __init__(
        self, eps: float, dropout: float = 0.2, width: float = 1.0, depth: float = 1.0, num_classes: int = 1000,
        in_channels: int = 3, image_size: int = 224, drop_path: float = 0.2,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        channels = divisible(32 * width)
        layers: list[nn.Cell] = [ConvNormActivation(in_channels, channels, 3, 2, activation=nn.SiLU, eps=eps)]
        depths = [math.ceil(stage[5] * depth) for stage in STAGES]
        done = 0
        for (expansion, kernel, stride, _, outputs, _), count in zip(STAGES, depths):
            blocks = []
            for i in range(count):
                drop = drop_path * done / sum(depths)
                blocks.append(MBConv(channels, divisible(outputs * width), expansion, kernel, 1 if i else stride, drop, eps))
                channels, done = divisible(outputs * width), done + 1
            layers.append(sequence(blocks))
        layers.append(ConvNormActivation(channels, 4 * channels, 1, activation=nn.SiLU, eps=eps))
        self.features = sequence(layers)
        self.classifier = sequence([nn.Dropout(p=dropout), dense(4 * channels, num_classes)])

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(image_head(self.features(x)))


for _i, (_width, _depth, _size, _dropout) in enumerate((
    (1.0, 1.0, 224, 0.2), (1.0, 1.1, 240, 0.2), (1.1, 1.2, 288, 0.3), (1.2, 1.4, 300, 0.3), (1.4, 1.8, 380, 0.4),
    (1.6, 2.2, 456, 0.4), (1.8, 2.6, 528, 0.5), (2.0, 3.1, 600, 0.5),
)):  # fmt: skip
    model(
        f"efficientnet_b{_i}", task="images", origin=f"torchvision:efficientnet_b{_i}",
        paper="Tan & Le 2019, EfficientNet: Rethinking model scaling for convolutional neural networks",
        recipe=Recipe(epochs=350, batch=4096, optimizer="rmsprop", rate=0.256, weight_decay=1e-5, warmup=0.015, label_smoothing=0.1),
        tiny={"num_classes": 10, "image_size": 32, "width": 0.25, "depth": 0.5},
    )(functools.partial(
        EfficientNet, 1e-3 if _i > 4 else 1e-5, dropout=_dropout, width=_width, depth=_depth, image_size=_size
    ))  # fmt: skip
