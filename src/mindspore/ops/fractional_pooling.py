"""Fractional max pooling (Graham 2014): windows whose places are drawn so that any output size can be had."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_tensor
from mindspore.ops.random import rand
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Concat, ExpandDims, GetItem, Squeeze
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.gather_scatter import GatherD
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import Argmax
from mindspore.prims.values import from_array

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def sizes(op: str, name: str, value: Any, rank: int) -> tuple[int, ...]:
    """A positive int for each dimension; one stands for all."""
    given = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(given) != rank or any(isinstance(s, bool) or not isinstance(s, int) or s <= 0 for s in given):
        raise ValueError(f"For '{op}', '{name}' must be a positive int or {rank} of them, but got {value!r}.")
    return given


def _starts(sample: Tensor, size: int, out: int, kernel: int) -> Any:
    """Where the windows of one dimension start: (N, C, out)."""
    last = from_array(np.full((*sample.shape, 1), size - kernel, np.int64))
    if out == 1:
        return last
    step = (size - kernel) / (out - 1)
    places = ExpandDims()(sample, -1) + from_array(np.arange(out - 1).astype(np.float32))
    base = ew.Floor()(ExpandDims()(sample, -1) * step)
    return Concat(-1)((cast(ew.Floor()(places * step) - base, mstype.int64), last))


def fractional_pool(op: str, x: Tensor, kernel: tuple, out: tuple, samples: Tensor) -> tuple[Tensor, Tensor]:
    """The maxima of (N, C, *spatial) in windows placed by `samples` (N, C, dimensions), and their flat positions."""
    rank = len(kernel)
    spatial = x.shape[2:]
    for size, k, o in zip(spatial, kernel, out):
        if o + k - 1 > size:
            raise ValueError(
                f"For '{op}', windows of {kernel} with an output of {out} do not fit an input of {x.shape}."
            )
    flat = None
    for d in range(rank):
        sample = GetItem((..., d if rank == 3 else 1 - d))(samples)  # of two dimensions the columns' comes first
        start = _starts(cast(sample, mstype.float32), spatial[d], out[d], kernel[d])
        window = ExpandDims()(start, -1) + from_array(np.arange(kernel[d]))
        shape = (*x.shape[:2], *((1,) * d), out[d], *((1,) * (rank - 1)), kernel[d], *((1,) * (rank - 1 - d)))
        placed = Reshape()(window, shape)
        flat = placed if flat is None else flat * spatial[d] + placed
    count, area = math.prod(out), math.prod(kernel)
    index = Reshape()(flat, (*x.shape[:2], count * area))
    picked = Reshape()(GatherD()(Reshape()(x, (*x.shape[:2], -1)), 2, index), (*x.shape[:2], count, area))
    best = ExpandDims()(cast(Argmax(-1)(picked), mstype.int64), -1)
    places = GatherD()(Reshape()(index, (*x.shape[:2], count, area)), 3, best)
    shape = (*x.shape[:2], *out)
    return Reshape()(ReduceMax()(picked, -1), shape), Reshape()(places, shape)


def _pool(
    op: str,
    rank: int,
    x: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    indices: bool,
    samples: Tensor | None,
) -> Any:
    require_tensor(op, "input", x)
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"For '{op}', exactly one of 'output_size' and 'output_ratio' must be given.")
    batched = x.ndim == rank + 2
    if not batched and x.ndim != rank + 1:
        raise ValueError(f"For '{op}', 'input' must have {rank + 2} dimensions, but its shape is {x.shape}.")
    whole = x if batched else ExpandDims()(x, 0)
    if output_size is None:
        ratios = (output_ratio,) * rank if isinstance(output_ratio, float) else tuple(output_ratio)
        if len(ratios) != rank or any(not 0 < r < 1 for r in ratios):
            raise ValueError(f"For '{op}', 'output_ratio' must lie in (0, 1), but got {output_ratio!r}.")
        output_size = tuple(int(n * r) for n, r in zip(whole.shape[2:], ratios))
    kernel, out = sizes(op, "kernel_size", kernel_size, rank), sizes(op, "output_size", output_size, rank)
    if samples is None:
        samples = rand(*whole.shape[:2], rank)
    result = fractional_pool(op, whole, kernel, out, samples)
    result = result if batched else tuple(Squeeze(0)(r) for r in result)
    return result if indices else result[0]


@setting_types(return_indices=bool)
def fractional_max_pool2d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """Max pooling of (N, C, H, W) to `output_size`, or to a share `output_ratio` of the input's size.

    Examples:
        >>> x = ops.ones((1, 1, 8, 8))
        >>> ops.fractional_max_pool2d(x, kernel_size=2, output_size=(5, 4)).shape
        (1, 1, 5, 4)
    """
    return _pool(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


@setting_types(return_indices=bool)
def fractional_max_pool3d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """Max pooling of (N, C, D, H, W) to `output_size`, or to a share `output_ratio` of the input's size.

    Examples:
        >>> x = ops.ones((1, 1, 8, 8, 8))
        >>> ops.fractional_max_pool3d(x, kernel_size=2, output_ratio=(0.5, 0.5, 0.5)).shape
        (1, 1, 4, 4, 4)
    """
    return _pool(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
