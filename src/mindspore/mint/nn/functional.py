"""Neural-network functions with PyTorch's argument names and defaults."""

# ruff: noqa: F401 - names are re-exported

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import function as F
from mindspore.ops import nn_func as nf
from mindspore.ops.function import pad as _pad
from mindspore.ops.function import sigmoid, tanh
from mindspore.ops.function._common import cast
from mindspore.ops.nn_func import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    conv_transpose2d,
    cosine_embedding_loss,
    cross_entropy,
    embedding,
    fold,
    grid_sample,
    group_norm,
    hardshrink,
    hardsigmoid,
    hardswish,
    interpolate,
    l1_loss,
    layer_norm,
    linear,
    mse_loss,
    pixel_shuffle,
    prelu,
    relu,
    scaled_dot_product_attention,
    silu,
    soft_margin_loss,
    softplus,
    softshrink,
    unfold,
    upsample,
)  # fmt: skip
from mindspore.prims import elementwise as ew
from mindspore.prims.inplace import update


# -- activations ----------------------------------------------------------------------------------------------------
def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Exponentials that add up to 1 along `dim` (the last dimension when None)."""
    return nf.softmax(cast(input, dtype), -1 if dim is None else dim)


def log_softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax."""
    return nf.log_softmax(cast(input, dtype), -1 if dim is None else dim)


def gelu(input: Any, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; 'tanh' approximates it."""
    return nf.gelu(input, approximate)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Tensor:
    """x where positive, else negative_slope * x."""
    return nf.leaky_relu(input, negative_slope)


def _stored(input: Any, out: Tensor, inplace: bool) -> Tensor:
    return update(input, out) if inplace else out


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1)."""
    return _stored(input, nf.elu(input, alpha), inplace)


def relu6(input: Any, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return _stored(input, nf.relu6(input), inplace)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x kept within [min_val, max_val]."""
    return _stored(input, nf.hardtanh(input, min_val, max_val), inplace)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above the threshold, else `value`."""
    return _stored(input, nf.threshold(input, threshold, value), inplace)


def relu_(input: Any) -> Tensor:
    """`relu`, with the result stored in the input."""
    return update(input, nf.relu(input))


def sigmoid_(input: Any) -> Tensor:
    """`sigmoid`, with the result stored in the input."""
    return update(input, sigmoid(input))


def elu_(input: Any, alpha: float = 1.0) -> Tensor:
    """`elu`, with the result stored in the input."""
    return elu(input, alpha, True)


def hardtanh_(input: Any, min_val: float = -1, max_val: float = 1) -> Tensor:
    """`hardtanh`, with the result stored in the input."""
    return hardtanh(input, float(min_val), float(max_val), True)


def threshold_(input: Any, threshold: float, value: float) -> Tensor:
    """`threshold`, with the result stored in the input."""
    return update(input, nf.threshold(input, threshold, value))


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise every channel (dimension 1) by the batch's statistics in training, by the running ones otherwise."""
    return nf.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The partial inverse of 2-d max pooling."""
    return nf.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)


def selu(input: Any) -> Tensor:
    """The self-normalising exponential unit."""
    return nf.selu(input)


def mish(input: Any) -> Tensor:
    """x tanh(softplus(x))."""
    return nf.mish(input)


def logsigmoid(input: Any) -> Tensor:
    """log(sigmoid(x))."""
    return nf.logsigmoid(input)


def glu(input: Any, dim: int = -1) -> Tensor:
    """The first half of `dim` times the sigmoid of the second."""
    return nf.glu(input, dim)


# -- layers as functions --------------------------------------------------------------------------------------------
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros with probability p, the rest scaled by 1 / (1 - p)."""
    return _stored(input, nf.dropout(input, float(p), training), inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels with probability p."""
    return _stored(input, nf.dropout2d(input, float(p), training), inplace)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Surround the last dimensions; see `ops.pad`."""
    return _pad(input, pad, mode, value)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge dimensions: all of them by default."""
    return F.flatten(input, start_dim=start_dim, end_dim=end_dim)


def one_hot(tensor: Any, num_classes: int = -1) -> Tensor:
    """int64 one-hot codes; -1 takes as many classes as occur."""
    return F.one_hot(tensor, num_classes, 1, 0)


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Divide by the p-norm along `dim`, at least eps."""
    return input / ew.Maximum()(F.vector_norm(input, p, dim, True), eps)


def _mode(padding: Any) -> tuple[str, Any]:
    return (padding, 0) if isinstance(padding, str) else ("pad", padding)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """1-d convolution; `padding` is a number per side, 'same' or 'valid'."""
    mode, amount = _mode(padding)
    return nf.conv1d(input, weight, bias, stride, mode, amount, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """2-d convolution; `padding` is a number per side (or one per dimension), 'same' or 'valid'."""
    mode, amount = _mode(padding)
    return nf.conv2d(input, weight, bias, stride, mode, amount, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """3-d convolution; `padding` is a number per side (or one per dimension), 'same' or 'valid'."""
    mode, amount = _mode(padding)
    return nf.conv3d(input, weight, bias, stride, mode, amount, dilation, groups)


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window; the stride defaults to the window."""
    return nf.avg_pool1d(input, kernel_size, _stride(stride, kernel_size), padding, ceil_mode, count_include_pad)


def _stride(stride: Any, kernel_size: Any) -> Any:
    return kernel_size if stride is None or stride == () else stride


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window; the stride defaults to the window."""
    stride = _stride(stride, kernel_size)
    return nf.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)


def avg_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window; the stride defaults to the window."""
    stride = _stride(stride, kernel_size)
    return nf.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window, perhaps with its position."""
    return nf.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


# -- losses ---------------------------------------------------------------------------------------------------------
def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Cross entropy of probabilities."""
    return nf.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """Cross entropy of logits."""
    return nf.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """The negative log likelihood of the target classes."""
    return nf.nll_loss(input, target, weight, ignore_index, reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Quadratic near 0, linear beyond `beta`."""
    if beta == 0:
        return nf.l1_loss(input, target, reduction)
    return nf.smooth_l1_loss(input, target, float(beta), reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log target - input), where input holds log probabilities."""
    if log_target:
        loss = ew.Exp()(target) * (target - input)
    else:
        loss = F.xlogy(target, target) - target * input
    if reduction == "none":
        return loss
    if reduction == "batchmean":
        return F.sum(loss) / (input.shape[0] if input.ndim else 1)
    return F.mean(loss) if reduction == "mean" else F.sum(loss)


__all__ = [name for name in globals() if not name.startswith("_") and name not in ("Any", "Tensor", "annotations")]
