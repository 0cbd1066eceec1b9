"""ONNX operators on images: sampling, regions, boxes, windows, decoding."""

from __future__ import annotations

import io
import itertools
import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.formats.onnx.layers import convolution
from mindspore.formats.onnx.registry import P, as_tensor, ints, operator, static, tensor
from mindspore.prims.values import TensorBase

_CAST = P.Cast()


# -- sampling at real places ------------------------------------------------------------------------------------------
def _reflected(place: Any, low: float, high: float) -> Any:
    span = high - low
    if span <= 0:
        return P.ZerosLike()(place)
    return low + span - P.Abs()(P.FloorMod()(place - low, 2 * span) - span)


def _inside(place: Any, size: int, padding: str, low: float, high: float) -> Any:
    """Places outside the image moved onto it, as the padding says; "zeros" moves none."""
    if padding == "border":
        return P.Minimum()(P.Maximum()(place, 0.0), float(size - 1))
    return _reflected(place, low, high) if padding == "reflection" else place


def _taps(place: Any, mode: str) -> list[tuple[Any, Any]]:
    """The pixels around a place along one axis, with their weights."""
    if mode == "nearest":
        return [(P.Rint()(place), 1.0)]
    base = P.Floor()(place)
    ratio = place - base
    if mode == "linear":
        return [(base, 1 - ratio), (base + 1, ratio)]
    a = -0.75
    near = lambda t: ((a + 2) * t - (a + 3)) * t * t + 1
    far = lambda t: ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return [(base - 1, far(ratio + 1)), (base, near(ratio)), (base + 1, near(1 - ratio)), (base + 2, far(2 - ratio))]


def _pixels(flat: Any, places: list[Any], sizes: tuple[int, ...], padding: str, limits: list) -> Any:
    """The values at whole places; `flat` is (batch, channels, pixels), places are (batch, points)."""
    index: Any = 0
    valid: Any = None
    for place, size, (low, high) in zip(places, sizes, limits):
        place = _inside(place, size, padding, low, high)
        fits = P.LogicalAnd()(place >= 0, place <= size - 1)
        valid = fits if valid is None else P.LogicalAnd()(valid, fits)
        index = index * size + P.Minimum()(P.Maximum()(_CAST(P.Rint()(place), mstype.int64), 0), size - 1)
    batch, channels = flat.shape[:2]
    spread = P.BroadcastTo((batch, channels, index.shape[1]))(P.ExpandDims()(index, 1))
    found = P.GatherD()(flat, 2, spread)
    return found * P.ExpandDims()(_CAST(valid, found.dtype), 1)


def _sampled(x: Any, places: list[Any], mode: str, padding: str, limits: list) -> Any:
    """The image `x` (batch, channels, …) at real places, one tensor (batch, points) per spatial axis."""
    sizes = tuple(x.shape[2:])
    flat = x.reshape(*x.shape[:2], math.prod(sizes))
    total: Any = None
    for corner in itertools.product(*(_taps(p, mode) for p in places)):
        weight: Any = 1.0
        for _, factor in corner:
            weight = weight * factor
        value = _pixels(flat, [p for p, _ in corner], sizes, padding, limits)
        value = value * (P.ExpandDims()(weight, 1) if isinstance(weight, TensorBase) else weight)
        total = value if total is None else total + value
    return total


@operator("GridSample")
def _grid_sample(x: Any, grid: Any, mode: str = "linear", padding_mode: str = "zeros", align_corners: int = 0) -> Any:
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    sizes = tuple(x.shape[2:])
    places, limits = [], []
    flat = grid.reshape(grid.shape[0], -1, len(sizes))
    for axis, size in enumerate(sizes):
        unit = flat[:, :, len(sizes) - 1 - axis]
        place = (unit + 1) / 2 * (size - 1) if align_corners else ((unit + 1) * size - 1) / 2
        limits.append((0.0, size - 1.0) if align_corners else (-0.5, size - 0.5))
        if mode == "nearest":
            place = P.Rint()(place)
        places.append(_inside(place, size, padding_mode, *limits[-1]))
    out = _sampled(x, places, mode, padding_mode, limits)
    return _CAST(out, x.dtype).reshape(*x.shape[:2], *grid.shape[1:-1])


