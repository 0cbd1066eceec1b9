"""LeNet-5: two convolutions, three dense layers (LeCun et al. 1998, "Gradient-based learning applied to document recognition")."""

from __future__ import annotations

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import images
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


@model(
    "lenet5",
    task="images",
    paper="LeCun et al. 1998, Gradient-based learning applied to document recognition",
    recipe=Recipe(epochs=10, batch=64, rate=0.02, weight_decay=0.0),
    tiny={"image_size": 28},
)
class LeNet5(nn.Cell):
    """Digits of 32 × 32 pixels; ReLU and max pooling in place of the paper's scaled tanh and trained averages."""

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = 32):
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        side = ((image_size - 4) // 2 - 4) // 2
        if side < 1:
            raise ValueError(f"For 'lenet5', 'image_size' must be at least 16, but got {image_size}.")
        self.conv1 = nn.Conv2d(in_channels, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.fc1 = nn.Dense(16 * side * side, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        x = ops.max_pool2d(ops.relu(self.conv1(x)), 2, 2)
        x = ops.max_pool2d(ops.relu(self.conv2(x)), 2, 2)
        x = x.reshape(x.shape[0], -1)
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x)))))
