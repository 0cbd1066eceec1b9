"""A pyramid of features: maps of several sizes, each of which sees far and is sharp (Lin et al. 2017, "Feature pyramid networks")."""

from __future__ import annotations

from collections.abc import Sequence

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import conv, sequence
from mindspore.model_zoo.resnet import Bottleneck, ResNet


class FeaturePyramid(nn.Cell):
    """Maps from fine to coarse → as many of one width: each gets the enlarged sum of the coarser ones."""

    def __init__(self, widths: Sequence[int], width: int):
        super().__init__()
        self.inner_blocks = nn.CellList([sequence([conv(w, width, 1, bias=True)]) for w in widths])
        self.layer_blocks = nn.CellList([sequence([conv(width, width, bias=True)]) for _ in widths])

    def construct(self, maps: Sequence[Tensor]) -> list[Tensor]:
        total = self.inner_blocks[-1](maps[-1])
        results = [self.layer_blocks[-1](total)]
        for i in range(len(maps) - 2, -1, -1):
            own = self.inner_blocks[i](maps[i])
            total = own + ops.interpolate(total, size=own.shape[2:], mode="nearest")
            results.insert(0, self.layer_blocks[i](total))
        return results


class FurtherMaps(nn.Cell):
    """Two coarser maps, by strides (RetinaNet's P6 and P7)."""

    def __init__(self, width: int):
        super().__init__()
        self.p6, self.p7 = conv(width, width, 3, 2, bias=True), conv(width, width, 3, 2, bias=True)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        p6 = self.p6(x)
        return p6, self.p7(ops.relu(p6))


class PyramidBackbone(nn.Cell):
    """A ResNet's stages from `first` on (0 is 1/4 of the image), a pyramid on them, and coarser maps.

    `further`: two more by convolutions; else one more by leaving out every second cell.
    """

    def __init__(self, in_channels: int, image_size: int, depths: tuple[int, ...], base: int, width: int, first: int, further: bool):
        super().__init__()
        self.first = first
        self.body = ResNet(Bottleneck, depths, in_channels=in_channels, image_size=image_size, width=base, num_classes=0)
        self.fpn = FeaturePyramid([base * 4 << stage for stage in range(first, len(depths))], width)
        self.further = FurtherMaps(width) if further else None

    def construct(self, image: Tensor) -> list[Tensor]:
        maps = self.fpn(self.body.features(image)[self.first :])
        if self.further is not None:
            return [*maps, *self.further(maps[-1])]
        return [*maps, maps[-1][:, :, ::2, ::2]]


def sides(image_size: int, strides: Sequence[int]) -> list[int]:
    """The sides of the maps over an image."""
    return [-(-image_size // stride) for stride in strides]


def rows(maps: Sequence[Tensor], width: int) -> Tensor:
    """Maps (N, anchors · width, H, W) → (N, all anchors, width), cell by cell."""
    flat = [m.reshape(m.shape[0], -1, width, *m.shape[2:]).transpose(0, 3, 4, 1, 2) for m in maps]
    return ops.cat([f.reshape(f.shape[0], -1, width) for f in flat], 1)
