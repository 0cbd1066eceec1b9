"""ResNet and its relatives: blocks around a shortcut.

He et al. 2016, "Deep residual learning for image recognition" (with the stride in the 3 × 3 convolution, "v1.5"); ResNeXt cuts that
convolution into groups (Xie et al. 2017), Wide ResNet widens it (Zagoruyko & Komodakis 2016), SE-ResNet scales the channels of
a block's result (Hu et al. 2018).
"""

from __future__ import annotations

import functools
from typing import Any

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import ConvNormActivation, SqueezeExcite, conv, image_head, images, max_pool, sequence
from mindspore.model_zoo.recipe import IMAGENET_SGD
from mindspore.model_zoo.registry import model


class BasicBlock(nn.Cell):
    """Two 3 × 3 convolutions."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int, groups: int = 1, base: int = 64, excite: bool = False):
        super().__init__()
        outputs = width * self.expansion
        self.conv1, self.bn1 = conv(inputs, width, 3, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, outputs, 3), nn.BatchNorm2d(outputs)
        self.se = SqueezeExcite(outputs, outputs // 16) if excite else None
        self.downsample = shortcut(inputs, outputs, stride)

    def construct(self, x: Tensor) -> Tensor:
        y = ops.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return join(self, x, y)


class Bottleneck(nn.Cell):
    """1 × 1, 3 × 3, 1 × 1 convolutions; the middle one may be wider or in groups."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int, groups: int = 1, base: int = 64, excite: bool = False):
        super().__init__()
        middle, outputs = width * base // 64 * groups, width * self.expansion
        self.conv1, self.bn1 = conv(inputs, middle, 1), nn.BatchNorm2d(middle)
        self.conv2, self.bn2 = conv(middle, middle, 3, stride, groups), nn.BatchNorm2d(middle)
        self.conv3, self.bn3 = conv(middle, outputs, 1), nn.BatchNorm2d(outputs)
        self.se = SqueezeExcite(outputs, outputs // 16) if excite else None
        self.downsample = shortcut(inputs, outputs, stride)

    def construct(self, x: Tensor) -> Tensor:
        y = ops.relu(self.bn1(self.conv1(x)))
        y = ops.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return join(self, x, y)


def shortcut(inputs: int, outputs: int, stride: int) -> nn.Cell | None:
    """A projection where the shapes differ."""
    if stride == 1 and inputs == outputs:
        return None
    return ConvNormActivation(inputs, outputs, 1, stride, activation=None)


def join(block: BasicBlock | Bottleneck, x: Tensor, y: Tensor) -> Tensor:
    """The end of a block: its result, scaled if it excites, on top of the shortcut."""
    if block.se is not None:
        y = block.se(y)
    if block.downsample is not None:
        x = block.downsample(x)
    return ops.relu(x + y)


class ResNet(nn.Cell):
    """A stem, stages of blocks, the mean over the image, a classifier (without classes: none)."""

    def __init__(
        self, block: type[BasicBlock] | type[Bottleneck], depths: tuple[int, ...], groups: int = 1, base: int = 64, excite: bool = False,
        num_classes: int = 1000, in_channels: int = 3, image_size: int = 224, width: int = 64,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        self.conv1, self.bn1 = conv(in_channels, width, 7, 2), nn.BatchNorm2d(width)
        self.maxpool = max_pool()
        channels = width
        for stage, depth in enumerate(depths):
            blocks = []
            for i in range(depth):
                stride = 2 if stage and not i else 1
                blocks.append(block(channels, width << stage, stride, groups, base, excite))
                channels = (width << stage) * block.expansion
            setattr(self, f"layer{stage + 1}", sequence(blocks))
        self.stages = len(depths)
        self.fc: Any = nn.Dense(channels, num_classes) if num_classes else None

    def features(self, x: Tensor) -> list[Tensor]:
        """The results of the stages, for networks that stand on this one."""
        results = [self.maxpool(ops.relu(self.bn1(self.conv1(x))))]
        for stage in range(self.stages):
            results.append(getattr(self, f"layer{stage + 1}")(results[-1]))
        return results[1:]

    def construct(self, x: Tensor) -> Tensor:
        return self.fc(image_head(self.features(x)[-1]))


_PAPERS = {
    "resnet": "He et al. 2016, Deep residual learning for image recognition",
    "resnext": "Xie et al. 2017, Aggregated residual transformations for deep neural networks",
    "wide": "Zagoruyko & Komodakis 2016, Wide residual networks",
    "se": "Hu et al. 2018, Squeeze-and-excitation networks",
}
_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def _register(name: str, kind: str, layers: int, origin: str, groups: int = 1, base: int = 64, excite: bool = False) -> None:
    block = BasicBlock if layers < 50 else Bottleneck
    model(
        name, task="images", paper=_PAPERS[kind], recipe=IMAGENET_SGD, origin=f"{origin}:{name}",
        tiny={"num_classes": 10, "image_size": 32, "width": 16, "depths": (1, 1, 1, 1)},
    )(functools.partial(ResNet, block, depths=_DEPTHS[layers], groups=groups, base=base, excite=excite))  # fmt: skip


for _layers in _DEPTHS:
    _register(f"resnet{_layers}", "resnet", _layers, "torchvision")
for _layers in (18, 34, 50, 101, 152):
    _register(f"seresnet{_layers}", "se", _layers, "timm", excite=True)
_register("resnext50_32x4d", "resnext", 50, "torchvision", 32, 4)
_register("resnext101_32x8d", "resnext", 101, "torchvision", 32, 8)
_register("resnext101_64x4d", "resnext", 101, "torchvision", 64, 4)
_register("wide_resnet50_2", "wide", 50, "torchvision", base=128)
_register("wide_resnet101_2", "wide", 101, "torchvision", base=128)
