"""GoogLeNet: nine Inception modules, and two classifiers in the middle that help to train.

Szegedy et al. 2015, "Going deeper with convolutions".

The form of the public weights: batch normalisation everywhere, and 3 × 3 convolutions where the paper has 5 × 5 ones.
"""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import BasicConv, image_head, images, max_pool, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model

#: 1×1 | reduced, 3×3 | reduced, "5×5" | after the pooling
MODULES = {
    "inception3a": (64, 96, 128, 16, 32, 32), "inception3b": (128, 128, 192, 32, 96, 64),
    "inception4a": (192, 96, 208, 16, 48, 64), "inception4b": (160, 112, 224, 24, 64, 64),
    "inception4c": (128, 128, 256, 24, 64, 64), "inception4d": (112, 144, 288, 32, 64, 64),
    "inception4e": (256, 160, 320, 32, 128, 128), "inception5a": (256, 160, 320, 32, 128, 128),
    "inception5b": (384, 192, 384, 48, 128, 128),
}  # fmt: skip


class Inception(nn.Cell):
    """Four branches side by side, joined by channels."""

    def __init__(self, inputs: int, one: int, three_in: int, three: int, five_in: int, five: int, pooled: int):
        super().__init__()
        self.branch1 = BasicConv(inputs, one)
        self.branch2 = sequence([BasicConv(inputs, three_in), BasicConv(three_in, three, 3, padding=1)])
        self.branch3 = sequence([BasicConv(inputs, five_in), BasicConv(five_in, five, 3, padding=1)])
        self.branch4 = sequence([max_pool(3, 1), BasicConv(inputs, pooled)])

    def construct(self, x: Tensor) -> Tensor:
        return ops.cat((self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)), 1)


class Auxiliary(nn.Cell):
    """A classifier on values from the middle, used in training only."""

    def __init__(self, inputs: int, num_classes: int, hidden: int, dropout: float):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d((4, 4))
        self.conv = BasicConv(inputs, 128)
        self.fc1, self.fc2 = nn.Dense(2048, hidden), nn.Dense(hidden, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor) -> Tensor:
        x = self.conv(self.pool(x))
        return self.fc2(self.dropout(ops.relu(self.fc1(x.reshape(x.shape[0], -1)))))


@model(
    "googlenet",
    task="images",
    paper="Szegedy et al. 2015, Going deeper with convolutions",
    recipe=Recipe(rate=0.01, weight_decay=2e-4),
    tiny={"num_classes": 10, "image_size": 64, "divide": 8},
    origin="torchvision:googlenet",
)
class GoogLeNet(nn.Cell):
    """In training the result is (classes, first auxiliary, second auxiliary). `divide` makes every layer narrower."""

    def __init__(
        self, num_classes: int = 1000, in_channels: int = 3, image_size: int = 224, divide: int = 1, dropout: float = 0.2
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        stem = 64 // divide
        self.conv1 = BasicConv(in_channels, stem, 7, 2, 3)
        self.conv2, self.conv3 = BasicConv(stem, stem), BasicConv(stem, 3 * stem, 3, padding=1)
        self.maxpool = max_pool(padding=0, ceil=True)
        self.maxpool4 = max_pool(2, padding=0, ceil=True)
        channels, after = 3 * stem, {}
        for name, (one, three_in, three, five_in, five, pooled) in MODULES.items():
            widths = [w // divide for w in (one, three_in, three, five_in, five, pooled)]
            setattr(self, name, Inception(channels, *widths))
            channels = after[name] = widths[0] + widths[2] + widths[4] + widths[5]
        self.aux1 = Auxiliary(after["inception4a"], num_classes, 1024 // divide, 0.7)
        self.aux2 = Auxiliary(after["inception4d"], num_classes, 1024 // divide, 0.7)
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Dense(channels, num_classes)

    def construct(self, x: Tensor) -> Any:
        x = self.maxpool(self.conv1(x))
        x = self.maxpool(self.conv3(self.conv2(x)))
        x = self.maxpool(self.inception3b(self.inception3a(x)))
        early = self.inception4a(x)
        late = self.inception4d(self.inception4c(self.inception4b(early)))
        x = self.maxpool4(self.inception4e(late))
        x = self.inception5b(self.inception5a(x))
        logits = self.fc(self.dropout(image_head(x)))
        return (logits, self.aux1(early), self.aux2(late)) if self.training else logits
