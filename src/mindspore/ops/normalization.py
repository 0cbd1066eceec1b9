"""Normalisation as functions."""

from __future__ import annotations

import math
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    cast,
    require_numbers,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
)
from mindspore.prims import norm as _norm
from mindspore.prims.arrays import Fill
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.elementwise import Maximum, Rsqrt, Square, StopGradient
from mindspore.prims.setting_types import setting_types

__all__ = [
    "add_layer_norm", "add_rms_norm", "batch_norm", "group_norm", "instance_norm", "l2_normalize", "layer_norm", "lrn",
    "rms_norm",
]  # fmt: skip


def _filled(like: Tensor, shape: tuple[int, ...], value: float) -> Any:
    return Fill()(like.dtype, shape, value)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, row: tuple[int, ...]) -> Any:
    """Scale and shift by vectors reshaped to `row`; None leaves a step out."""
    if weight is not None:
        x = x * cast(Reshape()(weight, row), x.dtype)
    if bias is not None:
        x = x + cast(Reshape()(bias, row), x.dtype)
    return x


@setting_types(training=bool, momentum=float, eps=float)
def batch_norm(
    input_x: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None,
    bias: Tensor | None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise every channel (dimension 1) by the batch's statistics or by the running ones.

    In training the running statistics, if given, move a step of `momentum` towards the batch's.

    Examples:
        >>> x = Tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> print(ops.batch_norm(x, ops.ones(2), ops.ones(2), ops.ones(2), ops.zeros(2)).round(decimals=3))
        [[ 0.  9.]
         [ 2. 29.]]
    """
    require_numbers("batch_norm", eps=eps, momentum=momentum)
    require_tensor("batch_norm", "input_x", input_x)
    channels = (input_x.shape[1],) if input_x.ndim > 1 else (1,)
    scale = _filled(input_x, channels, 1) if weight is None else weight
    shift = _filled(input_x, channels, 0) if bias is None else bias
    if running_mean is None or running_var is None:
        if not training:
            raise ValueError("For 'batch_norm', 'running_mean' and 'running_var' are needed unless 'training' is True.")
        axes = (0, *range(2, input_x.ndim))
        row = (1, channels[0], *(1,) * (input_x.ndim - 2))
        return _affine(_norm.Standardize(axes, eps)(input_x)[0], weight, bias, row)
    prim = _norm.BatchNorm(bool(training), eps, momentum)
    return prim(input_x, scale, shift, running_mean, running_var)[0]


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Standardise over the last dimensions, given by their shape, then scale and shift.

    Examples:
        >>> print(ops.layer_norm(Tensor([[1.0, 3.0]]), (2,), ops.ones(2), ops.zeros(2)).round(decimals=3))
        [[-1.  1.]]
    """
    require_numbers("layer_norm", eps=eps)
    require_tensor("layer_norm", "input", input)
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or input.shape[input.ndim - len(shape) :] != shape:
        raise ValueError(
            f"For 'layer_norm', 'normalized_shape' must be the shape of the last dimensions, but got {shape} for an "
            f"input of shape {input.shape}."
        )
    start = input.ndim - len(shape)
    gamma = _filled(input, shape, 1) if weight is None else weight
    beta = _filled(input, shape, 0) if bias is None else bias
    return _norm.LayerNorm(start, start, eps)(input, gamma, beta)[0]


@setting_types(eps=float)
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Standardise groups of channels of (N, C, *), then scale and shift every channel (Wu & He 2018).

    Examples:
        >>> x = Tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> ops.group_norm(x, num_groups=2).round(decimals=2).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    require_numbers("group_norm", eps=eps)
    require_tensor("group_norm", "input", input)
    if input.ndim < 2 or isinstance(num_groups, bool) or not isinstance(num_groups, int) or num_groups < 1:
        raise ValueError(
            f"For 'group_norm', 'input' needs 2 dimensions or more and 'num_groups' must be a positive int, but got "
            f"shape {input.shape} and {num_groups!r}."
        )
    if input.shape[1] % num_groups:
        raise ValueError(f"For 'group_norm', {input.shape[1]} channels do not divide into {num_groups} groups.")
    size = math.prod(input.shape[1:]) // num_groups  # not -1, which says nothing where there is no sample
    grouped = Reshape()(input, (input.shape[0], num_groups, size))
    out = Reshape()(_norm.Standardize((2,), eps)(grouped)[0], input.shape)
    return _affine(out, weight, bias, (1, input.shape[1], *(1,) * (input.ndim - 2)))


def instance_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Standardise every channel of every sample, then scale and shift every channel.

    Examples:
        >>> x = Tensor([[[1.0, 3.0], [10.0, 30.0]]])
        >>> ops.instance_norm(x).round(decimals=2).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    require_numbers("instance_norm", eps=eps)
    require_rank("instance_norm", "x", x, 2)
    require_tensor("instance_norm", "x", x)
    out = _norm.Standardize(tuple(range(2, x.ndim)), eps)(x)[0]
    return _affine(out, weight, bias, (1, x.shape[1], *(1,) * (x.ndim - 2)))


def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """x / sqrt(mean(x²) + epsilon) * gamma over the last dimensions, and the reciprocal root.

    Examples:
        >>> out, rstd = ops.rms_norm(Tensor([[3.0, 4.0]]), ops.ones(2))
        >>> print(out.round(decimals=4))
        [[0.8485 1.1314]]
    """
    require_numbers("rms_norm", epsilon=epsilon)
    out, inverse = _norm.RmsNorm(epsilon)(x, gamma)
    return out, StopGradient()(inverse)  # statistics carry no gradient


def add_rms_norm(x1: Any, x2: Any, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor, Tensor]:
    """`rms_norm(x1 + x2, gamma)`, and the sum.

    Examples:
        >>> normed, rstd, total = ops.add_rms_norm(Tensor([[1.0, 0.0]]), Tensor([[2.0, 4.0]]), ops.ones(2))
        >>> print(total)
        [[3. 4.]]
    """
    require_numbers("add_rms_norm", epsilon=epsilon)
    require_operands("add_rms_norm", x1=x1, x2=x2)
    total = x1 + x2
    out, inverse = _norm.RmsNorm(epsilon)(total, gamma)
    return out, StopGradient()(inverse), total


def add_layer_norm(
    x1: Any, x2: Any, gamma: Tensor, beta: Any, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Layer normalisation of x1 + x2: the result, the mean, the reciprocal deviation and the sum.

    Examples:
        >>> x, y = Tensor([[1.0, 2.0]]), Tensor([[1.0, 4.0]])
        >>> out, mean, rstd, total = ops.add_layer_norm(x, y, ops.ones(2), ops.zeros(2))
        >>> print(mean, total)
        [[4.]] [[2. 6.]]
    """
    require_numbers("add_layer_norm", epsilon=epsilon)
    require_operands("add_layer_norm", x1=x1, x2=x2)
    require_tensors("add_layer_norm", gamma=gamma)
    total = x1 + x2
    start = total.ndim - gamma.ndim
    out, mean, var = _norm.LayerNorm(start, start, epsilon)(total, gamma, beta)
    return out, StopGradient()(mean), StopGradient()(Rsqrt()(var + epsilon)), total


@setting_types(depth_radius=int, bias=float, alpha=float, beta=float)
def lrn(
    x: Tensor, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:  # fmt: skip
    """Local response normalisation across channels.

    Examples:
        >>> ops.lrn(ops.ones((1, 3, 2, 2)), depth_radius=1).shape
        (1, 3, 2, 2)
    """
    return _norm.LRN(depth_radius, bias, alpha, beta, norm_region)(x)


def l2_normalize(x: Tensor, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    """x / sqrt(max(sum(x²), epsilon)) along an axis.

    Examples:
        >>> print(ops.l2_normalize(Tensor([3.0, 4.0])))
        [0.6 0.8]
    """
    return x * Rsqrt()(Maximum()(ReduceSum(True)(Square()(x), axis), epsilon))
