"""Element-by-element primitives: arithmetic, comparison, logic, transcendental functions, casts and selection.

Each is declared once: how it evaluates on an array namespace and how its gradient is written. `unary`, `binary` and
`comparison` build the classes; the entries below are the whole truth about each operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractScalar, AbstractTensor
from mindspore.prims import checks, values
from mindspore.prims.broadcasting import sum_to_shape
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import POINTS, Primitive, set_cast
from mindspore.prims.special import erf, erfc, erfinv

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.ir import Abstract
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

ANY, NUMERIC, REAL, FLOAT, INTEGER = "buifc", "uifc", "buif", "fc", "bui"


def result_like(inputs: tuple[Any, ...], dtype: mstype.DType, shape: tuple[int, ...]) -> Any:
    """A scalar if every input is a symbolic scalar, else a tensor."""
    if all(type(i) is AbstractScalar for i in inputs):
        return AbstractScalar(dtype)
    return AbstractTensor(dtype, shape)


class Elementwise(Primitive):
    light = True
    elementwise = True
    kinds = ANY
    #: fixed result type, or None for the (common) input type
    out_dtype: mstype.DType | None = None

    def infer(self, *xs: Any) -> Any:
        for i, x in enumerate(xs):
            checks.tensor(self.name, "xyz"[i], x)
            checks.dtype_in(self.name, "xyz"[i], x.dtype, self.kinds)
        shape = xs[0].shape if len(xs) == 1 else checks.broadcast(self.name, *(x.shape for x in xs))
        return result_like(xs, self.result_dtype(xs[0].dtype), shape)

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return self.out_dtype or dtype


def unary(
    name: str,
    function: Callable,
    bprop: Callable | None = None,
    kinds: str = ANY,
    out: mstype.DType | None = None,
    doc: str = "",
    native_from: int = 0,
    activation: bool = False,
    wide_gradient: bool = False,
) -> Any:
    """A primitive of one argument. `function(xp, x)`; `bprop(x, out, dout)` returns the gradient of x.

    `wide_gradient`: the rule squares or cancels, which 16-bit floats have no room for, so it computes in float32 and rounds once.
    """

    def eval_(self: Primitive, xp: Namespace, x: Array) -> Any:
        return function(xp, x)

    def bprop_(self: Primitive, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        if wide_gradient:
            return (as_type(bprop(in_float32(x), in_float32(out), in_float32(dout)), dout.dtype),)  # type: ignore[misc]
        return (bprop(x, out, dout),)  # type: ignore[misc]

    members = {"eval": eval_, "kinds": kinds, "out_dtype": out, "__doc__": doc, "__module__": __name__}
    members["native_from"] = native_from
    members |= {"__init__": lambda self: Primitive.__init__(self, name), "activation": activation}
    if bprop is not None:
        members["bprop"] = bprop_
    return type(name, (Elementwise,), members)


def binary(
    name: str,
    function: Callable,
    bprop: Callable | None = None,
    kinds: str = ANY,
    out: mstype.DType | None = None,
    doc: str = "",
    compares: bool = False,
) -> Any:
    """A primitive of two broadcast arguments. `bprop(x, y, out, dout)` returns both gradients, before un-broadcasting."""

    def eval_(self: Primitive, xp: Namespace, x: Array, y: Array) -> Any:
        return function(xp, x, y)

    def bprop_(self: Primitive, x: TensorBase, y: Any, out: TensorBase, dout: TensorBase) -> tuple:
        dx, dy = bprop(x, y, out, dout)  # type: ignore[misc]
        return sum_to_shape(dx, x.shape), sum_to_shape(dy, y.shape)

    members = {
        "eval": eval_,
        "kinds": kinds,
        "out_dtype": out,
        "__doc__": doc,
        "promote": "all",
        "compares": compares,
        "__module__": __name__,
    }
    members["__init__"] = lambda self: Primitive.__init__(self, name)
    if bprop is not None:
        members["bprop"] = bprop_
    return type(name, (Elementwise,), members)


def _numpy(name: str) -> Callable:
    return lambda xp, *args: getattr(xp, name)(*args)


def _of_magnitudes(name: str) -> Callable:
    """Without signs: the smallest number of a type has none without, and XLA's loop would not end with it."""

    def function(xp: Namespace, x: Array, y: Array) -> Any:
        x, y = (xp.abs(v).astype(f"u{v.dtype}".replace("uu", "u")) for v in (x, y))
        return getattr(xp, name)(x, y)

    return lambda xp, x, y: function(xp, x, y).astype(x.dtype)


def _cast_like(xp: Namespace, value: Array, x: Array) -> Any:
    return value.astype(x.dtype) if value.dtype != x.dtype else value


# -- arithmetic -----------------------------------------------------------------------------------------------------
Add = binary("Add", lambda xp, x, y: x + y if x.dtype != np.bool_ else xp.logical_or(x, y), lambda x, y, out, d: (d, d),
    doc="""x + y, with broadcasting.

    Examples:
        >>> ops.Add()(Tensor([1.0]), Tensor([2.0])).tolist()
        [3.0]
    """)
Sub = binary("Sub", lambda xp, x, y: x - y, lambda x, y, out, d: (d, -d), NUMERIC, doc="""x - y, with broadcasting.

    Examples:
        >>> ops.Sub()(Tensor([3.0]), Tensor([1.0])).tolist()
        [2.0]
    """)
Mul = binary("Mul", lambda xp, x, y: x * y, lambda x, y, out, d: (d * conj(y), d * conj(x)),
    doc="""x * y, with broadcasting.

    Examples:
        >>> ops.Mul()(Tensor([2.0]), Tensor([3.0])).tolist()
        [6.0]
    """)


