"""Neural-network functions with PyTorch's argument names and defaults."""

# ruff: noqa: F401 - names are re-exported

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.mint._signatures import implied_dim as _implied_dim
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast as _cast
from mindspore.ops.arguments import largest as _largest
from mindspore.ops.arguments import require_tensor as _require_tensor
from mindspore.ops.functional import (
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
    sigmoid,
    silu,
    soft_margin_loss,
    softplus,
    softshrink,
    tanh,
    unfold,
    upsample,
)  # fmt: skip
from mindspore.ops.functional import pad as _pad
from mindspore.prims import elementwise as ew
from mindspore.prims.inplace import update as _update


# -- activations ----------------------------------------------------------------------------------------------------
def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Exponentials that add up to 1 along `dim` (None: the first of tensors of no, one or three dimensions, the second of others).

    Examples:
        >>> print(mint.nn.functional.softmax(Tensor([0.0, 0.0]), dim=0))
        [0.5 0.5]
    """
    return F.softmax(_cast(input, dtype), _implied_dim(input) if dim is None else dim)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax; `dim` is as there.

    Examples:
        >>> print(mint.nn.functional.log_softmax(Tensor([0.0, 0.0]), dim=0))
        [-0.6931472 -0.6931472]
    """
    return F.log_softmax(_cast(input, dtype), _implied_dim(input) if dim is None else dim)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; 'tanh' approximates it.

    Examples:
        >>> print(mint.nn.functional.gelu(Tensor([-1.0, 0.0, 2.0])))
        [-0.15865526  0.          1.9544997 ]
    """
    return F.gelu(input, approximate)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where positive, else negative_slope * x.

    Examples:
        >>> print(mint.nn.functional.leaky_relu(Tensor([-5.0, 2.0])))
        [-0.05  2.  ]
    """
    return F.leaky_relu(input, negative_slope)


