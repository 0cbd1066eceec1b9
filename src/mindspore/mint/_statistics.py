"""Batch normalisation in parts, for batches spread over several processes; and other functions with few users."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.prims.inplace import update

__all__ = [
    "addr_", "batch_norm_elemt", "batch_norm_gather_stats_with_counts", "batch_norm_stats", "conv_tbc", "npu_gelu",
]  # fmt: skip


def _row(values: Any, like: Tensor) -> Any:
    """Numbers per channel, to be broadcast against (N, C, …)."""
    return ops.reshape(values, (1, -1) + (1,) * (like.ndim - 2))


def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The mean, and 1 / standard deviation, of each channel of (N, C, …).

    Examples:
        >>> mean, invstd = mint.batch_norm_stats(Tensor([[1.0, 10.0], [3.0, 30.0]]), 0.0)
        >>> print(mean, invstd)
        [ 2. 20.] [1.  0.1]
    """
    axes = (0, *range(2, input.ndim))
    mean = ops.ReduceMean()(input, axes)
    variance = ops.ReduceMean()(ops.square(input - _row(mean, input)), axes)
    return mean, 1 / ops.sqrt(variance + eps)


def batch_norm_elemt(
    input: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    mean: Any = None,
    invstd: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(input - mean) * invstd * weight + bias, channel by channel.

    Examples:
        >>> x = Tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> mean, invstd = mint.batch_norm_stats(x, 1e-5)
        >>> print(mint.batch_norm_elemt(x, mean=mean, invstd=invstd).round(decimals=3))
        [[-1. -1.]
         [ 1.  1.]]
    """
    out = (input - _row(mean, input)) * _row(invstd, input)
    out = out if weight is None else out * _row(weight, input)
    return out if bias is None else out + _row(bias, input)


def batch_norm_gather_stats_with_counts(
    input: Any, mean: Any, invstd: Any, running_mean: Any = None, running_var: Any = None, momentum: float = 0.1,
    eps: float = 1e-5, counts: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The statistics of the whole batch from those (processes, channels) of its parts; running ones follow in place.

    Examples:
        >>> x, mean, invstd = mint.ones((2, 1)), Tensor([[1.0], [3.0]]), Tensor([[1.0], [1.0]])
        >>> whole, _ = mint.batch_norm_gather_stats_with_counts(x, mean, invstd, counts=Tensor([1.0, 1.0]))
        >>> print(whole)
        [2.]
    """
    weights = ops.reshape(counts, (-1, 1))
    total = ops.ReduceSum()(weights, ())
    whole = ops.ReduceSum()(mean * weights, 0) / total
    inner = 1 / ops.square(invstd) - eps
    variance = ops.ReduceSum()((inner + ops.square(mean - whole)) * weights, 0) / total
    if running_mean is not None:
        update(running_mean, running_mean * (1 - momentum) + whole * momentum)
    if running_var is not None:
        unbiased = variance * total / (total - 1)
        update(running_var, running_var * (1 - momentum) + unbiased * momentum)
    return whole, 1 / ops.sqrt(variance + eps)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """1-d convolution of (time, batch, channels) with a weight (kernel, in, out).

    Examples:
        >>> from mindspore import Tensor, mint
        >>> import numpy as np
        >>> ones = lambda *shape: Tensor(np.ones(shape, np.float32))
        >>> mint.conv_tbc(ones(5, 2, 3), ones(3, 3, 4), ones(4), 1).shape
        (5, 2, 4)
    """
    x, w = ops.transpose(input, (1, 2, 0)), ops.transpose(weight, (2, 1, 0))
    return ops.transpose(ops.conv1d(x, w, bias, 1, "pad", pad), (2, 0, 1))


def addr_(input: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """input = beta * input + alpha * the outer product of two vectors, in place.

    Examples:
        >>> x = mint.zeros((2, 2))
        >>> print(mint.addr_(x, Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        [[3. 4.]
         [6. 8.]]
    """
    return update(input, ops.addr(input, vec1, vec2, beta=beta, alpha=alpha))


def npu_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's cumulative function; "tanh" approximates it.

    Examples:
        >>> print(mint.npu_gelu(Tensor([-1.0, 0.0, 2.0])))
        [-0.15865526  0.          1.9544997 ]
    """
    return ops.gelu(input, approximate)
