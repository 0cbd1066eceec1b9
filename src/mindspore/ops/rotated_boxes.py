"""The overlap of rotated rectangles.

The corners of the common area are corners of one rectangle inside the other, or places where their sides cross: at most 24
points. Sorted by their direction from their middle they make a convex polygon, whose area the shoelace formula gives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import at_least_single, cast, require_tensors
from mindspore.ops.gather_scatter import gather_elements
from mindspore.ops.joining import concat
from mindspore.ops.sorting import argsort_stable
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.values import from_array

__all__ = ["rotated_iou"]

_FAR = 10.0  # a direction beyond π: points that do not exist are sorted last


def _corners(box: tuple) -> tuple[Any, Any]:
    """The x and y of the four corners, in order around (last axis)."""
    x, y, w, h, angle = (Reshape()(v, (*v.shape, 1)) for v in box)
    across, along = (
        from_array(np.array([-0.5, 0.5, 0.5, -0.5], np.float32)),
        from_array(np.array([-0.5, -0.5, 0.5, 0.5], np.float32)),
    )
    cos, sin = ew.Cos()(angle), ew.Sin()(angle)
    dx, dy = w * across, h * along
    return x + dx * cos - dy * sin, y + dx * sin + dy * cos


def _inside(px: Tensor, py: Tensor, box: tuple, slack: float) -> Any:
    x, y, w, h, angle = (Reshape()(v, (*v.shape, 1)) for v in box)
    cos, sin = ew.Cos()(angle), ew.Sin()(angle)
    dx, dy = px - x, py - y
    across, along = dx * cos + dy * sin, dy * cos - dx * sin
    return ew.LogicalAnd()(ew.Abs()(across) <= w * 0.5 + slack, ew.Abs()(along) <= h * 0.5 + slack)


def _crossings(a: tuple[Any, Any], b: tuple[Any, Any], slack: float) -> tuple[Any, Any, Any]:
    """Where each of four sides of a meets each of four of b (16 points), and whether it does."""
    following = [1, 2, 3, 0]
    ax, ay = (Reshape()(v, (*v.shape, 1)) for v in a)
    bx, by = (Reshape()(v, (*v.shape[:-1], 1, 4)) for v in b)
    rx, ry = ax[..., following, :] - ax, ay[..., following, :] - ay
    sx, sy = bx[..., following] - bx, by[..., following] - by
    cross = rx * sy - ry * sx
    parallel = ew.Abs()(cross) < 1e-9
    safe = ew.Select()(parallel, ew.zeros_like(cross) + 1.0, cross)
    dx, dy = bx - ax, by - ay
    t, u = (dx * sy - dy * sx) / safe, (dx * ry - dy * rx) / safe
    met = ew.LogicalNot()(parallel)
    for share in (t, u):
        met = ew.LogicalAnd()(met, ew.LogicalAnd()(share >= -slack, share <= 1.0 + slack))
    shape = (*met.shape[:-2], 16)
    return tuple(Reshape()(v, shape) for v in (ax + rx * t, ay + ry * t, met))  # type: ignore[return-value]


def _common_area(a: tuple, b: tuple, v_threshold: float, e_threshold: float) -> Any:
    ca, cb = _corners(a), _corners(b)
    cx, cy, met = _crossings(ca, cb, e_threshold)
    real = concat((_inside(*ca, b, v_threshold), _inside(*cb, a, v_threshold), met), -1)
    full = (*real.shape[:-1], 4)
    x = concat((BroadcastTo(full)(ca[0]), BroadcastTo(full)(cb[0]), cx), -1)
    y = concat((BroadcastTo(full)(ca[1]), BroadcastTo(full)(cb[1]), cy), -1)
    counted = cast(real, mstype.float32)
    number = ew.Maximum()(ReduceSum(True)(counted, -1), 1.0)
    x, y = (ew.Select()(real, v, ew.zeros_like(v)) for v in (x, y))
    x, y = ((v - ReduceSum(True)(v, -1) / number) * counted for v in (x, y))
    direction = ew.Select()(real, ew.Atan2()(y, x), ew.zeros_like(x) + _FAR)
    order = argsort_stable(direction, -1)
    x, y, real = (gather_elements(v, -1, order) for v in (x, y, cast(real, mstype.int32)))
    first = tuple(BroadcastTo(x.shape)(v[..., :1]) for v in (x, y))
    x, y = (ew.Select()(real > 0, v, f) for v, f in zip((x, y), first))
    after = [*range(1, 24), 0]
    return ew.Abs()(ReduceSum()(x * y[..., after] - x[..., after] * y, -1)) * 0.5


def _boxes(boxes: Tensor, trans: bool) -> list:
    """Middle, size and angle in radians, from (x, y, w, h, degrees) or (x1, y1, x2, y2, degrees)."""
    a, b, c, d, degrees = (at_least_single(boxes[..., i]) for i in range(5))
    if trans:
        a, b, c, d = (a + c) * 0.5, (b + d) * 0.5, c - a, d - b
    return [a, b, c, d, degrees * (math.pi / 180.0)]


def rotated_iou(
    boxes: Tensor, query_boxes: Tensor, trans: bool = False, mode: int = 0, is_cross: bool = True,
    v_threshold: float = 0.0,
    e_threshold: float = 0.0,
) -> Tensor:  # fmt: skip
    """The overlap of rotated rectangles (B, N, 5) with others (B, K, 5), by their union: (B, N, K).

    A rectangle is x, y of its middle, width, height and an angle in degrees; with `trans` it is x1, y1, x2, y2, angle.

    Args:
        mode: 0 divides by the area of the union, 1 by that of the first rectangle.
        is_cross: whether all pairs are compared; otherwise only those of the same place, and the others are 0.
        v_threshold, e_threshold: how far a corner may lie outside, and a crossing beyond a side's end.

    Examples:
        >>> square, turned = Tensor([[[0.0, 0.0, 2.0, 2.0, 0.0]]]), Tensor([[[0.0, 0.0, 2.0, 2.0, 45.0]]])
        >>> print(ops.rotated_iou(square, turned).round(decimals=4))
        [[[0.7071]]]
    """
    op = "rotated_iou"
    require_tensors(op, boxes=boxes, query_boxes=query_boxes)
    for name, given in (("boxes", boxes), ("query_boxes", query_boxes)):
        if given.ndim != 3 or given.shape[2] != 5:
            raise ValueError(f"For '{op}', '{name}' must have the shape (B, N, 5), but got {given.shape}.")
    if boxes.shape[0] != query_boxes.shape[0]:
        raise ValueError(f"For '{op}', both must have one batch size, but got {boxes.shape} and {query_boxes.shape}.")
    if not is_cross and boxes.shape[1] != query_boxes.shape[1]:
        raise ValueError(f"For '{op}', without 'is_cross' there must be as many boxes as query boxes.")
    ours = tuple(Reshape()(v, (*v.shape, 1)) for v in _boxes(boxes, trans))
    theirs = tuple(Reshape()(v, (v.shape[0], 1, v.shape[1])) for v in _boxes(query_boxes, trans))
    shape = (boxes.shape[0], boxes.shape[1], query_boxes.shape[1])
    a, b = (tuple(BroadcastTo(shape)(v) for v in box) for box in (ours, theirs))
    common = ew.Minimum()(_common_area(a, b, v_threshold, e_threshold), ew.Minimum()(a[2] * a[3], b[2] * b[3]))  # what is a line has none
    known = ew.Equal()(sum((*a, *b)) * 0.0, 0.0)  # of a rectangle that is nowhere no point is common, which is not to look like a result
    common = ew.Select()(known, common, ew.zeros_like(common) + math.nan)
    base = a[2] * a[3] if mode == 1 else a[2] * a[3] + b[2] * b[3] - common
    out = common / ew.Maximum()(base, 1e-12)
    return cast(out if is_cross else out * from_array(np.eye(shape[1], dtype=np.float32)), boxes.dtype)