def _stored(input: Tensor, out: Tensor, inplace: bool) -> Tensor:
    return _update(input, out) if inplace else out


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1).

    Examples:
        >>> print(mint.nn.functional.elu(Tensor([-1.0, 2.0])))
        [-0.63212055  2.        ]
    """
    return _stored(input, F.elu(input, alpha), inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6).

    Examples:
        >>> print(mint.nn.functional.relu6(Tensor([-1.0, 3.0, 8.0])))
        [0. 3. 6.]
    """
    return _stored(input, F.relu6(input), inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x kept within [min_val, max_val].

    Examples:
        >>> print(mint.nn.functional.hardtanh(Tensor([-3.0, 0.3, 3.0])))
        [-1.   0.3  1. ]
    """
    return _stored(input, F.hardtanh(input, min_val, max_val), inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above the threshold, else `value`.

    Examples:
        >>> print(mint.nn.functional.threshold(Tensor([0.1, 5.0]), 1.0, -1.0))
        [-1.  5.]
    """
    return _stored(input, F.threshold(input, threshold, value), inplace)


def relu_(input: Tensor) -> Tensor:
    """`relu`, with the result stored in the input.

    Examples:
        >>> x = Tensor([-1.0, 2.0])
        >>> _ = mint.nn.functional.relu_(x)
        >>> print(x)
        [0. 2.]
    """
    return _update(input, F.relu(input))


def sigmoid_(input: Tensor) -> Tensor:
    """`sigmoid`, with the result stored in the input.

    Examples:
        >>> x = Tensor([0.0, 2.0])
        >>> _ = mint.nn.functional.sigmoid_(x)
        >>> print(x)
        [0.5      0.880797]
    """
    return _update(input, sigmoid(input))


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, with the result stored in the input.

    Examples:
        >>> x = Tensor([-1.0, 2.0])
        >>> _ = mint.nn.functional.elu_(x)
        >>> print(x)
        [-0.63212055  2.        ]
    """
    return elu(input, alpha, True)


def hardtanh_(input: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """`hardtanh`, with the result stored in the input.

    Examples:
        >>> x = Tensor([-3.0, 0.3, 3.0])
        >>> _ = mint.nn.functional.hardtanh_(x)
        >>> print(x)
        [-1.   0.3  1. ]
    """
    return hardtanh(input, float(min_val), float(max_val), True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold`, with the result stored in the input.

    Examples:
        >>> x = Tensor([0.1, 5.0])
        >>> _ = mint.nn.functional.threshold_(x, 1.0, -1.0)
        >>> print(x)
        [-1.  5.]
    """
    return _update(input, F.threshold(input, threshold, value))


def batch_norm(
    input: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise every channel (dimension 1) by the batch's statistics in training, by the running ones otherwise.

    Examples:
        >>> x, mean, variance = Tensor([[1.0, 10.0], [3.0, 30.0]]), mint.ones(2), mint.ones(2)
        >>> print(mint.nn.functional.batch_norm(x, mean, variance).round(decimals=3))
        [[ 0.  9.]
         [ 2. 29.]]
    """
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The partial inverse of 2-d max pooling.

    Examples:
        >>> print(mint.nn.functional.max_unpool2d(Tensor([[[[5.0]]]]), Tensor([[[[3]]]]), 2))
        [[[[0. 0.]
           [0. 5.]]]]
    """
    return F.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)


def selu(input: Tensor) -> Tensor:
    """The self-normalising exponential unit.

    Examples:
        >>> print(mint.nn.functional.selu(Tensor([-1.0, 2.0])))
        [-1.1113307  2.101402 ]
    """
    return F.selu(input)


def mish(input: Tensor) -> Tensor:
    """x tanh(softplus(x)).

    Examples:
        >>> print(mint.nn.functional.mish(Tensor([-1.0, 0.0, 2.0])))
        [-0.30340147  0.          1.9439589 ]
    """
    return F.mish(input)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)).

    Examples:
        >>> print(mint.nn.functional.logsigmoid(Tensor([0.0, 3.0])))
        [-0.6931472  -0.04858735]
    """
    return F.logsigmoid(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of `dim` times the sigmoid of the second.

    Examples:
        >>> print(mint.nn.functional.glu(Tensor([4.0, 6.0, 0.0, 0.0])))
        [2. 3.]
    """
    return F.glu(input, dim)


# -- layers as functions --------------------------------------------------------------------------------------------
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros with probability p, the rest scaled by 1 / (1 - p).

    Examples:
        >>> print(mint.nn.functional.dropout(Tensor([1.0, 2.0]), p=0.5, training=False))
        [1. 2.]
    """
    return _stored(input, F.dropout(input, float(p), training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels with probability p.

    Examples:
        >>> print(mint.nn.functional.dropout2d(Tensor([[[[1.0, 2.0]]]]), training=False))
        [[[[1. 2.]]]]
    """
    return _stored(input, F.dropout2d(input, float(p), training), inplace)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Surround the last dimensions; see `ops.pad`.

    Examples:
        >>> print(mint.nn.functional.pad(Tensor([[1, 2]]), (1, 2), value=9))
        [[9 1 2 9 9]]
    """
    return _pad(input, pad, mode, value)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge dimensions: all of them by default.

    Examples:
        >>> mint.nn.functional.flatten(mint.ones((2, 3, 4)), 1).shape
        (2, 12)
    """
    return F.flatten(input, start_dim=start_dim, end_dim=end_dim)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """int64 one-hot codes; -1 takes as many classes as occur.

    Examples:
        >>> print(mint.nn.functional.one_hot(Tensor([0, 2])))
        [[1 0 0]
         [0 0 1]]
    """
    _require_tensor("one_hot", "tensor", tensor)
    return F.one_hot(tensor, _largest("one_hot", tensor, -1) + 1 if num_classes == -1 else num_classes, 1, 0)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Divide by the p-norm along `dim`, at least eps.

    Examples:
        >>> print(mint.nn.functional.normalize(Tensor([[3.0, 4.0]])))
        [[0.6 0.8]]
    """
    return input / ew.Maximum()(F.vector_norm(input, p, dim, True), eps)


def _mode(padding: Any) -> tuple[str, Any]:
    return (padding, 0) if isinstance(padding, str) else ("pad", padding)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """1-d convolution; `padding` is a number per side, 'same' or 'valid'.

    Examples:
        >>> print(mint.nn.functional.conv1d(Tensor([[[1.0, 2.0, 4.0]]]), Tensor([[[1.0, -1.0]]])))
        [[[-1. -2.]]]
    """
    mode, amount = _mode(padding)
    return F.conv1d(input, weight, bias, stride, mode, amount, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """2-d convolution; `padding` is a number per side (or one per dimension), 'same' or 'valid'.

    Examples:
        >>> mint.nn.functional.conv2d(mint.ones((1, 2, 5, 5)), mint.ones((4, 2, 3, 3)), padding=1).shape
        (1, 4, 5, 5)
    """
    mode, amount = _mode(padding)
    return F.conv2d(input, weight, bias, stride, mode, amount, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """3-d convolution; `padding` is a number per side (or one per dimension), 'same' or 'valid'.

    Examples:
        >>> mint.nn.functional.conv3d(mint.ones((1, 2, 4, 4, 4)), mint.ones((4, 2, 3, 3, 3))).shape
        (1, 4, 2, 2, 2)
    """
    mode, amount = _mode(padding)
    return F.conv3d(input, weight, bias, stride, mode, amount, dilation, groups)


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window; the stride defaults to the window.

    Examples:
        >>> print(mint.nn.functional.avg_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2))
        [[[2. 6.]]]
    """
    return F.avg_pool1d(input, kernel_size, _stride(stride, kernel_size), padding, ceil_mode, count_include_pad)


