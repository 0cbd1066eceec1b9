"""What detectors with anchors share, and the two that stand on it: SSD and RetinaNet.

Liu et al. 2016, "SSD: Single shot multibox detector" (hardest negatives, three for a positive); Lin et al. 2017, "Focal loss for dense
object detection" (all negatives, easy ones counting little).
"""

from __future__ import annotations

import math

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Constant, Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo import boxes as bx
from mindspore.model_zoo.blocks import conv, images, sequence
from mindspore.model_zoo.pyramid import PyramidBackbone, rows, sides
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


def smooth_distance(found: Tensor, wanted: Tensor, width: float = 1.0) -> Tensor:
    """Smooth L1, summed over the four numbers of a box."""
    away = ops.abs(found - wanted)
    return ops.sum(ops.where(away < width, 0.5 * ops.square(away) / width, away - 0.5 * width), -1)


def mean_over(values: Tensor, mask: Tensor) -> Tensor:
    """The sum where the mask is true, by the number of such places (at least 1)."""
    counted = mask.astype("float32")
    return ops.sum(values * counted) / ops.maximum(ops.sum(counted), 1.0)


@model(
    "ssd300",
    task="detection",
    paper="Liu et al. 2016, SSD: Single shot multibox detector",
    recipe=Recipe(epochs=240, batch=32, rate=1e-3, schedule="steps", milestones=(2 / 3, 5 / 6), weight_decay=5e-4),
    tiny={
        "num_classes": 3, "image_size": 64, "widths": (16, 32, 64, 64), "depths": (1, 1, 2, 1), "extra": (32,),
        "scales": (0.2, 0.3, 0.45),
    },
)
class SSD(nn.Cell):
    """VGG's stages, then strided ones; from the last of the former on each map says class and place for its anchors.

    image → (codes (N, A, 4), scores (N, A, 1 + classes)); class 0 is "nothing". Normalised layers and six proportions at every map.
    """

    codes = (10.0, 5.0)

    def __init__(
        self, num_classes: int = 20, in_channels: int = 3, image_size: int = 300, widths: tuple[int, ...] = (64, 128, 256, 512, 512),
        depths: tuple[int, ...] = (2, 2, 3, 3, 3), extra: tuple[int, ...] = (512, 256, 256),
        scales: tuple[float, ...] = (0.1, 0.2, 0.375, 0.55, 0.725),
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes, self.image_size = num_classes, images(in_channels, image_size), image_size
        if image_size < 32:
            raise ValueError(f"For 'ssd300', 'image_size' must be at least 32, but got {image_size}.")
        stages, channels, side, found = [], in_channels, image_size, []
        for i, (width, depth) in enumerate([*zip(widths, depths, strict=True), *((w, 1) for w in extra)]):
            layers: list[nn.Cell] = []
            for j in range(depth):
                stride = 2 if i and not j else 1
                layers += [conv(channels, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU()]
                channels, side = width, -(-side // stride)
            stages.append(sequence(layers))
            if i >= len(widths) - 2:
                found.append((width, side))
        self.stages, self.first = nn.CellList(stages), len(widths) - 2
        if len(scales) != len(found):
            raise ValueError(f"For 'ssd300', 'scales' must be {len(found)} numbers, one for each map, but got {scales}.")
        made = [_default_boxes(s, image_size, scales[i], (*scales, 1.05)[i + 1]) for i, (_, s) in enumerate(found)]
        self.anchors = Tensor(np.concatenate(made))
        self.place = nn.CellList([conv(w, 6 * 4, bias=True) for w, _ in found])
        self.score = nn.CellList([conv(w, 6 * (num_classes + 1), bias=True) for w, _ in found])

    def construct(self, image: Tensor) -> tuple[Tensor, Tensor]:
        maps = []
        for i, stage in enumerate(self.stages):
            image = stage(image)
            if i >= self.first:
                maps.append(image)
        places = rows([head(m) for head, m in zip(self.place, maps)], 4)
        return places, rows([head(m) for head, m in zip(self.score, maps)], self.num_classes + 1)

    def loss(self, image: Tensor, boxes: Tensor, label: Tensor) -> Tensor:
        """Distances of codes at positives; cross entropy at positives and the hardest negatives, three for each."""
        codes, scores = self(image)
        chosen, positive, negative = bx.match(self.anchors, boxes, label, 0.5, 0.5)
        wanted = bx.encode(bx.pick(boxes, chosen), self.anchors, self.codes)
        classes = ops.where(positive, bx.pick(label, chosen).astype("int32") + 1, 0)
        entropy = -ops.gather_d(ops.log_softmax(scores, -1), 2, classes.expand_dims(-1)).squeeze(-1)
        count = ops.maximum(ops.sum(positive.astype("float32"), 1, keepdim=True), 1.0)
        hard = ops.stop_gradient(ops.where(negative, entropy, -1.0))
        rank = ops.argsort(ops.argsort(hard, 1, True), 1).astype("float32")
        kept = ops.logical_or(positive, ops.logical_and(negative, rank < 3 * count)).astype("float32")
        place = smooth_distance(codes, wanted) * positive.astype("float32")
        return ops.mean((ops.sum(place, 1) + ops.sum(entropy * kept, 1)) / count.squeeze(1))

    def detect(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes (N, A, 4) and their scores (N, A, classes)."""
        codes, scores = self(image)
        return bx.clip(bx.decode(codes, self.anchors, self.codes), self.image_size), ops.softmax(scores, -1)[..., 1:]


def _default_boxes(side: int, image: int, scale: float, following: float) -> np.ndarray:
    """Six shapes: a square, one on the way to the next map's, and proportions of 2 and 3 both ways."""
    shapes = [(scale, scale), (math.sqrt(scale * following),) * 2]
    shapes += [(scale * math.sqrt(p), scale / math.sqrt(p)) for p in (2, 1 / 2, 3, 1 / 3)]
    return bx.anchors(side, image, [(w * image, h * image) for w, h in shapes])


class DenseHead(nn.Cell):
    """Four convolutions and a last one, the same at every map."""

    def __init__(self, width: int, outputs: int, last: str, depth: int, bias: float = 0.0):
        super().__init__()
        self.conv = sequence([sequence([_plain(width, width), nn.ReLU()]) for _ in range(depth)])
        setattr(self, last, _plain(width, outputs, bias))
        self.last = last

    def construct(self, x: Tensor) -> Tensor:
        return getattr(self, self.last)(self.conv(x))


def _plain(inputs: int, outputs: int, bias: float = 0.0) -> nn.Conv2d:
    return nn.Conv2d(
        inputs, outputs, 3, pad_mode="pad", padding=1, has_bias=True, weight_init=Normal(0.01), bias_init=Constant(bias)
    )


def focal_loss(scores: Tensor, wanted: Tensor, alpha: float = 0.25, gamma: float = 2.0) -> Tensor:
    """Binary cross entropy in which what is already right counts little."""
    entropy = ops.relu(scores) - scores * wanted + ops.log1p(ops.exp(-ops.abs(scores)))
    share = ops.sigmoid(scores)
    wrong = share * (1 - wanted) + (1 - share) * wanted
    return (alpha * wanted + (1 - alpha) * (1 - wanted)) * wrong**gamma * entropy


@model(
    "retinanet_resnet50_fpn",
    task="detection",
    paper="Lin et al. 2017, Focal loss for dense object detection",
    recipe=Recipe(epochs=12, batch=16, rate=0.01, schedule="steps", milestones=(2 / 3, 8 / 9), warmup=0.01, clip=10.0),
    tiny={"num_classes": 3, "image_size": 64, "depths": (1, 1, 1, 1), "base": 8, "width": 32, "depth": 1, "smallest": 16.0},
    origin="torchvision:retinanet_resnet50_fpn",
)
class RetinaNet(nn.Cell):
    """A ResNet with a pyramid; two heads say class and place at nine anchors of each cell.

    image → (codes (N, A, 4), scores (N, A, classes)).
    """

    renames = ((r"^backbone\.further\.", "backbone.fpn.extra_blocks."),)
    codes = (1.0, 1.0)

    def __init__(
        self, num_classes: int = 91, in_channels: int = 3, image_size: int = 800, depths: tuple[int, ...] = (3, 4, 6, 3), base: int = 64,
        width: int = 256, depth: int = 4, smallest: float = 32.0,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes, self.image_size = num_classes, images(in_channels, image_size), image_size
        self.backbone = PyramidBackbone(in_channels, image_size, depths, base, width, 1, True)
        rare = -math.log(99.0)  # at first, everything is one object in a hundred
        self.head = nn.CellDict({
            "classification_head": DenseHead(width, 9 * num_classes, "cls_logits", depth, rare),
            "regression_head": DenseHead(width, 9 * 4, "bbox_reg", depth),
        })  # fmt: skip
        made = []
        for level, side in enumerate(sides(image_size, (8, 16, 32, 64, 128))):
            edges = [smallest * 2**level * 2 ** (third / 3) for third in range(3)]
            made.append(bx.anchors(side, image_size, [(e / math.sqrt(p), e * math.sqrt(p)) for p in (0.5, 1.0, 2.0) for e in edges]))
        self.anchors = Tensor(np.concatenate(made))

    def construct(self, image: Tensor) -> tuple[Tensor, Tensor]:
        maps = self.backbone(image)
        places = rows([self.head["regression_head"](m) for m in maps], 4)
        return places, rows([self.head["classification_head"](m) for m in maps], self.num_classes)

    def loss(self, image: Tensor, boxes: Tensor, label: Tensor) -> Tensor:
        codes, scores = self(image)
        chosen, positive, negative = bx.match(self.anchors, boxes, label, 0.5, 0.4)
        wanted = bx.encode(bx.pick(boxes, chosen), self.anchors, self.codes)
        classes = ops.where(positive, bx.pick(label, chosen).astype("int32"), -1)
        answer = ops.one_hot(classes, self.num_classes, Tensor(1.0), Tensor(0.0))
        counted = ops.logical_or(positive, negative).astype("float32").expand_dims(-1)
        found = ops.maximum(ops.sum(positive.astype("float32")), 1.0)
        place = smooth_distance(codes, wanted, 1 / 9) * positive.astype("float32")
        return ops.sum(focal_loss(scores, answer) * counted) / found + ops.sum(place) / found

    def detect(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes (N, A, 4) and their scores (N, A, classes)."""
        codes, scores = self(image)
        return bx.clip(bx.decode(codes, self.anchors, self.codes), self.image_size), ops.sigmoid(scores)
