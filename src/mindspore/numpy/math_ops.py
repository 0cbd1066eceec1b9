"""Arithmetic, comparison, reductions and other mathematics with NumPy's names and arguments."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.numpy.arguments import binary, operand, tensor, unary
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, normal_axes, normal_axis, to_float
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.scan import CumProd, CumSum

if TYPE_CHECKING:
    from mindspore.numpy.arguments import ArrayLike, DTypeLike

__all__ = [
    "abs", "absolute", "add", "amax", "amin", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "around", "array_equal", "array_equiv", "average", "bincount", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "clip", "convolve", "copysign", "corrcoef",
    "correlate", "cos", "cosh", "count_nonzero", "cov", "cross", "cumprod", "cumsum", "deg2rad", "diff", "digitize",
    "divide", "divmod", "dot", "ediff1d", "equal", "exp", "exp2", "expm1", "fabs", "fix", "float_power", "floor",
    "floor_divide", "fmod", "gcd", "gradient", "greater", "greater_equal", "heaviside", "hypot", "inner", "interp",
    "invert", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isscalar", "kron", "lcm", "less",
    "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not",
    "logical_or", "logical_xor", "matmul", "matrix_power", "max", "maximum", "mean", "min", "minimum", "mod",
    "multi_dot", "multiply", "nancumsum", "nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar", "negative",
    "norm", "not_equal", "outer", "polyadd", "polyder", "polyint", "polymul", "polysub", "polyval", "positive",
    "power", "promote_types", "ptp", "rad2deg", "radians", "reciprocal", "remainder", "result_type", "rint",
    "round", "searchsorted", "sign", "signbit", "sin", "sinh", "sometrue", "sqrt", "square", "std", "subtract",
    "sum", "tan", "tanh", "tensordot", "trapz", "true_divide", "trunc", "unwrap", "var",
]  # fmt: skip

# -- one argument ---------------------------------------------------------------------------------------------------
abs = unary("abs", F.abs, """The magnitude.

    Examples:
        >>> print(mnp.abs(mnp.array([-2.5, 4.0])))
        [2.5 4. ]
    """)
absolute = unary("absolute", F.abs, """The magnitude.

    Examples:
        >>> print(mnp.absolute(mnp.array([-2.5, 4.0])))
        [2.5 4. ]
    """)
fabs = unary("fabs", F.abs, """The magnitude, as floats.

    Examples:
        >>> print(mnp.fabs(mnp.array([-2.5, 4.0])))
        [2.5 4. ]
    """, floats=True)
negative = unary("negative", F.neg, """The negative.

    Examples:
        >>> print(mnp.negative(mnp.array([1.5, -2.0])))
        [-1.5  2. ]
    """, argument="a")
sqrt = unary("sqrt", F.sqrt, """The square root.

    Examples:
        >>> print(mnp.sqrt(mnp.array([9.0, 2.25])))
        [3.  1.5]
    """)
square = unary("square", F.square, """The square.

    Examples:
        >>> print(mnp.square(mnp.array([3.0, -4.0])))
        [ 9. 16.]
    """)
reciprocal = unary("reciprocal", F.reciprocal, """1 / x.

    Examples:
        >>> print(mnp.reciprocal(mnp.array([0.5, 4.0])))
        [2.   0.25]
    """)
exp = unary("exp", F.exp, """e to the power of each element.

    Examples:
        >>> print(mnp.exp(mnp.array([0.0, 1.0])))
        [1.       2.718282]
    """)
exp2 = unary("exp2", F.exp2, """2 to the power of each element.

    Examples:
        >>> print(mnp.exp2(mnp.array([0.0, 3.0])))
        [1. 8.]
    """)
expm1 = unary("expm1", F.expm1, """exp(x) - 1.

    Examples:
        >>> print(mnp.expm1(mnp.array([0.0, 1.0])))
        [0.        1.7182819]
    """)
log = unary("log", F.log, """The natural logarithm.

    Examples:
        >>> print(mnp.log(mnp.array([1.0, 10.0])))
        [0.        2.3025851]
    """)
log10 = unary("log10", F.log10, """The logarithm to base 10.

    Examples:
        >>> print(mnp.log10(mnp.array([1.0, 10.0])))
        [0. 1.]
    """)
log1p = unary("log1p", F.log1p, """log(1 + x).

    Examples:
        >>> print(mnp.log1p(mnp.array([0.0, 1.0])))
        [0.        0.6931472]
    """)
log2 = unary("log2", F.log2, """The logarithm to base 2.

    Examples:
        >>> print(mnp.log2(mnp.array([1.0, 8.0])))
        [0. 3.]
    """)
sin = unary("sin", F.sin, """The sine.

    Examples:
        >>> print(mnp.sin(mnp.array([0.0, 1.0])))
        [0.       0.841471]
    """)
cos = unary("cos", F.cos, """The cosine.

    Examples:
        >>> print(mnp.cos(mnp.array([0.0, 1.0])))
        [1.        0.5403023]
    """)
tan = unary("tan", F.tan, """The tangent.

    Examples:
        >>> print(mnp.tan(mnp.array([0.0, 1.0])))
        [0.        1.5574077]
    """)
arcsin = unary("arcsin", F.asin, """The inverse sine.

    Examples:
        >>> print(mnp.arcsin(mnp.array([0.0, 1.0])))
        [0.        1.5707964]
    """)
arccos = unary("arccos", F.acos, """The inverse cosine.

    Examples:
        >>> print(mnp.arccos(mnp.array([1.0, 0.0])))
        [0.        1.5707964]
    """, argument="input")
arctan = unary("arctan", F.atan, """The inverse tangent.

    Examples:
        >>> print(mnp.arctan(mnp.array([0.0, 1.0])))
        [0.        0.7853982]
    """)
sinh = unary("sinh", F.sinh, """The hyperbolic sine.

    Examples:
        >>> print(mnp.sinh(mnp.array([0.0, 1.0])))
        [0.        1.1752012]
    """)
cosh = unary("cosh", F.cosh, """The hyperbolic cosine.

    Examples:
        >>> print(mnp.cosh(mnp.array([0.0, 1.0])))
        [1.        1.5430807]
    """)
tanh = unary("tanh", F.tanh, """The hyperbolic tangent.

    Examples:
        >>> print(mnp.tanh(mnp.array([0.0, 1.0])))
        [0.        0.7615942]
    """)
arcsinh = unary("arcsinh", F.asinh, """The inverse hyperbolic sine.

    Examples:
        >>> print(mnp.arcsinh(mnp.array([0.0, 1.0])))
        [0.        0.8813736]
    """)
arccosh = unary("arccosh", F.acosh, """The inverse hyperbolic cosine.

    Examples:
        >>> print(mnp.arccosh(mnp.array([1.0, 2.0])))
        [0.       1.316958]
    """)
arctanh = unary("arctanh", F.atanh, """The inverse hyperbolic tangent.

    Examples:
        >>> print(mnp.arctanh(mnp.array([0.0, 0.5])))
        [0.         0.54930615]
    """)
floor = unary("floor", F.floor, """The largest integer not above.

    Examples:
        >>> print(mnp.floor(mnp.array([-1.5, 0.2])))
        [-2.  0.]
    """, floats=True)
ceil = unary("ceil", F.ceil, """The smallest integer not below.

    Examples:
        >>> print(mnp.ceil(mnp.array([-1.5, 0.2])))
        [-1.  1.]
    """, floats=True)
trunc = unary("trunc", F.trunc, """The integer part.

    Examples:
        >>> print(mnp.trunc(mnp.array([1.7, -1.7])))
        [ 1. -1.]
    """, floats=True)
rint = unary("rint", lambda x: ew.Rint()(x), """The nearest integer.

    Examples:
        >>> print(mnp.rint(mnp.array([0.5, 1.7])))
        [0. 2.]
    """, floats=True)
sign = unary("sign", F.sign, """-1, 0 or 1.

    Examples:
        >>> print(mnp.sign(mnp.array([-5.0, 0.0, 2.0])))
        [-1.  0.  1.]
    """)
deg2rad = unary("deg2rad", F.deg2rad, """Degrees to radians.

    Examples:
        >>> print(mnp.deg2rad(mnp.array([0.0, 90.0])))
        [0.        1.5707964]
    """)
radians = unary("radians", F.deg2rad, """Degrees to radians.

    Examples:
        >>> print(mnp.radians(mnp.array([0.0, 90.0])))
        [0.        1.5707964]
    """)
rad2deg = unary("rad2deg", F.rad2deg, """Radians to degrees.

    Examples:
        >>> print(mnp.rad2deg(mnp.array([0.0, 3.1415927])))
        [  0. 180.]
    """)
cbrt = unary("cbrt", lambda x: F.sign(x) * F.pow(F.abs(x), 1 / 3), """The cube root.

    Examples:
        >>> print(mnp.cbrt(mnp.array([8.0, 1.0])))
        [2. 1.]
    """, floats=True)
isnan = unary("isnan", F.isnan, """Where an element is NaN.

    Examples:
        >>> print(mnp.isnan(mnp.array([1.0, float("nan")])))
        [False  True]
    """)
isinf = unary("isinf", F.isinf, """Where an element is infinite.

    Examples:
        >>> print(mnp.isinf(mnp.array([1.0, float("inf")])))
        [False  True]
    """)
isfinite = unary("isfinite", F.isfinite, """Where an element is finite.

    Examples:
        >>> print(mnp.isfinite(mnp.array([1.0, float("inf")])))
        [ True False]
    """)
signbit = unary("signbit", F.signbit, """Whether the sign bit is set.

    Examples:
        >>> print(mnp.signbit(mnp.array([-3.0, 3.0])))
        [ True False]
    """)
invert = unary("invert", lambda x: F.logical_not(x) if x.dtype == mstype.bool_ else F.invert(x),
    """Every bit flipped.

    Examples:
        >>> print(mnp.invert(mnp.array([0, 5])))
        [-1 -6]
    """)
bitwise_not = unary("bitwise_not", invert, """Every bit flipped.

    Examples:
        >>> print(mnp.bitwise_not(mnp.array([0, 5])))
        [-1 -6]
    """)
logical_not = unary("logical_not", F.logical_not, """Where it does not hold.

    Examples:
        >>> print(mnp.logical_not(mnp.array([True, False])))
        [False  True]
    """, argument="a")
positive = unary("positive", lambda x: x, """The argument itself.

    Examples:
        >>> print(mnp.positive(mnp.array([-1.0, 2.0])))
        [-1.  2.]
    """, argument="a")


def fix(x: ArrayLike) -> Tensor:
    """The integer part.

    Examples:
        >>> print(mnp.fix(mnp.array([1.7, -1.7])))
        [ 1. -1.]
    """
    return F.trunc(to_float(tensor(x)))


def isneginf(x: ArrayLike) -> Tensor:
    """Where an element is minus infinity.

    Examples:
        >>> print(mnp.isneginf(mnp.array([1.0, float("-inf")])))
        [False  True]
    """
    return F.isneginf(tensor(x))


def isposinf(x: ArrayLike) -> Tensor:
    """Where an element is plus infinity.

    Examples:
        >>> print(mnp.isposinf(mnp.array([1.0, float("inf")])))
        [False  True]
    """
    return F.isposinf(tensor(x))


def isscalar(element: ArrayLike) -> bool:
    """Whether it is a Python number or string.

    Examples:
        >>> mnp.isscalar(3.0)
        True
    """
    return isinstance(element, (int, float, complex, str, bool))


# -- two arguments --------------------------------------------------------------------------------------------------
add = binary("add", F.add, """x1 + x2.

    Examples:
        >>> print(mnp.add(mnp.array([1.0, 2.0]), mnp.array([10.0, 20.0])))
        [11. 22.]
    """)
subtract = binary("subtract", F.sub, """x1 - x2.

    Examples:
        >>> print(mnp.subtract(mnp.array([5.0, 7.0]), 2.0))
        [3. 5.]
    """)
multiply = binary("multiply", F.mul, """x1 * x2.

    Examples:
        >>> print(mnp.multiply(mnp.array([1.0, 2.0]), 3.0))
        [3. 6.]
    """)
divide = binary("divide", lambda a, b: ew.Div()(a, b), """x1 / x2.

    Examples:
        >>> print(mnp.divide(mnp.array([7.0, 8.0]), 2))
        [3.5 4. ]
    """)
true_divide = binary("true_divide", lambda a, b: ew.Div()(a, b), """x1 / x2.

    Examples:
        >>> print(mnp.true_divide(mnp.array([7.0, 8.0]), 2))
        [3.5 4. ]
    """)
floor_divide = binary("floor_divide", F.floor_divide, """floor(x1 / x2).

    Examples:
        >>> print(mnp.floor_divide(mnp.array([7.0, -7.0]), 2.0))
        [ 3. -4.]
    """)
power = binary("power", F.pow, """x1 to the power of x2.

    Examples:
        >>> print(mnp.power(mnp.array([2.0, 3.0]), 2))
        [4. 9.]
    """)
float_power = binary("float_power", lambda a, b: F.pow(to_float(tensor(a)), b), """x1 to the power of x2, as floats.

    Examples:
        >>> print(mnp.float_power(mnp.array([1.0, 2.0]), 2))
        [1. 4.]
    """)
mod = binary("mod", F.remainder, """The remainder with the sign of x2.

    Examples:
        >>> print(mnp.mod(mnp.array([7.0, -7.0]), 3.0))
        [1. 2.]
    """)
remainder = binary("remainder", F.remainder, """The remainder with the sign of x2.

    Examples:
        >>> print(mnp.remainder(mnp.array([7.0, -7.0]), 3.0))
        [1. 2.]
    """)
fmod = binary("fmod", F.fmod, """The remainder with the sign of x1.

    Examples:
        >>> print(mnp.fmod(mnp.array([7.0, -7.0]), 3.0))
        [ 1. -1.]
    """)
maximum = binary("maximum", F.maximum, """The larger of each pair.

    Examples:
        >>> print(mnp.maximum(mnp.array([1.0, 5.0]), mnp.array([3.0, 2.0])))
        [3. 5.]
    """)
minimum = binary("minimum", F.minimum, """The smaller of each pair.

    Examples:
        >>> print(mnp.minimum(mnp.array([1.0, 5.0]), mnp.array([3.0, 2.0])))
        [1. 2.]
    """)
arctan2 = binary(
    "arctan2", lambda a, b: F.atan2(to_float(tensor(a)), to_float(tensor(b))), """The angle of the point (x2, x1).

    Examples:
        >>> print(mnp.arctan2(mnp.array([1.0, -1.0]), mnp.array([0.0, -1.0])))
        [ 1.5707964 -2.3561945]
    """
)
hypot = binary("hypot", lambda a, b: F.hypot(to_float(tensor(a)), to_float(tensor(b))), """sqrt(x1² + x2²).

    Examples:
        >>> print(mnp.hypot(mnp.array([3.0, 5.0]), mnp.array([4.0, 12.0])))
        [ 5. 13.]
    """)
logaddexp = binary("logaddexp", F.logaddexp, """log(exp(x1) + exp(x2)).

    Examples:
        >>> print(mnp.logaddexp(mnp.array([0.0]), mnp.array([0.0])))
        [0.6931472]
    """)
logaddexp2 = binary("logaddexp2", F.logaddexp2, """log2(2**x1 + 2**x2).

    Examples:
        >>> print(mnp.logaddexp2(mnp.array([3.0]), mnp.array([3.0])))
        [4.]
    """)
copysign = binary("copysign", F.copysign, """|x1| with the sign of x2.

    Examples:
        >>> print(mnp.copysign(mnp.array([1.0, -2.0]), mnp.array([-1.0, 5.0])))
        [-1.  2.]
    """)
heaviside = binary("heaviside", F.heaviside, """0, x2 or 1 for negative, zero or positive x1.

    Examples:
        >>> print(mnp.heaviside(mnp.array([-1.5, 0.0, 2.0]), 0.5))
        [0.  0.5 1. ]
    """)
gcd = binary("gcd", F.gcd, """The greatest common divisor.

    Examples:
        >>> print(mnp.gcd(mnp.array([12, 35]), mnp.array([18, 21])))
        [6 7]
    """)
lcm = binary("lcm", F.lcm, """The least common multiple.

    Examples:
        >>> print(mnp.lcm(mnp.array([4, 6]), mnp.array([6, 9])))
        [12 18]
    """)
bitwise_and = binary("bitwise_and", F.bitwise_and, """Bits set in both.

    Examples:
        >>> print(mnp.bitwise_and(mnp.array([12, 7]), mnp.array([10, 3])))
        [8 3]
    """)
bitwise_or = binary("bitwise_or", F.bitwise_or, """Bits set in either.

    Examples:
        >>> print(mnp.bitwise_or(mnp.array([12, 1]), mnp.array([10, 2])))
        [14  3]
    """)
bitwise_xor = binary("bitwise_xor", F.bitwise_xor, """Bits set in exactly one.

    Examples:
        >>> print(mnp.bitwise_xor(mnp.array([12, 7]), mnp.array([10, 7])))
        [6 0]
    """)
equal = binary("equal", F.equal, """Where both are equal.

    Examples:
        >>> print(mnp.equal(mnp.array([1, 2]), mnp.array([1, 5])))
        [ True False]
    """)
not_equal = binary("not_equal", F.not_equal, """Where both differ.

    Examples:
        >>> print(mnp.not_equal(mnp.array([1, 2]), mnp.array([1, 5])))
        [False  True]
    """)
less = binary("less", F.less, """Where x1 < x2.

    Examples:
        >>> print(mnp.less(mnp.array([1, 3]), 2))
        [ True False]
    """)
less_equal = binary("less_equal", F.less_equal, """Where x1 <= x2.

    Examples:
        >>> print(mnp.less_equal(mnp.array([1, 2]), 2))
        [ True  True]
    """)
greater = binary("greater", F.greater, """Where x1 > x2.

    Examples:
        >>> print(mnp.greater(mnp.array([1, 3]), 2))
        [False  True]
    """)
greater_equal = binary("greater_equal", F.greater_equal, """Where x1 >= x2.

    Examples:
        >>> print(mnp.greater_equal(mnp.array([1, 2]), 2))
        [False  True]
    """)
logical_and = binary("logical_and", F.logical_and, """Where both hold.

    Examples:
        >>> print(mnp.logical_and(mnp.array([True, False]), mnp.array([True, True])))
        [ True False]
    """)
logical_or = binary("logical_or", F.logical_or, """Where either holds.

    Examples:
        >>> print(mnp.logical_or(mnp.array([True, False]), mnp.array([False, False])))
        [ True False]
    """)
logical_xor = binary("logical_xor", F.logical_xor, """Where exactly one holds.

    Examples:
        >>> print(mnp.logical_xor(mnp.array([True, False]), mnp.array([True, True])))
        [False  True]
    """)


def divmod(x1: ArrayLike, x2: ArrayLike, dtype: DTypeLike = None) -> tuple[Tensor, Tensor]:
    """Quotient, rounded down, and remainder.

    Examples:
        >>> [part.tolist() for part in mnp.divmod(mnp.array([7.0, -7.0]), 2.0)]
        [[3.0, -4.0], [1.0, 1.0]]
    """
    return floor_divide(x1, x2, dtype), remainder(x1, x2, dtype)


def clip(x: ArrayLike, xmin: Any, xmax: Any, dtype: DTypeLike = None) -> Tensor:
    """Keep every element within [xmin, xmax]; either may be None.

    Examples:
        >>> print(mnp.clip(mnp.array([-3.0, 0.5, 9.0]), 0.0, 1.0))
        [0.  0.5 1. ]
    """
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', one of 'xmin' and 'xmax' must be given.")
    return cast(
        F.clamp(tensor(x), None if xmin is None else operand(xmin), None if xmax is None else operand(xmax)), dtype
    )


def around(a: ArrayLike, decimals: int = 0) -> Tensor:
    """Round to `decimals` places.

    Examples:
        >>> print(mnp.around(mnp.array([1.25, 2.75]), 0))
        [1. 3.]
    """
    return F.round(tensor(a), decimals=decimals)


round = around


def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where |a - b| <= atol + rtol * |b|.

    Examples:
        >>> print(mnp.isclose(mnp.array([1.0, 2.0]), mnp.array([1.0, 2.1])))
        [ True False]
    """
    return F.isclose(tensor(a), tensor(b), rtol, atol, equal_nan)


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Any:
    """Whether shapes and elements are equal.

    Examples:
        >>> print(mnp.array_equal(mnp.array([1, 2]), mnp.array([1, 2])))
        True
    """
    x, y = tensor(a1), tensor(a2)
    if x.shape != y.shape:
        return Tensor(False)
    same = F.equal(x, y)
    if equal_nan:
        same = F.logical_or(same, F.logical_and(F.isnan(x), F.isnan(y)))
    return F.all(same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Any:
    """Whether the arrays broadcast together and are then equal.

    Examples:
        >>> print(mnp.array_equiv(mnp.array([[1, 2], [1, 2]]), mnp.array([1, 2])))
        True
    """
    x, y = tensor(a1), tensor(a2)
    try:
        F.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return Tensor(False)
    return F.all(F.equal(x, y))


# -- reductions -----------------------------------------------------------------------------------------------------
def sum(
    a: Any, axis: int | tuple[int, ...] | None = None, dtype: Any = None, keepdims: bool = False, initial: Any = None
) -> Tensor:
    """The sum over axes.

    Examples:
        >>> print(mnp.sum(mnp.array([[1, 2], [3, 4]]), axis=0))
        [4 6]
    """
    total = F.sum(tensor(a), axis, keepdims, dtype=dtype)
    return total if initial is None else total + initial


def mean(a: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, dtype: DTypeLike = None) -> Tensor:
    """The mean over axes.

    Examples:
        >>> print(mnp.mean(mnp.array([[1.0, 2.0], [3.0, 4.0]]), axis=1))
        [1.5 3.5]
    """
    return F.mean(cast(tensor(a), dtype), axis, keepdims)


def amax(
    a: ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    """The maximum over axes.

    Examples:
        >>> print(mnp.amax(mnp.array([[1.0, 7.0], [4.0, 2.0]]), axis=1))
        [7. 4.]
    """
    return F.amax(tensor(a), axis, keepdims, initial=initial, where=None if where is True else where)


def amin(
    a: ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    """The minimum over axes.

    Examples:
        >>> print(mnp.amin(mnp.array([[1.0, 7.0], [4.0, 2.0]]), axis=0))
        [1. 2.]
    """
    return F.amin(tensor(a), axis, keepdims, initial=initial, where=None if where is True else where)


max, min = amax, amin


def argmax(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Where the largest element stands.

    Examples:
        >>> print(mnp.argmax(mnp.array([[3.0, 8.0], [6.0, 5.0]]), axis=1))
        [1 0]
    """
    return F.argmax(tensor(a), axis)


def argmin(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Where the smallest element stands.

    Examples:
        >>> print(mnp.argmin(mnp.array([[3.0, 8.0], [6.0, 5.0]]), axis=1))
        [0 1]
    """
    return F.argmin(tensor(a), axis)


def std(x: ArrayLike, axis: int | tuple[int, ...] | None = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation.

    Examples:
        >>> print(mnp.std(mnp.array([1.0, 3.0])))
        1.0
    """
    return F.std(tensor(x), axis, ddof, keepdims)


def var(x: ArrayLike, axis: int | tuple[int, ...] | None = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance.

    Examples:
        >>> print(mnp.var(mnp.array([1.0, 3.0])))
        1.0
    """
    return F.var(tensor(x), axis, ddof, keepdims)


def ptp(x: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Maximum minus minimum.

    Examples:
        >>> print(mnp.ptp(mnp.array([3.0, 8.0, 5.0])))
        5.0
    """
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The weighted mean, perhaps with the sum of weights.

    Examples:
        >>> print(mnp.average(mnp.array([1.0, 4.0]), weights=mnp.array([3.0, 1.0])))
        1.75
    """
    x = to_float(tensor(x))
    if weights is None:
        out = F.mean(x, axis)
        total = F.full_like(out, x.size / builtins.max(out.size, 1))
    else:
        w = cast(tensor(weights), x.dtype)
        if w.shape != x.shape and axis is None:
            raise TypeError("For 'average', 'axis' must be given when the shapes of 'x' and 'weights' differ.")
        if w.shape != x.shape and isinstance(axis, int):
            w = Reshape()(w, tuple(w.size if d == axis % x.ndim else 1 for d in range(x.ndim)))
        w = F.broadcast_to(w, x.shape)
        total = F.sum(w, axis)
        out = F.sum(x * w, axis) / total
    return (out, total) if returned else out


def count_nonzero(x: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The number of elements that are not 0.

    Examples:
        >>> print(mnp.count_nonzero(mnp.array([[0, 3], [5, 7]]), axis=1))
        [1 2]
    """
    return F.count_nonzero(tensor(x), () if axis is None else axis, keepdims)


def sometrue(a: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Whether any element holds.

    Examples:
        >>> print(mnp.sometrue(mnp.array([False, True])))
        True
    """
    return F.any(cast(tensor(a), mstype.bool_), axis, keepdims)


def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """The running sum; of the flattened array when `axis` is None.

    Examples:
        >>> print(mnp.cumsum(mnp.array([[1, 2], [3, 4]]), axis=0))
        [[1 2]
         [4 6]]
    """
    x = _accumulated(a, dtype)
    return CumSum()(Reshape()(x, (-1,)) if axis is None else x, 0 if axis is None else axis)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """The running product; of the flattened array when `axis` is None.

    Examples:
        >>> print(mnp.cumprod(mnp.array([1.0, 2.0, 3.0])))
        [1. 2. 6.]
    """
    x = _accumulated(a, dtype)
    return CumProd()(Reshape()(x, (-1,)) if axis is None else x, 0 if axis is None else axis)


def _accumulated(a: ArrayLike, dtype: DTypeLike) -> Tensor:
    """An array in the type in which its elements are added up: bools and small integers as int32."""
    x = cast(tensor(a), dtype)
    return cast(x, mstype.int32) if x.dtype.kind in "bui" and x.dtype.bits < 32 else x


def _without_nan(a: ArrayLike, value: Any) -> Any:
    """Whole numbers stay what they are."""
    x = tensor(a)
    return ew.Select()(F.isnan(x), value, x) if x.dtype.kind in "fc" else x


def nansum(
    a: ArrayLike, axis: int | tuple[int, ...] | None = None, dtype: DTypeLike = None, keepdims: bool = False
) -> Tensor:
    """The sum that counts NaN as 0.

    Examples:
        >>> print(mnp.nansum(mnp.array([1.0, float("nan"), 3.0])))
        4.0
    """
    return F.nansum(tensor(a), axis, keepdims, dtype=dtype)


def nanmean(
    a: ArrayLike, axis: int | tuple[int, ...] | None = None, dtype: DTypeLike = None, keepdims: bool = False
) -> Tensor:
    """The mean of the elements that are not NaN.

    Examples:
        >>> print(mnp.nanmean(mnp.array([1.0, float("nan"), 3.0])))
        2.0
    """
    return F.nanmean(tensor(a), axis, keepdims, dtype=dtype)


def nanmax(
    a: ArrayLike, axis: int | tuple[int, ...] | None = None, dtype: DTypeLike = None, keepdims: bool = False
) -> Tensor:
    """The maximum of the elements that are not NaN.

    Examples:
        >>> print(mnp.nanmax(mnp.array([1.0, float("nan"), 3.0])))
        3.0
    """
    return cast(F.amax(_without_nan(a, -math.inf), axis, keepdims), dtype)


def nanmin(
    a: ArrayLike, axis: int | tuple[int, ...] | None = None, dtype: DTypeLike = None, keepdims: bool = False
) -> Tensor:
    """The minimum of the elements that are not NaN.

    Examples:
        >>> print(mnp.nanmin(mnp.array([1.0, float("nan"), 3.0])))
        1.0
    """
    return cast(F.amin(_without_nan(a, math.inf), axis, keepdims), dtype)


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """The running sum that counts NaN as 0.

    Examples:
        >>> print(mnp.nancumsum(mnp.array([1.0, float("nan"), 3.0])))
        [1. 1. 4.]
    """
    return cumsum(_without_nan(a, 0.0), axis, dtype)


def nanvar(
    a: ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Tensor:
    """The variance of the elements that are not NaN.

    Examples:
        >>> print(mnp.nanvar(mnp.array([1.0, float("nan"), 3.0])))
        1.0
    """
    x = to_float(tensor(a))
    valid, x = cast(F.logical_not(F.isnan(x)), x.dtype), _without_nan(x, 0.0)
    axes = normal_axes("nanvar", axis, x.ndim)
    count = F.sum(valid, axes, True)
    centre = F.sum(x, axes, True) / count
    total = F.sum(F.square(x - centre) * valid, axes, keepdims)
    return cast(total / (Reshape()(count, total.shape) - ddof), dtype)


def nanstd(
    a: ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike = None,
    ddof: int = 0,
    keepdims: bool = False,
) -> Tensor:
    """The standard deviation of the elements that are not NaN.

    Examples:
        >>> print(mnp.nanstd(mnp.array([1.0, float("nan"), 3.0])))
        1.0
    """
    return F.sqrt(nanvar(a, axis, dtype, ddof, keepdims))


# -- products -------------------------------------------------------------------------------------------------------
def dot(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The dot product.

    Examples:
        >>> print(mnp.dot(mnp.array([[1.0, 2.0]]), mnp.array([[3.0], [4.0]])))
        [[11.]]
    """
    return F.dot(tensor(a), tensor(b))


def inner(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The sum product over the last dimensions.

    Examples:
        >>> print(mnp.inner(mnp.array([1.0, 2.0]), mnp.array([3.0, 4.0])))
        11.0
    """
    return F.inner(tensor(a), tensor(b))


def outer(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Every element of one times every element of the other.

    Examples:
        >>> print(mnp.outer(mnp.array([1, 2]), mnp.array([3, 4])))
        [[3 4]
         [6 8]]
    """
    return F.outer(Reshape()(tensor(a), (-1,)), Reshape()(tensor(b), (-1,)))


def matmul(x1: ArrayLike, x2: ArrayLike, dtype: DTypeLike = None) -> Tensor:
    """The matrix product.

    Examples:
        >>> print(mnp.matmul(mnp.array([[1.0, 2.0]]), mnp.array([[3.0], [4.0]])))
        [[11.]]
    """
    return cast(F.matmul(tensor(x1), tensor(x2)), dtype)


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Tensor:
    """The sum product over pairs of axes.

    Examples:
        >>> print(mnp.tensordot(mnp.array([[1.0, 2.0]]), mnp.array([[3.0], [4.0]]), 1))
        [[11.]]
    """
    return F.tensor_dot(tensor(a), tensor(b), axes)


def kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """The Kronecker product.

    Examples:
        >>> print(mnp.kron(mnp.array([1, 2]), mnp.array([0, 1])))
        [0 1 0 2]
    """
    return F.kron(tensor(a), tensor(b))


def multi_dot(arrays: Any) -> Tensor:
    """The product of several matrices, in the order that needs the fewest multiplications.

    Examples:
        >>> print(mnp.multi_dot([mnp.array([[1.0, 2.0]]), mnp.array([[3.0], [4.0]]), mnp.array([[2.0]])]))
        [[22.]]
    """
    mats = [tensor(a) for a in arrays]
    if len(mats) < 2:
        raise ValueError("For 'multi_dot', at least two arrays are needed.")
    first, last = mats[0].ndim == 1, mats[-1].ndim == 1
    mats[0] = Reshape()(mats[0], (1, -1)) if first else mats[0]
    mats[-1] = Reshape()(mats[-1], (-1, 1)) if last else mats[-1]
    order = _chain_order([m.shape[0] for m in mats] + [mats[-1].shape[1]])
    out = _chain(mats, order, 0, len(mats) - 1)
    shape = out.shape[1:] if first else out.shape
    return Reshape()(out, shape[:-1] if last else shape)


def _chain_order(sizes: list[int]) -> list[list[int]]:
    """Where to split each chain of matrices: the classic dynamic programme."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            options = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], split[i][j] = builtins.min(options)
    return split


def _chain(mats: list, split: list[list[int]], i: int, j: int) -> Any:
    if i == j:
        return mats[i]
    k = split[i][j]
    return F.matmul(_chain(mats, split, i, k), _chain(mats, split, k + 1, j))


def matrix_power(a: ArrayLike, n: int) -> Tensor:
    """The n-th power of square matrices.

    Examples:
        >>> print(mnp.matrix_power(mnp.array([[1.0, 1.0], [0.0, 1.0]]), 5))
        [[1. 5.]
         [0. 1.]]
    """
    return F.matrix_power(tensor(a), n)


def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """The vector product of 2- or 3-vectors.

    Examples:
        >>> print(mnp.cross(mnp.array([1.0, 0.0, 0.0]), mnp.array([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = F.moveaxis(tensor(a), axisa, -1), F.moveaxis(tensor(b), axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(f"For 'cross', the vectors must be of size 2 or 3, but got {x.shape} and {y.shape}.")
    if x.shape[-1] == y.shape[-1] == 2:
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    x, y = (F.pad(v, (0, 1)) if v.shape[-1] == 2 else v for v in (x, y))
    return F.moveaxis(F.cross(x, y, -1), -1, axisc)


def norm(x: ArrayLike, ord: Any = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """A vector or matrix norm.

    Examples:
        >>> print(mnp.norm(mnp.array([3.0, 4.0])))
        5.0
    """
    return F.norm(to_float(tensor(x)), ord, axis, keepdims)


def trapz(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Tensor:
    """The integral by the trapezoid rule.

    Examples:
        >>> print(mnp.trapz(mnp.array([1.0, 2.0, 4.0]), dx=2.0))
        9.0
    """
    if x is None:
        return F.trapz(tensor(y), dim=axis) * dx
    return F.trapz(tensor(y), tensor(x), dim=axis)


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Tensor:
    """The convolution of two 1-D arrays.

    Examples:
        >>> print(mnp.convolve(mnp.array([1.0, 2.0, 3.0]), mnp.array([0.0, 1.0])))
        [0. 1. 2. 3.]
    """
    return correlate(a, F.flip(tensor(v), (0,)), mode)


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Tensor:
    """The correlation of two 1-D arrays; mode 'valid', 'same' or 'full'.

    Examples:
        >>> print(mnp.correlate(mnp.array([1.0, 2.0, 3.0]), mnp.array([0.0, 1.0])))
        [2. 3.]
    """
    x, w = to_float(tensor(a)), to_float(tensor(v))
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"For 'correlate', 'mode' must be 'valid', 'same' or 'full', but got {mode!r}.")
    swapped = x.size < w.size
    x, w = (w, x) if swapped else (x, w)
    n, k = x.size, w.size
    left = {"valid": 0, "same": k // 2 if not swapped else (k - 1) // 2, "full": k - 1}[mode]
    right = {"valid": 0, "same": k - 1 - left, "full": k - 1}[mode]
    padded = F.pad(x, (left, right))
    import numpy as onp

    places = onp.arange(n + left + right - k + 1)[:, None] + onp.arange(k)
    out = F.matmul(F.gather(padded, Tensor(places), 0), w)
    return F.flip(out, (0,)) if swapped else out


def cov(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, dtype: DTypeLike = None,
) -> Tensor:  # fmt: skip
    """The covariance matrix.

    Examples:
        >>> print(mnp.cov(mnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    x = cast(to_float(tensor(m)), dtype)
    x = Reshape()(x, (1, -1)) if x.ndim < 2 else x
    x = x if rowvar or x.shape[0] == 1 else F.transpose(x, (1, 0))
    if y is not None:
        other = cast(tensor(y), x.dtype)
        other = Reshape()(other, (1, -1)) if other.ndim < 2 else other
        x = F.concat((x, other if rowvar or other.shape[0] == 1 else F.transpose(other, (1, 0))), 0)
    correction = ddof if ddof is not None else int(not bias)
    out = F.cov(
        x, correction=correction, fweights=None if fweights is None else tensor(fweights),
        aweights=None if aweights is None else tensor(aweights),
    )  # fmt: skip
    return F.squeeze(out)


def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike = None) -> Tensor:
    """Pearson's correlation coefficients.

    Examples:
        >>> print(mnp.corrcoef(mnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = F.sqrt(F.diagonal(c))
    return F.clamp(c / Reshape()(spread, (-1, 1)) / spread, -1, 1)


# -- calculus and polynomials ---------------------------------------------------------------------------------------
def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours, n times over.

    Examples:
        >>> print(mnp.diff(mnp.array([1, 4, 9, 16])))
        [3 5 7]
    """
    x = tensor(a)
    at = normal_axis("diff", axis, x.ndim)

    def edge(value: Any) -> Any:
        if value is None:
            return None
        t = cast(tensor(value), x.dtype)
        return F.broadcast_to(t, x.shape[:at] + (1,) + x.shape[at + 1 :]) if t.ndim == 0 else t

    return F.diff(x, n, at, edge(prepend), edge(append))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Differences of neighbours of the flattened array, perhaps with more before and after.

    Examples:
        >>> print(mnp.ediff1d(mnp.array([1, 4, 9])))
        [3 5]
    """
    x = Reshape()(tensor(ary), (-1,))
    parts = [Reshape()(cast(tensor(p), x.dtype), (-1,)) for p in (to_begin, None, to_end) if p is not None]
    out = x[1:] - x[:-1]
    if to_begin is not None:
        out = F.concat((parts[0], out), 0)
    return out if to_end is None else F.concat((out, parts[-1]), 0)


def gradient(f: Any, *varargs: Any, axis: int | tuple[int, ...] | None = None, edge_order: int = 1) -> Any:
    """Central differences inside and one-sided ones at the ends, along each axis.

    Examples:
        >>> print(mnp.gradient(mnp.array([1.0, 4.0, 9.0])))
        [3. 4. 5.]
    """
    x = to_float(tensor(f))
    axes = normal_axes("gradient", axis, x.ndim)
    if edge_order != 1:
        raise ValueError(f"For 'gradient', 'edge_order' must be 1, but got {edge_order}.")
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    out = [_central(x, at, step) for at, step in zip(axes, steps)]
    return out[0] if len(out) == 1 else out


def _central(x: Any, at: int, step: Any) -> Any:
    lead = (slice(None),) * at
    first = (x[(*lead, slice(1, 2))] - x[(*lead, slice(0, 1))]) / step
    last = (x[(*lead, slice(-1, None))] - x[(*lead, slice(-2, -1))]) / step
    middle = (x[(*lead, slice(2, None))] - x[(*lead, slice(0, -2))]) / (2 * step)
    return F.concat((first, middle, last), at)


def interp(x: ArrayLike, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Linear interpolation between the points (xp, fp); xp rises.

    Examples:
        >>> print(mnp.interp(mnp.array([0.5, 1.5]), mnp.array([0.0, 1.0, 2.0]), mnp.array([0.0, 10.0, 30.0])))
        [ 5. 20.]
    """
    x, xs, ys = to_float(tensor(x)), to_float(tensor(xp)), to_float(tensor(fp))
    place = F.clamp(F.searchsorted(xs, x, right=True) - 1, 0, xs.shape[0] - 2)
    x0, x1 = F.gather(xs, place, 0), F.gather(xs, place + 1, 0)
    y0, y1 = F.gather(ys, place, 0), F.gather(ys, place + 1, 0)
    out = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    out = ew.Select()(F.less(x, xs[0]), ys[0] if left is None else left, out)
    return ew.Select()(F.greater(x, xs[-1]), ys[-1] if right is None else right, out)


def unwrap(p: ArrayLike, discont: float = math.pi, axis: int = -1) -> Tensor:
    """Add multiples of 2π so that neighbours differ by less than `discont`.

    Examples:
        >>> print(mnp.unwrap(mnp.array([0.0, 6.0])))
        [ 0.       -0.283185]
    """
    x = to_float(tensor(p))
    at = normal_axis("unwrap", axis, x.ndim)
    steps = F.diff(x, 1, at)
    wrapped = F.remainder(steps + math.pi, 2 * math.pi) - math.pi
    wrapped = ew.Select()(F.logical_and(F.equal(wrapped, -math.pi), F.greater(steps, 0)), math.pi, wrapped)
    change = ew.Select()(F.less(F.abs(steps), discont), F.zeros_like(steps), wrapped - steps)
    lead = (slice(None),) * at
    return F.concat((x[(*lead, slice(0, 1))], x[(*lead, slice(1, None))] + F.cumsum(change, at)), at)


def polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    """The value of a polynomial, highest power first.

    Examples:
        >>> print(mnp.polyval(mnp.array([1.0, 0.0, 2.0]), mnp.array([3.0])))
        [11.]
    """
    p, x = tensor(p), operand(x)
    out = F.zeros_like(tensor(x)) + p[0]
    for i in range(1, p.shape[0]):
        out = out * x + p[i]
    return out


def _aligned(a1: ArrayLike, a2: ArrayLike) -> tuple[Any, Any]:
    x, y = Reshape()(tensor(a1), (-1,)), Reshape()(tensor(a2), (-1,))
    n = builtins.max(x.size, y.size)
    return F.pad(x, (n - x.size, 0)), F.pad(y, (n - y.size, 0))


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """The sum of two polynomials.

    Examples:
        >>> print(mnp.polyadd(mnp.array([1, 2]), mnp.array([5, 1, 1])))
        [5 2 3]
    """
    x, y = _aligned(a1, a2)
    return x + y


def polysub(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """The difference of two polynomials.

    Examples:
        >>> print(mnp.polysub(mnp.array([1, 2]), mnp.array([5, 1, 1])))
        [-5  0  1]
    """
    x, y = _aligned(a1, a2)
    return x - y


def polymul(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """The product of two polynomials.

    Examples:
        >>> print(mnp.polymul(mnp.array([1, 1]), mnp.array([1, -1])))
        [ 1.  0. -1.]
    """
    return convolve(Reshape()(tensor(a1), (-1,)), Reshape()(tensor(a2), (-1,)))


def polyder(p: Any, m: int = 1) -> Tensor:
    """The m-th derivative of a polynomial.

    Examples:
        >>> print(mnp.polyder(mnp.array([1, 2, 3])))
        [2 2]
    """
    p = tensor(p)
    for _ in range(m):
        n = p.shape[0]
        p = p[:-1] * F.arange(n - 1, 0, -1, dtype=p.dtype)
    return p


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """The m-th integral of a polynomial, with constants k.

    Examples:
        >>> print(mnp.polyint(mnp.array([2.0, 2.0])))
        [1. 2. 0.]
    """
    p = to_float(tensor(p))
    constants = [0.0] * m if k is None else (list(k) if isinstance(k, (list, tuple)) else [k] * m)
    for i in range(m):
        scaled = p / F.arange(p.shape[0], 0, -1, dtype=p.dtype)
        p = F.concat((scaled, Reshape()(cast(tensor(constants[i]), p.dtype), (1,))), 0)
    return p


def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: Any = None) -> Tensor:
    """Where elements would be inserted to keep a sorted array sorted.

    Examples:
        >>> print(mnp.searchsorted(mnp.array([1.0, 3.0, 5.0]), mnp.array([0.0, 3.0])))
        [0 1]
    """
    return F.searchsorted(tensor(a), tensor(v), side=side, sorter=sorter, out_int32=True)


def digitize(x: ArrayLike, bins: Any, right: bool = False) -> Tensor:
    """The bin each element falls into; bins rise or fall.

    Examples:
        >>> print(mnp.digitize(mnp.array([0.5, 2.5]), mnp.array([0.0, 1.0, 2.0])))
        [1 3]
    """
    edges, x = tensor(bins), tensor(x)
    if edges.shape[0] and bool(edges[0] > edges[-1]):
        return edges.shape[0] - F.searchsorted(F.flip(edges, (0,)), x, right=right, out_int32=True)
    return F.searchsorted(edges, x, right=not right, out_int32=True)


def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """How often each of 0, 1, 2 … occurs; `length` fixes the size of the result.

    Examples:
        >>> print(mnp.bincount(mnp.array([0, 2, 2, 3])))
        [1. 0. 2. 1.]
    """
    if tensor(x).dtype.kind not in "biu":
        raise TypeError(f"For 'bincount', 'x' must be an array of ints, but got {tensor(x).dtype}.")
    out = F.bincount(tensor(x), None if weights is None else tensor(weights), builtins.max(minlength, length or 0))
    return out if length is None else out[:length]


def promote_types(type1: Any, type2: Any) -> mstype.DType:
    """The type that holds both.

    Examples:
        >>> mnp.promote_types(ms.float32, ms.int64)
        mindspore.float32
    """
    return mstype.promote(mstype.to_dtype(type1), mstype.to_dtype(type2))


def result_type(*arrays_and_dtypes: Any) -> mstype.DType:
    """The type an operation on the arguments gives.

    Examples:
        >>> mnp.result_type(mnp.array([1.0]), ms.int32)
        mindspore.float32
    """
    out: Any = None
    for item in arrays_and_dtypes:
        if isinstance(item, Tensor):
            kind = item.dtype
        elif isinstance(item, (bool, int, float, complex, list, tuple)):
            kind = tensor(item).dtype
        else:
            kind = mstype.to_dtype(item)
        out = kind if out is None else mstype.promote(out, kind)
    return out