def _stride(stride: Any, kernel_size: Any) -> Any:
    return kernel_size if stride is None or stride == () else stride


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window; the stride defaults to the window.

    Examples:
        >>> print(mint.nn.functional.avg_pool2d(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]]), 2))
        [[[[4.]]]]
    """
    stride = _stride(stride, kernel_size)
    return F.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window; the stride defaults to the window.

    Examples:
        >>> print(mint.nn.functional.avg_pool3d(mint.ones((1, 1, 2, 2, 2)), 2).item())
        1.0
    """
    stride = _stride(stride, kernel_size)
    return F.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window, perhaps with its position.

    Examples:
        >>> print(mint.nn.functional.max_pool2d(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]]), 2))
        [[[[7.]]]]
    """
    return F.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


# -- losses ---------------------------------------------------------------------------------------------------------
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Cross entropy of probabilities.

    Examples:
        >>> print(mint.nn.functional.binary_cross_entropy(Tensor([0.9, 0.2]), Tensor([1.0, 0.0])))
        0.16425204
    """
    return F.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """Cross entropy of logits.

    Examples:
        >>> loss = mint.nn.functional.binary_cross_entropy_with_logits
        >>> print(loss(Tensor([0.0, 3.0]), Tensor([1.0, 0.0]), reduction="none"))
        [0.6931472 3.0485873]
    """
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def nll_loss(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """The negative log likelihood of the target classes.

    Examples:
        >>> print(mint.nn.functional.nll_loss(Tensor([[-0.5, -1.0], [-2.0, -0.1]]), Tensor([0, 1])))
        0.3
    """
    return F.nll_loss(input, target, weight, ignore_index, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Quadratic near 0, linear beyond `beta`.

    Examples:
        >>> print(mint.nn.functional.smooth_l1_loss(Tensor([1.5, 5.0]), Tensor([1.0, 1.0]), reduction="none"))
        [0.125 3.5  ]
    """
    if beta == 0:
        return F.l1_loss(input, target, reduction)
    return F.smooth_l1_loss(input, target, float(beta), reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log target - input), where input holds log probabilities.

    Examples:
        >>> print(mint.nn.functional.kl_div(Tensor([-0.6931472, -0.6931472]), Tensor([1.0, 0.0]), reduction="sum"))
        0.6931472
    """
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
