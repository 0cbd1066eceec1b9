"""DenseNet: each layer sees the results of all before it (Huang et al. 2017, "Densely connected convolutional networks")."""

from __future__ import annotations

import functools
from collections import OrderedDict

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import conv, image_head, images, max_pool
from mindspore.model_zoo.recipe import IMAGENET_SGD
from mindspore.model_zoo.registry import model


class DenseLayer(nn.Cell):
    """A bottleneck and a 3 × 3 convolution that adds `growth` channels."""

    def __init__(self, inputs: int, growth: int):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, 4 * growth, 1)
        self.norm2, self.conv2 = nn.BatchNorm2d(4 * growth), conv(4 * growth, growth, 3)

    def construct(self, x: Tensor) -> Tensor:
        y = self.conv1(ops.relu(self.norm1(x)))
        return ops.cat((x, self.conv2(ops.relu(self.norm2(y)))), 1)


class Transition(nn.Cell):
    """Halves channels and size."""

    def __init__(self, inputs: int):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(inputs), conv(inputs, inputs // 2, 1)
        self.pool = nn.AvgPool2d(2, 2)

    def construct(self, x: Tensor) -> Tensor:
        return self.pool(self.conv(ops.relu(self.norm(x))))


class DenseNet(nn.Cell):
    """A stem, four dense blocks with transitions between them, a classifier."""

    def __init__(
        self, stem: int, growth: int = 32, depths: tuple[int, ...] = (6, 12, 24, 16), num_classes: int = 1000,
        in_channels: int = 3, image_size: int = 224,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        layers: OrderedDict[str, nn.Cell] = OrderedDict(
            conv0=conv(in_channels, stem, 7, 2), norm0=nn.BatchNorm2d(stem), relu0=nn.ReLU(), pool0=max_pool()
        )
        channels = stem
        for block, depth in enumerate(depths, 1):
            names = [f"denselayer{i + 1}" for i in range(depth)]
            inner = OrderedDict((n, DenseLayer(channels + i * growth, growth)) for i, n in enumerate(names))
            layers[f"denseblock{block}"] = nn.SequentialCell(inner)
            channels += depth * growth
            if block < len(depths):
                layers[f"transition{block}"] = Transition(channels)
                channels //= 2
        layers["norm5"] = nn.BatchNorm2d(channels)
        self.features = nn.SequentialCell(layers)
        self.classifier = nn.Dense(channels, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(image_head(ops.relu(self.features(x))))


for _name, _stem, _growth, _depths in (
    ("densenet121", 64, 32, (6, 12, 24, 16)), ("densenet161", 96, 48, (6, 12, 36, 24)),
    ("densenet169", 64, 32, (6, 12, 32, 32)), ("densenet201", 64, 32, (6, 12, 48, 32)),
):  # fmt: skip
    model(
        _name, task="images", paper="Huang et al. 2017, Densely connected convolutional networks", recipe=IMAGENET_SGD,
        tiny={"num_classes": 10, "image_size": 32, "growth": 8, "depths": (2, 2, 2, 2)}, origin=f"torchvision:{_name}",
    )(functools.partial(DenseNet, _stem, growth=_growth, depths=_depths))  # fmt: skip