def _divide(xp: Namespace, x: Array, y: Array) -> Any:
    """True division; integers give float32."""
    if x.dtype.kind in "bui":
        return xp.true_divide(x.astype(np.float32), y.astype(np.float32))
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / y


class _Division(Elementwise):
    promote = "all"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return mstype.float32 if dtype.kind in "bui" else dtype

    def eval(self, xp: Namespace, x: Array, y: Array) -> Any:
        return _divide(xp, x, y)

    def bprop(self, x: TensorBase, y: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        dx = dout / conj(y)
        return sum_to_shape(dx, x.shape), sum_to_shape(-dx * conj(out), y.shape)


class RealDiv(_Division):
    """x / y; that of integers is cut to an integer.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.RealDiv()(Tensor([1.0]), Tensor([4.0])).tolist()
        [0.25]
    """

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return mstype.float32 if dtype.kind == "b" else dtype

    def eval(self, xp: Namespace, x: Array, y: Array) -> Any:
        return _truncdiv(xp, x, y) if x.dtype.kind in "ui" else super().eval(xp, x, y)

    def bprop(self, x: TensorBase, y: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        grads = super().bprop(x, y, out, dout)
        return grads if x.dtype.kind in "fc" else tuple(Cast()(g, x.dtype) for g in grads)


class Div(_Division):
    """x / y.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Div()(Tensor([1.0]), Tensor([4.0])).tolist()
        [0.25]
    """

    def prepare(self, args: tuple) -> tuple:
        """An int that does not fit the other operand's type takes part as the number it is: the result is a float anyway."""
        x, y = args
        for number, tensor in ((x, y), (y, x)):
            if type(number) is int and isinstance(tensor, values.TensorBase):
                dtype = values.dtype_of(tensor)
                if dtype.kind in "ui" and not values.fits(number, dtype):
                    args = tuple(float(a) if a is number else a for a in args)
        return super().prepare(args)


def _quotient(xp: Namespace, x: Array, y: Array) -> Any:
    """Of integers, rounded down; 0 for a division by 0, which XLA leaves to the processor."""
    if xp is np:
        return xp.floor_divide(x, y)
    nothing = y == 0
    found = xp.floor_divide(x, xp.where(nothing, xp.ones_like(y), y))
    return xp.where(nothing, xp.zeros_like(found), found)


def _floordiv(xp: Namespace, x: Array, y: Array) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        if x.dtype.kind in "bui":
            return _cast_like(xp, _quotient(xp, x, y), x)
        # in float64: a quotient rounded up to an integer would be one too many
        return xp.floor(x.astype(np.float64) / y.astype(np.float64)).astype(x.dtype)


def _floormod(xp: Namespace, x: Array, y: Array) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return xp.remainder(x, y)


def _truncdiv(xp: Namespace, x: Array, y: Array) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        if x.dtype.kind in "ui":
            quotient = _quotient(xp, xp.abs(x), xp.abs(y))
            return _cast_like(xp, xp.where((x < 0) != (y < 0), -quotient, quotient), x)
        return xp.trunc(x / y)


def _truncmod(xp: Namespace, x: Array, y: Array) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return xp.fmod(x, y)


def _zero_grads(x: TensorBase, y: TensorBase, out: TensorBase, d: TensorBase) -> tuple:
    return zeros_like(d), zeros_like(d)


FloorDiv = binary("FloorDiv", _floordiv, _zero_grads, REAL, doc="""floor(x / y).

    Examples:
        >>> ops.FloorDiv()(Tensor([7.0]), Tensor([2.0])).tolist()
        [3.0]
    """)
FloorMod = binary("FloorMod", _floormod, lambda x, y, out, d: (d, -d * FloorDiv()(x, y)), "uif",
    doc="""The remainder of x / y with the sign of y.

    Examples:
        >>> ops.FloorMod()(Tensor([-7.0]), Tensor([3.0])).tolist()
        [2.0]
    """)
Mod = binary("Mod", _truncmod, lambda x, y, out, d: (d, -d * TruncateDiv()(x, y)), "uif",
    doc="""The remainder of x / y with the sign of x.

    Examples:
        >>> ops.Mod()(Tensor([-7.0]), Tensor([3.0])).tolist()
        [-1.0]
    """)
TruncateDiv: Any = binary("TruncateDiv", _truncdiv, _zero_grads, "uif", doc="""x / y, rounded towards zero.

    Examples:
        >>> ops.TruncateDiv()(Tensor([-7.0]), Tensor([2.0])).tolist()
        [-3.0]
    """)
TruncateMod = binary("TruncateMod", _truncmod, lambda x, y, out, d: (d, -d * TruncateDiv()(x, y)), "uif",
    doc="""The remainder of x / y with the sign of x.

    Examples:
        >>> ops.TruncateMod()(Tensor([-7.0]), Tensor([3.0])).tolist()
        [-1.0]
    """)


def _divnonan(xp: Namespace, x: Array, y: Array) -> Any:
    safe = xp.where(y == 0, xp.ones_like(y), y)
    return xp.where(y == 0, xp.zeros_like(x), _divide(xp, x, safe))


DivNoNan: Any = binary(
    "DivNoNan", _divnonan, lambda x, y, out, d: (DivNoNan()(d, y), -DivNoNan()(d * out, y)), FLOAT,
    doc="""x / y, and 0 where y is 0.

    Examples:
        >>> ops.DivNoNan()(Tensor([1.0]), Tensor([0.0])).tolist()
        [0.0]
    """)  # fmt: skip


def _power(xp: Any, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return _integer_power(xp, x, y) if x.dtype.kind in "ui" else xp.power(x, y)


def _integer_power(xp: Any, x: Any, y: Any) -> Any:
    """Exact but for what does not fit the type; of a power with a negative exponent nothing is left, unless x is 1 or -1."""
    power = xp.power(x, xp.maximum(y, xp.zeros_like(y)))
    if y.dtype.kind == "u":
        return power
    of_unit = xp.where(y % 2 == 0, xp.ones_like(x), x)
    return xp.where(y < 0, xp.where(xp.abs(x) == 1, of_unit, xp.zeros_like(x)), power)


def _power_bprop(x: TensorBase, y: TensorBase, out: TensorBase, d: TensorBase) -> tuple:
    zero = zeros_like(x)
    dx = d * conj(y * Pow()(x, Select()(Equal()(y, 0), ones_like(y), y - 1)))
    has_log = NotEqual()(x, 0) if x.dtype.kind == "c" else Greater()(x, 0)
    log_x = Log()(Select()(has_log, x + zeros_like(out), ones_like(out)))
    return dx, d * conj(out * Select()(has_log, log_x, zeros_like(out))) + zero


Pow = binary("Pow", _power, _power_bprop, NUMERIC, doc="""x to the power of y.

    Examples:
        >>> ops.Pow()(Tensor([2.0]), 3.0).tolist()
        [8.0]
    """)


# The same kernels bound to NumPy, for the operators of eager tensors.
DIVIDE = functools.partial(_divide, np)
FLOOR_DIVIDE = functools.partial(_floordiv, np)
FLOOR_MOD = functools.partial(_floormod, np)
POWER = functools.partial(_power, np)


def _half_split(x: TensorBase, y: TensorBase, d: TensorBase, wins: TensorBase) -> tuple:
    """The gradient of max/min: to the winner, shared equally at ties; to both where the result is NaN."""
    tie = Equal()(x, y)
    half = d * Cast()(tie, d.dtype) * 0.5
    dx = d * Cast()(wins, d.dtype) + half
    if x.dtype.kind != "f":
        return dx, d - dx
    lost = LogicalOr()(IsNan()(x), IsNan()(y))
    return Select()(lost, d, dx), Select()(lost, d, d - dx)


Maximum = binary("Maximum", _numpy("maximum"), lambda x, y, out, d: _half_split(x, y, d, Greater()(x, y)), REAL,
    doc="""The larger of each pair of elements.

    Examples:
        >>> ops.Maximum()(Tensor([1, 5]), Tensor([3, 3])).tolist()
        [3, 5]
    """)
Minimum = binary("Minimum", _numpy("minimum"), lambda x, y, out, d: _half_split(x, y, d, Less()(x, y)), REAL,
    doc="""The smaller of each pair of elements.

    Examples:
        >>> ops.Minimum()(Tensor([1, 5]), Tensor([3, 3])).tolist()
        [1, 3]
    """)
Atan2 = binary(
    "Atan2", _numpy("arctan2"), lambda x, y, out, d: (d * y / (x * x + y * y), -d * x / (x * x + y * y)), "f",
    doc="""The angle of the point (y, x), in radians.

    Examples:
        >>> ops.Atan2()(Tensor([0.0]), Tensor([1.0])).tolist()
        [0.0]
    """)  # fmt: skip


def _twice(d: TensorBase, difference: TensorBase) -> tuple:
    """The gradients of the squared size of x - y."""
    grad = (d + conj(d)) * difference
    return grad, -grad


SquaredDifference = binary(
    "SquaredDifference", lambda xp, x, y: (x - y) * xp.conj(x - y), lambda x, y, out, d: _twice(d, x - y),
    NUMERIC, doc="""(x - y) ** 2.

    Examples:
        >>> ops.SquaredDifference()(Tensor([5.0]), Tensor([2.0])).tolist()
        [9.0]
    """)  # fmt: skip
Hypot = binary("Hypot", _numpy("hypot"), lambda x, y, out, d: (d * x / out, d * y / out), "f",
    doc="""sqrt(x**2 + y**2), without overflow.

    Examples:
        >>> ops.Hypot()(Tensor([3.0]), Tensor([4.0])).tolist()
        [5.0]
    """)
Xdivy: Any = binary(
    "Xdivy", lambda xp, x, y: xp.where(x == 0, xp.zeros_like(x), _divide(xp, x, xp.where(x == 0, xp.ones_like(y), y))),
    lambda x, y, out, d: (d * Xdivy()(Cast()(NotEqual()(x, 0), d.dtype), y), -d * Xdivy()(x, y * y)), FLOAT,
    doc="""x / y, and 0 where x is 0.

    Examples:
        >>> ops.Xdivy()(Tensor([0.0]), Tensor([0.0])).tolist()
        [0.0]
    """)  # fmt: skip


def _xlogy(xp: Namespace, x: Array, y: Array) -> Any:
    with np.errstate(all="ignore"):
        return xp.where(x == 0, xp.zeros_like(x), x * xp.log(xp.where(x == 0, xp.ones_like(y), y)))


Xlogy: Any = binary(
    "Xlogy", _xlogy, lambda x, y, out, d: (d * Xlogy()(Cast()(NotEqual()(x, 0), d.dtype), y), d * Xdivy()(x, y)), FLOAT,
    doc="""x * log(y), and 0 where x is 0.

    Examples:
        >>> ops.Xlogy()(Tensor([0.0]), Tensor([0.0])).tolist()
        [0.0]
    """)  # fmt: skip
BitwiseAnd = binary("BitwiseAnd", lambda xp, x, y: x & y, None, INTEGER, doc="""Bits set in both.

    Examples:
        >>> ops.BitwiseAnd()(Tensor([12]), Tensor([10])).tolist()
        [8]
    """)
BitwiseOr = binary("BitwiseOr", lambda xp, x, y: x | y, None, INTEGER, doc="""Bits set in either.

    Examples:
        >>> ops.BitwiseOr()(Tensor([12]), Tensor([10])).tolist()
        [14]
    """)
BitwiseXor = binary("BitwiseXor", lambda xp, x, y: x ^ y, None, INTEGER, doc="""Bits set in exactly one.

    Examples:
        >>> ops.BitwiseXor()(Tensor([12]), Tensor([10])).tolist()
        [6]
    """)
LeftShift = binary("LeftShift", lambda xp, x, y: x << y, None, "ui", doc="""x << y.

    Examples:
        >>> ops.LeftShift()(Tensor([1]), Tensor([3])).tolist()
        [8]
    """)
RightShift = binary("RightShift", lambda xp, x, y: x >> y, None, "ui", doc="""x >> y.

    Examples:
        >>> ops.RightShift()(Tensor([8]), Tensor([2])).tolist()
        [2]
    """)
Gcd = binary("Gcd", _of_magnitudes("gcd"), None, "ui", doc="""The greatest common divisor.

    Examples:
        >>> ops.Gcd()(Tensor([12]), Tensor([18])).tolist()
        [6]
    """)
Lcm = binary("Lcm", _of_magnitudes("lcm"), None, "ui", doc="""The least common multiple.

    Examples:
        >>> ops.Lcm()(Tensor([4]), Tensor([6])).tolist()
        [12]
    """)
Nextafter = binary("NextAfter", _numpy("nextafter"), lambda x, y, out, g: (g, zeros_like(g)), "f", doc="""The next float after x towards y.

    Examples:
        >>> ops.NextAfter()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
        (2,)
    """)
NextAfter = Nextafter

# -- comparison and logic -------------------------------------------------------------------------------------------
Equal = binary("Equal", lambda xp, x, y: x == y, None, ANY, mstype.bool_, compares=True,
    doc="""Whether x and y are equal, element by element.

    Examples:
        >>> ops.Equal()(Tensor([1, 2]), Tensor([1, 3])).tolist()
        [True, False]
    """)
NotEqual: Any = binary("NotEqual", lambda xp, x, y: x != y, None, ANY, mstype.bool_, compares=True,
    doc="""Whether x and y differ, element by element.

    Examples:
        >>> ops.NotEqual()(Tensor([1, 2]), Tensor([1, 3])).tolist()
        [False, True]
    """)
Less: Any = binary("Less", lambda xp, x, y: x < y, None, REAL, mstype.bool_, compares=True, doc="""Whether x < y, element by element.

    Examples:
        >>> ops.Less()(Tensor([1, 2]), Tensor([2, 2])).tolist()
        [True, False]
    """)
LessEqual = binary("LessEqual", lambda xp, x, y: x <= y, None, REAL, mstype.bool_, compares=True,
    doc="""Whether x <= y, element by element.

    Examples:
        >>> ops.LessEqual()(Tensor([1, 3]), Tensor([2, 2])).tolist()
        [True, False]
    """)
Greater: Any = binary("Greater", lambda xp, x, y: x > y, None, REAL, mstype.bool_, compares=True,
    doc="""Whether x > y, element by element.

    Examples:
        >>> ops.Greater()(Tensor([1, 2]), Tensor([1, 1])).tolist()
        [False, True]
    """)
GreaterEqual = binary("GreaterEqual", lambda xp, x, y: x >= y, None, REAL, mstype.bool_, compares=True,
    doc="""Whether x >= y, element by element.

    Examples:
        >>> ops.GreaterEqual()(Tensor([1, 2]), Tensor([2, 2])).tolist()
        [False, True]
    """)
LogicalAnd = binary("LogicalAnd", _numpy("logical_and"), None, ANY, mstype.bool_, doc="""Whether both are true.

    Examples:
        >>> ops.LogicalAnd()(Tensor([True, True]), Tensor([True, False])).tolist()
        [True, False]
    """)
LogicalOr = binary("LogicalOr", _numpy("logical_or"), None, ANY, mstype.bool_, doc="""Whether either is true.

    Examples:
        >>> ops.LogicalOr()(Tensor([True]), Tensor([False])).tolist()
        [True]
    """)
LogicalXor = binary("LogicalXor", _numpy("logical_xor"), None, ANY, mstype.bool_, doc="""Whether exactly one is true.

    Examples:
        >>> ops.LogicalXor()(Tensor([True]), Tensor([False])).tolist()
        [True]
    """)
LogicalNot = unary("LogicalNot", _numpy("logical_not"), None, ANY, mstype.bool_, doc="""Whether x is false.

    Examples:
        >>> ops.LogicalNot()(Tensor([True])).tolist()
        [False]
    """)
BitwiseNot = unary("Invert", lambda xp, x: ~x, None, INTEGER, doc="""Every bit flipped.

    Examples:
        >>> ops.Invert()(Tensor([5])).tolist()
        [-6]
    """)
Invert = BitwiseNot


def _float_test(name: str, for_integers: bool) -> Callable:
    """isnan and the like: integers have one constant answer."""

    def function(xp: Namespace, x: Array) -> Any:
        return getattr(xp, name)(x) if x.dtype.kind not in "bui" else xp.full_like(x, for_integers, np.bool_)

    return function


IsNan = unary("IsNan", _float_test("isnan", False), None, ANY, mstype.bool_, doc="""Whether x is not a number.

    Examples:
        >>> ops.IsNan()(Tensor([1.0])).tolist()
        [False]
    """)
IsInf = unary("IsInf", _float_test("isinf", False), None, ANY, mstype.bool_, doc="""Whether x is infinite.

    Examples:
        >>> ops.IsInf()(Tensor([1.0])).tolist()
        [False]
    """)
IsFinite = unary("IsFinite", _float_test("isfinite", True), None, ANY, mstype.bool_,
    doc="""Whether x is neither infinite nor NaN.

    Examples:
        >>> ops.IsFinite()(Tensor([1.0])).tolist()
        [True]
    """)


SignBit = unary("SignBit", _numpy("signbit"), None, "f", mstype.bool_, doc="""Whether the sign bit is set.

    Examples:
        >>> ops.SignBit()(Tensor([-3.0])).tolist()
        [True]
    """)


# -- functions of one argument --------------------------------------------------------------------------------------
def _quiet(name: str) -> Callable:
    def function(xp: Namespace, x: Array) -> Any:
        with np.errstate(all="ignore"):
            return getattr(xp, name)(x)

    return function


def _sigmoid(xp: Namespace, x: Array) -> Any:
    with np.errstate(over="ignore"):
        return narrow(1 / (1 + xp.exp(-widen(x))), x)  # in float16 the exponential overflows where the result does not vanish


def _softplus(xp: Namespace, x: Array) -> Any:
    return xp.logaddexp(x, xp.zeros_like(x))


def _rsqrt(xp: Namespace, x: Array) -> Any:
    with np.errstate(all="ignore"):
        return (1 / xp.sqrt(x)).astype(x.dtype)


def _reciprocal(xp: Namespace, x: Array) -> Any:
    with np.errstate(all="ignore"):
        return (xp.ones_like(x) / x).astype(x.dtype)


def _rounding(name: str) -> Callable:
    """floor and the like: integers stay as they are."""
    return lambda xp, x: x if x.dtype.kind in "bui" else getattr(xp, name)(x)


def _sign(xp: Namespace, x: Array) -> Any:
    """NaN has the sign 0, as in official MindSpore."""
    sign = xp.sign(x)
    return sign if x.dtype.kind in "buic" else xp.where(x == x, sign, xp.zeros_like(sign))


_TWO_OVER_SQRT_PI = 1.1283791670955126
_HALF_SQRT_PI = 0.886226925452758

Neg = unary("Neg", lambda xp, x: -x, lambda x, out, d: -d, NUMERIC, doc="""-x.

    Examples:
        >>> ops.Neg()(Tensor([1.0])).tolist()
        [-1.0]
    """)
Sign = unary("Sign", _sign, lambda x, out, d: zeros_like(d), NUMERIC,
    doc="""-1, 0 or 1, as x is negative, zero or positive.

    Examples:
        >>> ops.Sign()(Tensor([-3.0])).tolist()
        [-1.0]
    """)
Exp = unary("Exp", _quiet("exp"), lambda x, out, d: d * conj(out), FLOAT, doc="""e to the power of x.

    Examples:
        >>> ops.Exp()(Tensor([0.0])).tolist()
        [1.0]
    """, native_from=POINTS)
Expm1 = unary("Expm1", _quiet("expm1"), lambda x, out, d: d * conj(out + 1), FLOAT,
    doc="""exp(x) - 1, exact for small x.

    Examples:
        >>> ops.Expm1()(Tensor([0.0])).tolist()
        [0.0]
    """)
Log = unary("Log", _quiet("log"), lambda x, out, d: d / conj(x), FLOAT, doc="""The natural logarithm.

    Examples:
        >>> ops.Log()(Tensor([1.0])).tolist()
        [0.0]
    """, native_from=POINTS)
Log1p = unary("Log1p", _quiet("log1p"), lambda x, out, d: d / conj(x + 1), FLOAT, doc="""log(1 + x), exact for small x.

    Examples:
        >>> ops.Log1p()(Tensor([0.0])).tolist()
        [0.0]
    """)
Log2 = unary("Log2", _quiet("log2"), lambda x, out, d: d / conj(x * 0.6931471805599453), FLOAT,
    doc="""The logarithm to base 2.

    Examples:
        >>> ops.Log2()(Tensor([8.0])).tolist()
        [3.0]
    """)
Log10 = unary("Log10", _quiet("log10"), lambda x, out, d: d / conj(x * 2.302585092994046), FLOAT, wide_gradient=True,
    doc="""The logarithm to base 10.

    Examples:
        >>> ops.Log10()(Tensor([1.0])).tolist()
        [0.0]
    """)
Sqrt = unary("Sqrt", _quiet("sqrt"), lambda x, out, d: d / (conj(out) * 2), FLOAT, doc="""The square root.

    Examples:
        >>> ops.Sqrt()(Tensor([9.0])).tolist()
        [3.0]
    """)
Rsqrt = unary("Rsqrt", _rsqrt, lambda x, out, d: d * conj(out * out * out) * -0.5, FLOAT, wide_gradient=True, doc="""1 / sqrt(x).

    Examples:
        >>> ops.Rsqrt()(Tensor([4.0])).tolist()
        [0.5]
    """)
Square = unary("Square", lambda xp, x: x * x, lambda x, out, d: d * conj(x) * 2, NUMERIC, doc="""x * x.

    Examples:
        >>> ops.Square()(Tensor([3.0])).tolist()
        [9.0]
    """)
Reciprocal = unary("Reciprocal", _reciprocal, lambda x, out, d: -d * conj(out * out), FLOAT, wide_gradient=True, doc="""1 / x.

    Examples:
        >>> ops.Reciprocal()(Tensor([4.0])).tolist()
        [0.25]
    """)
Inv = unary("Inv", _reciprocal, lambda x, out, d: -d * conj(out * out), "uifc", doc=
    """1 / x; that of integers is cut.

    Examples:
        >>> print(ops.Inv()(Tensor([0.5, 4.0])))
        [2.   0.25]
    """)
Sin = unary("Sin", _numpy("sin"), lambda x, out, d: d * conj(Cos()(x)), FLOAT, doc="""The sine of an angle in radians.

    Examples:
        >>> ops.Sin()(Tensor([0.0])).tolist()
        [0.0]
    """)
Cos: Any = unary("Cos", _numpy("cos"), lambda x, out, d: -d * conj(Sin()(x)), FLOAT,
    doc="""The cosine of an angle in radians.

    Examples:
        >>> ops.Cos()(Tensor([0.0])).tolist()
        [1.0]
    """)
Tan = unary("Tan", _numpy("tan"), lambda x, out, d: d * conj(out * out + 1), FLOAT, wide_gradient=True,
    doc="""The tangent of an angle in radians.

    Examples:
        >>> ops.Tan()(Tensor([0.0])).tolist()
        [0.0]
    """)
Asin = unary("Asin", _quiet("arcsin"), lambda x, out, d: d * conj(Rsqrt()(1 - x * x)), FLOAT, wide_gradient=True,
    doc="""The angle whose sine is x.

    Examples:
        >>> ops.Asin()(Tensor([0.0])).tolist()
        [0.0]
    """)
ACos = unary("ACos", _quiet("arccos"), lambda x, out, d: -d * conj(Rsqrt()(1 - x * x)), FLOAT, wide_gradient=True,
    doc="""The angle whose cosine is x.

    Examples:
        >>> ops.ACos()(Tensor([1.0])).tolist()
        [0.0]
    """)
Atan = unary("Atan", _numpy("arctan"), lambda x, out, d: d / conj(x * x + 1), FLOAT, wide_gradient=True,
    doc="""The angle whose tangent is x.

    Examples:
        >>> ops.Atan()(Tensor([0.0])).tolist()
        [0.0]
    """)
Sinh = unary("Sinh", _quiet("sinh"), lambda x, out, d: d * conj(Cosh()(x)), FLOAT, doc="""The hyperbolic sine.

    Examples:
        >>> ops.Sinh()(Tensor([0.0])).tolist()
        [0.0]
    """)
Cosh: Any = unary("Cosh", _quiet("cosh"), lambda x, out, d: d * conj(Sinh()(x)), FLOAT, doc="""The hyperbolic cosine.

    Examples:
        >>> ops.Cosh()(Tensor([0.0])).tolist()
        [1.0]
    """)
Tanh = unary("Tanh", _numpy("tanh"), lambda x, out, d: d * conj(1 - out * out), FLOAT, wide_gradient=True, activation=True,
    doc="""The hyperbolic tangent.

    Examples:
        >>> ops.Tanh()(Tensor([0.0])).tolist()
        [0.0]
    """, native_from=POINTS)
Asinh = unary("Asinh", _numpy("arcsinh"), lambda x, out, d: d * conj(Rsqrt()(x * x + 1)), FLOAT, wide_gradient=True,
    doc="""The inverse of the hyperbolic sine.

    Examples:
        >>> ops.Asinh()(Tensor([0.0])).tolist()
        [0.0]
    """)
Acosh = unary("Acosh", _quiet("arccosh"), lambda x, out, d: d * conj(Rsqrt()(x * x - 1)), FLOAT, wide_gradient=True,
    doc="""The inverse of the hyperbolic cosine.

    Examples:
        >>> ops.Acosh()(Tensor([1.0])).tolist()
        [0.0]
    """)
Atanh = unary("Atanh", _quiet("arctanh"), lambda x, out, d: d / conj(1 - x * x), FLOAT, wide_gradient=True,
    doc="""The inverse of the hyperbolic tangent.

    Examples:
        >>> ops.Atanh()(Tensor([0.0])).tolist()
        [0.0]
    """)
Erf = unary("Erf", erf, lambda x, out, d: d * Exp()(-x * x) * _TWO_OVER_SQRT_PI, "f", wide_gradient=True, doc="""The error function.

    Examples:
        >>> ops.Erf()(Tensor([0.0])).tolist()
        [0.0]
    """, native_from=POINTS)
Erfc = unary("Erfc", erfc, lambda x, out, d: d * Exp()(-x * x) * -_TWO_OVER_SQRT_PI, "f",
    doc="""1 minus the error function.

    Examples:
        >>> ops.Erfc()(Tensor([0.0])).tolist()
        [1.0]
    """)
Erfinv = unary("Erfinv", erfinv, lambda x, out, d: d * Exp()(out * out) * _HALF_SQRT_PI, "f",
    doc="""The inverse of the error function.

    Examples:
        >>> ops.Erfinv()(Tensor([0.0])).tolist()
        [0.0]
    """)
Floor = unary("Floor", _rounding("floor"), lambda x, out, d: zeros_like(d), REAL,
    doc="""The greatest integer not above x.

    Examples:
        >>> ops.Floor()(Tensor([1.7])).tolist()
        [1.0]
    """)
Ceil = unary("Ceil", _rounding("ceil"), lambda x, out, d: zeros_like(d), REAL, doc="""The least integer not below x.

    Examples:
        >>> ops.Ceil()(Tensor([1.2])).tolist()
        [2.0]
    """)
Trunc = unary("Trunc", _rounding("trunc"), lambda x, out, d: zeros_like(d), REAL, doc="""The integer part.

    Examples:
        >>> ops.Trunc()(Tensor([-1.7])).tolist()
        [-1.0]
    """)
Rint = unary("Rint", lambda xp, x: xp.rint(x), lambda x, out, d: zeros_like(d), "f",
    doc="""The nearest integer, halves to the even one.

    Examples:
        >>> ops.Rint()(Tensor([2.5])).tolist()
        [2.0]
    """)
Round = unary("Round", _rounding("round"), lambda x, out, d: zeros_like(d), REAL, doc="Round to the nearest.")
Sigmoid = unary("Sigmoid", _sigmoid, lambda x, out, d: d * out * (1 - out), FLOAT, wide_gradient=True, activation=True,
    doc="""1 / (1 + exp(-x)).

    Examples:
        >>> ops.Sigmoid()(Tensor([0.0])).tolist()
        [0.5]
    """, native_from=POINTS)
Softplus = unary("Softplus", _softplus, lambda x, out, d: d * Sigmoid()(x), "f",
    doc="""log(1 + exp(x)), without overflow.

    Examples:
        >>> ops.Softplus()(Tensor([100.0])).tolist()
        [100.0]
    """, native_from=POINTS)
ReLU = unary(
    "ReLU", lambda xp, x: xp.maximum(x, xp.zeros((), x.dtype)), lambda x, out, d: ReluGrad()(d, out), REAL, activation=True,
    doc="""max(x, 0).

    Examples:
        >>> ops.ReLU()(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """, native_from=POINTS)  # fmt: skip


class ReluGrad(Elementwise):
    """dout where the forward output is positive, else 0.

    Examples:
        >>> print(ops.ReluGrad()(Tensor([10.0, 20.0]), Tensor([0.0, 3.0])))
        [ 0. 20.]
    """

    keeps_finite = True

    def __init__(self) -> None:
        super().__init__("ReluGrad")

    def eval(self, xp: Namespace, dout: Array, out: Array) -> Any:
        return xp.where(out > 0, dout, xp.zeros((), dout.dtype))

    def bprop(self, dout: TensorBase, y: TensorBase, out: TensorBase, dgrad: TensorBase) -> tuple:
        return ReluGrad()(dgrad, y), zeros_like(y)


# -- complex --------------------------------------------------------------------------------------------------------
Conj: Any = unary("Conj", lambda xp, x: xp.conj(x) if x.dtype.kind == "c" else x, lambda x, out, d: Conj()(d), ANY,
    doc="""The complex conjugate.

    Examples:
        >>> ops.Conj()(Tensor([1+2j])).tolist()
        [(1-2j)]
    """)


class _ComplexPart(Elementwise):
    """A real number from each complex one."""

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return {"complex64": mstype.float32, "complex128": mstype.float64}.get(dtype.name, dtype)


class Abs(_ComplexPart):
    """The magnitude.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Abs()(Tensor([-2.0])).tolist()
        [2.0]
    """

    def __init__(self) -> None:
        super().__init__("Abs")

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.abs(x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        if x.dtype.kind != "c":
            return (dout * Sign()(x),)
        zero = Equal()(out, 0)
        return (Cast()(Select()(zero, zeros_like(dout), dout / Select()(zero, ones_like(out), out)), x.dtype) * x,)


class Real(_ComplexPart):
    """The real part of complex numbers.

    Examples:
        >>> print(ops.Real()(Tensor([1 + 2j])))
        [1.]
    """

    def __init__(self) -> None:
        super().__init__("Real")

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.real(x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (Complex()(dout, zeros_like(dout)) if x.dtype.kind == "c" else dout,)


class Imag(_ComplexPart):
    """The imaginary part of complex numbers.

    Examples:
        >>> print(ops.Imag()(Tensor([1 + 2j])))
        [2.]
    """

    def __init__(self) -> None:
        super().__init__("Imag")

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.imag(x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (Complex()(zeros_like(dout), dout) if x.dtype.kind == "c" else zeros_like(dout),)


class Complex(Elementwise):
    """real + i imag.

    Examples:
        >>> print(ops.Complex()(Tensor([1.0]), Tensor([-2.0])))
        [1.-2.j]
    """

    promote = "all"
    kinds = "f"

    def __init__(self) -> None:
        super().__init__("Complex")

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return mstype.complex128 if dtype is mstype.float64 else mstype.complex64

    def eval(self, xp: Namespace, real: Array, imag: Array) -> Any:
        part = np.float64 if real.dtype == np.float64 else np.float32
        parts = xp.broadcast_arrays(real.astype(part), imag.astype(part))
        if xp is not np:
            return require("jax.lax", "xla", "a complex number on XLA").complex(*parts)
        out = np.empty(parts[0].shape, np.result_type(part, np.complex64))
        out.real, out.imag = parts  # no product: i * inf has a real part of NaN
        return out

    def bprop(self, real: TensorBase, imag: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return sum_to_shape(Real()(dout), real.shape), sum_to_shape(Imag()(dout), imag.shape)


Add.linear = Sub.linear = Neg.linear = True
Add.spreads = Sub.spreads = Mul.spreads = Neg.spreads = True
ReLU.keeps_finite = Tanh.keeps_finite = Sigmoid.keeps_finite = Neg.keeps_finite = Abs.keeps_finite = True
Maximum.keeps_finite = Minimum.keeps_finite = True

# -- types and selection --------------------------------------------------------------------------------------------
class Cast(Primitive):
    """Convert the elements to another type.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, ops
        >>> ops.Cast()(Tensor([1.5]), ms.int32).tolist()
        [1]
    """

    spreads = True

    elementwise = True
    moves = True

    def __init__(self) -> None:
        super().__init__("Cast")

    def prepare(self, args: tuple) -> tuple:
        x, dtype = args
        if values.is_number(x):
            x = values.number_tensor(x, values.default_dtype(x))
        return x, mstype.to_dtype(dtype)

    def infer(self, x: Abstract, dtype: DType) -> Any:
        checks.tensor(self.name, "x", x)
        return result_like((x,), dtype, x.shape)

    def eval(self, xp: Namespace, x: Any, dtype: mstype.DType) -> Any:
        if x.dtype.kind == "c" and dtype.kind != "c":
            x = xp.real(x)
        with np.errstate(invalid="ignore", over="ignore"):
            return xp.asarray(x).astype(dtype.np)

    def eval_xla(self, jnp: Any, x: Any, dtype: mstype.DType) -> Any:
        """A truth value is chosen, not converted: XLA takes a product with a converted one for a choice, where NaN times 0 is 0."""
        if x.dtype == np.bool_ and dtype.kind != "b":
            return jnp.where(x, jnp.ones((), dtype.np), jnp.zeros((), dtype.np))
        return self.eval(jnp, x, dtype)

    def bprop(self, x: TensorBase, dtype: DType, out: TensorBase, dout: TensorBase) -> tuple:
        if dtype.kind == "b":
            return None, None
        return Cast()(dout, x.dtype), None


set_cast(Cast())


def _integers_as_float(self: Primitive, args: tuple) -> tuple:
    """Integers become float32 before these primitives see them."""
    return tuple(
        Cast()(a, mstype.float32) if isinstance(a, values.TensorBase) and values.dtype_of(a).kind in "bui" else a
        for a in args
    )


Sqrt.prepare = Reciprocal.prepare = _integers_as_float


class Select(Elementwise):
    """x where condition holds, else y.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Select()(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4])).tolist()
        [1, 4]
    """

    keeps_finite = True

    promote = (1, 2)

    def __init__(self) -> None:
        super().__init__("Select")

    def infer(self, condition: AbstractTensor, x: AbstractTensor, y: AbstractTensor) -> Any:
        checks.tensor(self.name, "condition", condition)
        checks.dtype_in(self.name, "condition", condition.dtype, "b")
        shape = checks.broadcast(self.name, condition.shape, x.shape, y.shape)
        return result_like((condition, x, y), x.dtype, shape)

    def eval(self, xp: Namespace, condition: Array, x: Array, y: Array) -> Any:
        return xp.where(condition, x, y)

    def bprop(self, condition: TensorBase, x: TensorBase, y: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        zero = zeros_like(dout)
        dx, dy = Select()(condition, dout, zero), Select()(condition, zero, dout)
        return None, sum_to_shape(dx, x.shape), sum_to_shape(dy, y.shape)


class Bitcast(Primitive):
    """The same bytes read as another type; the last dimension shrinks or grows with the size of an element.

    Examples:
        >>> print(ops.Bitcast(ms.int32)(Tensor([1.0, 0.0])))
        [1065353216          0]
    """

    def __init__(self, type: Any):
        super().__init__(type=mstype.to_dtype(type))

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        old, new = x.dtype.itemsize, self.type.itemsize
        if old == new:
            return AbstractTensor(self.type, x.shape)
        if not x.shape or x.shape[-1] * old % new:
            raise ValueError(
                f"For '{self.name}', {x.dtype} elements of shape {x.shape} do not fill whole {self.type} ones."
            )
        return AbstractTensor(self.type, (*x.shape[:-1], x.shape[-1] * old // new))

    def eval(self, xp: Namespace, x: Array) -> Any:
        return np.ascontiguousarray(x).view(self.type.np) if xp is np else x.view(self.type.np)


class StopGradient(Elementwise):
    """The identity, through which no gradient flows.

    Examples:
        >>> stop = ops.StopGradient()
        >>> print(ops.grad(lambda x: x * stop(x))(Tensor(3.0)))
        3.0
    """

    def __init__(self) -> None:
        super().__init__("StopGradient")

    def eval(self, xp: Namespace, x: Array) -> Any:
        return x


class ZerosLike(Elementwise):
    """Zeros in the shape and type of the input.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.ZerosLike()(Tensor([1.0, 2.0])).tolist()
        [0.0, 0.0]
    """

    keeps_finite = True

    def __init__(self) -> None:
        super().__init__("ZerosLike")

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.zeros_like(x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (None,)


class OnesLike(Elementwise):
    """Ones in the shape and type of the input.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.OnesLike()(Tensor([3.0])).tolist()
        [1.0]
    """

    keeps_finite = True

    def __init__(self) -> None:
        super().__init__("OnesLike")

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.ones_like(x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (None,)


def as_type(x: Any, dtype: mstype.DType) -> Any:
    return Cast()(x, dtype) if x.dtype is not dtype else x


def in_float32(x: Any) -> Any:
    """A tensor of 16-bit floats as float32; others as they are. Gradients of such are rounded once, at their end."""
    return as_type(x, mstype.float32) if x.dtype.kind == "f" and x.dtype.itemsize < 4 else x


def zeros_like(x: Any) -> Any:
    return ZerosLike()(x)


def ones_like(x: TensorBase) -> Any:
    return OnesLike()(x)


def conj(x: Any) -> Any:
    """The complex conjugate; real values pass through untouched."""
    return Conj()(x) if x.dtype.kind == "c" else x
