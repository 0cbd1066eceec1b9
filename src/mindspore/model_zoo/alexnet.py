"""AlexNet: five convolutions, three dense layers (Krizhevsky 2014, "One weird trick for parallelizing convolutional neural networks")."""

from __future__ import annotations

from mindspore import nn
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import conv, images, max_pool, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


@model(
    "alexnet",
    task="images",
    paper="Krizhevsky 2014, One weird trick for parallelizing convolutional neural networks",
    recipe=Recipe(rate=0.01, schedule="steps", weight_decay=5e-4),
    tiny={"num_classes": 10, "image_size": 63, "width": 64},
    origin="torchvision:alexnet",
)
class AlexNet(nn.Cell):
    """The one-tower form, without local response normalisation."""

    def __init__(
        self, num_classes: int = 1000, in_channels: int = 3, image_size: int = 224, width: int = 4096, dropout: float = 0.5
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        self.features = sequence([
            conv(in_channels, 64, 11, 4, bias=True, padding=2), nn.ReLU(), max_pool(padding=0),
            conv(64, 192, 5, bias=True), nn.ReLU(), max_pool(padding=0),
            conv(192, 384, bias=True), nn.ReLU(), conv(384, 256, bias=True), nn.ReLU(),
            conv(256, 256, bias=True), nn.ReLU(), max_pool(padding=0),
        ])  # fmt: skip
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = sequence([
            nn.Dropout(p=dropout), nn.Dense(256 * 36, width), nn.ReLU(),
            nn.Dropout(p=dropout), nn.Dense(width, width), nn.ReLU(), nn.Dense(width, num_classes),
        ])  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        x = self.avgpool(self.features(x))
        return self.classifier(x.reshape(x.shape[0], -1))
