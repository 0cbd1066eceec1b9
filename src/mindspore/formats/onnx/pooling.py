"""ONNX pooling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.formats.onnx.layers import convolution, padding_pairs
from mindspore.formats.onnx.registry import P, operator, tensor

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase


def _windows(kernel_shape: Any, strides: Any, dilations: Any) -> tuple[tuple, tuple, tuple]:
    kernel = tuple(kernel_shape)
    return kernel, tuple(strides or (1,) * len(kernel)), tuple(dilations or (1,) * len(kernel))


def _ceil_extra(x: TensorBase, pairs: list, kernel: tuple, strides: tuple, dilations: tuple) -> list[int]:
    """How much more padding behind lets the last, partial window count."""
    extra = []
    for size, (lo, hi), k, s, d in zip(x.shape[2:], pairs, kernel, strides, dilations):
        span = size + lo + hi - (k - 1) * d - 1
        steps = -(-span // s)
        if steps * s >= size + lo:  # a window must start inside the image or its front padding
            steps -= 1
        extra.append(max(steps * s - span, 0))
    return extra


@operator("MaxPool")
def _max_pool(
    x: TensorBase, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Any = None, kernel_shape: Any = None,
    pads: Any = None, storage_order: int = 0, strides: Any = None, num_outputs: int = 1,
) -> Any:  # fmt: skip
    kernel, steps, spread = _windows(kernel_shape, strides, dilations)
    pairs = padding_pairs(x, kernel, steps, spread, pads, auto_pad)
    extra = _ceil_extra(x, pairs, kernel, steps, spread) if ceil_mode else [0] * len(kernel)
    pairs = [(lo, hi + e) for (lo, hi), e in zip(pairs, extra)]
    lowest = float("-inf") if x.dtype.kind == "f" else np.iinfo(x.dtype.np).min
    if num_outputs > 1:
        return _max_with_places(x, kernel, steps, spread, pairs, lowest, storage_order)
    if _are_inside(pairs, kernel):
        return P.MaxPoolNd(len(kernel), kernel, steps, sum(pairs, ()), spread)(x)
    padded = P.Pad(((0, 0), (0, 0), *pairs), lowest)(x)
    return P.MaxPoolNd(len(kernel), kernel, steps, 0, spread, False, "valid")(padded)


def _are_inside(pairs: list, kernel: tuple) -> bool:
    """Whether every window sees some of the image, so that the pooling can do the padding and nothing is copied."""
    return all(0 <= pad < k for pair, k in zip(pairs, kernel) for pad in pair)


def _max_with_places(
    x: TensorBase, kernel: tuple, strides: tuple, dilations: tuple, pairs: list, lowest: Any, storage_order: int
) -> tuple:
    """Maxima, and their places in the flat tensor: all windows are gathered and searched."""
    sizes = tuple(x.shape[2:])
    index, inside, outs = np.zeros((1, 1), np.int64), np.ones((1, 1), bool), []
    for size, k, s, d, (lo, hi) in zip(sizes, kernel, strides, dilations, pairs):
        count = (size + lo + hi - (k - 1) * d - 1) // s + 1
        place = np.arange(count)[:, None] * s - lo + np.arange(k)[None, :] * d
        fits = (place >= 0) & (place < size)
        index = (index[:, None, :, None] * size + np.clip(place, 0, size - 1)[None, :, None, :]).reshape(
            index.shape[0] * count, -1
        )
        inside = (inside[:, None, :, None] & fits[None, :, None, :]).reshape(inside.shape[0] * count, -1)
        outs.append(count)
    flat = x.reshape(x.shape[0], x.shape[1], math.prod(sizes))
    found = P.Gather()(flat, tensor(index.reshape(-1)), 2).reshape(*x.shape[:2], *index.shape)
    full = P.BroadcastTo(tuple(found.shape))(tensor(inside.reshape(1, 1, *inside.shape)))
    found = P.Select()(full, found, P.OnesLike()(found) * lowest)
    best = P.Argmax(-1)(found)
    value = P.ReduceMax(False)(found, -1)
    if storage_order:
        index = np.ravel_multi_index(np.unravel_index(index, sizes)[::-1], sizes[::-1])
    table = tensor(np.broadcast_to(index, (*x.shape[:2], *index.shape)).copy())
    place = P.GatherD()(table, 3, P.ExpandDims()(best, -1)).reshape(best.shape)
    start = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], 1) * math.prod(sizes)
    shape = (*x.shape[:2], *outs)
    return value.reshape(shape), (place + tensor(start)).reshape(shape)


@operator("AveragePool")
def _average_pool(
    x: Any, auto_pad: str = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0, dilations: Any = None,
    kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    kernel, steps, spread = _windows(kernel_shape, strides, dilations)
    pairs = padding_pairs(x, kernel, steps, spread, pads, auto_pad)
    if not ceil_mode and set(spread) == {1} and _are_inside(pairs, kernel):
        return P.AvgPoolNd(len(kernel), kernel, steps, sum(pairs, ()), False, bool(count_include_pad))(x)
    extra = _ceil_extra(x, pairs, kernel, steps, spread) if ceil_mode else [0] * len(kernel)
    total = _window_sum(x, kernel, steps, spread, [(lo, hi + e) for (lo, hi), e in zip(pairs, extra)])
    ones = P.OnesLike()(x[:1, :1])
    if count_include_pad:
        inside = P.Pad(((0, 0), (0, 0), *pairs), 1)(ones)
        counts = _window_sum(inside, kernel, steps, spread, [(0, e) for e in extra])
    else:
        counts = _window_sum(ones, kernel, steps, spread, [(lo, hi + e) for (lo, hi), e in zip(pairs, extra)])
    return total / counts


def _window_sum(x: TensorBase, kernel: tuple, strides: tuple, dilations: tuple, pairs: list) -> Any:
    padded = P.Pad(((0, 0), (0, 0), *pairs))(x)
    if set(dilations) == {1}:
        return P.AvgPoolNd(len(kernel), kernel, strides, 0, False, True, None, "valid")(padded) * math.prod(kernel)
    rows = padded.reshape(padded.shape[0] * padded.shape[1], 1, *padded.shape[2:])
    ones = tensor(np.ones((1, 1, *kernel), x.dtype.np))
    out = convolution(rows, ones, dilations=dilations, strides=strides)
    return out.reshape(*x.shape[:2], *out.shape[2:])


@operator("LpPool")
def _lp_pool(
    x: Any, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Any = None, kernel_shape: Any = None, p: int = 2,
    pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    kernel, steps, spread = _windows(kernel_shape, strides, dilations)
    pairs = padding_pairs(x, kernel, steps, spread, pads, auto_pad)
    extra = _ceil_extra(x, pairs, kernel, steps, spread) if ceil_mode else [0] * len(kernel)
    powers = P.Pow()(P.Abs()(x), float(p))
    total = _window_sum(powers, kernel, steps, spread, [(lo, hi + e) for (lo, hi), e in zip(pairs, extra)])
    return P.Pow()(total, 1.0 / p)


@operator("GlobalAveragePool")
def _global_average(x: TensorBase) -> Any:
    return P.ReduceMean(True)(x, tuple(range(2, x.ndim)))


@operator("GlobalMaxPool")
def _global_max(x: TensorBase) -> Any:
    return P.ReduceMax(True)(x, tuple(range(2, x.ndim)))


@operator("GlobalLpPool")
def _global_lp(x: TensorBase, p: int = 2) -> Any:
    return P.Pow()(P.ReduceSum(True)(P.Pow()(P.Abs()(x), float(p)), tuple(range(2, x.ndim))), 1.0 / p)
