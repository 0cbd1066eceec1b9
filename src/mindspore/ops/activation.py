"""Activation functions."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    normal_axis,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    to_float,
)
from mindspore.prims import activation as _act
from mindspore.prims import checks
from mindspore.prims import elementwise as _ew
from mindspore.prims.arrays import GetItem
from mindspore.prims.inplace import update

__all__ = [
    "celu", "elu", "fast_gelu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "silu", "soft_shrink", "softmax", "softmin",
    "softplus", "softshrink", "softsign", "swiglu", "swish", "tanhshrink", "threshold",
]  # fmt: skip


def _number(op: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{op}', '{name}' must be a number, but got {value!r} of type {type(value).__name__}.")
    return value


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0).

    Examples:
        >>> import mindspore as ms
        >>> ms.ops.relu(ms.Tensor([-1.0, 2.0])).asnumpy().tolist()
        [0.0, 2.0]
    """
    out = _ew.ReLU()(require_tensor("relu", "input", input))
    return update(input, out) if inplace else out


def relu6(x: Tensor) -> Tensor:
    """min(max(x, 0), 6).

    Examples:
        >>> print(ops.relu6(Tensor([-1.0, 3.0, 8.0])))
        [0. 3. 6.]
    """
    return _act.ReLU6()(x)


def leaky_relu(input: Tensor, alpha: float = 0.2) -> Tensor:
    """x where positive, else alpha * x.

    Examples:
        >>> print(ops.leaky_relu(Tensor([-5.0, 2.0]), alpha=0.1))
        [-0.5  2. ]
    """
    return _act.LeakyReLU(_number("leaky_relu", "alpha", alpha))(input)


def elu(input_x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1).

    Examples:
        >>> print(ops.elu(Tensor([-1.0, 2.0])))
        [-0.63212055  2.        ]
    """
    return _act.Elu(_number("elu", "alpha", alpha))(input_x)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where positive, else alpha * (exp(x / alpha) - 1).

    Examples:
        >>> print(ops.celu(Tensor([-1.0, 2.0]), alpha=2.0))
        [-0.78693867  2.        ]
    """
    if _number("celu", "alpha", alpha) == 0:
        raise ValueError("For 'celu', 'alpha' must not be 0.")
    return _act.CeLU(alpha)(x)


def selu(input_x: Tensor) -> Tensor:
    """The self-normalising exponential linear unit.

    Examples:
        >>> print(ops.selu(Tensor([-1.0, 2.0])))
        [-1.1113307  2.101402 ]
    """
    return _act.SeLU()(input_x)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x: exact ('none') or by tanh ('tanh').

    Examples:
        >>> print(ops.gelu(Tensor([-1.0, 0.0, 2.0])))
        [-0.15865526  0.          1.9544997 ]
    """
    checks.one_of("gelu", "approximate", approximate, ("none", "tanh"))
    return (_act.GeLUErf() if approximate == "none" else _act.GeLU())(input)


def fast_gelu(x: Tensor) -> Tensor:
    """x * sigmoid(1.702 x).

    Examples:
        >>> print(ops.fast_gelu(Tensor([-1.0, 0.0, 2.0])))
        [-0.15420423  0.          1.9356586 ]
    """
    return _act.FastGeLU()(x)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x).

    Examples:
        >>> print(ops.silu(Tensor([-1.0, 0.0, 2.0])))
        [-0.2689414  0.         1.761594 ]
    """
    out = _act.SiLU()(require_tensor("silu", "input", input))
    return update(input, out) if inplace else out


swish = silu


def mish(x: Tensor) -> Tensor:
    """x * tanh(softplus(x)).

    Examples:
        >>> print(ops.mish(Tensor([-1.0, 0.0, 2.0])))
        [-0.30340147  0.          1.9439589 ]
    """
    return _act.Mish()(x)


def logsigmoid(x: Tensor) -> Tensor:
    """log(sigmoid(x)).

    Examples:
        >>> print(ops.logsigmoid(Tensor([0.0, 3.0])))
        [-0.6931472  -0.04858735]
    """
    return _act.LogSigmoid()(x)


