"""Deformable convolution (Dai et al. 2017, Zhu et al. 2019): each tap of the kernel samples at a learnt offset.

`offsets` (N, 3 · groups · kernel, H', W') holds the taps' column offsets, then row offsets, then weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_rank, require_tensor, require_tensors, static_ints
from mindspore.ops.conv import conv2d
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.gather_scatter import GatherD
from mindspore.prims.values import from_array

__all__ = ["deformable_conv2d", "deformable_offsets", "multi_scale_deformable_attn_function"]


def _bilinear(x: Tensor, rows: Tensor, columns: Tensor) -> Any:
    """Sample (M, C, H, W) at (M, P) places; beyond the image there are zeros. Gives (M, C, P)."""
    images, channels, height, width = x.shape
    flat = Reshape()(x, (images, channels, height * width))
    top, left = ew.Floor()(rows), ew.Floor()(columns)
    total = None
    for down in (0.0, 1.0):
        for right in (0.0, 1.0):
            r, c = top + down, left + right
            weight = (1.0 - ew.Abs()(rows - r)) * (1.0 - ew.Abs()(columns - c))
            inside = (r >= 0.0) & (r <= height - 1.0) & (c >= 0.0) & (c <= width - 1.0)
            place = ew.Minimum()(ew.Maximum()(r, 0.0), height - 1.0) * width
            place = place + ew.Minimum()(ew.Maximum()(c, 0.0), width - 1.0)
            index = Reshape()(cast(place, mstype.int64), (images, 1, -1))
            picked = GatherD()(flat, 2, BroadcastTo((images, channels, index.shape[2]))(index))
            part = picked * Reshape()(weight * cast(inside, x.dtype), (images, 1, -1))
            total = part if total is None else total + part
    return total


def deformable_offsets(
    x: Tensor, offsets: Tensor, strides: Any, pads: Any, ksize: Any, dilations: Any = (1, 1, 1, 1),
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Tensor:  # fmt: skip
    """The samples of all taps side by side: (N, C, H' · kernel height, W' · kernel width).

    Examples:
        >>> x, offsets = ops.ones((1, 1, 3, 3)), ops.zeros((1, 8, 2, 2))
        >>> ops.deformable_offsets(x, offsets, (1, 1, 1, 1), (0, 0, 0, 0), (2, 2), modulated=False).shape
        (1, 1, 4, 4)
    """
    require_tensor("deformable_offsets", "x", x)
    n, channels, _, _ = x.shape
    groups, (kh, kw), taps = deformable_groups, ksize, ksize[0] * ksize[1]
    out_h, out_w = offsets.shape[2:]
    parts = Reshape()(offsets, (n, -1, groups, taps, out_h, out_w))
    base_r = np.arange(out_h)[:, None] * strides[2] - pads[0]
    base_c = np.arange(out_w)[None, :] * strides[3] - pads[2]
    tap_r, tap_c = np.divmod(np.arange(taps), kw)
    rows = (tap_r[:, None, None] * dilations[2] + base_r[None]) + np.zeros((1, 1, out_w))
    columns = (tap_c[:, None, None] * dilations[3] + base_c[None]) + np.zeros((1, out_h, 1))
    places = [
        Reshape()(parts[:, i] + from_array(grid.astype(x.dtype.np)), (n * groups, -1))
        for i, grid in ((1, rows), (0, columns))
    ]
    grouped = Reshape()(x, (n * groups, channels // groups, *x.shape[2:]))
    sampled = _bilinear(grouped, *places)
    if modulated:
        sampled = sampled * Reshape()(parts[:, 2], (n * groups, 1, -1))
    grid = Reshape()(sampled, (n, channels, kh, kw, out_h, out_w))
    return Reshape()(Transpose()(grid, (0, 1, 4, 2, 5, 3)), (n, channels, out_h * kh, out_w * kw))


def deformable_conv2d(
    x: Tensor, weight: Tensor, offsets: Any, kernel_size: Any, strides: Any, padding: Any, bias: Any = None,
    dilations: Any = (1, 1, 1, 1), groups: int = 1, deformable_groups: int = 1, modulated: bool = True,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, H, W) whose taps sample at their offsets.

    Examples:
        >>> x, kernel, offsets = ops.ones((1, 1, 3, 3)), ops.ones((1, 1, 2, 2)), ops.zeros((1, 8, 2, 2))
        >>> out = ops.deformable_conv2d(x, kernel, offsets, (2, 2), (1, 1, 1, 1), (0, 0, 0, 0), modulated=False)
        >>> print(out)
        [[[[4. 4.]
           [4. 4.]]]]
    """
    samples = deformable_offsets(x, offsets, strides, padding, kernel_size, dilations, deformable_groups, modulated)
    return conv2d(samples, weight, bias, tuple(kernel_size), "valid", 0, 1, groups)


def multi_scale_deformable_attn_function(
    value: Tensor, shape: Any, offset: Tensor, locations: Tensor, weight: Tensor
) -> Tensor:
    """Weighted samples of several feature maps at places between their pixels (Zhu et al. 2021).

    Args:
        value: (N, keys, heads, D): the maps one after the other, row by row.
        shape: (levels, 2): the height and width of each map.
        offset: (levels,): where each map begins among the keys.
        locations: (N, queries, heads, levels, points, 2): x and y from 0 to 1.
        weight: (N, queries, heads, levels, points).

    Returns:
        (N, queries, heads * D).

    Examples:
        >>> value, places = ops.ones((1, 4, 2, 8)), ops.ones((1, 3, 2, 1, 5, 2)) * 0.5
        >>> sizes, starts = Tensor([[2, 2]]), Tensor([0])
        >>> ops.multi_scale_deformable_attn_function(value, sizes, starts, places, ops.ones((1, 3, 2, 1, 5))).shape
        (1, 3, 16)
    """
    op = "multi_scale_deformable_attn_function"
    require_tensors(op, value=value, locations=locations, weight=weight)
    require_rank(op, "value", value, 4, 4)
    require_rank(op, "locations", locations, 6, 6)
    sizes = np.reshape(
        static_ints(op, "shape", Reshape()(shape, (-1,)) if isinstance(shape, Tensor) else shape), (-1, 2)
    )
    starts = static_ints(op, "offset", offset)
    batch, _, heads, width = value.shape
    _, queries, _, levels, points, _ = locations.shape
    if len(sizes) != levels or len(starts) != levels:
        raise ValueError(
            f"For '{op}', 'shape' and 'offset' must name {levels} maps, but got {sizes.tolist()} and {starts}."
        )
    total = None
    for level, ((high, wide), start) in enumerate(zip(sizes.tolist(), starts)):
        planes = Transpose()(value[:, start : start + high * wide], (0, 2, 3, 1))
        planes = Reshape()(planes, (batch * heads, width, high, wide))
        at = Reshape()(Transpose()(locations[:, :, :, level], (0, 2, 1, 3, 4)), (batch * heads, queries * points, 2))
        found = _bilinear(planes, at[..., 1] * float(high) - 0.5, at[..., 0] * float(wide) - 0.5)
        share = Reshape()(Transpose()(weight[:, :, :, level], (0, 2, 1, 3)), (batch * heads, 1, queries, points))
        part = ReduceSum()(Reshape()(found, (batch * heads, width, queries, points)) * share, 3)
        total = part if total is None else total + part
    out = Transpose()(Reshape()(total, (batch, heads * width, queries)), (0, 2, 1))
    return cast(out, value.dtype)
