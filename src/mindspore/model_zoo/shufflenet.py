"""ShuffleNetV2: half of the channels pass each block untouched, then both halves are shuffled.

Ma et al. 2018, "ShuffleNet V2: Practical guidelines for efficient CNN architecture design".
"""

from __future__ import annotations

import functools

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import ConvNormActivation, conv, image_head, images, max_pool, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


def filter_then_mix(inputs: int, outputs: int, stride: int) -> list[nn.Cell]:
    """A convolution of each channel by itself, then one across channels."""
    mix = [conv(inputs, outputs, 1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return [conv(inputs, inputs, 3, stride, inputs), nn.BatchNorm2d(inputs), *mix]


class Block(nn.Cell):
    """With stride 2 both branches see all channels."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        half = outputs // 2
        self.branch1 = sequence(filter_then_mix(inputs, half, stride)) if stride > 1 else None
        seen = inputs if stride > 1 else half
        first = [conv(seen, half, 1), nn.BatchNorm2d(half), nn.ReLU()]
        self.branch2 = sequence([*first, *filter_then_mix(half, half, stride)])

    def construct(self, x: Tensor) -> Tensor:
        if self.branch1 is not None:
            y = ops.cat((self.branch1(x), self.branch2(x)), 1)
        else:
            kept, worked = ops.chunk(x, 2, 1)
            y = ops.cat((kept, self.branch2(worked)), 1)
        batch, channels, height, width = y.shape
        return y.reshape(batch, 2, channels // 2, height, width).swapaxes(1, 2).reshape(batch, channels, height, width)


class ShuffleNetV2(nn.Cell):
    """A stem, three stages of blocks, one last convolution."""

    def __init__(
        self, widths: tuple[int, ...] = (24, 116, 232, 464, 1024), depths: tuple[int, ...] = (4, 8, 4), num_classes: int = 1000,
        in_channels: int = 3, image_size: int = 224,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        self.conv1 = ConvNormActivation(in_channels, widths[0], 3, 2)
        self.maxpool = max_pool()
        for stage, depth in enumerate(depths):
            inputs, outputs = widths[stage : stage + 2]
            blocks = [Block(inputs, outputs, 2), *(Block(outputs, outputs, 1) for _ in range(depth - 1))]
            setattr(self, f"stage{stage + 2}", sequence(blocks))
        self.conv5 = ConvNormActivation(widths[3], widths[4], 1)
        self.fc = nn.Dense(widths[4], num_classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.conv1(x))
        return self.fc(image_head(self.conv5(self.stage4(self.stage3(self.stage2(x))))))


for _scale, _widths in {
    "x0_5": (24, 48, 96, 192, 1024), "x1_0": (24, 116, 232, 464, 1024), "x1_5": (24, 176, 352, 704, 1024),
    "x2_0": (24, 244, 488, 976, 2048),
}.items():  # fmt: skip
    model(
        f"shufflenet_v2_{_scale}", task="images", origin=f"torchvision:shufflenet_v2_{_scale}",
        paper="Ma et al. 2018, ShuffleNet V2: Practical guidelines for efficient CNN architecture design",
        recipe=Recipe(epochs=300, batch=1024, rate=0.5, schedule="linear", weight_decay=4e-5, label_smoothing=0.1),
        tiny={"num_classes": 10, "image_size": 32, "widths": (8, 16, 32, 64, 64), "depths": (1, 2, 1)},
    )(functools.partial(ShuffleNetV2, widths=_widths))  # fmt: skip
