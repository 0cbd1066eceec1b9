"""DeepLabV3+: convolutions with holes of several sizes over a coarse picture, refined by an early one.

Chen et al. 2018, "Encoder-decoder with atrous separable convolution for semantic image segmentation".
"""

from __future__ import annotations

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import ConvNormActivation, conv, images, sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model
from mindspore.model_zoo.resnet import Bottleneck, ResNet


class Pyramid(nn.Cell):
    """The picture seen at several distances, and as a whole."""

    def __init__(self, inputs: int, width: int, holes: tuple[int, ...]):
        super().__init__()
        self.near = ConvNormActivation(inputs, width, 1)
        self.far = nn.CellList([ConvNormActivation(inputs, width, 3, dilation=h) for h in holes])
        self.whole = sequence([conv(inputs, width, 1, bias=True), nn.ReLU()])
        self.join = ConvNormActivation((len(holes) + 2) * width, width, 1)

    def construct(self, x: Tensor) -> Tensor:
        whole = self.whole(ops.mean(x, (2, 3), True))
        whole = ops.broadcast_to(whole, (*whole.shape[:2], *x.shape[2:]))
        return self.join(ops.cat((self.near(x), *(layer(x) for layer in self.far), whole), 1))


@model(
    "deeplabv3plus_resnet50",
    task="segmentation",
    paper="Chen et al. 2018, Encoder-decoder with atrous separable convolution for semantic image segmentation",
    recipe=Recipe(epochs=50, batch=16, rate=0.007, schedule="linear"),
    tiny={"num_classes": 3, "image_size": 32, "width": 16, "depths": (1, 1, 1), "base": 16},
)
class DeepLabV3Plus(nn.Cell):
    """Stands on the first three stages of a ResNet, which is 1/16 of the image."""

    def __init__(
        self, num_classes: int = 21, in_channels: int = 3, image_size: int = 512, width: int = 256, depths: tuple[int, ...] = (3, 4, 6),
        base: int = 64, holes: tuple[int, ...] = (6, 12, 18),
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        self.backbone = ResNet(Bottleneck, depths, in_channels=in_channels, image_size=image_size, width=base, num_classes=0)
        self.pyramid = Pyramid(base * 16, width, holes)
        self.early = ConvNormActivation(base * 4, 48, 1)
        smooth = [ConvNormActivation(width + 48, width), ConvNormActivation(width, width)]
        self.refine = sequence([*smooth, conv(width, num_classes, 1, bias=True)])

    def construct(self, x: Tensor) -> Tensor:
        features = self.backbone.features(x)
        early = self.early(features[0])
        coarse = ops.interpolate(self.pyramid(features[-1]), size=early.shape[2:], mode="bilinear")
        return ops.interpolate(self.refine(ops.cat((early, coarse), 1)), size=x.shape[2:], mode="bilinear")