@operator("RoiAlign", arrays=True)
def _roi_align(
    x: Any, rois: Any, batches: Any, coordinate_transformation_mode: str = "half_pixel", mode: str = "avg",
    output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0, spatial_scale: float = 1.0,
) -> Any:  # fmt: skip
    x = as_tensor(x)
    boxes = np.asarray(static(rois, "regions"), np.float64) * spatial_scale
    shift = 0.5 if coordinate_transformation_mode == "half_pixel" else 0.0
    made = []
    for box, batch in zip(boxes - shift, ints(batches, "batch indices")):
        width, height = box[2] - box[0], box[3] - box[1]
        if not shift:
            width, height = max(width, 1.0), max(height, 1.0)
        grids: list[Any] = []
        for start, length, bins in ((box[1], height, output_height), (box[0], width, output_width)):
            count = sampling_ratio or math.ceil(length / bins)
            grids.append(start + (np.arange(bins * count) + 0.5) * length / (bins * count))
        made.append(_region(x[batch : batch + 1], grids[0], grids[1], output_height, output_width, mode))
    return P.Concat(0)(made)


def _region(image: Any, rows: np.ndarray, columns: np.ndarray, height: int, width: int, mode: str) -> Any:
    """One region: samples on a grid, reduced bin by bin."""
    outside = [(g < -1) | (g > size) for g, size in ((rows, image.shape[2]), (columns, image.shape[3]))]
    grids = [np.clip(g, 0, size - 1) for g, size in ((rows, image.shape[2]), (columns, image.shape[3]))]
    mesh = np.meshgrid(*grids, indexing="ij")
    dead = np.logical_or.outer(*outside)
    flat = image.reshape(image.shape[0], image.shape[1], -1)
    corners = []
    sizes = tuple(image.shape[2:])
    low = [np.floor(m).astype(np.int64) for m in mesh]
    for bits in itertools.product((0, 1), repeat=2):
        places = [np.minimum(b + bit, s - 1) for b, bit, s in zip(low, bits, sizes)]
        weight = math.prod(np.abs(1 - bit - (m - b)) for bit, m, b in zip(bits, mesh, low)) * ~dead
        index = (places[0] * sizes[1] + places[1]).reshape(-1)
        value = P.Gather()(flat, tensor(index), 2) * tensor(weight.reshape(1, 1, -1).astype(image.dtype.np))
        corners.append(value)
    shape = (1, image.shape[1], height, len(rows) // height, width, len(columns) // width)
    if mode == "max":  # the largest single contribution, as ONNX defines it
        stacked = P.Stack(0)([c.reshape(shape) for c in corners])
        return P.ReduceMax(False)(P.ReduceMax(False)(stacked, (4, 6)), 0)
    return P.ReduceMean(False)(sum(corners[1:], corners[0]).reshape(shape), (3, 5))


# -- boxes ------------------------------------------------------------------------------------------------------------
@operator("NonMaxSuppression", arrays=True)
def _non_max_suppression(
    boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None, center_point_box: int = 0
) -> np.ndarray:
    boxes = np.asarray(static(boxes, "boxes"), np.float64)
    scores = static(scores, "scores")
    count = ints(most, "a count")[0] if most is not None else 0
    limit = float(np.asarray(static(overlap, "a limit")).reshape(-1)[0]) if overlap is not None else 0.0
    floor = float(np.asarray(static(least, "a limit")).reshape(-1)[0]) if least is not None else -math.inf
    if center_point_box:
        half = boxes[..., 2:] / 2
        low, high = boxes[..., 1::-1] - half[..., ::-1], boxes[..., 1::-1] + half[..., ::-1]
    else:
        low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    found = [
        (batch, kind, place)
        for batch in range(scores.shape[0])
        for kind in range(scores.shape[1])
        for place in _kept(low[batch], high[batch], scores[batch, kind], count, limit, floor)
    ]
    return np.array(found, np.int64).reshape(-1, 3)


def _kept(low: np.ndarray, high: np.ndarray, scores: np.ndarray, count: int, limit: float, floor: float) -> list[int]:
    kept: list[int] = []
    area = np.prod(high - low, axis=1)
    for place in np.argsort(-scores, kind="stable"):
        if len(kept) >= count or scores[place] <= floor:
            break
        shared = np.prod(
            np.clip(np.minimum(high[place], high[kept]) - np.maximum(low[place], low[kept]), 0, None), axis=1
        )
        union = area[place] + area[kept] - shared
        if not np.any(shared > limit * union):
            kept.append(int(place))
    return kept


@operator("ImageDecoder", arrays=True)
def _image_decoder(encoded: Any, pixel_format: str = "RGB") -> np.ndarray:
    image = require("PIL.Image", "data", "Decoding images in an ONNX model")
    with image.open(io.BytesIO(static(encoded, "an image").tobytes())) as opened:
        if pixel_format == "Grayscale":
            return np.array(opened.convert("L"))[:, :, None]
        pixels = np.array(opened.convert("RGB"))
    return np.ascontiguousarray(pixels[:, :, ::-1]) if pixel_format == "BGR" else pixels


# -- windows ----------------------------------------------------------------------------------------------------------
@operator("Col2Im", arrays=True)
def _col2im(
    x: Any, image_shape: Any, block_shape: Any, dilations: Any = None, pads: Any = None, strides: Any = None
) -> Any:
    """Sum of windows laid out over an image: every element of a column is added at its pixel."""
    x = as_tensor(x)
    image, block = ints(image_shape, "a shape"), ints(block_shape, "a shape")
    rank = len(image)
    dilations, strides = dilations or [1] * rank, strides or [1] * rank
    pads = pads or [0] * (2 * rank)
    padded = [d + pads[i] + pads[i + rank] for i, d in enumerate(image)]
    counts = [(p - (b - 1) * d - 1) // s + 1 for p, b, d, s in zip(padded, block, dilations, strides)]
    places = [
        np.arange(b)[:, None] * d + np.arange(c)[None, :] * s for b, d, c, s in zip(block, dilations, counts, strides)
    ]
    index: Any = np.zeros((1, 1), np.int64)
    for place, size in zip(places, padded):
        index = (index[:, None, :, None] * size + place[None, :, None, :]).reshape(
            index.shape[0] * place.shape[0], index.shape[1] * place.shape[1]
        )
    batch, area = x.shape[0], math.prod(block)
    channels = x.shape[1] // area
    rows = x.reshape(batch * channels, area * x.shape[2])
    moved = P.Transpose()(rows, (1, 0))
    total = _summed_at(tensor(index.reshape(-1, 1)), moved, (math.prod(padded), batch * channels))
    out = P.Transpose()(total, (1, 0)).reshape(batch, channels, *padded)
    return out[(slice(None), slice(None), *(slice(pads[i], pads[i] + d) for i, d in enumerate(image)))]


def _summed_at(indices: Any, updates: Any, shape: tuple[int, ...]) -> Any:
    """Zeros with rows added at the places that indices name."""
    return P.TensorScatterAdd()(tensor(np.zeros(shape, updates.dtype.np)), indices, updates)


@operator("MaxUnpool", arrays=True)
def _max_unpool(
    x: Any, indices: Any, shape: Any = None, kernel_shape: Any = None, pads: Any = None, strides: Any = None
) -> Any:
    x, indices = as_tensor(x), as_tensor(indices)
    rank = x.ndim - 2
    strides, pads = strides or [1] * rank, pads or [0] * (2 * rank)
    sizes = [
        (d - 1) * s - pads[i] - pads[i + rank] + k
        for i, (d, s, k) in enumerate(zip(x.shape[2:], strides, kernel_shape))
    ]
    own = (*x.shape[:2], *sizes)
    final = tuple(ints(shape, "a shape")) if shape is not None else own
    flat = _summed_at(indices.reshape(-1, 1), x.reshape(-1), (math.prod(own),)).reshape(own)
    if final == own:
        return flat
    return P.Pad(tuple((0, b - a) for a, b in zip(own, final)))(flat)


@operator("DeformConv")
def _deform_conv(
    x: Any, w: Any, offset: Any, bias: Any = None, mask: Any = None, dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, offset_group: int = 1, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    """Each tap of the kernel reads the image at its own shifted place; then it is a product with the kernel."""
    rank = x.ndim - 2
    if rank != 2:
        raise ValueError("ONNX DeformConv is supported for images of two dimensions only.")
    kernel = tuple(w.shape[2:])
    strides, dilations, pads = strides or [1, 1], dilations or [1, 1], pads or [0] * 4
    batch, channels = x.shape[:2]
    outs = tuple(offset.shape[2:])
    area, share = kernel[0] * kernel[1], channels // offset_group
    shifts = offset.reshape(batch, offset_group, area, 2, -1)
    base = np.meshgrid(*(np.arange(o) * s - p for o, s, p in zip(outs, strides, pads)), indexing="ij")
    columns = []
    for part in range(offset_group):
        image = x[:, part * share : (part + 1) * share]
        taps = []
        for tap, (i, j) in enumerate(itertools.product(range(kernel[0]), range(kernel[1]))):
            fixed = (base[0] + i * dilations[0], base[1] + j * dilations[1])
            places = [
                shifts[:, part, tap, axis] + tensor(fixed[axis].reshape(1, -1).astype(x.dtype.np)) for axis in (0, 1)
            ]
            value = _sampled(image, places, "linear", "zeros", [(0, 0), (0, 0)])
            if mask is not None:
                value = value * P.ExpandDims()(mask.reshape(batch, offset_group, area, -1)[:, part, tap], 1)
            taps.append(value)
        columns.append(P.Stack(2)(taps))
    gathered = P.Concat(1)(columns) if len(columns) > 1 else columns[0]  # batch, channels, taps, points
    flat = gathered.reshape(batch, channels, area, outs[0] * outs[1])
    return convolution(flat, w.reshape(w.shape[0], w.shape[1], area, 1), bias, group=group).reshape(
        batch, w.shape[0], *outs
    )
