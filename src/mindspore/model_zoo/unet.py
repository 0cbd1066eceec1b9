"""U-Net: down to a coarse picture and up again, with what was seen on the way down at hand.

Ronneberger et al. 2015, "U-Net: Convolutional networks for biomedical image segmentation". With padding, so that the
result is as large as the image, and batch normalisation.
"""

from __future__ import annotations

import itertools

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import ConvNormActivation, conv, images, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


def double(inputs: int, outputs: int) -> nn.Cell:
    return sequence([ConvNormActivation(inputs, outputs), ConvNormActivation(outputs, outputs)])


@model(
    "unet",
    task="segmentation",
    paper="Ronneberger et al. 2015, U-Net: Convolutional networks for biomedical image segmentation",
    recipe=Recipe(epochs=100, batch=16, optimizer="adam", rate=1e-3, weight_decay=0.0),
    tiny={"num_classes": 3, "image_size": 32, "width": 8, "depth": 2},
)
class UNet(nn.Cell):
    """(N, C, H, W) → scores (N, classes, H, W); height and width are multiples of 2^depth."""

    def __init__(
        self, num_classes: int = 2, in_channels: int = 1, image_size: int = 512, width: int = 64, depth: int = 4
    ):
        super().__init__()
        if image_size % (1 << depth):
            raise ValueError(f"For 'unet', 'image_size' must be a multiple of {1 << depth}, but got {image_size}.")
        self.num_classes, self.takes, self.depth = num_classes, images(in_channels, image_size), depth
        widths = [width << i for i in range(depth + 1)]
        self.first = double(in_channels, width)
        self.down = nn.CellList([double(a, b) for a, b in itertools.pairwise(widths)])
        self.up = nn.CellList([nn.Conv2dTranspose(2 * w, w, 2, 2, pad_mode="valid", has_bias=True) for w in widths[-2::-1]])
        self.join = nn.CellList([double(2 * w, w) for w in widths[-2::-1]])
        self.last = conv(width, num_classes, 1, bias=True)

    def construct(self, x: Tensor) -> Tensor:
        seen = [self.first(x)]
        for layer in self.down:
            seen.append(layer(ops.max_pool2d(seen[-1], 2, 2)))
        x = seen.pop()
        for up, join in zip(self.up, self.join):
            x = join(ops.cat((seen.pop(), up(x)), 1))
        return self.last(x)
