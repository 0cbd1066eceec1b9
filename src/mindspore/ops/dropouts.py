"""Functions that change their input at random while training: dropout and its variants, random slopes, Gumbel noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, normal_axis, require_numbers, require_tensor
from mindspore.prims import elementwise as _ew
from mindspore.prims.activation import Softmax
from mindspore.prims.arrays import ExpandDims
from mindspore.prims.dropout import DropoutMask, DropoutWithKey
from mindspore.prims.random import RandomUniform
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import Argmax
from mindspore.prims.values import from_array

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "gumbel_softmax", "rrelu",
]  # fmt: skip

#: what SELU saturates at: the value alpha dropout replaces elements by
_SELU_FLOOR = -1.7580993408473766


def check_drop_probability(op: str, p: Any) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"For '{op}', 'p' must be a float, but got {p!r} of type {type(p).__name__}.")
    if not 0 <= p <= 1:
        raise ValueError(f"For '{op}', 'p' must be in range [0, 1], but got {p}.")
    return float(p)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None, inplace: bool = False
) -> Tensor:
    """Set elements to 0 with probability `p` and scale the others by 1 / (1 - p), in training.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> out = ms.ops.dropout(ms.Tensor(np.ones(100, np.float32)), p=0.5)
        >>> sorted(set(out.asnumpy().tolist()))
        [0.0, 2.0]
    """
    require_tensor("dropout", "input", input)
    p = check_drop_probability("dropout", p)
    if not training or p == 0:
        return input
    if p == 1:
        return _ew.zeros_like(input)
    return DropoutWithKey(1 - p)(input, next_key(seed))[0]


def _drop_channels(op: str, x: Tensor, p: float, training: bool, ranks: tuple[int, ...]) -> Tensor:
    """Set whole channels to 0; an input without a batch has its channels first."""
    require_tensor(op, "input", x)
    p = check_drop_probability(op, p)
    if not training or p == 0:  # nothing is dropped, whatever the channels are
        return x
    if x.ndim not in ranks:
        raise ValueError(f"For '{op}', 'input' must have {' or '.join(map(str, ranks))} dimensions, but got {x.ndim}.")
    if p == 1:
        return _ew.zeros_like(x)
    lead = 2 if x.ndim == max(ranks) else 1
    mask = DropoutMask(1 - p)(next_key(), (*x.shape[:lead], *(1,) * (x.ndim - lead)))
    return x * (cast(mask, x.dtype) * (1 / (1 - p)))


@setting_types(p=float)
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L).

    Examples:
        >>> x = Tensor([[[1.0, 2.0], [3.0, 4.0]]])
        >>> print(ops.dropout1d(x, p=0.5, training=False))
        [[[1. 2.]
          [3. 4.]]]
    """
    return _drop_channels("dropout1d", input, p, training, (2, 3))


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Dropout of whole channels of (N, C, H, W) or (C, H, W).

    Examples:
        >>> x = ops.ones((1, 8, 2, 2))
        >>> per_channel = ops.dropout2d(x, p=0.5).sum((2, 3))
        >>> bool(ops.logical_or(per_channel == 0, per_channel == 8).all())
        True
    """
    return _drop_channels("dropout2d", input, p, training, (3, 4))


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).

    Examples:
        >>> x = ops.ones((1, 8, 1, 2, 2))
        >>> per_channel = ops.dropout3d(x, p=0.5).sum((2, 3, 4))
        >>> bool(ops.logical_or(per_channel == 0, per_channel == 8).all())
        True
    """
    return _drop_channels("dropout3d", input, p, training, (4, 5))


def _alpha(x: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    """Replace by SELU's floor, then restore mean 0 and variance 1 (Klambauer et al. 2017)."""
    scale = 1 / math.sqrt((1 - p) * (1 + p * _SELU_FLOOR**2))
    shift = -scale * p * _SELU_FLOOR
    keep = cast(DropoutMask(1 - p)(next_key(), shape), x.dtype)
    return (x * keep + (1.0 - keep) * _SELU_FLOOR) * scale + shift


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False) -> Tensor:
    """Dropout that keeps the mean and variance of self-normalising networks.

    Examples:
        >>> x = Tensor([0.5, -1.0])
        >>> print(ops.alpha_dropout(x, p=0.5, training=False))
        [ 0.5 -1. ]
    """
    p = check_drop_probability("alpha_dropout", p)
    if not training or p == 0:
        return input
    return _ew.zeros_like(input) if p == 1 else _alpha(input, p, input.shape)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False) -> Tensor:
    """Alpha dropout of whole channels.

    Examples:
        >>> x = Tensor([[[1.0, 2.0]]])
        >>> print(ops.feature_alpha_dropout(x, p=0.3, training=False))
        [[[1. 2.]]]
    """
    p = check_drop_probability("feature_alpha_dropout", p)
    if not training or p == 0:
        return input
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    return _ew.zeros_like(input) if p == 1 else _alpha(input, p, shape)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """x where positive, else x times a random slope from [lower, upper).

    Examples:
        >>> print(ops.rrelu(Tensor([-1.0, 2.0]), 0.5, 0.5))
        [-0.5  2. ]
    """
    require_numbers("rrelu", lower=lower, upper=upper)
    require_tensor("rrelu", "input", input)
    if lower > upper:
        raise ValueError(f"For 'rrelu', 'lower' must not exceed 'upper', but got {lower} and {upper}.")
    slope = RandomUniform()(next_key(), input.shape, mstype.float32) * (upper - lower) + lower
    return _ew.Select()(_ew.Greater()(input, 0), input, input * cast(slope, input.dtype))


@setting_types(tau=float, hard=bool)
def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """A differentiable sample of a category (Jang et al. 2017); with `hard` a one-hot vector with soft gradients.

    Examples:
        >>> sample = ops.gumbel_softmax(Tensor([[0.0, 1.0, 2.0]]), hard=True)
        >>> print(sample.sum().round())
        1.0
    """
    require_tensor("gumbel_softmax", "logits", logits)
    if isinstance(tau, bool) or not isinstance(tau, (int, float)) or tau <= 0:
        raise ValueError(f"For 'gumbel_softmax', 'tau' must be a positive number, but got {tau!r}.")
    axis = normal_axis("gumbel_softmax", dim, logits.ndim, "dim")
    uniform = RandomUniform()(next_key(), logits.shape, mstype.float32)
    noise = -_ew.Log()(-_ew.Log()(_ew.Maximum()(uniform, 1e-20)))
    soft = Softmax(axis)((logits + cast(noise, logits.dtype)) / tau)
    if not hard:
        return soft
    best = ExpandDims()(Argmax(axis, mstype.int32)(soft), axis)
    classes = np.arange(logits.shape[axis], dtype=np.int32).reshape((-1, *(1,) * (logits.ndim - 1 - axis)))
    hot = cast(_ew.Equal()(best, from_array(classes)), logits.dtype)
    return hot + soft - _ew.StopGradient()(soft)
