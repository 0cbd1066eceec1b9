"""Padding, resizing, sampling and rearranging of images and volumes, all composed of indexing and matrix products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_float, require_rank, require_tensor, static_ints
from mindspore.ops.joining import pad_pairs
from mindspore.ops.older_calls import older_call, renamed
from mindspore.ops.resampling import (
    apply_along,
    averaging_matrix,
    cubic_matrix,
    linear_matrix,
    pick_along,
    source_positions,
)  # fmt: skip
from mindspore.prims import elementwise as _ew
from mindspore.prims import window
from mindspore.prims.arrays import TENSOR_INDEX, ExpandDims, Fill, GetItem, SetItem, Squeeze, Transpose
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.elementwise import as_type, in_float32
from mindspore.prims.gather_scatter import GatherD
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.setting_types import setting_types
from mindspore.prims.values import from_array

__all__ = [
    "affine_grid", "channel_shuffle", "col2im", "fold", "grid_sample", "interpolate", "pixel_shuffle",
    "pixel_unshuffle", "unfold", "upsample",
]  # fmt: skip


# -- resizing ---------------------------------------------------------------------------------------------------------
_RANKS = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "trilinear": (3,), "area": (1, 2, 3), "nearest": (1, 2, 3),
          "nearest-exact": (1, 2, 3)}  # fmt: skip


def _interpolate_1x(
    x: Tensor, roi: Any = None, scales: Any = None, sizes: Any = None,
    coordinate_transformation_mode: str = "align_corners", mode: str = "linear",
) -> Tensor:  # fmt: skip
    """`interpolate` of MindSpore 1.x: linear in one or two dimensions; `scales` may cover all dimensions of x."""
    require_tensor("interpolate", "x", x)
    if coordinate_transformation_mode not in ("align_corners", "half_pixel", "asymmetric"):
        raise ValueError(
            "For 'interpolate', 'coordinate_transformation_mode' must be align_corners, half_pixel or asymmetric, but got "
            f"{coordinate_transformation_mode!r}."
        )
    if scales is not None and len(scales) == x.ndim:
        scales = tuple(scales)[2:]
    wanted, _ = _target(x.shape[2:], sizes, scales, True)
    align, half = (coordinate_transformation_mode == word for word in ("align_corners", "half_pixel"))
    return resize(x, wanted, "bilinear" if mode == "linear" and x.ndim == 4 else mode, align, half)


@older_call(_interpolate_1x, "x", "roi", "scales", "sizes", "coordinate_transformation_mode")
def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """Resize the spatial dimensions of (N, C, *) to `size` or by `scale_factor`.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.ops.interpolate(ms.Tensor(np.ones((1, 1, 4, 4), np.float32)), size=(2, 8), mode="bilinear").shape
        (1, 1, 2, 8)
    """
    require_tensor("interpolate", "input", input)
    if mode not in _RANKS:
        raise ValueError(f"For 'interpolate', 'mode' must be one of {tuple(_RANKS)}, but got {mode!r}.")
    rank = input.ndim - 2
    if rank not in _RANKS[mode]:
        raise ValueError(f"For 'interpolate', mode {mode!r} does not fit an input of shape {input.shape}.")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(f"For 'interpolate', 'align_corners' must be None for mode {mode!r}, but got {align_corners}.")
    sizes, scales = _target(input.shape[2:], size, scale_factor, bool(recompute_scale_factor))
    return resize(input, sizes, mode, bool(align_corners), True, scales)


def _target(old: tuple[int, ...], size: Any, factor: Any, recompute: bool) -> tuple[tuple[int, ...], tuple]:
    """Target sizes, and the factors to map coordinates with (None: the ratio of sizes)."""
    rank = len(old)
    if (size is None) == (factor is None):
        raise ValueError("For 'interpolate', give exactly one of 'size' and 'scale_factor'.")
    if size is not None:
        sizes = static_ints("interpolate", "size", size)
        sizes = sizes * rank if len(sizes) == 1 else sizes
        if len(sizes) != rank or any(s < 1 for s in sizes):
            raise ValueError(f"For 'interpolate', 'size' must be {rank} positive ints, but got {size}.")
        return sizes, (None,) * rank
    factors = tuple(factor) if isinstance(factor, (tuple, list)) else (factor,) * rank
    if len(factors) != rank or any(isinstance(f, bool) or not isinstance(f, (int, float)) or f <= 0 for f in factors):
        raise ValueError(f"For 'interpolate', 'scale_factor' must be {rank} positive numbers, but got {factor}.")
    sizes = tuple(math.floor(n * f) for n, f in zip(old, factors))
    return sizes, (None,) * rank if recompute else factors


def resize(
    x: Tensor,
    sizes: tuple[int, ...],
    mode: str,
    align_corners: bool = False,
    half_pixel: bool = True,
    scales: Any = None,
) -> Tensor:
    """Resample each spatial axis of (N, C, *) by its own matrix or index; weighted halves are rounded once, at the end."""
    require_rank("resize", "x", x, len(sizes) + 2)
    if not mode.startswith("nearest"):
        require_float("resize", "x", x)
    scales = scales or (None,) * len(sizes)
    out = x if mode.startswith("nearest") else in_float32(x)
    for axis, (want, scale) in enumerate(zip(sizes, scales), 2):
        size = out.shape[axis]
        if size == want and scale in (None, 1, 1.0):
            continue
        if mode.startswith("nearest"):
            out = pick_along(out, axis, _nearest(size, want, mode, align_corners, half_pixel, scale))
        elif mode == "area":
            out = apply_along(out, axis, averaging_matrix(size, want))
        else:
            at = source_positions(size, want, align_corners, half_pixel, scale)
            matrix = (
                cubic_matrix(size, at, half_pixel and not align_corners)
                if mode == "bicubic"
                else linear_matrix(size, at)
            )
            out = apply_along(out, axis, matrix)
    return as_type(out, x.dtype)


def _nearest(size: int, want: int, mode: str, align_corners: bool, half_pixel: bool, scale: Any) -> np.ndarray:
    if align_corners:
        at = np.floor(source_positions(size, want, True, False, None) + 0.5)
    elif mode == "nearest-exact":
        at = np.floor(source_positions(size, want, False, True, scale) + 0.5)
    else:
        # by the ratio of sizes, whatever the factor was, and in float32: kernels round so at exact boundaries
        step = np.float32(size / want)
        at = np.floor(np.arange(want, dtype=np.float32) * step)
    return np.clip(at, 0, size - 1).astype(np.int64)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:  # fmt: skip
    """`interpolate` under its other name.

    Examples:
        >>> ops.upsample(Tensor([[[1.0, 2.0]]]), scale_factor=2.0, recompute_scale_factor=True).tolist()
        [[[1.0, 1.0, 2.0, 2.0]]]
    """
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


# -- sampling ---------------------------------------------------------------------------------------------------------
@setting_types(align_corners=bool)
def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """Sampling positions of affine maps: theta (N, 2, 3) for size (N, C, H, W), (N, 3, 4) for (N, C, D, H, W).

    Examples:
        >>> identity = Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> print(ops.affine_grid(identity, (1, 1, 1, 2), True))
        [[[[-1.  0.]
           [ 1.  0.]]]]
    """
    require_tensor("affine_grid", "theta", theta)
    dims = static_ints("affine_grid", "size", size)
    rank = len(dims) - 2
    if rank not in (2, 3) or theta.shape != (dims[0], rank, rank + 1):
        raise ValueError(f"For 'affine_grid', 'theta' of shape {theta.shape} does not fit 'size' {dims}.")
    axes = []
    for n in dims[2:]:
        at = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        axes.append(at if align_corners or n == 1 else at * (n - 1) / n)
    mesh = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*mesh[::-1], np.ones(dims[2:])], -1).reshape(1, -1, rank + 1).astype(theta.dtype.np)
    return Reshape()(BatchMatMul(False, True)(from_array(base), theta), (dims[0], *dims[2:], rank))


@renamed(input_x="input", interpolation_mode="mode")
@setting_types(align_corners=bool | None)
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Sample (N, C, *) at positions given in [-1, 1] by `grid` (N, *, dimensions; x first).

    Examples:
        >>> image = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> centre = Tensor([[[[0.0, 0.0]]]])
        >>> print(ops.grid_sample(image, centre, align_corners=True).item())
        2.5
    """
    require_float("grid_sample", "input", input)
    require_float("grid_sample", "grid", grid)
    rank = input.ndim - 2
    if rank not in (2, 3) or grid.ndim != rank + 2 or grid.shape[-1] != rank or grid.shape[0] != input.shape[0]:
        raise ValueError(
            f"For 'grid_sample', 'grid' of shape {grid.shape} does not fit 'input' of shape {input.shape}."
        )
    if mode not in ("bilinear", "nearest", "bicubic") or (mode == "bicubic" and rank == 3):
        raise ValueError(f"For 'grid_sample', 'mode' must be bilinear, nearest or (in 2-d) bicubic, but got {mode!r}.")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"For 'grid_sample', 'padding_mode' must be zeros, border or reflection, but got {padding_mode!r}."
        )
    corners = bool(align_corners)
    sizes = input.shape[2:]
    points = (grid.shape[0], math.prod(grid.shape[1:-1]))
    positions = []
    for axis, n in enumerate(sizes):
        coordinate = _finite(Reshape()(GetItem((..., rank - 1 - axis))(grid), points))
        at = (coordinate + 1.0) * ((n - 1) / 2) if corners else ((coordinate + 1.0) * n - 1.0) * 0.5
        positions.append(at if mode == "bicubic" else _fold_back(at, n, padding_mode, corners))
    taps = [_taps(at, mode) for at in positions]
    total = None
    for choice in np.ndindex(*(len(t) for t in taps)):
        index = [taps[axis][c][0] for axis, c in enumerate(choice)]
        weight = taps[0][choice[0]][1]
        for axis in range(1, rank):
            weight = weight * taps[axis][choice[axis]][1]
        part = _fetch(input, index, sizes, padding_mode, corners, mode) * ExpandDims()(weight, 1)
        total = part if total is None else total + part
    return Reshape()(total, (*input.shape[:2], *grid.shape[1:-1]))


