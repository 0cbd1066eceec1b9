"""Activation functions: each with its evaluation and its gradient.

`activation` builds the elementwise ones from two formulas. Gradients are written with primitives, so they can be
differentiated again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims import elementwise as ew
from mindspore.prims.batching import along_axis
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.elementwise import (
    Cast,
    Elementwise,
    Exp,
    Greater,
    Less,
    Log,
    Select,
    Sigmoid,
    Tanh,
    as_type,
    in_float32,
    ones_like,
    zeros_like,
)
from mindspore.prims.factors import Factors, numbered
from mindspore.prims.precision import is_half, narrow, widen
from mindspore.prims.primitive import POINTS, ROWS, Primitive
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.special import erf

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
_INV_SQRT_2PI = 1 / math.sqrt(2 * math.pi)
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def activation(
    name: str,
    function: Callable,
    slope: Callable,
    defaults: dict[str, Any] | None = None,
    doc: str = "",
    kinds: str = "f",
    native_from: int = 0,
) -> Any:
    """An elementwise primitive of one argument with number attributes.

    `function(xp, x, **attributes)` evaluates it (on float32 at least); `slope(x, out, **attributes)` is its derivative.
    """
    parameters = defaults or {}

    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(parameters) or set(kwargs) - set(parameters):
            raise TypeError(f"'{name}' takes the arguments {tuple(parameters)}, but got {args} and {kwargs}.")
        Primitive.__init__(self, name, **{**parameters, **dict(zip(parameters, args)), **kwargs})

    def evaluate(self: Primitive, xp: Namespace, x: Array) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return narrow(function(xp, widen(x), **{k: self.attrs[k] for k in parameters}), x)

    def bprop(self: Primitive, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        """In float32 at least, as the forward pass: 16-bit floats are rounded once, at the end."""
        steepness = slope(in_float32(x), in_float32(out), **{k: self.attrs[k] for k in parameters})
        return (as_type(in_float32(dout) * steepness, dout.dtype),)

    members = {
        "__init__": init,
        "eval": evaluate,
        "bprop": bprop,
        "kinds": kinds,
        "native_from": native_from,
        "defaults": parameters,
        "activation": True,
        "__doc__": doc,
        "__module__": __name__,
    }
    return type(name, (Elementwise,), members)


def _between(x: TensorBase, low: float, high: float) -> Any:
    """1 where low < x < high, else 0, in the type of x."""
    return Cast()(ew.LogicalAnd()(Greater()(x, low), Less()(x, high)), x.dtype)


def _where(condition: TensorBase, x: TensorBase, y: TensorBase) -> Any:
    return Select()(condition, x, y)


# -- rectifiers -------------------------------------------------------------------------------------------------------
ReLU6 = activation(
    "ReLU6", lambda xp, x: xp.minimum(xp.maximum(x, 0), 6), lambda x, out: _between(x, 0, 6), doc="""min(max(x, 0), 6).

    Examples:
        >>> print(ops.ReLU6()(Tensor([-1.0, 3.0, 8.0])))
        [0. 3. 6.]
    """, kinds="if", native_from=POINTS
)
LeakyReLU = activation(
    "LeakyReLU",
    lambda xp, x, negative_slope: xp.where(x > 0, x, x * negative_slope),
    lambda x, out, negative_slope: _where(Greater()(x, 0), ones_like(x), ones_like(x) * negative_slope),
    {"negative_slope": 0.2},
    """x where positive, else a small multiple of it.

    Examples:
        >>> print(ops.LeakyReLU(negative_slope=0.1)(Tensor([-5.0, 2.0])))
        [-0.5  2. ]
    """,
)


def _elu(xp: Namespace, x: Array, alpha: float) -> Any:
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0)))


def _celu(xp: Namespace, x: Array, alpha: float) -> Any:
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0) / alpha))


def _negative_exp(x: TensorBase, scale: float = 1.0) -> Any:
    """exp(min(x, 0) * scale), which never overflows."""
    return Exp()(ew.Minimum()(x, zeros_like(x)) * scale)


Elu = activation(
    "Elu", _elu, lambda x, out, alpha: _where(Greater()(x, 0), ones_like(x), _negative_exp(x) * alpha), {"alpha": 1.0},
    """Exponential linear unit (Clevert et al. 2016).

    Examples:
        >>> print(ops.Elu()(Tensor([-1.0, 2.0])))
        [-0.63212055  2.        ]
    """, native_from=POINTS
)  # fmt: skip
CeLU = activation(
    "CeLU", _celu, lambda x, out, alpha: _where(Greater()(x, 0), ones_like(x), _negative_exp(x, 1 / alpha)),
    {"alpha": 1.0}, """Continuously differentiable exponential linear unit.

    Examples:
        >>> print(ops.CeLU(alpha=2.0)(Tensor([-1.0, 2.0])))
        [-0.78693867  2.        ]
    """,
)  # fmt: skip
SeLU = activation(
    "SeLU",
    lambda xp, x: _SELU_SCALE * _elu(xp, x, _SELU_ALPHA),
    lambda x, out: _where(Greater()(x, 0), ones_like(x), _negative_exp(x) * _SELU_ALPHA) * _SELU_SCALE,
    doc="""Self-normalising exponential linear unit (Klambauer et al. 2017).

    Examples:
        >>> print(ops.SeLU()(Tensor([-1.0, 2.0])))
        [-1.1113307  2.101402 ]
    """,
    kinds="if",
)


# -- smooth units -----------------------------------------------------------------------------------------------------
def _gelu_tanh(xp: Namespace, x: Array) -> Any:
    return 0.5 * x * (1 + xp.tanh(_SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


def _gelu_tanh_halves(xp: Namespace, x: Array) -> Any:
    """The same as x sigmoid(2 u), which a GPU computes faster than tanh(u); 16-bit floats cannot tell."""
    return x / (1 + xp.exp(-2 * _SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


def _gelu_tanh_slope(x: TensorBase, out: TensorBase) -> Any:
    square = x * x
    s = Sigmoid()(x * (square * 0.044715 + 1.0) * (2 * _SQRT_2_OVER_PI))  # (1 + tanh) / 2
    return s + x * s * (1.0 - s) * (square * (3 * 0.044715) + 1.0) * (2 * _SQRT_2_OVER_PI)


def _gelu_erf(xp: Namespace, x: Array) -> Any:
    return 0.5 * x * (1 + erf(xp, x * np.asarray(_SQRT_HALF, x.dtype)))


def _gelu_erf_slope(x: TensorBase, out: TensorBase) -> Any:
    return (ew.Erf()(x * _SQRT_HALF) + 1.0) * 0.5 + x * Exp()(x * x * -0.5) * _INV_SQRT_2PI


def _sigmoid(xp: Namespace, x: Array) -> Any:
    return 1 / (1 + xp.exp(-x))


def _softplus(xp: Namespace, x: Array) -> Any:
    return xp.logaddexp(x, xp.zeros_like(x))


def _mish_slope(x: TensorBase, out: TensorBase) -> Any:
    t = Tanh()(ew.Softplus()(x))
    return t + x * Sigmoid()(x) * (1.0 - t * t)


def _fast_gelu(xp: Namespace, x: Array) -> Any:
    return x * _sigmoid(xp, 1.702 * x)


def _fast_gelu_slope(x: TensorBase, out: TensorBase) -> Any:
    s = Sigmoid()(x * 1.702)
    return s + x * s * (1.0 - s) * 1.702


def _silu_slope(x: TensorBase, out: TensorBase) -> Any:
    s = Sigmoid()(x)
    return s + x * s * (1.0 - s)


GeLU = activation("GeLU", _gelu_tanh, _gelu_tanh_slope, doc=
    """Gaussian error linear unit, tanh form (Hendrycks 2016).

    Examples:
        >>> print(ops.GeLU()(Tensor([-1.0, 2.0])))
        [-0.158808   1.9545977]
    """, native_from=POINTS)


def _gelu_xla(self: Primitive, jnp: Any, x: Any) -> Any:
    return narrow(_gelu_tanh_halves(jnp, widen(x)), x) if is_half(x.dtype) else self.eval(jnp, x)


GeLU.eval_xla = _gelu_xla
GeLUErf = activation("GeLUErf", _gelu_erf, _gelu_erf_slope, doc="""Gaussian error linear unit, exact form.

    Examples:
        >>> print(ops.GeLUErf()(Tensor([-1.0, 2.0])))
        [-0.15865526  1.9544997 ]
    """)
FastGeLU = activation("FastGeLU", _fast_gelu, _fast_gelu_slope, doc="""x * sigmoid(1.702 x).

    Examples:
        >>> print(ops.FastGeLU()(Tensor([-1.0, 2.0])))
        [-0.15420423  1.9356586 ]
    """)
SiLU = activation("SiLU", lambda xp, x: x * _sigmoid(xp, x), _silu_slope, doc="""x * sigmoid(x).

    Examples:
        >>> print(ops.SiLU()(Tensor([-1.0, 2.0])))
        [-0.2689414  1.761594 ]
    """, native_from=POINTS)
Mish = activation("Mish", lambda xp, x: x * xp.tanh(_softplus(xp, x)), _mish_slope, doc="""x * tanh(softplus(x)).

    Examples:
        >>> print(ops.Mish()(Tensor([-1.0, 2.0])))
        [-0.30340147  1.9439589 ]
    """, native_from=POINTS)
LogSigmoid = activation(
    "LogSigmoid", lambda xp, x: -_softplus(xp, -x), lambda x, out: Sigmoid()(-x), doc="""log(sigmoid(x)).

    Examples:
        >>> print(ops.LogSigmoid()(Tensor([0.0, 3.0])))
        [-0.6931472  -0.04858735]
    """
)
Softsign = activation(
    "Softsign",
    lambda xp, x: x / (1 + xp.abs(x)),
    lambda x, out: ew.Reciprocal()(ew.Square()(ew.Abs()(x) + 1.0)),
    doc="""x / (1 + |x|).

    Examples:
        >>> print(ops.Softsign()(Tensor([-1.0, 3.0])))
        [-0.5   0.75]
    """,
)


# -- piecewise linear -------------------------------------------------------------------------------------------------
def _hswish_slope(x: TensorBase, out: TensorBase) -> Any:
    ramp = (x * 2.0 + 3.0) * (1 / 6)
    return _where(Greater()(x, 3.0), ones_like(x), _where(Less()(x, -3.0), zeros_like(x), ramp))


HSwish = activation(
    "HSwish", lambda xp, x: x * xp.clip(x + 3, 0, 6) / 6, _hswish_slope, doc="""x * relu6(x + 3) / 6.

    Examples:
        >>> print(ops.HSwish()(Tensor([0.0, 1.0, 5.0])))
        [0.        0.6666667 5.       ]
    """, kinds="if", native_from=POINTS
)
HSigmoid = activation(
    "HSigmoid", lambda xp, x: xp.clip(x / 6 + 0.5, 0, 1), lambda x, out: _between(x, -3.0, 3.0) * (1 / 6),
    doc="""relu6(x + 3) / 6.

    Examples:
        >>> print(ops.HSigmoid()(Tensor([-4.0, 0.0, 1.5])))
        [0.   0.5  0.75]
    """, kinds="if",
)  # fmt: skip
HShrink = activation(
    "HShrink",
    lambda xp, x, lambd: xp.where(xp.abs(x) <= lambd, xp.zeros_like(x), x),
    lambda x, out, lambd: Cast()(Greater()(ew.Abs()(x), lambd), x.dtype),
    {"lambd": 0.5},
    """x where |x| > lambd, else 0.

    Examples:
        >>> print(ops.HShrink()(Tensor([-0.4, 0.2, 3.0])))
        [0. 0. 3.]
    """,
)
SoftShrink = activation(
    "SoftShrink",
    lambda xp, x, lambd: xp.sign(x) * xp.maximum(xp.abs(x) - lambd, 0),
    lambda x, out, lambd: Cast()(Greater()(ew.Abs()(x), lambd), x.dtype),
    {"lambd": 0.5},
    """x moved towards 0 by lambd.

    Examples:
        >>> print(ops.SoftShrink()(Tensor([-2.0, 0.3, 1.0])))
        [-1.5  0.   0.5]
    """,
)
Hardtanh = activation(
    "Hardtanh",
    lambda xp, x, min_val, max_val: xp.clip(x, min_val, max_val),
    lambda x, out, min_val, max_val: _between(x, min_val, max_val),
    {"min_val": -1.0, "max_val": 1.0},
    """x cut to [min_val, max_val].

    Examples:
        >>> print(ops.Hardtanh()(Tensor([-3.0, 0.3, 3.0])))
        [-1.   0.3  1. ]
    """,
    "if",
)
Threshold = activation(
    "Threshold",
    lambda xp, x, threshold, value: xp.where(x > threshold, x, xp.asarray(value, x.dtype)),
    lambda x, out, threshold, value: Cast()(Greater()(x, threshold), x.dtype),
    {"threshold": 0.0, "value": 0.0},
    """x where it exceeds the threshold, else a constant.

    Examples:
        >>> print(ops.Threshold(1.0, -1.0)(Tensor([0.1, 5.0])))
        [-1.  5.]
    """,
    "if",
)


class SoftplusBeta(Elementwise):
    """log(1 + exp(beta x)) / beta, and x itself beyond the threshold.

    Examples:
        >>> print(ops.SoftplusBeta()(Tensor([0.0, 30.0])))
        [ 0.6931472 30.       ]
    """

    kinds = "f"

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__("SoftplusBeta", beta=beta, threshold=threshold)

    def eval(self, xp: Namespace, x: Array) -> Any:
        wide = widen(x) * self.beta
        return narrow(xp.where(wide > self.threshold, wide, _softplus(xp, wide)) / self.beta, x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        linear = Greater()(x * self.beta, self.threshold)
        return (dout * _where(linear, ones_like(x), Sigmoid()(x * self.beta)),)


class PReLU(Primitive):
    """x where positive, else x times a learnt weight: one weight, or one per channel (dimension 1).

    Examples:
        >>> print(ops.PReLU()(Tensor([[-2.0, 4.0]]), Tensor([0.25, 0.5])))
        [[-0.5  4. ]]
    """

    def __init__(self) -> None:
        super().__init__("PReLU")

    def infer(self, x: AbstractTensor, weight: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.tensor(self.name, "weight", weight)
        checks.dtype_in(self.name, "x", x.dtype, "f")
        channels = x.shape[1] if x.ndim > 1 else 1
        if weight.ndim > 1 or weight.size not in (1, channels):
            raise ValueError(
                f"For '{self.name}', 'weight' must have 1 or {channels} elements in one dimension, but its shape is "
                f"{weight.shape}."
            )
        return AbstractTensor(x.dtype, x.shape)

    @staticmethod
    def _row(x: Any, weight: Any) -> tuple[int, ...]:
        if weight.size == 1:
            return (1,) * len(x.shape)
        return (1, weight.size, *(1,) * (len(x.shape) - 2))

    def eval(self, xp: Namespace, x: Array, weight: Array) -> Any:
        return xp.where(x > 0, x, narrow(xp.reshape(weight, self._row(x, weight)) * x, x))

    def bprop(self, x: TensorBase, weight: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        row = self._row(x, weight)
        positive = Greater()(x, 0)
        dx = dout * _where(positive, ones_like(x), Cast()(Reshape()(weight, row), x.dtype))
        products = _where(positive, zeros_like(x), x * dout)
        axes = tuple(a for a in range(x.ndim) if row[a] == 1)
        dweight = Reshape()(ReduceSum()(products, axes) if axes else products, weight.shape)
        return dx, Cast()(dweight, weight.dtype)


# -- softmax ----------------------------------------------------------------------------------------------------------
#: a logit whose exponential is 0, and that times 0 is 0
_NOTHING = -1e30


def shifted_and_total(device: Any, x: Any, axes: tuple[int, ...], labels: tuple[str, ...]) -> tuple[Any, Any]:
    """Logits that are cut over devices, less their maximum, and the sum of their exponentials; float32 at least."""
    wide = Cast()(x, mstype.float32) if x.dtype.itemsize < 4 else x
    for label in labels:
        wide = device.masked(wide, 0, label, _NOTHING)
    shifted = wide - device.all_reduce("max", ReduceMax(True)(wide, axes), *labels)
    return shifted, device.all_reduce("sum", ReduceSum(True)(Exp()(shifted), axes), *labels)


class _Softmax(Primitive):
    native_from = ROWS
    keeps_finite = True

    def __init__(self, axis: Any = -1):
        name = type(self).__name__
        if isinstance(axis, bool) or not isinstance(axis, (int, tuple, list)):
            raise TypeError(f"For '{name}', 'axis' must be an int or a tuple of ints, but got {axis!r}.")
        super().__init__(axis=tuple(axis) if isinstance(axis, (tuple, list)) else axis)

    def _axes(self, ndim: int) -> tuple[int, ...]:
        return checks.axes(self.name, self.axis, ndim)

    def factors(self, x: AbstractTensor) -> Factors:
        names = numbered(x.ndim)
        return Factors((names,), (names,)).filling(None)

    def on_device(self, device: Any, x: Any) -> Any:
        """Where the classes are cut, maximum and sum are taken over the devices that share them."""
        axes = self._axes(x.ndim)
        labels = tuple(device.factors.inputs[0][a] for a in axes)
        if device.parts(*labels) == 1:
            return self(x)
        return Cast()(self.from_shifted(*shifted_and_total(device, x, axes, labels)), x.dtype)

    def from_shifted(self, shifted: Any, total: Any) -> Any:
        """The result, from logits less their maximum and the sum of their exponentials."""
        raise NotImplementedError

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "logits", x)
        checks.dtype_in(self.name, "logits", x.dtype, "f")
        self._axes(x.ndim)
        return AbstractTensor(x.dtype, x.shape)

    vmap = along_axis


def shifted_by_maximum(xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
    """x minus its maximum, which keeps exponentials finite."""
    if x.size == 0:
        return x
    top = xp.max(x, axis=axes, keepdims=True)
    return x - xp.where(xp.isfinite(top), top, xp.zeros_like(top))


class Softmax(_Softmax):
    """exp(x) / sum(exp(x)) over an axis.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Softmax()(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    def from_shifted(self, shifted: Any, total: Any) -> Any:
        return Exp()(shifted) / total

    def eval(self, xp: Namespace, x: Array) -> Any:
        axes = self._axes(x.ndim)
        with np.errstate(all="ignore"):
            e = xp.exp(shifted_by_maximum(xp, widen(x), axes))
            return narrow(e / xp.sum(e, axis=axes, keepdims=True), x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        p, given = in_float32(out), in_float32(dout)
        return (as_type(p * (given - ReduceSum(True)(given * p, self._axes(x.ndim))), dout.dtype),)


class LogSoftmax(_Softmax):
    """x - log(sum(exp(x))) over an axis.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.LogSoftmax()(Tensor([[0.0, 0.0]])).shape
        (1, 2)
    """

    def from_shifted(self, shifted: Any, total: Any) -> Any:
        return shifted - Log()(total)

    def eval(self, xp: Namespace, x: Array) -> Any:
        axes = self._axes(x.ndim)
        with np.errstate(all="ignore"):
            shifted = shifted_by_maximum(xp, widen(x), axes)
            return narrow(shifted - xp.log(xp.sum(xp.exp(shifted), axis=axes, keepdims=True)), x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        given = in_float32(dout)
        grad = given - Exp()(in_float32(out)) * ReduceSum(True)(given, self._axes(x.ndim))
        return (as_type(grad, dout.dtype),)


#: of a large negative number they are a product with zero, and so NaN of an infinite one
GeLU.spreads = GeLUErf.spreads = SiLU.spreads = True
