"""ONNX operators that are layers: products, convolution, pooling, normalisation, softmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.formats.onnx.registry import OPERATORS, P, as_tensor, ints, operator, tensor
from mindspore.prims import products

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase

_CONV = {1: P.Conv1D, 2: P.Conv2D, 3: P.Conv3D}


@operator("MatMul")
def _matmul(a: Any, b: Any) -> Any:
    return products.matmul(a, b)


@operator("Gemm")
def _gemm(
    a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0
) -> Any:
    out = P.MatMul(bool(transA), bool(transB))(a, b)
    out = out if alpha == 1 else out * alpha
    return out if c is None else out + (c if beta == 1 else c * beta)


def padding_pairs(
    x: TensorBase, kernel: Any, strides: Any, dilations: Any, pads: Any, auto_pad: str
) -> list[tuple[int, int]]:
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
def convolution(
    x: TensorBase, w: TensorBase, bias: Any = None, auto_pad: str = "NOTSET", dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    """Convolution of one to three dimensions."""
    rank = x.ndim - 2
    kernel = tuple(w.shape[2:])
    strides, dilations = tuple(strides or (1,) * rank), tuple(dilations or (1,) * rank)
    pairs = padding_pairs(x, kernel, strides, dilations, pads, auto_pad)
    pad: dict[str, Any] = {"pad_mode": "valid"}
    if any(lo or hi for lo, hi in pairs):
        if rank == 1:
            x = P.Pad(((0, 0), (0, 0), *pairs))(x)
        else:  # the convolution's own padding costs nothing
            pad = {"pad_mode": "pad", "pad": tuple(n for pair in pairs for n in pair)}
    made = _CONV[rank](w.shape[0], kernel, stride=strides, dilation=dilations, group=group, **pad)
    out = made(x, w)
    return out if bias is None else out + bias.reshape(1, -1, *(1,) * rank)


def _spread(x: TensorBase, strides: tuple[int, ...]) -> Any:
    """`x` with strides - 1 zeros between neighbours of each spatial dimension."""
    for axis, stride in enumerate(strides, 2):
        if stride > 1:
            before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
            split = x.reshape(*before, size, 1, *after)
            pads = [(0, 0)] * split.ndim
            pads[axis + 1] = (0, stride - 1)
            joined = P.Pad(tuple(pads))(split).reshape(*before, size * stride, *after)
            x = joined[(*(slice(None),) * axis, slice(0, (size - 1) * stride + 1))]
    return x


@operator("ConvTranspose")
def _conv_transpose(
    x: TensorBase, w: TensorBase, bias: Any = None, auto_pad: str = "NOTSET", dilations: Any = None, group: int = 1,
    kernel_shape: Any = None, output_padding: Any = None, output_shape: Any = None, pads: Any = None,
    strides: Any = None,
) -> Any:  # fmt: skip
    """As a convolution of the spread input with the turned kernel."""
    rank = x.ndim - 2
    kernel = tuple(w.shape[2:])
    strides, dilations = tuple(strides or (1,) * rank), tuple(dilations or (1,) * rank)
    extra = tuple(output_padding or (0,) * rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pairs: list[Any] = list(zip(pads[:rank], pads[rank:])) if pads is not None else [(0, 0)] * rank
    if output_shape is not None or auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        sizes = output_shape or [d * s for d, s in zip(x.shape[2:], strides)]
        pairs = []
        for size, old, s, span, more in zip(sizes[-rank:], x.shape[2:], strides, spans, extra):
            total = (old - 1) * s + more + span - size
            less = total // 2
            pairs.append((less, total - less) if auto_pad == "SAME_UPPER" else (total - less, less))
    inner, outer = w.shape[0] // group, w.shape[1]
    turned = w[(slice(None), slice(None), *(slice(None, None, -1),) * rank)].reshape(group, inner, outer, *kernel)
    turned = P.Transpose()(turned, (0, 2, 1, *range(3, 3 + rank))).reshape(group * outer, inner, *kernel)
    edges = [(span - 1 - lo, span - 1 - hi + more) for span, (lo, hi), more in zip(spans, pairs, extra)]
    wide = P.Pad(((0, 0), (0, 0), *((max(lo, 0), max(hi, 0)) for lo, hi in edges)))(_spread(x, strides))
    cut = [slice(max(-lo, 0), wide.shape[i + 2] - max(-hi, 0)) for i, (lo, hi) in enumerate(edges)]
    return convolution(wide[(slice(None), slice(None), *cut)], turned, bias, dilations=dilations, group=group)


@operator("BatchNormalization")
def _batch_norm(
    x: TensorBase, scale: Any, bias: Any, mean: TensorBase, variance: Any, epsilon: float = 1e-5, momentum: float = 0.9,
    training_mode: int = 0, spatial: int = 1,
) -> Any:  # fmt: skip
    shape = (1, -1, *(1,) * (x.ndim - 2))
    moving = ()
    if training_mode:
        axes = (0, *range(2, x.ndim))
        old, mean = (mean, variance), P.ReduceMean(False)(x, axes)
        variance = P.ReduceMean(False)(P.Square()(x - mean.reshape(shape)), axes)
        moving = tuple(o * momentum + new * (1 - momentum) for o, new in zip(old, (mean, variance)))
    factor = scale * P.Rsqrt()(variance + epsilon)
    return (x * factor.reshape(shape) + (bias - mean * factor).reshape(shape), *moving)


@operator("LRN")
def _local_norm(x: TensorBase, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int = 1) -> Any:
    if size < 1:
        raise ValueError(f"'size' of the ONNX operator 'LRN' must be positive, but got {size}.")
    ends = [min(reach, max(x.shape[1] - 1, 0)) for reach in ((size - 1) // 2, size // 2)]  # there is nothing beyond the channels
    return x / P.Pow()(_window_sums(x * x, *ends) * (alpha / size) + bias, beta)


_FEW_TERMS = 16  # of a sum that is written out


def _window_sums(x: TensorBase, below: int, above: int) -> Any:
    """The sums over so many neighbouring channels."""
    count = below + above + 1
    if count <= _FEW_TERMS:
        padded = P.Pad(((0, 0), (below, above), *((0, 0),) * (x.ndim - 2)))(x)
        return sum(padded[:, i : i + x.shape[1]] for i in range(count))
    rows = x.reshape((x.shape[0], 1, x.shape[1], int(np.prod(x.shape[2:]))))
    return (P.AvgPoolNd(2, (count, 1), (1, 1), (below, above, 0, 0))(rows) * float(count)).reshape(x.shape)


@operator("InstanceNormalization")
def _instance_norm(x: TensorBase, scale: TensorBase, bias: TensorBase, epsilon: float = 1e-5) -> Any:
    out = P.Standardize(tuple(range(2, x.ndim)), epsilon)(x)[0]
    shape = (1, -1, *(1,) * (x.ndim - 2))
    return out * scale.reshape(shape) + bias.reshape(shape)


@operator("LayerNormalization")
def _layer_norm(
    x: TensorBase, scale: Any, bias: Any = None, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    out, mean, variance = P.Standardize(tuple(range(axis % x.ndim, x.ndim)), epsilon)(x)
    out = out * scale
    return (out if bias is None else out + bias), mean, P.Rsqrt()(variance + epsilon)


def _along(x: TensorBase, axis: int, opset: int, made: Any) -> Any:
    """Before opset 13, softmax worked on the matrix that `axis` splits the tensor into."""
    if opset >= 13:
        return made(axis)(x)
    flat = x.reshape(math.prod(x.shape[: axis % max(x.ndim, 1)]), -1)
    return made(-1)(flat).reshape(x.shape)


@operator("Softmax")
def _softmax(x: Any, axis: int | None = None, opset: int = 13) -> Any:
    made = P.Softmax if x.dtype.kind != "f" or x.dtype.itemsize > 2 else _stepwise_softmax
    return _along(x, (-1 if opset >= 13 else 1) if axis is None else axis, opset, made)


def _stepwise_softmax(axis: int) -> Any:
    """Of 16 bits: every step is rounded to the element type, as ONNX defines the operator."""

    def run(x: TensorBase) -> Any:
        powers = P.Exp()(x - P.ReduceMax(True)(x, (axis,)))
        return powers / P.ReduceSum(True)(powers, (axis,))

    return run


@operator("LogSoftmax")
def _log_softmax(x: Any, axis: int | None = None, opset: int = 13) -> Any:
    return _along(x, (-1 if opset >= 13 else 1) if axis is None else axis, opset, P.LogSoftmax)


@operator("Einsum")
def _einsum(*xs: Any, equation: str = "") -> Any:
    return products.einsum(equation, xs)


@operator("ReduceLogSumExp", arrays=True)
def _log_sum_exp(x: Any, given: Any = None, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
    x = as_tensor(x)
    chosen = axes if axes is not None else None if given is None else ints(given, "axes")
    if not chosen and noop_with_empty_axes:
        return x
    over = tuple(a % x.ndim for a in chosen) if chosen else tuple(range(x.ndim))
    if any(x.shape[a] == 0 for a in over):
        return P.Log()(P.ReduceSum(bool(keepdims))(x, over))  # the logarithm of nothing summed: -inf
    top = P.ReduceMax(True)(x, over)
    out = P.Log()(P.ReduceSum(True)(P.Exp()(x - top), over)) + top
    kept = [d for i, d in enumerate(out.shape) if i not in over]
    return out if keepdims else out.reshape(tuple(kept))


@operator("Hardmax")
def _hardmax(x: TensorBase, axis: int = -1) -> Any:
    axis = axis % x.ndim
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    first = P.ExpandDims()(P.Argmax(axis)(x), axis)
    hit = P.Equal()(first, tensor(np.arange(x.shape[axis], dtype=np.int32).reshape(shape)))
    return P.Cast()(hit, x.dtype)


@operator("RMSNormalization")
def _rms_norm(x: TensorBase, scale: Any, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Any:
    over = tuple(range(axis % x.ndim, x.ndim))
    return x * P.Rsqrt()(P.ReduceMean(True)(x * x, over) + epsilon) * scale


__all__ = ["OPERATORS"]