def _finite(at: Tensor) -> Any:
    """Positions that integers can count: NaN lies outside on the left, as all that is very far there."""
    far = float(2**14)
    return _ew.Select()(_ew.Less()(_ew.Abs()(at), far), at, _ew.Select()(_ew.Greater()(at, 0), far, -far))


def _fold_back(at: Tensor, n: int, padding_mode: str, corners: bool) -> Any:
    """Bring positions outside the image back to it, as the padding mode says."""
    if padding_mode == "border":
        return _ew.Minimum()(_ew.Maximum()(at, 0.0), float(n - 1))
    if padding_mode == "zeros":
        return at
    low, high = (0.0, float(n - 1)) if corners else (-0.5, n - 0.5)
    span = high - low
    if span == 0:
        return _ew.zeros_like(at)
    distance = _ew.FloorMod()(_ew.Abs()(at - low), 2 * span)
    folded = low + span - _ew.Abs()(distance - span)
    return _ew.Minimum()(_ew.Maximum()(folded, 0.0), float(n - 1))


def _taps(at: Tensor, mode: str) -> list[tuple[Any, Any]]:
    """The neighbours of positions on one axis and their weights."""
    if mode == "nearest":
        return [(_ew.Rint()(at), _ew.ones_like(at))]
    low = _ew.Floor()(at)
    share = at - low
    if mode == "bilinear":
        return [(low, 1.0 - share), (low + 1.0, share)]
    a = -0.75

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1.0

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [
        (low - 1.0, far(share + 1.0)),
        (low, near(share)),
        (low + 1.0, near(1.0 - share)),
        (low + 2.0, far(2.0 - share)),
    ]


