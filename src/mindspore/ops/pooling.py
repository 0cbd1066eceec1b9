"""Pooling as functions: average, maximum, power mean, adaptive, and the inverse of max pooling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_float, require_tensor, require_tensors
from mindspore.ops.resampling import adaptive_spans, apply_along, averaging_matrix
from mindspore.prims import elementwise as _ew
from mindspore.prims import window
from mindspore.prims.arrays import TENSOR_INDEX, ExpandDims, Fill, GetItem, SetItem, Squeeze
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.gather_scatter import GatherD
from mindspore.prims.pooling import AvgPoolNd, MaxPoolNd, MaxPoolWithIndices
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import Argmax
from mindspore.prims.values import from_array

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool2d",
    "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip


def with_batch(op: str, x: Tensor, rank: int, function: Any) -> Any:
    """Apply `function` to (N, C, *spatial); an input without a batch dimension gets one for the time being."""
    require_tensor(op, "input", x)
    if x.ndim == rank + 2:
        return function(x)
    if x.ndim != rank + 1:
        raise ValueError(
            f"For '{op}', 'input' must have {rank + 2} dimensions ({rank + 1} without a batch), but "
            f"its shape is {x.shape}."
        )
    out = function(ExpandDims()(x, 0))
    return tuple(Squeeze(0)(o) for o in out) if isinstance(out, tuple) else Squeeze(0)(out)


# -- fixed windows ----------------------------------------------------------------------------------------------------
def _average(
    op: str, rank: int, x: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, include: bool, divisor: Any
) -> Tensor:
    prim = AvgPoolNd(rank, kernel, kernel if stride is None else stride, padding, ceil_mode, include, divisor or None)
    return with_batch(op, x, rank, prim)


@setting_types(kernel_size=int, stride=int, ceil_mode=bool, count_include_pad=bool)
def avg_pool1d(
    input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, L).

    Examples:
        >>> print(ops.avg_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), kernel_size=2, stride=2))
        [[[2. 6.]]]
    """
    return _average("avg_pool1d", 1, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@setting_types(stride=int | tuple, ceil_mode=bool, count_include_pad=bool, divisor_override=int)
def avg_pool2d(
    input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int = 0,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, H, W).

    Examples:
        >>> x = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> ops.avg_pool2d(x, kernel_size=2, stride=2).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    args = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    return _average("avg_pool2d", 2, input_x, *args)


@setting_types(stride=int | tuple, ceil_mode=bool, count_include_pad=bool, divisor_override=int)
def avg_pool3d(
    input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int = 0,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, D, H, W).

    Examples:
        >>> ops.avg_pool3d(ops.ones((1, 1, 4, 4, 4)), kernel_size=2, stride=2).shape
        (1, 1, 2, 2, 2)
    """
    args = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    return _average("avg_pool3d", 3, input_x, *args)


def max_pool(
    op: str, rank: int, x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, return_indices: bool,
    ceil_mode: bool,
) -> Any:  # fmt: skip
    """The maximum of each window, with positions if asked for."""
    kind = MaxPoolWithIndices if return_indices else MaxPoolNd
    return with_batch(
        op, x, rank, kind(rank, kernel, kernel if stride is None else stride, padding, dilation, ceil_mode)
    )


def max_pool2d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window of (N, C, H, W), and with `return_indices` its flat position.

    Examples:
        >>> x = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> ops.max_pool2d(x, kernel_size=2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    return max_pool("max_pool2d", 2, x, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


@setting_types(ceil_mode=bool)
def max_pool3d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window of (N, C, D, H, W), and with `return_indices` its flat position.

    Examples:
        >>> x = Tensor(np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2))
        >>> print(ops.max_pool3d(x, kernel_size=2).item())
        7.0
    """
    return max_pool("max_pool3d", 3, x, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def _power_mean(op: str, rank: int, x: Tensor, norm_type: float, kernel: Any, stride: Any, ceil_mode: bool) -> Tensor:
    """(sum of x^p over the window)^(1/p)."""
    if isinstance(norm_type, bool) or not isinstance(norm_type, (int, float)):
        raise TypeError(f"For '{op}', 'norm_type' must be a number, but got {norm_type!r}.")
    if norm_type == 0:
        raise ValueError(f"For '{op}', 'norm_type' must not be 0.")
    sizes = window.per_dimension(op, "kernel_size", kernel, rank)
    powers = _ew.Pow()(require_tensor(op, "x", x), float(norm_type))
    mean = _average(op, rank, powers, sizes, stride, 0, ceil_mode, False, None)
    total = mean * float(math.prod(sizes))
    return _ew.Pow()(_ew.Sign()(total) * _ew.ReLU()(_ew.Abs()(total)), 1.0 / norm_type)


@setting_types(kernel_size=int, stride=int | None, ceil_mode=bool)
def lp_pool1d(x: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window of (N, C, L).

    Examples:
        >>> print(ops.lp_pool1d(Tensor([[[3.0, 4.0, 6.0, 8.0]]]), 2, 2))
        [[[ 5. 10.]]]
    """
    return _power_mean("lp_pool1d", 1, x, norm_type, kernel_size, stride, ceil_mode)


@setting_types(ceil_mode=bool)
def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window of (N, C, H, W).

    Examples:
        >>> print(ops.lp_pool2d(Tensor([[[[3.0, 0.0], [0.0, 4.0]]]]), 2, 2))
        [[[[5.]]]]
    """
    return _power_mean("lp_pool2d", 2, x, norm_type, kernel_size, stride, ceil_mode)


# -- adaptive windows -------------------------------------------------------------------------------------------------
_MOST_TIMES = 1 << 12  # larger than the input a result repeats it


def _target_sizes(op: str, output_size: Any, sizes: tuple[int, ...]) -> tuple[int, ...]:
    rank = len(sizes)
    wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * rank
    if len(wanted) != rank:
        raise ValueError(f"For '{op}', 'output_size' must be an int or {rank} ints, but got {output_size}.")
    out = []
    for want, size in zip(wanted, sizes):
        if want is None:
            want = size
        if isinstance(want, bool) or not isinstance(want, int):
            raise TypeError(f"For '{op}', 'output_size' must hold ints or None, but got {output_size!r}.")
        if want < 1:
            raise ValueError(f"For '{op}', 'output_size' must be positive, but got {output_size}.")
        if want > max(size, 1) * _MOST_TIMES:
            raise ValueError(
                f"For '{op}', 'output_size' must be at most {_MOST_TIMES} times the input's size {size}, but got "
                f"{output_size}."
            )
        out.append(want)
    return tuple(out)


def _adaptive_average(op: str, rank: int, x: Tensor, output_size: Any) -> Tensor:
    """Along each axis a product with a matrix of weights; even divisions are plain pooling."""
    sizes = x.shape[2:]
    wanted = _target_sizes(op, output_size, sizes)
    if all(s % w == 0 for s, w in zip(sizes, wanted)):
        kernel = tuple(s // w for s, w in zip(sizes, wanted))
        return x if set(kernel) == {1} else AvgPoolNd(rank, kernel, kernel)(x)
    require_float(op, "input", x)
    for axis, (size, want) in enumerate(zip(sizes, wanted), 2):
        if size != want:
            x = apply_along(x, axis, averaging_matrix(size, want))
    return x


def _adaptive_max(op: str, x: Tensor, output_size: Any, return_indices: bool) -> Any:
    """Gather every window (short ones repeat their last element) and take the maximum."""
    sizes = x.shape[2:]
    wanted = _target_sizes(op, output_size, sizes)
    if all(s % w == 0 for s, w in zip(sizes, wanted)):
        kernel = tuple(s // w for s, w in zip(sizes, wanted))
        return (MaxPoolWithIndices if return_indices else MaxPoolNd)(len(sizes), kernel, kernel)(x)
    places = _window_places(sizes, wanted)
    flat = Reshape()(x, (*x.shape[:2], math.prod(sizes)))
    windows = GetItem((slice(None), slice(None), TENSOR_INDEX))(flat, from_array(places))
    out = Reshape()(ReduceMax()(windows, -1), (*x.shape[:2], *wanted))
    if not return_indices:
        return out
    best = Argmax(-1, mstype.int64)(windows)
    table = GetItem((None, None))(from_array(places))
    spread = table + Fill()(mstype.int64, (*x.shape[:2], 1, 1), 0)
    return out, Reshape()(GatherD()(spread, -1, ExpandDims()(best, -1)), (*x.shape[:2], *wanted))


def _window_places(sizes: tuple[int, ...], wanted: tuple[int, ...]) -> np.ndarray:
    """Flat input positions of every adaptive window: (number of windows, elements of the largest window)."""
    flat = np.zeros((1, 1), np.int64)
    for size, want in zip(sizes, wanted):
        spans = adaptive_spans(size, want)
        longest = max(stop - start for start, stop in spans)
        at = np.array([[min(start + k, stop - 1) for k in range(longest)] for start, stop in spans], np.int64)
        flat = flat[:, None, :, None] * size + at[None, :, None, :]
        flat = flat.reshape(flat.shape[0] * want, -1)
    return flat


@setting_types(output_size=int)
def adaptive_avg_pool1d(input: Tensor, output_size: int) -> Tensor:
    """Average pooling of (N, C, L) to a given length.

    Examples:
        >>> print(ops.adaptive_avg_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2))
        [[[2. 6.]]]
    """
    return with_batch(
        "adaptive_avg_pool1d", input, 1, lambda x: _adaptive_average("adaptive_avg_pool1d", 1, x, output_size)
    )


@setting_types(output_size=int | tuple)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Average pooling of (N, C, H, W) to given sizes; None keeps a size.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.ops.adaptive_avg_pool2d(ms.Tensor(np.ones((1, 2, 5, 7), np.float32)), (3, None)).shape
        (1, 2, 3, 7)
    """
    return with_batch(
        "adaptive_avg_pool2d", input, 2, lambda x: _adaptive_average("adaptive_avg_pool2d", 2, x, output_size)
    )


@setting_types(output_size=int | tuple)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Average pooling of (N, C, D, H, W) to given sizes; None keeps a size.

    Examples:
        >>> ops.adaptive_avg_pool3d(ops.ones((1, 2, 4, 4, 4)), (2, None, 1)).shape
        (1, 2, 2, 4, 1)
    """
    return with_batch(
        "adaptive_avg_pool3d", input, 3, lambda x: _adaptive_average("adaptive_avg_pool3d", 3, x, output_size)
    )


@setting_types(output_size=int)
def adaptive_max_pool1d(input: Tensor, output_size: int, return_indices: bool = False) -> Any:
    """Max pooling of (N, C, L) to a given length.

    Examples:
        >>> print(ops.adaptive_max_pool1d(Tensor([[[4.0, 1.0, 2.0, 9.0]]]), 2))
        [[[4. 9.]]]
    """
    name = "adaptive_max_pool1d"
    return with_batch(name, input, 1, lambda x: _adaptive_max(name, x, output_size, return_indices))


@setting_types(return_indices=bool)
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Max pooling of (N, C, H, W) to given sizes; None keeps a size.

    Examples:
        >>> x = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> ops.adaptive_max_pool2d(x, (2, 1)).tolist()
        [[[[7.0], [15.0]]]]
    """
    name = "adaptive_max_pool2d"
    return with_batch(name, input, 2, lambda x: _adaptive_max(name, x, output_size, return_indices))


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Max pooling of (N, C, D, H, W) to given sizes; None keeps a size. Places are int32.

    Examples:
        >>> ops.adaptive_max_pool3d(ops.ones((1, 2, 4, 4, 4)), (2, 1, 2)).shape
        (1, 2, 2, 1, 2)
    """
    name = "adaptive_max_pool3d"
    found = with_batch(name, input, 3, lambda x: _adaptive_max(name, x, output_size, return_indices))
    return (found[0], cast(found[1], mstype.int32)) if return_indices else found


# -- the inverse of max pooling ---------------------------------------------------------------------------------------
def _unpool(
    op: str, rank: int, x: Tensor, indices: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    """Put every element back at its position; all other places are 0."""
    require_tensor(op, "indices", indices)
    if indices.shape != x.shape:
        raise ValueError(f"For '{op}', 'indices' must have the shape {x.shape} of 'x', but got {indices.shape}.")
    kernels = window.per_dimension(op, "kernel_size", kernel, rank)
    strides = kernels if stride in (None, 0) else window.per_dimension(op, "stride", stride, rank)
    pads = window.per_dimension(op, "padding", padding, rank, 0)
    batched = x.ndim == rank + 2
    sizes = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[-rank:], strides, pads, kernels))
    if output_size:
        asked = tuple(output_size)[-rank:]
        if any(not s - st < a < s + st for a, s, st in zip(asked, sizes, strides)):
            raise ValueError(
                f"For '{op}', 'output_size' must be within one stride of {sizes}, but got {tuple(output_size)}."
            )
        sizes = asked
    planes = math.prod(x.shape[: 2 if batched else 1])
    values = Reshape()(x, (planes, math.prod(x.shape[-rank:])))
    places = cast(Reshape()(indices, values.shape), mstype.int64)
    rows = from_array(np.arange(planes, dtype=np.int64)[:, None])
    zeros = Fill()(x.dtype, (planes, math.prod(sizes)), 0)
    out = SetItem((TENSOR_INDEX, TENSOR_INDEX))(zeros, values, rows, places)
    return Reshape()(out, (*x.shape[: 2 if batched else 1], *sizes))


def max_unpool1d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The partial inverse of 1-d max pooling.

    Examples:
        >>> print(ops.max_unpool1d(Tensor([[[5.0, 7.0]]]), Tensor([[[1, 2]]]), kernel_size=2))
        [[[0. 5. 7. 0.]]]
    """
    require_tensors("max_unpool1d", x=x)
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The partial inverse of 2-d max pooling.

    Examples:
        >>> print(ops.max_unpool2d(Tensor([[[[5.0]]]]), Tensor([[[[3]]]]), kernel_size=2))
        [[[[0. 0.]
           [0. 5.]]]]
    """
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The partial inverse of 3-d max pooling.

    Examples:
        >>> out = ops.max_unpool3d(Tensor([[[[[5.0]]]]]), Tensor([[[[[7]]]]]), kernel_size=2)
        >>> print(out.flatten())
        [0. 0. 0. 0. 0. 0. 0. 5.]
    """
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, output_size)
