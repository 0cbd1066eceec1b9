"""YOLO: every cell of three maps says what is in it, in one look at the image.

Redmon & Farhadi 2018, "YOLOv3: An incremental improvement" (Darknet-53, three anchors a cell); the fifth version's kind (Jocher
2020: cross-stage blocks, paths up and down, objects shared among neighbouring cells); and the eighth's (Jocher et al. 2023: no
anchors, sides of boxes as distributions (Li et al. 2020), objects given to the cells that agree best (Feng et al. 2021)).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo import boxes as bx
from mindspore.model_zoo.blocks import ConvNormActivation, Layer, conv, images, sequence
from mindspore.model_zoo.detector import mean_over
from mindspore.model_zoo.pyramid import rows, sides
from mindspore.model_zoo.rcnn import binary_entropy
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model

STRIDES = (8, 16, 32)
#: k-means of COCO's boxes, for images of 416 pixels, as the paper of the third version gives them
SIZES = (((10, 13), (16, 30), (33, 23)), ((30, 61), (62, 45), (59, 119)), ((116, 90), (156, 198), (373, 326)))

leaky = functools.partial(nn.LeakyReLU, 0.1)


def unit(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, activation: Layer = nn.SiLU) -> nn.Cell:
    return ConvNormActivation(inputs, outputs, kernel, stride, activation=activation, eps=1e-3)


class Narrowed(nn.Cell):
    """Two convolutions, the first to fewer channels, beside a shortcut."""

    def __init__(self, width: int, middle: int, kernel: int = 1, shortcut: bool = True, activation: Layer = nn.SiLU):
        super().__init__()
        self.first, self.second = unit(width, middle, kernel, 1, activation), unit(middle, width, 3, 1, activation)
        self.shortcut = shortcut

    def construct(self, x: Tensor) -> Tensor:
        y = self.second(self.first(x))
        return x + y if self.shortcut else y


class CrossStage(nn.Cell):
    """Half of the channels go through the blocks, half around them (Wang et al. 2020)."""

    def __init__(self, inputs: int, outputs: int, depth: int, shortcut: bool = True):
        super().__init__()
        half = outputs // 2
        self.through, self.around = unit(inputs, half, 1), unit(inputs, half, 1)
        self.blocks = sequence([Narrowed(half, half, 1, shortcut) for _ in range(depth)])
        self.join = unit(2 * half, outputs, 1)

    def construct(self, x: Tensor) -> Tensor:
        return self.join(ops.cat((self.blocks(self.through(x)), self.around(x)), 1))


class CrossStageAll(nn.Cell):
    """As `CrossStage`, but the results of all blocks are joined."""

    def __init__(self, inputs: int, outputs: int, depth: int, shortcut: bool = True):
        super().__init__()
        half = outputs // 2
        self.split = unit(inputs, 2 * half, 1)
        self.blocks = nn.CellList([Narrowed(half, half, 3, shortcut) for _ in range(depth)])
        self.join = unit((2 + depth) * half, outputs, 1)

    def construct(self, x: Tensor) -> Tensor:
        parts = list(ops.chunk(self.split(x), 2, 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.join(ops.cat(parts, 1))


class PooledPyramid(nn.Cell):
    """The map beside its maxima over growing surroundings (He et al. 2014), by one pooling after the other."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.first, self.join = unit(inputs, inputs // 2, 1), unit(inputs * 2, outputs, 1)
        self.pool = nn.MaxPool2d(5, 1, pad_mode="pad", padding=2)

    def construct(self, x: Tensor) -> Tensor:
        x = self.first(x)
        once = self.pool(x)
        twice = self.pool(once)
        return self.join(ops.cat((x, once, twice, self.pool(twice)), 1))


def double(x: Tensor) -> Tensor:
    return ops.interpolate(x, size=(2 * x.shape[2], 2 * x.shape[3]), mode="nearest")