def _fetch(x: Tensor, index: list[Any], sizes: tuple, padding_mode: str, corners: bool, mode: str) -> Any:
    """Elements at integer positions (given as floats), 0 outside the image: (N, C, points)."""
    inside, flat = None, None
    for at, n in zip(index, sizes):
        if mode == "bicubic":
            at = _fold_back(at, n, padding_mode, corners)
        within = _ew.LogicalAnd()(_ew.GreaterEqual()(at, 0.0), _ew.LessEqual()(at, float(n - 1)))
        inside = within if inside is None else _ew.LogicalAnd()(inside, within)
        place = cast(_ew.Minimum()(_ew.Maximum()(at, 0.0), float(n - 1)), mstype.int64)
        flat = place if flat is None else flat * n + place
    planes = Reshape()(x, (*x.shape[:2], math.prod(sizes)))
    spread = ExpandDims()(flat, 1) + Fill()(mstype.int64, (1, x.shape[1], 1), 0)
    return GatherD()(planes, 2, spread) * cast(ExpandDims()(inside, 1), x.dtype)


# -- rearranging ------------------------------------------------------------------------------------------------------
def _positive(op: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{op}', '{name}' must be an int, but got {value!r}.")
    if value < 1:
        raise ValueError(f"For '{op}', '{name}' must be positive, but got {value}.")
    return value


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C r², H, W) to (*, C, H r, W r): channels become pixels (Shi et al. 2016).

    Examples:
        >>> x = Tensor(np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))
        >>> ops.pixel_shuffle(x, 2).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    require_tensor("pixel_shuffle", "input", input)
    r = _positive("pixel_shuffle", "upscale_factor", upscale_factor)
    if input.ndim < 3 or input.shape[-3] % (r * r):
        raise ValueError(
            f"For 'pixel_shuffle', the channels must be a multiple of {r * r}, but the input has shape {input.shape}."
        )
    *lead, c, h, w = input.shape
    n = math.prod(lead)
    split = Reshape()(input, (n, c // (r * r), r, r, h, w))
    return Reshape()(Transpose()(split, (0, 1, 4, 2, 5, 3)), (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H r, W r) to (*, C r², H, W): the inverse of `pixel_shuffle`.

    Examples:
        >>> x = Tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> ops.pixel_unshuffle(x, 2).shape
        (1, 4, 1, 1)
    """
    require_tensor("pixel_unshuffle", "input", input)
    r = _positive("pixel_unshuffle", "downscale_factor", downscale_factor)
    if input.ndim < 3 or input.shape[-1] % r or input.shape[-2] % r:
        raise ValueError(
            f"For 'pixel_unshuffle', height and width must be multiples of {r}, but the input has shape {input.shape}."
        )
    *lead, c, h, w = input.shape
    n = math.prod(lead)
    split = Reshape()(input, (n, c, h // r, r, w // r, r))
    return Reshape()(Transpose()(split, (0, 1, 3, 5, 2, 4)), (*lead, c * r * r, h // r, w // r))


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Interleave groups of channels of (N, C, *).

    Examples:
        >>> x = Tensor(np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))
        >>> ops.channel_shuffle(x, 2).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """
    require_tensor("channel_shuffle", "x", x)
    g = _positive("channel_shuffle", "groups", groups)
    if x.ndim < 3 or x.shape[1] % g:
        raise ValueError(f"For 'channel_shuffle', the channels must be a multiple of {g}, but x has shape {x.shape}.")
    n, c, *rest = x.shape
    split = Reshape()(x, (n, g, c // g, math.prod(rest)))
    return Reshape()(Transpose()(split, (0, 2, 1, 3)), x.shape)


def _unfold_index(
    op: str, sizes: tuple, kernel: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[np.ndarray, tuple]:
    """Positions in the flattened padded plane that every window covers: (kernel elements, windows)."""
    rank = len(sizes)
    geometry = window.Window(
        window.per_dimension(op, "kernel_size", kernel, rank),
        window.per_dimension(op, "stride", stride, rank),
        window.per_dimension(op, "dilation", dilation, rank),
        window.pad_pairs(op, padding, rank, "padding"),
    )
    positions = geometry.output(sizes)
    if any(p < 1 for p in positions):
        raise ValueError(f"For '{op}', the windows {geometry.kernel} do not fit into {sizes}.")
    padded = tuple(n + lo + hi for n, (lo, hi) in zip(sizes, geometry.pads))
    plane = np.arange(math.prod(padded)).reshape(padded)
    rows = [plane[slices].reshape(-1) for _, slices in geometry.offsets(positions)]
    return np.stack(rows), geometry.pads


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of (N, C, H, W) as columns: (N, C * kernel elements, windows).

    Examples:
        >>> x = Tensor(np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3))
        >>> ops.unfold(x, kernel_size=2)[0, 0].tolist()
        [0.0, 1.0, 3.0, 4.0]
    """
    require_tensor("unfold", "input", input)
    if input.ndim != 4:
        raise ValueError(f"For 'unfold', 'input' must have 4 dimensions, but its shape is {input.shape}.")
    index, pads = _unfold_index("unfold", input.shape[2:], kernel_size, dilation, padding, stride)
    x = pad_pairs(input, ((0, 0), (0, 0), *pads), "constant")
    planes = Reshape()(x, (*x.shape[:2], -1))
    columns = GetItem((slice(None), slice(None), TENSOR_INDEX))(planes, from_array(index))
    return Reshape()(columns, (x.shape[0], x.shape[1] * index.shape[0], index.shape[1]))


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The transpose of `unfold`: columns (N, C * kernel elements, windows) added up into (N, C, H, W).

    Examples:
        >>> columns = ops.unfold(ops.ones((1, 1, 3, 3)), kernel_size=2)
        >>> ops.fold(columns, Tensor([3, 3], ms.int32), 2).flatten(start_dim=0).tolist()
        [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
    """
    require_tensor("fold", "input", input)
    sizes = static_ints("fold", "output_size", output_size)
    sizes = sizes * 2 if len(sizes) == 1 else sizes
    batched = input.ndim == 3
    x = input if batched else ExpandDims()(input, 0)
    index, pads = _unfold_index("fold", sizes, kernel_size, dilation, padding, stride)
    elements, windows = index.shape
    if x.ndim != 3 or x.shape[1] % elements or x.shape[2] != windows:
        raise ValueError(
            f"For 'fold', 'input' must have the shape (N, C * {elements}, {windows}), but got {input.shape}."
        )
    channels = x.shape[1] // elements
    padded = tuple(n + lo + hi for n, (lo, hi) in zip(sizes, pads))
    columns = Reshape()(x, (x.shape[0], channels, elements, windows))
    zeros = Fill()(x.dtype, (x.shape[0], channels, math.prod(padded)), 0)
    place = (slice(None), slice(None), TENSOR_INDEX)
    planes = SetItem(place, accumulate=True)(zeros, columns, from_array(index))
    image = Reshape()(planes, (x.shape[0], channels, *padded))
    inner = tuple(slice(lo, lo + n) for n, (lo, _) in zip(sizes, pads))
    out = GetItem((slice(None), slice(None), *inner))(image)
    return out if batched else Squeeze(0)(out)


def col2im(
    input_x: Tensor, output_size: Tensor, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any
) -> Tensor:
    """`fold` of columns whose channels and kernel elements have an axis each: (N, C, elements, windows) to (N, C, H, W).

    Examples:
        >>> columns = ops.ones((1, 1, 4, 4))
        >>> ops.col2im(columns, Tensor([3, 3], ms.int32), 2, 1, 0, 1).flatten(start_dim=0).tolist()
        [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
    """
    require_tensor("col2im", "input_x", input_x)
    if input_x.ndim != 4:
        raise ValueError(f"For 'col2im', 'input_x' must have 4 dimensions, but got {input_x.ndim}.")
    samples, channels, elements, windows = input_x.shape
    columns = Reshape()(input_x, (samples, channels * elements, windows))
    return fold(columns, output_size, kernel_size, dilation, padding_value, stride)