def softsign(x: Tensor) -> Tensor:
    """x / (1 + |x|).

    Examples:
        >>> print(ops.softsign(Tensor([-1.0, 3.0])))
        [-0.5   0.75]
    """
    return _act.Softsign()(x)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x exceeds the threshold.

    Examples:
        >>> print(ops.softplus(Tensor([0.0, 30.0])))
        [ 0.6931472 30.       ]
    """
    _number("softplus", "beta", beta), _number("softplus", "threshold", threshold)
    return _act.SoftplusBeta(float(beta), float(threshold))(require_tensor("softplus", "input", input))


def hardswish(input: Tensor) -> Tensor:
    """x * relu6(x + 3) / 6.

    Examples:
        >>> print(ops.hardswish(Tensor([-4.0, 1.0, 5.0])))
        [-0.         0.6666667  5.       ]
    """
    return _act.HSwish()(input)


def hardsigmoid(input: Tensor) -> Tensor:
    """relu6(x + 3) / 6.

    Examples:
        >>> print(ops.hardsigmoid(Tensor([-4.0, 0.0, 1.5])))
        [0.   0.5  0.75]
    """
    return _act.HSigmoid()(input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x where |x| > lambd, else 0.

    Examples:
        >>> print(ops.hardshrink(Tensor([-0.4, 0.2, 3.0])))
        [0. 0. 3.]
    """
    return _act.HShrink(_number("hardshrink", "lambd", lambd))(input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd.

    Examples:
        >>> print(ops.soft_shrink(Tensor([-2.0, 0.3, 1.0])))
        [-1.5  0.   0.5]
    """
    return _act.SoftShrink(_number("softshrink", "lambd", lambd))(input)


soft_shrink = softshrink


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x).

    Examples:
        >>> print(ops.tanhshrink(Tensor([0.0, 1.0])))
        [0.         0.23840582]
    """
    return input - _ew.Tanh()(to_float(require_tensor("tanhshrink", "input", input)))


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x cut to [min_val, max_val].

    Examples:
        >>> print(ops.hardtanh(Tensor([-3.0, 0.3, 3.0])))
        [-1.   0.3  1. ]
    """
    _number("hardtanh", "min_val", min_val), _number("hardtanh", "max_val", max_val)
    return _act.Hardtanh(min_val, max_val)(input)


def threshold(input: Tensor, thr: float, value: float) -> Tensor:
    """x where it exceeds `thr`, else `value`.

    Examples:
        >>> print(ops.threshold(Tensor([0.1, 5.0]), 1.0, -1.0))
        [-1.  5.]
    """
    _number("threshold", "thr", thr), _number("threshold", "value", value)
    return _act.Threshold(thr, value)(require_tensor("threshold", "input", input))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where positive, else x times a weight: one for all, or one per channel.

    Examples:
        >>> print(ops.prelu(Tensor([[-2.0, 4.0]]), Tensor([0.25])))
        [[-0.5  4. ]]
    """
    return _act.PReLU()(input, weight)


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half of `x` along an axis times the sigmoid of the second half.

    Examples:
        >>> print(ops.glu(Tensor([4.0, 6.0, 0.0, 0.0])))
        [2. 3.]
    """
    require_rank("glu", "x", x, 1)
    first, second = _halves("glu", x, axis)
    return first * _ew.Sigmoid()(second)


def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """silu of the first half of `input` along a dimension times the second half.

    Examples:
        >>> print(ops.swiglu(Tensor([2.0, 3.0])))
        [5.2847824]
    """
    require_rank("swiglu", "input", input, 1)
    first, second = _halves("swiglu", input, dim)
    return _act.SiLU()(first) * second


def _halves(op: str, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    require_tensor(op, "x", x)
    axis = normal_axis(op, axis, x.ndim)
    size = x.shape[axis]
    if size % 2:
        raise ValueError(f"For '{op}', the size of dimension {axis} must be even, but the shape is {x.shape}.")
    lead = (slice(None),) * axis
    return GetItem((*lead, slice(0, size // 2)))(x), GetItem((*lead, slice(size // 2, size)))(x)


def softmax(input: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis.

    Examples:
        >>> import mindspore as ms
        >>> ms.ops.softmax(ms.Tensor([0.0, 0.0])).asnumpy().tolist()
        [0.5, 0.5]
    """
    require_operands("softmax", input=input)
    x = cast(as_tensor(input), dtype)
    return _act.Softmax(axis)(x)


def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """softmax(-x) along an axis.

    Examples:
        >>> print(ops.softmin(Tensor([0.0, 0.0])))
        [0.5 0.5]
    """
    require_operands("softmin", x=x)
    return softmax(-as_tensor(x), axis, dtype=dtype)


def log_softmax(logits: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """log(softmax(x)) along an axis, computed without overflow.

    Examples:
        >>> print(ops.log_softmax(Tensor([0.0, 0.0])))
        [-0.6931472 -0.6931472]
    """
    require_tensors("log_softmax", logits=logits)
    x = cast(as_tensor(logits), dtype)
    return _act.LogSoftmax(axis)(x if x.dtype.kind == "f" else cast(x, mstype.float32))