class Darknet(nn.Cell):
    """Darknet-53: five stages of narrowed blocks; the results of the last three."""

    def __init__(self, inputs: int, widths: Sequence[int], depths: Sequence[int]):
        super().__init__()
        self.stem = unit(inputs, widths[0] // 2, 3, 1, leaky)
        stages, channels = [], widths[0] // 2
        for width, depth in zip(widths, depths, strict=True):
            blocks = [Narrowed(width, width // 2, activation=leaky) for _ in range(depth)]
            stages.append(sequence([unit(channels, width, 3, 2, leaky), *blocks]))
            channels = width
        self.stages = nn.CellList(stages)

    def construct(self, x: Tensor) -> list[Tensor]:
        x, results = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            results.append(x)
        return results[-3:]


class TopDown(nn.Cell):
    """The third version's neck: five convolutions a map; coarse maps, enlarged, join finer ones."""

    def __init__(self, widths: Sequence[int]):
        super().__init__()
        fine, middle, coarse = (w // 2 for w in widths)
        self.coarse = self._five(2 * coarse, coarse)
        self.to_middle, self.middle = unit(coarse, middle, 1, 1, leaky), self._five(2 * middle + middle, middle)
        self.to_fine, self.fine = unit(middle, fine, 1, 1, leaky), self._five(2 * fine + fine, fine)

    def _five(self, inputs: int, width: int) -> nn.Cell:
        pairs = [(inputs, width, 1), (width, 2 * width, 3), (2 * width, width, 1), (width, 2 * width, 3), (2 * width, width, 1)]
        return sequence([unit(i, o, k, 1, leaky) for i, o, k in pairs])

    def construct(self, maps: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        coarse = self.coarse(maps[2])
        middle = self.middle(ops.cat((double(self.to_middle(coarse)), maps[1]), 1))
        fine = self.fine(ops.cat((double(self.to_fine(middle)), maps[0]), 1))
        return fine, middle, coarse


class CrossStageBackbone(nn.Cell):
    """Strided convolutions and cross-stage blocks; the results of the last three stages."""

    def __init__(self, inputs: int, widths: Sequence[int], depths: Sequence[int], block: Layer):
        super().__init__()
        self.stem = unit(inputs, widths[0] // 2, 3, 2)
        stages, channels = [], widths[0] // 2
        for i, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            last = [PooledPyramid(width, width)] if i == len(widths) - 1 else []
            stages.append(sequence([unit(channels, width, 3, 2), block(width, width, depth), *last]))
            channels = width
        self.stages = nn.CellList(stages)

    def construct(self, x: Tensor) -> list[Tensor]:
        x, results = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            results.append(x)
        return results[-3:]


class UpAndDown(nn.Cell):
    """Coarse maps go to the finer ones and those back (PANet, Liu et al. 2018)."""

    def __init__(self, widths: Sequence[int], depth: int, block: Layer):
        super().__init__()
        fine, middle, coarse = widths
        self.middle_up = block(coarse + middle, middle, depth, False)
        self.fine_up = block(middle + fine, fine, depth, False)
        self.to_middle, self.middle_down = unit(fine, fine, 3, 2), block(fine + middle, middle, depth, False)
        self.to_coarse, self.coarse_down = unit(middle, middle, 3, 2), block(middle + coarse, coarse, depth, False)

    def construct(self, maps: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        middle = self.middle_up(ops.cat((double(maps[2]), maps[1]), 1))
        fine = self.fine_up(ops.cat((double(middle), maps[0]), 1))
        middle = self.middle_down(ops.cat((self.to_middle(fine), middle), 1))
        return fine, middle, self.coarse_down(ops.cat((self.to_coarse(middle), maps[2]), 1))


def check_size(name: str, image_size: int) -> None:
    if image_size % STRIDES[-1]:
        raise ValueError(f"For '{name}', 'image_size' must be a multiple of {STRIDES[-1]}, but got {image_size}.")


def cells(image_size: int, each: int) -> tuple[Tensor, Tensor]:
    """The centre (A, 2) and the stride (A, 1) of every cell, `each` times."""
    centres = [bx.grid(s, s, t).repeat(each, 0) for s, t in zip(sides(image_size, STRIDES), STRIDES)]
    strides = [np.full((len(c), 1), t, np.float32) for c, t in zip(centres, STRIDES)]
    return Tensor(np.concatenate(centres)), Tensor(np.concatenate(strides))


class AnchorYolo(nn.Cell):
    """image → (N, A, 5 + classes): shift and size against the anchor, whether there is an object, and its class.

    `modern`: as the fifth version's kind, an object belongs to all anchors of about its shape, in its cell and the nearest ones;
    else, as in the third's paper, to the one anchor whose shape is nearest, in its cell. Boxes are judged by their overlap.
    """

    def __init__(
        self, modern: bool = False, num_classes: int = 80, in_channels: int = 3, image_size: int = 416,
        widths: tuple[int, ...] = (64, 128, 256, 512, 1024), depths: tuple[int, ...] = (1, 2, 8, 8, 4), base: float = 416.0,
    ):  # fmt: skip
        super().__init__()
        check_size("yolov5" if modern else "yolov3", image_size)
        self.num_classes, self.takes = num_classes, images(in_channels, image_size)
        self.modern, outputs = modern, widths[-3:]
        if modern:
            self.backbone: nn.Cell = CrossStageBackbone(in_channels, widths, depths, CrossStage)
            self.neck: nn.Cell = UpAndDown(outputs, depths[0], CrossStage)
            grown: list[nn.Cell] = [nn.Identity() for _ in STRIDES]
        else:
            self.backbone = Darknet(in_channels, widths, depths)
            self.neck = TopDown(outputs)
            grown = [unit(w // 2, w, 3, 1, leaky) for w in outputs]
        self.heads = nn.CellList([sequence([g, _head(w, 3, num_classes)]) for g, w in zip(grown, outputs)])
        self.centres, self.strides = cells(image_size, 3)
        known = np.asarray(SIZES, np.float32) * np.float32(image_size / base)
        self.distinct = Tensor(known.reshape(-1, 2))
        self.shapes = Tensor(np.concatenate([np.tile(s, (side**2, 1)) for s, side in zip(known, sides(image_size, STRIDES))]))

    def construct(self, image: Tensor) -> Tensor:
        maps = self.neck(self.backbone(image))
        return rows([head(m) for head, m in zip(self.heads, maps)], 5 + self.num_classes)

    def decode(self, found: Tensor) -> Tensor:
        """Boxes (N, A, 4): within the cell, or up to half a cell around it; sizes by exp, or up to four times the anchor's."""
        share = ops.sigmoid(found[..., :4])
        if self.modern:
            centre = self.centres + (2 * share[..., :2] - 1) * self.strides
            half = self.shapes * ops.square(2 * share[..., 2:]) / 2
        else:
            centre = self.centres + (share[..., :2] - 0.5) * self.strides
            half = self.shapes * ops.exp(ops.minimum(found[..., 2:4], bx.FAR)) / 2
        return ops.cat((centre - half, centre + half), -1)

    def assign(self, boxes: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """(the object of each anchor, whether it has one)."""
        away = ops.abs(bx.centre(boxes).expand_dims(1) - self.centres.expand_dims(1)) / self.strides.expand_dims(1)  # (N, A, M, 2)
        near = ops.amax(away, -1) <= 0.5
        wide = ops.maximum(bx.size(boxes), 1.0).expand_dims(1)
        same = _shape_overlap(self.shapes.expand_dims(1), wide)  # (N, A, M)
        if self.modern:
            across = ops.logical_and(ops.amax(away, -1) <= 1.0, ops.amin(away, -1) <= 0.5)
            ratio = wide / self.shapes.expand_dims(1)
            given = ops.logical_and(ops.logical_or(near, across), ops.amax(ops.maximum(ratio, 1 / ratio), -1) < 4.0)
        else:
            best = ops.amax(_shape_overlap(self.distinct.expand_dims(1), wide), 1, True)
            given = ops.logical_and(near, same >= best - 1e-6)
        given = ops.logical_and(given, (label >= 0).expand_dims(1))
        fit = ops.where(given, same, -1.0)
        return ops.argmax(fit, -1), ops.amax(fit, -1) > 0

    def loss(self, image: Tensor, boxes: Tensor, label: Tensor) -> Tensor:
        found = self(image)
        chosen, positive = self.assign(boxes, label)
        wanted, guessed = bx.pick(boxes, chosen), self.decode(found)
        place = mean_over(1 - bx.complete_overlap(guessed, wanted), positive)
        answer = ops.one_hot(bx.pick(label, chosen).astype("int32"), self.num_classes, Tensor(1.0), Tensor(0.0))
        kind = mean_over(ops.sum(binary_entropy(found[..., 5:], answer), -1), positive)
        there = (label >= 0).expand_dims(1).astype("float32")
        close = ops.amax(bx.overlaps(ops.stop_gradient(guessed), boxes) * there, -1)
        ignored = ops.logical_and(close > 0.5, ops.logical_not(positive))
        entropy = binary_entropy(found[..., 4], positive.astype("float32"))
        nothing = ops.logical_not(ops.logical_or(positive, ignored))
        count = ops.maximum(ops.sum(positive.astype("float32")), 1.0)
        return 5.0 * place + kind + mean_over(entropy, positive) + ops.sum(entropy * nothing.astype("float32")) / count

    def detect(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes (N, A, 4) and their scores (N, A, classes)."""
        found = self(image)
        return self.decode(found), ops.sigmoid(found[..., 4:5]) * ops.sigmoid(found[..., 5:])


def _shape_overlap(first: Tensor, second: Tensor) -> Tensor:
    """Overlap of sizes (…, 2) as if their boxes had one centre."""
    both = ops.minimum(first, second)
    common = both[..., 0] * both[..., 1]
    return common / (first[..., 0] * first[..., 1] + second[..., 0] * second[..., 1] - common)


def _head(width: int, each: int, classes: int) -> nn.Conv2d:
    """The last convolution; at first, an object is one in a hundred."""
    layer = conv(width, each * (5 + classes), 1, bias=True)
    bias = layer.bias.asnumpy().reshape(each, -1).copy()
    bias[:, 4] = -math.log(99.0)
    layer.bias.set_data(Tensor(bias.reshape(-1)))
    return layer


class FreeYolo(nn.Cell):
    """image → (distances (N, A, 4 · bins), scores (N, A, classes)): a box by the distances of its sides from the cell's centre.

    A distance, in strides, is the mean of a distribution over 0 … bins − 1.
    """

    def __init__(
        self, num_classes: int = 80, in_channels: int = 3, image_size: int = 640, widths: tuple[int, ...] = (32, 64, 128, 256),
        depths: tuple[int, ...] = (1, 2, 2, 1), bins: int = 16, most: int = 10,
    ):  # fmt: skip
        super().__init__()
        check_size("yolov8", image_size)
        self.num_classes, self.takes, self.bins, self.most = num_classes, images(in_channels, image_size), bins, most
        self.backbone = CrossStageBackbone(in_channels, widths, depths, CrossStageAll)
        self.neck = UpAndDown(widths[-3:], depths[0], CrossStageAll)
        self.sides = nn.CellList([_branch(w, max(16, w // 4), 4 * bins, 1.0) for w in widths[-3:]])
        self.kinds = nn.CellList([_branch(w, max(w, min(num_classes, 100)), num_classes, -math.log(99.0)) for w in widths[-3:]])
        self.centres, self.strides = cells(image_size, 1)
        self.values = Tensor(np.arange(bins, dtype=np.float32))

    def construct(self, image: Tensor) -> tuple[Tensor, Tensor]:
        maps = self.neck(self.backbone(image))
        sides_ = rows([head(m) for head, m in zip(self.sides, maps)], 4 * self.bins)
        return sides_, rows([head(m) for head, m in zip(self.kinds, maps)], self.num_classes)

    def decode(self, found: Tensor) -> Tensor:
        shares = ops.softmax(found.reshape(*found.shape[:2], 4, self.bins), -1)
        reach = ops.sum(shares * self.values, -1) * self.strides
        return ops.cat((self.centres - reach[..., :2], self.centres + reach[..., 2:]), -1)

    def assign(self, guessed: Tensor, scores: Tensor, boxes: Tensor, label: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(object of each cell, whether it has one, how much it should claim it): the cells inside a box that agree with it best."""
        low = self.centres.expand_dims(1) - boxes[..., :2].expand_dims(1)  # (N, A, M, 2)
        inside = ops.minimum(ops.amin(low, -1), ops.amin(boxes[..., 2:].expand_dims(1) - self.centres.expand_dims(1), -1)) > 0
        inside = ops.logical_and(inside, (label >= 0).expand_dims(1)).astype("float32")
        fit = bx.overlaps(guessed, boxes) * inside
        kinds = ops.one_hot(ops.maximum(label, 0), self.num_classes, Tensor(1.0), Tensor(0.0))
        of_kind = ops.matmul(ops.sigmoid(scores), kinds.swapaxes(1, 2))
        agreed = ops.sqrt(of_kind + 1e-9) * fit**6 * inside + 1e-9 * inside
        count = min(self.most, agreed.shape[1])
        least = ops.topk(agreed.swapaxes(1, 2), count, -1)[0][..., -1].expand_dims(1)
        given = ops.logical_and(agreed >= least, inside > 0)
        chosen = ops.argmax(ops.where(given, fit, -1.0), -1)
        positive = ops.amax(given.astype("float32"), -1) > 0
        top = ops.amax(agreed, 1, True)
        claim = ops.where(given, agreed / (top + 1e-12) * ops.amax(fit, 1, True), 0.0)
        own = ops.one_hot(chosen, boxes.shape[1], Tensor(1.0), Tensor(0.0))
        return chosen, positive, ops.sum(claim * own, -1)

    def loss(self, image: Tensor, boxes: Tensor, label: Tensor) -> Tensor:
        found, scores = self(image)
        guessed = self.decode(found)
        chosen, positive, claim = self.assign(ops.stop_gradient(guessed), ops.stop_gradient(scores), boxes, label)
        chosen, claim = ops.stop_gradient(chosen), ops.stop_gradient(claim)
        total = ops.maximum(ops.sum(claim), 1.0)
        answer = ops.one_hot(bx.pick(label, chosen).astype("int32"), self.num_classes, Tensor(1.0), Tensor(0.0)) * claim.expand_dims(-1)
        kind = ops.sum(binary_entropy(scores, answer)) / total
        weight = claim * positive.astype("float32")
        wanted = bx.pick(boxes, chosen)
        place = ops.sum((1 - bx.complete_overlap(guessed, wanted)) * weight) / total
        return 0.5 * kind + 7.5 * place + 1.5 * ops.sum(self._spread(found, wanted) * weight) / total

    def _spread(self, found: Tensor, wanted: Tensor) -> Tensor:
        """Cross entropy with the two bins next to each true distance (distribution focal loss)."""
        reach = ops.cat((self.centres - wanted[..., :2], wanted[..., 2:] - self.centres), -1) / self.strides
        reach = ops.clamp(reach, 0.0, self.bins - 1.01)
        logs = ops.log_softmax(found.reshape(*found.shape[:2], 4, self.bins), -1)
        near = ops.relu(1 - ops.abs(reach.expand_dims(-1) - self.values))  # linear between neighbours
        return -ops.mean(ops.sum(logs * near, -1), -1)

    def detect(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes (N, A, 4) and their scores (N, A, classes)."""
        found, scores = self(image)
        return self.decode(found), ops.sigmoid(scores)


def _branch(width: int, middle: int, outputs: int, bias: float) -> nn.Cell:
    last = conv(middle, outputs, 1, bias=True)
    last.bias.set_data(Tensor(np.full(outputs, bias, np.float32)))
    return sequence([unit(width, middle), unit(middle, middle), last])


_RECIPE = Recipe(epochs=300, batch=64, rate=0.01, schedule="cosine", warmup=0.01, weight_decay=5e-4, momentum=0.937)
model(
    "yolov3", task="detection", paper="Redmon & Farhadi 2018, YOLOv3: An incremental improvement", recipe=_RECIPE,
    tiny={"num_classes": 3, "image_size": 64, "widths": (8, 16, 16, 32, 32), "depths": (1, 1, 1, 1, 1), "base": 256.0},
)(functools.partial(AnchorYolo, False))  # fmt: skip
for _name, _width, _depths in (("yolov5s", 64, (1, 2, 3, 1)), ("yolov5m", 96, (2, 4, 6, 2)), ("yolov5l", 128, (3, 6, 9, 3))):
    model(
        _name, task="detection", paper="Jocher 2020, YOLOv5 (no paper); Wang et al. 2020, CSPNet", recipe=_RECIPE,
        tiny={"num_classes": 3, "image_size": 64, "widths": (16, 16, 32, 32), "depths": (1, 1, 1, 1), "base": 256.0},
    )(functools.partial(AnchorYolo, True, widths=tuple(_width << i for i in range(4)), depths=_depths, image_size=640))  # fmt: skip
for _name, _widths, _depths in (
    ("yolov8n", (32, 64, 128, 256), (1, 2, 2, 1)), ("yolov8s", (64, 128, 256, 512), (1, 2, 2, 1)),
    ("yolov8m", (96, 192, 384, 576), (2, 4, 4, 2)),
):  # fmt: skip
    model(
        _name, task="detection", paper="Jocher et al. 2023, YOLOv8 (no paper); Feng et al. 2021, TOOD", recipe=_RECIPE,
        tiny={"num_classes": 3, "image_size": 64, "widths": (16, 16, 32, 32), "depths": (1, 1, 1, 1)},
    )(functools.partial(FreeYolo, widths=_widths, depths=_depths))  # fmt: skip
