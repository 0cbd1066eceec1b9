"""Detectors in two stages: places where something may be, then what it is, and its outline.

Ren et al. 2015, "Faster R-CNN: Towards real-time object detection with region proposal networks"; He et al. 2017, "Mask R-CNN"; both with
a feature pyramid (Lin et al. 2017). Shapes are fixed, so that graphs compile: each image has `proposals` proposals, and where
the papers draw a random half of positives and negatives, here positives and negatives count half each.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo import boxes as bx
from mindspore.model_zoo.blocks import conv, images, sequence
from mindspore.model_zoo.detector import mean_over, smooth_distance
from mindspore.model_zoo.pyramid import PyramidBackbone, rows, sides
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model

STRIDES = (4, 8, 16, 32, 64)
PROPORTIONS = (0.5, 1.0, 2.0)


def binary_entropy(scores: Tensor, wanted: Any) -> Tensor:
    return ops.relu(scores) - scores * wanted + ops.log1p(ops.exp(-ops.abs(scores)))


class ProposalHead(nn.Cell):
    """Whether there is something at each anchor, and where."""

    def __init__(self, width: int):
        super().__init__()
        self.conv = sequence([sequence([conv(width, width, bias=True), nn.ReLU()])])
        self.cls_logits, self.bbox_pred = conv(width, 3, 1, bias=True), conv(width, 12, 1, bias=True)

    def construct(self, maps: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        seen = [self.conv(m) for m in maps]
        return rows([self.cls_logits(s) for s in seen], 1).squeeze(-1), rows([self.bbox_pred(s) for s in seen], 4)


class Align(nn.Cell):
    """Features of boxes: each is cut, in `size` × `size` cells, out of the map that suits its own size (RoIAlign, He et al. 2017).

    A cell is the mean of 2 × 2 samples between the pixels. The pixels of all maps stand in one table, so that every sample is looked up
    once, and not in each of the maps.
    """

    def __init__(self, size: int, canonical: float):
        super().__init__()
        self.size, self.canonical = size, canonical  # boxes of the canonical size belong to the third map
        self.steps = Tensor((np.arange(2 * size, dtype=np.float32) + 0.5) / (2 * size))
        self.scales = Tensor(1 / np.array(STRIDES[:4], np.float32))

    def construct(self, maps: Sequence[Tensor], boxes: Tensor) -> Tensor:
        (batch, count, _), channels = boxes.shape, maps[0].shape[1]
        table = ops.cat([m.transpose(0, 2, 3, 1).reshape(batch, -1, channels) for m in maps[:4]], 1)
        pixels = np.array([[m.shape[2], m.shape[3], m.shape[2] * m.shape[3]] for m in maps[:4]])
        level = self.level(boxes.reshape(-1, 4))
        high, wide, start = (ops.gather(Tensor(v), level, 0) for v in (pixels[:, 0], pixels[:, 1], pixels[:, 2].cumsum() - pixels[:, 2]))
        start = start + Tensor(np.arange(batch).repeat(count) * table.shape[1])
        corners = boxes.reshape(-1, 4) * ops.gather(self.scales, level, 0).expand_dims(1)
        reach = ops.maximum(corners[:, 2:] - corners[:, :2], 1.0)
        low, row, down = _between(corners[:, 1], reach[:, 1], high, self.steps)
        left, column, across = _between(corners[:, 0], reach[:, 0], wide, self.steps)
        found: Any = 0
        for rows_, share in ((low, down[0]), (row, down[1])):
            for columns, part in ((left, across[0]), (column, across[1])):
                index = start[:, None, None] + rows_[:, :, None] * wide[:, None, None] + columns[:, None, :]
                weight = (share[:, :, None] * part[:, None, :]).expand_dims(-1)
                found = found + ops.gather(table.reshape(-1, channels), index, 0) * weight
        samples = found.reshape(batch * count, self.size, 2, self.size, 2, channels)
        return ops.mean(samples, (2, 4)).transpose(0, 3, 1, 2)

    def level(self, boxes: Tensor) -> Tensor:
        """Which map each box belongs to: twice the size, the next one."""
        side = ops.sqrt(ops.maximum(bx.area(boxes), 1e-6))
        return ops.clamp(ops.floor(2 + ops.log2(side / self.canonical + 1e-6)), 0.0, 3.0).astype("int64")


def _between(begin: Tensor, reach: Tensor, size: Tensor, steps: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """Along one axis, for samples at `steps` of each box: the pixels before and behind, and the shares of both; 0 outside the map."""
    at = begin[:, None] + reach[:, None] * steps
    last = (size - 1).astype("float32")[:, None]
    inside = ops.logical_and(at >= -1.0, at <= last + 1).astype("float32")
    at = ops.minimum(ops.maximum(at, 0.0), last)
    before = ops.floor(at)
    behind = ops.minimum(before + 1, last)
    share = at - before
    return before.astype("int64"), behind.astype("int64"), ((1 - share) * inside, share * inside)


class BoxHead(nn.Cell):
    """Two dense layers, then scores of classes (0: nothing) and a code for each class."""

    def __init__(self, width: int, hidden: int, classes: int):
        super().__init__()
        self.box_head = nn.CellDict({"fc6": nn.Dense(width * 49, hidden), "fc7": nn.Dense(hidden, hidden)})
        self.box_predictor = nn.CellDict({"cls_score": nn.Dense(hidden, classes), "bbox_pred": nn.Dense(hidden, 4 * classes)})

    def construct(self, features: Tensor) -> tuple[Tensor, Tensor]:
        x = ops.relu(self.box_head["fc6"](features.reshape(features.shape[0], -1)))
        x = ops.relu(self.box_head["fc7"](x))
        codes = self.box_predictor["bbox_pred"](x)
        return self.box_predictor["cls_score"](x), codes.reshape(codes.shape[0], -1, 4)


class MaskHead(nn.Cell):
    """Four convolutions, the map enlarged twice, a mask for each class."""

    def __init__(self, width: int, classes: int):
        super().__init__()
        self.mask_head = sequence([sequence([conv(width, width, bias=True), nn.ReLU()]) for _ in range(4)])
        grown = nn.Conv2dTranspose(width, width, 2, 2, pad_mode="valid", has_bias=True)
        self.mask_predictor = nn.CellDict({"conv5_mask": grown, "mask_fcn_logits": conv(width, classes, 1, bias=True)})

    def construct(self, features: Tensor) -> Tensor:
        grown = ops.relu(self.mask_predictor["conv5_mask"](self.mask_head(features)))
        return self.mask_predictor["mask_fcn_logits"](grown)


class FasterRCNN(nn.Cell):
    """image → (boxes (N, proposals, 4), scores (N, proposals, classes)[, masks (N, proposals, 28, 28)]).

    A proposal has one box, that of its best class, and with `masks` the outline of that class within the box, as logits.
    """

    renames = (
        (r"^rpn\.", "rpn.head."), (r"^heads\.", "roi_heads."), (r"^outlines\.", "roi_heads."),
    )  # fmt: skip
    first_codes, second_codes = (1.0, 1.0), (10.0, 5.0)

    def __init__(
        self, num_classes: int = 90, in_channels: int = 3, image_size: int = 800, depths: tuple[int, ...] = (3, 4, 6, 3), base: int = 64,
        width: int = 256, hidden: int = 1024, smallest: float = 32.0, candidates: int = 1000, proposals: int = 256, masks: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.num_classes, self.takes, self.image_size = num_classes, images(in_channels, image_size), image_size
        self.masks, self.candidates, self.proposals = masks, candidates, proposals
        self.backbone = PyramidBackbone(in_channels, image_size, depths, base, width, 0, False)
        self.rpn = ProposalHead(width)
        self.align, self.heads = Align(7, 7 * smallest), BoxHead(width, hidden, num_classes + 1)
        if masks:
            self.align_mask, self.outlines = Align(14, 7 * smallest), MaskHead(width, num_classes + 1)
            self.cut_mask = ops.ROIAlign(28, 28, 1.0, 2, 0)
        shapes = [(1 / math.sqrt(p), math.sqrt(p)) for p in PROPORTIONS]
        made = [
            bx.anchors(side, image_size, [(smallest * 2**level * w, smallest * 2**level * h) for w, h in shapes])
            for level, side in enumerate(sides(image_size, STRIDES))
        ]
        self.anchors = Tensor(np.concatenate(made))

    def propose(self, something: Tensor, codes: Tensor) -> Tensor:
        """The best boxes (N, proposals, 4) among the best candidates, without those that overlap a better one."""
        count = min(self.candidates, something.shape[1])
        scores, index = ops.topk(ops.stop_gradient(something), count, -1)
        found = bx.clip(bx.decode(ops.stop_gradient(codes), self.anchors, self.first_codes), self.image_size)
        found = ops.gather_d(found, 1, ops.tile(index.expand_dims(-1), (1, 1, 4)))
        kept = bx.suppress(found, 0.7)
        _, index = ops.topk(scores - (1 - kept) * 1e4, min(self.proposals, count), -1)
        return ops.stop_gradient(ops.gather_d(found, 1, ops.tile(index.expand_dims(-1), (1, 1, 4))))

    def construct(self, image: Tensor) -> Any:
        maps = self.backbone(image)
        proposed = self.propose(*self.rpn(maps))
        scores, codes = self.heads(self.align(maps, proposed))
        shares = ops.softmax(scores, -1).reshape(*proposed.shape[:2], -1)[..., 1:]
        best = ops.argmax(shares, -1)
        own = ops.one_hot(best.reshape(-1) + 1, self.num_classes + 1, Tensor(1.0), Tensor(0.0))
        code = ops.sum(codes * own.expand_dims(-1), 1).reshape(proposed.shape)
        boxes = bx.clip(bx.decode(code, proposed, self.second_codes), self.image_size)
        if not self.masks:
            return boxes, shares
        outlines = ops.sum(self.outlines(self.align_mask(maps, boxes)) * own[:, :, None, None], 1)
        return boxes, shares, outlines.reshape(*proposed.shape[:2], *outlines.shape[1:])

    def detect(self, image: Tensor) -> Any:
        return self(image)

    def loss(self, image: Tensor, boxes: Tensor, label: Tensor, masks: Any = None) -> Tensor:
        maps = self.backbone(image)
        something, codes = self.rpn(maps)
        total = self._first_loss(something, codes, boxes, label)
        proposed = ops.cat((self.propose(something, codes), boxes), 1)  # objects themselves are proposals, too
        chosen, positive, negative = bx.match(proposed, boxes, label, 0.5, 0.5)
        total = total + self._second_loss(maps, proposed, boxes, label, chosen, positive, negative)
        return total if masks is None else total + self._mask_loss(maps, boxes, label, masks)

    def _first_loss(self, something: Tensor, codes: Tensor, boxes: Tensor, label: Tensor) -> Tensor:
        chosen, positive, negative = bx.match(self.anchors, boxes, label, 0.7, 0.3)
        wanted = bx.encode(bx.pick(boxes, chosen), self.anchors, self.first_codes)
        entropy = binary_entropy(something, positive.astype("float32"))
        place = mean_over(smooth_distance(codes, wanted, 1 / 9), positive)
        return 0.5 * (mean_over(entropy, positive) + mean_over(entropy, negative)) + place

    def _second_loss(
        self, maps: Sequence[Tensor], proposed: Tensor, boxes: Tensor, label: Tensor, chosen: Tensor, positive: Tensor, negative: Tensor
    ) -> Tensor:
        scores, codes = self.heads(self.align(maps, proposed))
        classes = ops.where(positive, bx.pick(label, chosen).astype("int32") + 1, 0).reshape(-1)
        entropy = -ops.gather_d(ops.log_softmax(scores, -1), 1, classes.expand_dims(-1)).reshape(positive.shape)
        own = ops.one_hot(classes, self.num_classes + 1, Tensor(1.0), Tensor(0.0))
        code = ops.sum(codes * own.expand_dims(-1), 1).reshape(proposed.shape)
        wanted = bx.encode(bx.pick(boxes, chosen), proposed, self.second_codes)
        place = mean_over(smooth_distance(code, wanted), positive)
        return 0.5 * (mean_over(entropy, positive) + mean_over(entropy, negative)) + place

    def _mask_loss(self, maps: Sequence[Tensor], boxes: Tensor, label: Tensor, masks: Tensor) -> Tensor:
        """Binary cross entropy of the outlines within the objects' own boxes, for their own classes."""
        batch, room, high, wide = masks.shape
        numbers = Tensor(np.arange(batch * room, dtype=np.float32)[:, None])
        regions = ops.cat((numbers, boxes.reshape(-1, 4)), 1)
        wanted = (self.cut_mask(masks.reshape(batch * room, 1, high, wide), regions).squeeze(1) >= 0.5).astype("float32")
        own = ops.one_hot(label.reshape(-1) + 1, self.num_classes + 1, Tensor(1.0), Tensor(0.0))
        found = ops.sum(self.outlines(self.align_mask(maps, boxes)) * own[:, :, None, None], 1)
        there = (label.reshape(-1) >= 0).astype("float32")
        each = ops.mean(binary_entropy(found, ops.stop_gradient(wanted)), (1, 2))
        return ops.sum(each * there) / ops.maximum(ops.sum(there), 1.0)


_TINY = {"num_classes": 3, "image_size": 64, "depths": (1, 1, 1, 1), "base": 8, "width": 32, "hidden": 64, "smallest": 8.0,
         "candidates": 128, "proposals": 32}  # fmt: skip
_RECIPE = Recipe(epochs=12, batch=16, rate=0.02, schedule="steps", milestones=(2 / 3, 8 / 9), warmup=0.01, clip=10.0)


for _name, _masks, _paper in (
    ("fasterrcnn_resnet50_fpn", False, "Ren et al. 2015, Faster R-CNN: Towards real-time object detection with region proposal networks"),
    ("maskrcnn_resnet50_fpn", True, "He et al. 2017, Mask R-CNN"),
):
    model(_name, task="detection", paper=_paper, recipe=_RECIPE, tiny=_TINY, origin=f"torchvision:{_name}")(
        functools.partial(FasterRCNN, masks=_masks)
    )
