"""Linear layers as functions: convolutions, transposed convolutions, dense and bilinear products."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import require_tensor
from mindspore.ops.product import dense
from mindspore.prims import conv as _conv
from mindspore.prims import window
from mindspore.prims.arrays import ExpandDims, Pad, Squeeze
from mindspore.prims.broadcasting import Reshape

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv3d_transpose", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "linear",
]  # fmt: skip

_CLASSES = {1: _conv.Conv1D, 2: _conv.Conv2D, 3: _conv.Conv3D}
_TRANSPOSED = {1: _conv.Conv1DBackpropInput, 2: _conv.Conv2DBackpropInput, 3: _conv.Conv3DBackpropInput}


def add_channel_bias(x: Tensor, bias: Any) -> Any:
    """Add one number per channel (dimension 1)."""
    return x + Reshape()(bias, (1, bias.shape[0], *(1,) * (x.ndim - 2)))


def _convolve(
    op: str, rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, pad_mode: str,
    padding: Any, dilation: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    require_tensor(op, "input", input)
    require_tensor(op, "weight", weight)
    if weight.ndim != rank + 2:
        raise ValueError(f"For '{op}', 'weight' must have {rank + 2} dimensions, but its shape is {weight.shape}.")
    batched = input.ndim == rank + 2
    if not batched and input.ndim != rank + 1:
        raise ValueError(
            f"For '{op}', 'input' must have {rank + 2} dimensions ({rank + 1} without a batch), but its shape is "
            f"{input.shape}."
        )
    x = input if batched else ExpandDims()(input, 0)
    prim = _CLASSES[rank](weight.shape[0], weight.shape[2:], 1, pad_mode, padding, stride, dilation, groups)
    out = prim(x, weight)
    out = out if bias is None else add_channel_bias(out, require_tensor(op, "bias", bias))
    return out if batched else Squeeze(0)(out)


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """1-d convolution of (N, C, L) with (O, C/groups, K).

    Examples:
        >>> x, kernel = Tensor([[[1.0, 2.0, 4.0, 8.0]]]), Tensor([[[1.0, -1.0]]])
        >>> print(ops.conv1d(x, kernel))
        [[[-1. -2. -4.]]]
    """
    return _convolve("conv1d", 1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """2-d convolution of (N, C, H, W) with (O, C/groups, KH, KW).

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> x, w = ms.Tensor(np.ones((1, 1, 4, 4), np.float32)), ms.Tensor(np.ones((2, 1, 3, 3), np.float32))
        >>> ms.ops.conv2d(x, w).shape
        (1, 2, 2, 2)
    """
    return _convolve("conv2d", 2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """3-d convolution of (N, C, D, H, W) with (O, C/groups, KD, KH, KW).

    Examples:
        >>> ops.conv3d(ops.ones((1, 2, 4, 4, 4)), ops.ones((3, 2, 3, 3, 3)), pad_mode="same").shape
        (1, 3, 4, 4, 4)
    """
    return _convolve("conv3d", 3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def transposed_sizes(
    op: str, sizes: tuple[int, ...], kernel: tuple, stride: tuple, dilation: tuple, pad_mode: str, pads: tuple,
    output_padding: tuple,
) -> tuple[int, ...]:  # fmt: skip
    """The spatial sizes that a transposed convolution produces."""
    out = []
    for n, k, s, d, (lo, hi), extra in zip(sizes, kernel, stride, dilation, pads, output_padding):
        if extra and extra >= max(s, d):
            raise ValueError(
                f"For '{op}', 'output_padding' must be smaller than stride or dilation, but got {output_padding}."
            )
        span = window.extent(k, d)
        if pad_mode == "valid":
            size = n * s + max(span - s, 0)
        elif pad_mode == "same":
            size = n * s
        else:
            size = (n - 1) * s + span - lo - hi
        if size + extra < 1:
            raise ValueError(f"For '{op}', the padding {pads} leaves nothing of an output for input sizes {sizes}.")
        out.append(size + extra)
    return tuple(out)


def transposed_convolution(
    op: str, rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, pad_mode: str, padding: Any,
    output_padding: Any, groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    """The transpose of a convolution whose filters `weight` have the shape (in, out/groups, *kernel)."""
    require_tensor(op, "input", input)
    require_tensor(op, "weight", weight)
    if weight.ndim != rank + 2:
        raise ValueError(f"For '{op}', 'weight' must have {rank + 2} dimensions, but its shape is {weight.shape}.")
    batched = input.ndim == rank + 2
    if not batched and input.ndim != rank + 1:
        raise ValueError(f"For '{op}', 'input' must have {rank + 2} dimensions, but its shape is {input.shape}.")
    x = input if batched else ExpandDims()(input, 0)
    strides = window.per_dimension(op, "stride", stride, rank)
    dilations = window.per_dimension(op, "dilation", dilation, rank)
    extra = window.per_dimension(op, "output_padding", output_padding, rank, 0)
    pads = window.pad_pairs(op, padding, rank, "padding")
    mode = window.pad_mode(op, pad_mode)
    kernel = tuple(weight.shape[2:])
    sizes = transposed_sizes(op, x.shape[2:], kernel, strides, dilations, mode, pads, extra)
    if mode == "valid" or (mode == "pad" and any(extra)):
        # Padding after the input is implied by its size, so output padding needs none of its own.
        mode = "pad"
    # What exceeds a stride is no padding of the transpose: it uncovers results that padding cut off, then adds zeros.
    shown = tuple(min(e, hi) if e >= s else 0 for e, s, (_, hi) in zip(extra, strides, pads))
    zeros = tuple(e - v if e >= s else 0 for e, s, v in zip(extra, strides, shown))
    pads = tuple((lo, hi - v) for (lo, hi), v in zip(pads, shown))
    template = _CLASSES[rank](
        weight.shape[0], kernel, 1, mode, tuple(v for p in pads for v in p), strides, dilations, groups
    )
    target = (x.shape[0], weight.shape[1] * groups, *(n - z for n, z in zip(sizes, zeros)))
    out = template.sibling(_TRANSPOSED[rank])(x, weight, target)
    out = Pad(((0, 0), (0, 0), *((0, z) for z in zeros)))(out) if any(zeros) else out
    out = out if bias is None else add_channel_bias(out, require_tensor(op, "bias", bias))
    return out if batched else Squeeze(0)(out)


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Transposed 1-d convolution of (N, C, L) with (C, O/groups, K).

    Examples:
        >>> print(ops.conv_transpose1d(Tensor([[[1.0, 2.0]]]), Tensor([[[1.0, 10.0]]])))
        [[[ 1. 12. 20.]]]
    """
    args = input, weight, bias, stride, "pad", padding, output_padding, groups, dilation
    return transposed_convolution("conv_transpose1d", 1, *args)


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Transposed 2-d convolution of (N, C, H, W) with (C, O/groups, KH, KW).

    Examples:
        >>> ops.conv_transpose2d(ops.ones((1, 2, 3, 3)), ops.ones((2, 4, 2, 2)), stride=2).shape
        (1, 4, 6, 6)
    """
    args = input, weight, bias, stride, "pad", padding, output_padding, groups, dilation
    return transposed_convolution("conv_transpose2d", 2, *args)


def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Transposed 3-d convolution of (N, C, D, H, W) with (C, O/groups, KD, KH, KW).

    Examples:
        >>> ops.conv_transpose3d(ops.ones((1, 2, 3, 3, 3)), ops.ones((2, 4, 2, 2, 2)), stride=2).shape
        (1, 4, 6, 6, 6)
    """
    args = input, weight, bias, stride, "pad", padding, output_padding, groups, dilation
    return transposed_convolution("conv_transpose3d", 3, *args)


def conv3d_transpose(
    inputs: Tensor, weight: Tensor, pad_mode: str = "valid", padding: Any = 0, stride: Any = 1, dilation: Any = 1,
    group: int = 1, output_padding: Any = 0,
) -> Tensor:  # fmt: skip
    """Transposed 3-d convolution with the padding modes of `Conv3d`.

    Examples:
        >>> ops.conv3d_transpose(ops.ones((1, 2, 3, 3, 3)), ops.ones((2, 4, 2, 2, 2)), stride=2).shape
        (1, 4, 6, 6, 6)
    """
    args = inputs, weight, None, stride, pad_mode, padding, output_padding, group, dilation
    return transposed_convolution("conv3d_transpose", 3, *args)


linear = dense
