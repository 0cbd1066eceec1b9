"""Inception-v3: modules of factorised convolutions (Szegedy et al. 2016, "Rethinking the Inception architecture for computer vision")."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import BasicConv, image_head, images, max_pool
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


def mean_pool() -> nn.Cell:
    return nn.AvgPool2d(3, 1, pad_mode="pad", padding=1)


class InceptionA(nn.Cell):
    """1 × 1, 5 × 5 and two 3 × 3 convolutions, and a pooling, at 35 × 35."""

    def __init__(self, inputs: int, pooled: int, unit: int):
        super().__init__()
        self.branch1x1 = BasicConv(inputs, 4 * unit)
        self.branch5x5_1, self.branch5x5_2 = BasicConv(inputs, 3 * unit), BasicConv(3 * unit, 4 * unit, 5, padding=2)
        self.branch3x3dbl_1 = BasicConv(inputs, 4 * unit)
        self.branch3x3dbl_2 = BasicConv(4 * unit, 6 * unit, 3, padding=1)
        self.branch3x3dbl_3 = BasicConv(6 * unit, 6 * unit, 3, padding=1)
        self.branch_pool, self.pool = BasicConv(inputs, pooled), mean_pool()

    def construct(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        five = self.branch5x5_2(self.branch5x5_1(x))
        return ops.cat((self.branch1x1(x), five, double, self.branch_pool(self.pool(x))), 1)


class InceptionB(nn.Cell):
    """Halves the size, 35 → 17."""

    def __init__(self, inputs: int, unit: int):
        super().__init__()
        self.branch3x3 = BasicConv(inputs, 24 * unit, 3, 2)
        self.branch3x3dbl_1 = BasicConv(inputs, 4 * unit)
        self.branch3x3dbl_2 = BasicConv(4 * unit, 6 * unit, 3, padding=1)
        self.branch3x3dbl_3 = BasicConv(6 * unit, 6 * unit, 3, 2)
        self.pool = max_pool(padding=0)

    def construct(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return ops.cat((self.branch3x3(x), double, self.pool(x)), 1)


class InceptionC(nn.Cell):
    """7 × 7 convolutions as 1 × 7 and 7 × 1 ones, at 17 × 17."""

    def __init__(self, inputs: int, seven: int, unit: int):
        super().__init__()
        row, column, outputs = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0)), 12 * unit  # kernel, stride, padding
        self.branch1x1 = BasicConv(inputs, outputs)
        self.branch7x7_1 = BasicConv(inputs, seven)
        self.branch7x7_2, self.branch7x7_3 = BasicConv(seven, seven, *row), BasicConv(seven, outputs, *column)
        self.branch7x7dbl_1 = BasicConv(inputs, seven)
        self.branch7x7dbl_2, self.branch7x7dbl_3 = BasicConv(seven, seven, *column), BasicConv(seven, seven, *row)
        self.branch7x7dbl_4, self.branch7x7dbl_5 = BasicConv(seven, seven, *column), BasicConv(seven, outputs, *row)
        self.branch_pool, self.pool = BasicConv(inputs, outputs), mean_pool()

    def construct(self, x: Tensor) -> Tensor:
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return ops.cat((self.branch1x1(x), seven, double, self.branch_pool(self.pool(x))), 1)


class InceptionD(nn.Cell):
    """Halves the size, 17 → 8."""

    def __init__(self, inputs: int, unit: int):
        super().__init__()
        wide = 12 * unit
        self.branch3x3_1, self.branch3x3_2 = BasicConv(inputs, wide), BasicConv(wide, 20 * unit, 3, 2)
        self.branch7x7x3_1 = BasicConv(inputs, wide)
        self.branch7x7x3_2 = BasicConv(wide, wide, (1, 7), padding=(0, 3))
        self.branch7x7x3_3 = BasicConv(wide, wide, (7, 1), padding=(3, 0))
        self.branch7x7x3_4 = BasicConv(wide, wide, 3, 2)
        self.pool = max_pool(padding=0)

    def construct(self, x: Tensor) -> Tensor:
        seven = self.branch7x7x3_2(self.branch7x7x3_1(x))
        seven = self.branch7x7x3_4(self.branch7x7x3_3(seven))
        return ops.cat((self.branch3x3_2(self.branch3x3_1(x)), seven, self.pool(x)), 1)


class InceptionE(nn.Cell):
    """3 × 3 convolutions as 1 × 3 and 3 × 1 ones side by side, at 8 × 8."""

    def __init__(self, inputs: int, unit: int):
        super().__init__()
        row, column, wide = ((1, 3), 1, (0, 1)), ((3, 1), 1, (1, 0)), 24 * unit  # kernel, stride, padding
        self.branch1x1 = BasicConv(inputs, 20 * unit)
        self.branch3x3_1 = BasicConv(inputs, wide)
        self.branch3x3_2a, self.branch3x3_2b = BasicConv(wide, wide, *row), BasicConv(wide, wide, *column)
        self.branch3x3dbl_1, self.branch3x3dbl_2 = BasicConv(inputs, 28 * unit), BasicConv(28 * unit, wide, 3, padding=1)
        self.branch3x3dbl_3a, self.branch3x3dbl_3b = BasicConv(wide, wide, *row), BasicConv(wide, wide, *column)
        self.branch_pool, self.pool = BasicConv(inputs, 12 * unit), mean_pool()

    def construct(self, x: Tensor) -> Tensor:
        three = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        parts = (
            self.branch1x1(x), self.branch3x3_2a(three), self.branch3x3_2b(three),
            self.branch3x3dbl_3a(double), self.branch3x3dbl_3b(double), self.branch_pool(self.pool(x)),
        )  # fmt: skip
        return ops.cat(parts, 1)


class Auxiliary(nn.Cell):
    """A classifier on the 17 × 17 values, used in training only."""

    def __init__(self, inputs: int, num_classes: int, unit: int):
        super().__init__()
        self.pool = nn.AvgPool2d(5, 3)
        self.conv0, self.conv1 = BasicConv(inputs, 8 * unit), BasicConv(8 * unit, 48 * unit, 5)
        self.fc = nn.Dense(48 * unit, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc(image_head(self.conv1(self.conv0(self.pool(x)))))


@model(
    "inception_v3",
    task="images",
    paper="Szegedy et al. 2016, Rethinking the Inception architecture for computer vision",
    recipe=Recipe(epochs=100, batch=1600, optimizer="rmsprop", rate=0.045, schedule="cosine", label_smoothing=0.1),
    tiny={"num_classes": 10, "image_size": 299, "unit": 1},
    origin="torchvision:inception_v3",
)
class InceptionV3(nn.Cell):
    """In training the result is (classes, auxiliary). Widths are multiples of `unit`."""

    def __init__(
        self, num_classes: int = 1000, in_channels: int = 3, image_size: int = 299, unit: int = 16, dropout: float = 0.5
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        if image_size < 239:
            raise ValueError(f"For 'inception_v3', 'image_size' must be at least 239, but got {image_size}.")
        self.Conv2d_1a_3x3 = BasicConv(in_channels, 2 * unit, 3, 2)
        self.Conv2d_2a_3x3 = BasicConv(2 * unit, 2 * unit, 3)
        self.Conv2d_2b_3x3 = BasicConv(2 * unit, 4 * unit, 3, padding=1)
        self.Conv2d_3b_1x1, self.Conv2d_4a_3x3 = BasicConv(4 * unit, 5 * unit), BasicConv(5 * unit, 12 * unit, 3)
        self.pool = max_pool(padding=0)
        self.Mixed_5b = InceptionA(12 * unit, 2 * unit, unit)
        self.Mixed_5c, self.Mixed_5d = InceptionA(16 * unit, 4 * unit, unit), InceptionA(18 * unit, 4 * unit, unit)
        self.Mixed_6a = InceptionB(18 * unit, unit)
        self.Mixed_6b, self.Mixed_6c = InceptionC(48 * unit, 8 * unit, unit), InceptionC(48 * unit, 10 * unit, unit)
        self.Mixed_6d, self.Mixed_6e = InceptionC(48 * unit, 10 * unit, unit), InceptionC(48 * unit, 12 * unit, unit)
        self.AuxLogits = Auxiliary(48 * unit, num_classes, unit)
        self.Mixed_7a = InceptionD(48 * unit, unit)
        self.Mixed_7b, self.Mixed_7c = InceptionE(80 * unit, unit), InceptionE(128 * unit, unit)
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Dense(128 * unit, num_classes)

    def construct(self, x: Tensor) -> Any:
        x = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x)))
        x = self.pool(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(self.pool(x))))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        middle = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(middle)))
        logits = self.fc(self.dropout(image_head(x)))
        return (logits, self.AuxLogits(middle)) if self.training else logits
