"""Boxes: overlap, encoding, validity, suppression and crops of regions of interest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_rank, require_tensor, require_tensors, static_ints
from mindspore.prims import checks
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Stack
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.creation import Range
from mindspore.prims.gather_scatter import Gather, GatherNd
from mindspore.prims.reduction import ReduceAll
from mindspore.prims.requirements import demand_between
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import Sort
from mindspore.prims.suppression import Suppress

__all__ = [
    "bounding_box_decode", "bounding_box_encode", "check_valid", "crop_and_resize", "iou", "nms_with_mask",
    "roi_align",
]  # fmt: skip


def _columns(boxes: Tensor) -> tuple:
    return tuple(boxes[..., i] for i in range(4))


def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """Intersection over union ('iou') or over the ground truth's area ('iof') of all pairs, as (gt, anchors).

    Examples:
        >>> a, b = Tensor([[0.0, 0.0, 2.0, 2.0]]), Tensor([[1.0, 0.0, 3.0, 2.0]])
        >>> print(ops.iou(a, b))
        [[0.5]]
    """
    checks.one_of("iou", "mode", mode, ("iou", "iof"))
    for name, boxes in (("anchor_boxes", anchor_boxes), ("gt_boxes", gt_boxes)):
        if require_tensor("iou", name, boxes).ndim != 2 or boxes.shape[-1] != 4:
            raise ValueError(f"For 'iou', '{name}' must be of shape (n, 4), but got {boxes.shape}.")
    ax0, ay0, ax1, ay1 = _columns(anchor_boxes)
    gx0, gy0, gx1, gy1 = (Reshape()(c, (-1, 1)) for c in _columns(gt_boxes))
    width = ew.Maximum()(ew.Minimum()(ax1, gx1) - ew.Maximum()(ax0, gx0) + 1, 0.0)
    height = ew.Maximum()(ew.Minimum()(ay1, gy1) - ew.Maximum()(ay0, gy0) + 1, 0.0)
    shared = width * height
    area_a = (ax1 - ax0 + 1) * (ay1 - ay0 + 1)
    area_g = (gx1 - gx0 + 1) * (gy1 - gy0 + 1)
    return shared / (area_g if mode == "iof" else area_a + area_g - shared)


def _centres(boxes: Tensor) -> tuple:
    """Centre, width and height of boxes given by corners (both included)."""
    x0, y0, x1, y1 = (cast(c, mstype.float32) for c in _columns(boxes))
    return (x0 + x1) * 0.5, (y0 + y1) * 0.5, x1 - x0 + 1, y1 - y0 + 1


def bounding_box_encode(
    anchor_box: Tensor, groundtruth_box: Tensor, means: tuple = (0.0,) * 4, stds: tuple = (1.0,) * 4
) -> Tensor:
    """The offsets from anchors to true boxes, standardised.

    Examples:
        >>> anchor = Tensor([[4.0, 4.0, 8.0, 8.0]])
        >>> print(ops.bounding_box_encode(anchor, anchor))
        [[0. 0. 0. 0.]]
    """
    require_tensors("bounding_box_encode", anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    px, py, pw, ph = _centres(anchor_box)
    gx, gy, gw, gh = _centres(groundtruth_box)
    deltas = Stack(-1)([(gx - px) / pw, (gy - py) / ph, ew.Log()(gw / pw), ew.Log()(gh / ph)])
    mean, std = (Tensor(np.asarray(v, np.float32)) for v in (means, stds))
    return cast((deltas - mean) / std, anchor_box.dtype)


@setting_types(max_shape=tuple | None, wh_ratio_clip=float)
def bounding_box_decode(
    anchor_box: Tensor, deltas: Tensor, max_shape: tuple, means: tuple = (0.0,) * 4, stds: tuple = (1.0,) * 4,
    wh_ratio_clip: float = 0.016,
) -> Tensor:  # fmt: skip
    """The boxes that offsets from anchors describe, kept within the image.

    Examples:
        >>> anchor = Tensor([[4.0, 4.0, 8.0, 8.0]])
        >>> print(ops.bounding_box_decode(anchor, ops.zeros((1, 4)), max_shape=(32, 32)))
        [[4. 4. 8. 8.]]
    """
    mean, std = (Tensor(np.asarray(v, np.float32)) for v in (means, stds))
    offsets = cast(deltas, mstype.float32) * std + mean
    limit = abs(math.log(wh_ratio_clip))
    dx, dy, dw, dh = _columns(offsets)
    dw, dh = (ew.Minimum()(ew.Maximum()(d, -limit), limit) for d in (dw, dh))
    px, py, pw, ph = _centres(anchor_box)
    width, height = pw * ew.Exp()(dw), ph * ew.Exp()(dh)
    cx, cy = px + pw * dx, py + ph * dy
    corners = [
        cx - width * 0.5 + 0.5, cy - height * 0.5 + 0.5, cx + width * 0.5 - 0.5, cy + height * 0.5 - 0.5,
    ]  # fmt: skip
    bounds = (max_shape[1] - 1.0, max_shape[0] - 1.0) * 2
    kept = [ew.Minimum()(ew.Maximum()(c, 0.0), float(b)) for c, b in zip(corners, bounds)]
    return cast(Stack(-1)(kept), anchor_box.dtype)


def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor:
    """Whether each box lies within the image of height, width and ratio `img_metas`.

    Examples:
        >>> boxes = Tensor([[1.0, 1.0, 5.0, 5.0], [1.0, 1.0, 50.0, 5.0]])
        >>> print(ops.check_valid(boxes, Tensor([20.0, 20.0, 1.0])))
        [ True False]
    """
    require_tensors("check_valid", bboxes=bboxes, img_metas=img_metas)
    height, width, ratio = (img_metas[i] for i in range(3))
    x0, y0, x1, y1 = _columns(bboxes)
    limit_x, limit_y = width * ratio - 1, height * ratio - 1
    conditions = [
        ew.GreaterEqual()(x0, 0), ew.GreaterEqual()(y0, 0), ew.LessEqual()(x1, limit_x), ew.LessEqual()(y1, limit_y),
    ]  # fmt: skip
    return ReduceAll()(Stack(0)(conditions), 0)


def nms_with_mask(bboxes: Tensor, iou_threshold: float = 0.5) -> tuple[Tensor, Tensor, Tensor]:
    """(boxes by falling score, their places in that order, which survive): a box falls if a better survivor overlaps it
    too much.

    Examples:
        >>> boxes = Tensor([[0.0, 0.0, 4.0, 4.0, 0.9], [0.0, 0.0, 4.0, 3.9, 0.8], [10.0, 10.0, 14.0, 14.0, 0.7]])
        >>> ordered, index, kept = ops.nms_with_mask(boxes, 0.5)
        >>> print(kept)
        [ True False  True]
    """
    if require_tensor("nms_with_mask", "bboxes", bboxes).ndim != 2 or bboxes.shape[1] != 5:
        raise ValueError(f"For 'NMSWithMask', 'bboxes' must be of shape (n, 5), but got {bboxes.shape}.")
    count = bboxes.shape[0]
    order = Sort(-1, True)(bboxes[:, 4])[1]
    ordered = Gather()(bboxes, order, 0)
    x0, y0, x1, y1 = _columns(ordered)
    area = (x1 - x0) * (y1 - y0)

    def column(c: Tensor) -> Any:
        return Reshape()(c, (-1, 1))

    width = ew.Maximum()(ew.Minimum()(x1, column(x1)) - ew.Maximum()(x0, column(x0)), 0.0)
    height = ew.Maximum()(ew.Minimum()(y1, column(y1)) - ew.Maximum()(y0, column(y0)), 0.0)
    shared = width * height
    overlaps = ew.Greater()(shared / (area + column(area) - shared), iou_threshold)
    later = ew.Less()(Reshape()(Range()(0, count, 1), (-1, 1)), Range()(0, count, 1))
    alive = Suppress()(ew.LogicalAnd()(overlaps, later))
    return ordered, cast(Range()(0, count, 1), mstype.int32), alive


# -- crops ------------------------------------------------------------------------------------------------------------
def _bilinear(features: Tensor, batch: Tensor, y: Tensor, x: Tensor, outside: Callable) -> Any:
    """Sample (N, C, H, W) at positions of one shape; `outside(y, x)` says where the result is 0. Returns (…, C)."""
    _, _, height, width = features.shape
    inside = cast(ew.LogicalNot()(outside(y, x)), features.dtype)
    y = ew.Minimum()(ew.Maximum()(y, 0.0), height - 1.0)
    x = ew.Minimum()(ew.Maximum()(x, 0.0), width - 1.0)
    top, left = ew.Floor()(y), ew.Floor()(x)
    bottom, right = ew.Minimum()(top + 1, height - 1.0), ew.Minimum()(left + 1, width - 1.0)
    wy, wx = y - top, x - left
    channels_last = features.transpose(0, 2, 3, 1)

    def at(row: Tensor, column: Tensor, weight: Tensor) -> Any:
        index = Stack(-1)([batch, cast(row, mstype.int64), cast(column, mstype.int64)])
        return GatherNd()(channels_last, index) * Reshape()(weight * inside, (*weight.shape, 1))

    return (
        at(top, left, (1 - wy) * (1 - wx)) + at(top, right, (1 - wy) * wx) + at(bottom, left, wy * (1 - wx))
        + at(bottom, right, wy * wx)
    )  # fmt: skip


def roi_align(
    features: Tensor, rois: Tensor, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2,
    roi_end_mode: int = 1,
) -> Tensor:  # fmt: skip
    """Features of regions (batch index, x0, y0, x1, y1) as grids: each bin averages sample_num² bilinear samples.

    Examples:
        >>> features = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> print(ops.roi_align(features, Tensor([[0.0, 0.0, 0.0, 2.0, 2.0]]), 1, 1, 1.0))
        [[[[7.5]]]]
    """
    require_rank("roi_align", "features", features, 4, 4)
    require_tensors("roi_align", features=features)
    if sample_num < 1:
        raise ValueError(f"For 'ROIAlign', 'sample_num' must be at least 1, but got {sample_num}.")
    places = cast(rois, mstype.float32)  # 16-bit floats know no fractions of large pixels
    boxes = places[:, 1:] * spatial_scale
    x0, y0, x1, y1 = _columns(boxes)
    end = float(roi_end_mode) * spatial_scale
    width, height = x1 + end - x0, y1 + end - y0
    if roi_end_mode == 0:  # regions that leave out their last pixel are at least one pixel large
        width, height = ew.Maximum()(width, 1.0), ew.Maximum()(height, 1.0)
    n, samples = rois.shape[0], sample_num
    steps_y = (np.arange(pooled_height * samples) + 0.5) / (pooled_height * samples)
    steps_x = (np.arange(pooled_width * samples) + 0.5) / (pooled_width * samples)
    ys = Reshape()(y0, (-1, 1)) + Reshape()(height, (-1, 1)) * Tensor(steps_y.astype(np.float32))
    xs = Reshape()(x0, (-1, 1)) + Reshape()(width, (-1, 1)) * Tensor(steps_x.astype(np.float32))
    shape = (n, len(steps_y), len(steps_x))
    y = BroadcastTo(shape)(Reshape()(ys, (n, -1, 1)))
    x = BroadcastTo(shape)(Reshape()(xs, (n, 1, -1)))
    batch = BroadcastTo(shape)(Reshape()(cast(places[:, 0], mstype.int64), (n, 1, 1)))
    limit_y, limit_x = features.shape[2], features.shape[3]

    def outside(y: Any, x: Tensor) -> Any:
        return (y < -1.0) | (y > float(limit_y)) | (x < -1.0) | (x > float(limit_x))

    picked = _bilinear(features, batch, y, x, outside)
    grid = Reshape()(picked, (n, pooled_height, samples, pooled_width, samples, features.shape[1]))
    return cast(grid.mean((2, 4)).transpose(0, 3, 1, 2), features.dtype)


def _crop_positions(method: str, low: Any, high: Any, count: int, size: int) -> Any:
    """Where along one dimension of the image `count` samples of each box lie, in pixels: (boxes, count).

    'bilinear_v2' takes the whole pixels from the first to the last that the box touches, and samples the middles of
    `count` equal parts of them; the others lay the first and the last sample on the box's edges.
    """
    low, high = Reshape()(low, (-1, 1)), Reshape()(high, (-1, 1))
    places = np.arange(count, dtype=np.float32)
    if method == "bilinear_v2":
        first, last = ew.Trunc()(low * size), ew.Trunc()(high * size)
        length = ew.Maximum()(last - first + 1, 1.0)
        within = Tensor(places + np.float32(0.5)) * (length / count) - 0.5
        return first + ew.Minimum()(ew.Maximum()(within, 0.0), length - 1)
    if count == 1:
        return (low + high) * 0.5 * (size - 1)
    return low * (size - 1) + (high - low) * (size - 1) * Tensor(places / (count - 1))


def crop_and_resize(
    image: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Boxes (y0, x0, y1, x1, in [0, 1]) of (N, H, W, C) images, resized to `crop_size`; values beyond the image are
    `extrapolation_value`, with 'bilinear_v2' those of the image's edge.

    Examples:
        >>> image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
        >>> corners = ops.crop_and_resize(image, Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([0], ms.int32), (2, 2))
        >>> print(corners.flatten())
        [ 0.  3. 12. 15.]
    """
    require_rank("crop_and_resize", "image", image, 4, 4)
    require_tensors("crop_and_resize", image=image)
    checks.one_of("crop_and_resize", "method", method, ("bilinear", "nearest", "bilinear_v2"))
    rows, cols = static_ints("crop_and_resize", "crop_size", crop_size)
    images, height, width, channels = image.shape
    demand_between("crop_and_resize", "box_indices", box_indices, 0, images - 1)
    y0, x0, y1, x1 = _columns(boxes)
    shape = (boxes.shape[0], rows, cols)
    y = BroadcastTo(shape)(_crop_positions(method, y0, y1, rows, height)[:, :, None])
    x = BroadcastTo(shape)(_crop_positions(method, x0, x1, cols, width)[:, None, :])
    batch = BroadcastTo(shape)(Reshape()(cast(box_indices, mstype.int64), (-1, 1, 1)))
    beyond = (y < 0.0) | (y > height - 1.0) | (x < 0.0) | (x > width - 1.0)
    if method == "bilinear_v2":
        beyond = ew.ZerosLike()(beyond)
    if method == "nearest":  # halves away from 0; what is below 0 is beyond the image
        y, x = ew.Floor()(y + 0.5), ew.Floor()(x + 0.5)
    source = cast(image, mstype.float32).transpose(0, 3, 1, 2)
    out = _bilinear(source, batch, y, x, lambda a, b: beyond)
    return ew.Select()(Reshape()(beyond, (*shape, 1)), float(extrapolation_value), Reshape()(out, (*shape, channels)))
