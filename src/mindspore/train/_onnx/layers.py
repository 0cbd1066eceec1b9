"""ONNX operators that are layers: products, convolution, pooling, normalisation, softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.ops import operations as _operations
from mindspore.train._onnx.operators import OPERATORS, as_tensor, ints, operator

P: Any = _operations  # its names are made when it is imported
_CONV = {1: P.Conv1D, 2: P.Conv2D, 3: P.Conv3D}


@operator("MatMul")
def _matmul(a: Any, b: Any) -> Any:
    from mindspore import ops

    return ops.matmul(a, b)


@operator("Gemm")
def _gemm(
    a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0
) -> Any:
    out = P.MatMul(bool(transA), bool(transB))(a, b)
    out = out if alpha == 1 else out * alpha
    return out if c is None else out + (c if beta == 1 else c * beta)


def _pads(x: Any, kernel: Any, strides: Any, dilations: Any, pads: Any, auto_pad: str) -> list[tuple[int, int]]:
    """(before, after) per spatial dimension."""
    if auto_pad in ("NOTSET", ""):
        flat = list(pads) if pads is not None else [0] * (2 * len(kernel))
        return list(zip(flat[: len(kernel)], flat[len(kernel) :]))
    if auto_pad == "VALID":
        return [(0, 0)] * len(kernel)
    found = []
    for size, k, s, d in zip(x.shape[2:], kernel, strides, dilations):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        less = total // 2
        found.append((less, total - less) if auto_pad == "SAME_UPPER" else (total - less, less))
    return found


@operator("Conv")
def _conv(
    x: Any, w: Any, bias: Any = None, auto_pad: str = "NOTSET", dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    rank = x.ndim - 2
    kernel = tuple(w.shape[2:])
    strides, dilations = tuple(strides or (1,) * rank), tuple(dilations or (1,) * rank)
    pairs = _pads(x, kernel, strides, dilations, pads, auto_pad)
    x = P.Pad(((0, 0), (0, 0), *pairs))(x) if any(lo or hi for lo, hi in pairs) else x
    made = _CONV[rank](w.shape[0], kernel, pad_mode="valid", stride=strides, dilation=dilations, group=group)
    out = made(x, w)
    return out if bias is None else out + bias.reshape(1, -1, *(1,) * rank)


def _windows(kernel_shape: Any, strides: Any, dilations: Any) -> tuple[tuple, tuple, tuple]:
    kernel = tuple(kernel_shape)
    return kernel, tuple(strides or (1,) * len(kernel)), tuple(dilations or (1,) * len(kernel))


def _ceil_extra(x: Any, pairs: list, kernel: tuple, strides: tuple, dilations: tuple) -> list[int]:
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
    x: Any, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Any = None, kernel_shape: Any = None,
    pads: Any = None, storage_order: int = 0, strides: Any = None,
) -> Any:  # fmt: skip
    kernel, steps, spread = _windows(kernel_shape, strides, dilations)
    pairs = _pads(x, kernel, steps, spread, pads, auto_pad)
    extra = _ceil_extra(x, pairs, kernel, steps, spread) if ceil_mode else [0] * len(kernel)
    outer = ((0, 0), (0, 0), *((lo, hi + e) for (lo, hi), e in zip(pairs, extra)))
    lowest = float("-inf") if x.dtype.kind == "f" else np.iinfo(x.dtype.np).min
    padded = P.Pad(outer, lowest)(x)
    return P.MaxPoolNd(len(kernel), kernel, steps, 0, spread, False, "valid")(padded)


@operator("AveragePool")
def _average_pool(
    x: Any, auto_pad: str = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0, dilations: Any = None,
    kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    kernel, steps, spread = _windows(kernel_shape, strides, dilations)
    if set(spread) != {1}:
        raise ValueError("ONNX AveragePool with dilations is not supported.")
    pairs = _pads(x, kernel, steps, spread, pads, auto_pad)
    extra = _ceil_extra(x, pairs, kernel, steps, spread) if ceil_mode else [0] * len(kernel)
    total = _window_sum(x, kernel, steps, [(lo, hi + e) for (lo, hi), e in zip(pairs, extra)])
    ones = P.OnesLike()(x[:1, :1])
    if count_include_pad:
        inside = P.Pad(((0, 0), (0, 0), *pairs), 1)(ones)
        counts = _window_sum(inside, kernel, steps, [(0, e) for e in extra])
    else:
        counts = _window_sum(ones, kernel, steps, [(lo, hi + e) for (lo, hi), e in zip(pairs, extra)])
    return total / counts


def _window_sum(x: Any, kernel: tuple, strides: tuple, pairs: list) -> Any:
    padded = P.Pad(((0, 0), (0, 0), *pairs))(x)
    rank = len(kernel)
    return P.AvgPoolNd(rank, kernel, strides, 0, False, True, None, "valid")(padded) * math.prod(kernel)


@operator("GlobalAveragePool")
def _global_average(x: Any) -> Any:
    return P.ReduceMean(True)(x, tuple(range(2, x.ndim)))


@operator("GlobalMaxPool")
def _global_max(x: Any) -> Any:
    return P.ReduceMax(True)(x, tuple(range(2, x.ndim)))


@operator("BatchNormalization")
def _batch_norm(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: float = 1e-5, momentum: float = 0.9,
    training_mode: int = 0, spatial: int = 1,
) -> Any:  # fmt: skip
    if training_mode:
        raise ValueError("ONNX models in training mode cannot be read.")
    shape = (1, -1, *(1,) * (x.ndim - 2))
    factor = scale * P.Rsqrt()(variance + epsilon)
    return x * factor.reshape(shape) + (bias - mean * factor).reshape(shape)


@operator("InstanceNormalization")
def _instance_norm(x: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    out = P.Standardize(tuple(range(2, x.ndim)), epsilon)(x)[0]
    shape = (1, -1, *(1,) * (x.ndim - 2))
    return out * scale.reshape(shape) + bias.reshape(shape)


@operator("LayerNormalization")
def _layer_norm(
    x: Any, scale: Any, bias: Any = None, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    out, mean, variance = P.Standardize(tuple(range(axis % x.ndim, x.ndim)), epsilon)(x)
    out = out * scale
    return (out if bias is None else out + bias), mean, P.Rsqrt()(variance + epsilon)


def _along(x: Any, axis: int, opset: int, made: Any) -> Any:
    """Before opset 13, softmax worked on the matrix that `axis` splits the tensor into."""
    if opset >= 13:
        return made(axis)(x)
    flat = x.reshape(math.prod(x.shape[: axis % max(x.ndim, 1)]), -1)
    return made(-1)(flat).reshape(x.shape)


@operator("Softmax")
def _softmax(x: Any, axis: int | None = None, opset: int = 13) -> Any:
    return _along(x, (-1 if opset >= 13 else 1) if axis is None else axis, opset, P.Softmax)


@operator("LogSoftmax")
def _log_softmax(x: Any, axis: int | None = None, opset: int = 13) -> Any:
    return _along(x, (-1 if opset >= 13 else 1) if axis is None else axis, opset, P.LogSoftmax)


@operator("Einsum")
def _einsum(*xs: Any, equation: str = "") -> Any:
    from mindspore import ops

    return ops.einsum(equation, *xs)


@operator("ReduceLogSumExp", arrays=True)
def _log_sum_exp(x: Any, given: Any = None, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
    x = as_tensor(x)
    chosen = axes if axes is not None else None if given is None else ints(given, "axes")
    if not chosen and noop_with_empty_axes:
        return x
    over = tuple(a % x.ndim for a in chosen) if chosen else tuple(range(x.ndim))
    top = P.ReduceMax(True)(x, over)
    out = P.Log()(P.ReduceSum(True)(P.Exp()(x - top), over)) + top
    kept = [d for i, d in enumerate(out.shape) if i not in over]
    return out if keepdims else out.reshape(tuple(kept))


@operator("Hardmax")
def _hardmax(x: Any, axis: int = -1) -> Any:
    axis = axis % x.ndim
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    first = P.ExpandDims()(P.Argmax(axis)(x), axis)
    hit = P.Equal()(first, Tensor(np.arange(x.shape[axis], dtype=np.int32).reshape(shape)))
    return P.Cast()(hit, x.dtype)


@operator("RMSNormalization")
def _rms_norm(x: Any, scale: Any, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Any:
    over = tuple(range(axis % x.ndim, x.ndim))
    return x * P.Rsqrt()(P.ReduceMean(True)(x * x, over) + epsilon) * scale


__all__ = ["OPERATORS"]
