"""Boxes: overlaps, anchors, codes, which anchor answers for which object, and the choice among boxes found.

A box is (left, top, right, bottom) in pixels. Everything but `keep_best`, which works on arrays, has fixed shapes and runs in
graphs: an image has room for M objects, and `label` is −1 where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mindspore import ops
from mindspore.common.tensor import Tensor

FAR = math.log(1000 / 16)  # codes of sizes stop here, before exp overflows


def grid(height: int, width: int, stride: float) -> np.ndarray:
    """The centres of the cells of a map, (height · width, 2)."""
    y, x = np.mgrid[:height, :width]
    return (np.stack((x, y), -1).reshape(-1, 2).astype(np.float32) + np.float32(0.5)) * np.float32(stride)


def anchors(side: int, image: int, sizes: Sequence[tuple[float, float]]) -> np.ndarray:
    """Boxes of the (width, height) `sizes` about each cell of a map of side × side cells over an image: (cells · sizes, 4)."""
    half = np.asarray(sizes, np.float32) / 2
    centre = grid(side, side, image / side)[:, None]
    return np.concatenate((centre - half, centre + half), -1).reshape(-1, 4)


def size(boxes: Tensor) -> Tensor:
    return boxes[..., 2:] - boxes[..., :2]


def centre(boxes: Tensor) -> Tensor:
    return (boxes[..., 2:] + boxes[..., :2]) / 2


def area(boxes: Tensor) -> Tensor:
    wide = size(boxes)
    return wide[..., 0] * wide[..., 1]


def overlap(first: Tensor, second: Tensor) -> Tensor:
    """Intersection by union of boxes at the same places; the leading sizes broadcast."""
    low = ops.maximum(first[..., :2], second[..., :2])
    high = ops.minimum(first[..., 2:], second[..., 2:])
    common = ops.relu(high - low)
    both = common[..., 0] * common[..., 1]
    return both / (area(first) + area(second) - both + 1e-7)


def overlaps(first: Tensor, second: Tensor) -> Tensor:
    """All pairs: (…, A, 4) and (…, M, 4) → (…, A, M)."""
    return overlap(first.expand_dims(-2), second.expand_dims(-3))


def complete_overlap(first: Tensor, second: Tensor) -> Tensor:
    """The overlap less the distance of the centres and the difference of the proportions (CIoU, Zheng et al. 2020)."""
    plain = overlap(first, second)
    around = ops.maximum(first[..., 2:], second[..., 2:]) - ops.minimum(first[..., :2], second[..., :2])
    between = centre(first) - centre(second)
    distance = ops.sum(ops.square(between), -1) / (ops.sum(ops.square(around), -1) + 1e-7)
    one, two = size(first), size(second)
    turned = ops.atan(two[..., 0] / (two[..., 1] + 1e-7)) - ops.atan(one[..., 0] / (one[..., 1] + 1e-7))
    shape = 4 / math.pi**2 * ops.square(turned)
    weight = ops.stop_gradient(shape / (1 - plain + shape + 1e-7))
    return plain - distance - weight * shape


def encode(boxes: Tensor, about: Tensor, scale: tuple[float, float]) -> Tensor:
    """Boxes as shifts and logarithms of sizes, measured in their anchors, times `scale` (R-CNN, Girshick et al. 2014)."""
    wide = ops.maximum(size(about), 1e-3)
    shift = (centre(boxes) - centre(about)) / wide * scale[0]
    grow = ops.log(ops.maximum(size(boxes), 1e-3) / wide) * scale[1]
    return ops.cat((shift, grow), -1)


def decode(codes: Tensor, about: Tensor, scale: tuple[float, float]) -> Tensor:
    """The inverse of `encode`."""
    middle = centre(about) + codes[..., :2] / scale[0] * size(about)
    half = ops.exp(ops.minimum(codes[..., 2:] / scale[1], FAR)) * size(about) / 2
    return ops.cat((middle - half, middle + half), -1)


def clip(boxes: Tensor, image: int) -> Tensor:
    return ops.clamp(boxes, 0.0, float(image))


def pick(values: Tensor, index: Tensor) -> Tensor:
    """values (N, M, …) at index (N, A) → (N, A, …), by a product with rows of one 1: M is small, and its gradient is one, too."""
    chosen = ops.one_hot(index, values.shape[1], Tensor(1.0), Tensor(0.0))
    flat = values.astype("float32").reshape(values.shape[0], values.shape[1], -1)
    return ops.matmul(chosen, flat).reshape(*index.shape, *values.shape[2:])


def match(about: Tensor, boxes: Tensor, label: Tensor, high: float, low: float) -> tuple[Tensor, Tensor, Tensor]:
    """(object of each anchor, whether it is one, whether it is none); anchors between `low` and `high` are neither.

    An anchor takes the object that it overlaps most, if by `high`; and each object has at least the anchor that overlaps it most.
    """
    there = (label >= 0).expand_dims(1)
    found = ops.where(there, overlaps(about, boxes), -1.0)  # (N, A, M)
    best = ops.amax(found, 1, True)
    own = ops.logical_and(found >= best - 1e-6, ops.logical_and(there, best > 0)).astype("float32")
    chosen = ops.argmax(found + 2.0 * own, -1)
    most = ops.amax(found, -1)
    positive = ops.logical_or(most >= high, ops.amax(own, -1) > 0)
    return chosen, positive, ops.logical_and(most < low, ops.logical_not(positive))


def suppress(boxes: Tensor, threshold: float) -> Tensor:
    """1 for boxes (N, K, 4), best first, which no better one overlaps more than the threshold, else 0 (Fast NMS, Bolya et al. 2019)."""
    count = boxes.shape[1]
    better = Tensor(np.triu(np.ones((count, count), np.float32), 1))
    return (ops.amax(overlaps(boxes, boxes) * better, 1) <= threshold).astype("float32")


def keep_best(
    boxes: np.ndarray, scores: np.ndarray, least: float = 0.05, threshold: float = 0.5, most: int = 100
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(boxes, scores, classes) that remain of boxes (A, 4) with scores (A, classes), best first.

    Within a class, a box falls that overlaps a better one more than `threshold`.
    """
    rows, classes = np.nonzero(scores > least)
    found = scores[rows, classes]
    order = np.argsort(-found, kind="stable")[: most * 10]
    rows, classes, found = rows[order], classes[order], found[order]
    apart = boxes[rows] + classes[:, None] * (np.abs(boxes).max(initial=0.0) * 2 + 1)  # classes never overlap
    chosen: list[int] = []
    for i in range(len(rows)):
        if len(chosen) == most:
            break
        if not chosen or array_overlaps(apart[i : i + 1], apart[chosen]).max() <= threshold:
            chosen.append(i)
    return boxes[rows[chosen]], found[chosen], classes[chosen]


def array_overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """`overlaps` of arrays."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(-1)
    areas = (first[:, 2:] - first[:, :2]).prod(-1)[:, None] + (second[:, 2:] - second[:, :2]).prod(-1)[None]
    return both / (areas - both + 1e-7)
