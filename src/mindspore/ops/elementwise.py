"""Arithmetic and functions of single elements."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    alias,
    as_tensor,
    binary,
    binary_xy,
    cast,
    require_float,
    require_numbers,
    require_operands,
    require_tensor,
    require_tensors,
    to_float,
    unary,
    unary_float,
)
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Stack
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.structural import Identity
from mindspore.prims.values import TensorBase

__all__ = [
    "abs", "absolute", "accumulate_n", "acos", "acosh", "add", "addcdiv", "addcmul", "addn", "angle", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh",
    "bias_add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil",
    "clamp", "clip", "clip_by_value", "complex", "conj", "copysign", "cos", "cosh", "deg2rad", "div", "divide",
    "eps", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "float_power", "floor", "floor_div", "floor_divide",
    "floor_mod", "fmax", "fmin", "fmod", "frac", "gcd", "heaviside", "hypot", "imag", "inv", "invert", "lcm",
    "ldexp", "lerp", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logit", "maximum", "minimum",
    "mod", "mul", "multiply", "nan_to_num", "neg", "negative", "nextafter", "polar", "positive", "pow", "rad2deg",
    "real", "reciprocal", "remainder", "round", "rsqrt", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "sqrt", "square", "sub", "subtract", "tan", "tanh", "true_divide", "trunc", "truncate_div", "truncate_mod",
    "view_as_complex", "view_as_real", "xdivy", "xlogy",
]  # fmt: skip

# -- arithmetic -----------------------------------------------------------------------------------------------------
add = binary(ew.Add, "add", """input + other, with broadcasting.

    Examples:
        >>> print(ops.add(Tensor([[1.0], [2.0]]), Tensor([10.0, 20.0])))
        [[11. 21.]
         [12. 22.]]
    """)
mul = binary(ew.Mul, "mul", """input * other, with broadcasting.

    Examples:
        >>> ops.mul(Tensor([1.0, 2.0]), 3.0).tolist()
        [3.0, 6.0]
    """)
sub = binary(ew.Sub, "sub", """input - other, with broadcasting.

    Examples:
        >>> print(ops.sub(Tensor([5.0, 7.0]), 2))
        [3. 5.]
    """)
multiply = alias(mul, "multiply")
floor_divide = binary(ew.FloorDiv, "floor_divide", """floor(input / other).

    Examples:
        >>> print(ops.floor_divide(Tensor([7.0, -7.0]), 2.0))
        [ 3. -4.]
    """)
floor_div = binary_xy(ew.FloorDiv, "floor_div", """floor(x / y).

    Examples:
        >>> print(ops.floor_div(Tensor([7, -7]), Tensor([2, 2])))
        [ 3 -4]
    """)
floor_mod = binary_xy(ew.FloorMod, "floor_mod", """x - floor(x / y) * y; the sign is that of y.

    Examples:
        >>> print(ops.floor_mod(Tensor([7, -7]), Tensor([3, 3])))
        [1 2]
    """)
mod = binary_xy(ew.Mod, "mod", """The remainder of x / y with the sign of x.

    Examples:
        >>> print(ops.mod(Tensor([7.0, -7.0]), Tensor([3.0, 3.0])))
        [ 1. -1.]
    """)
fmod = binary(ew.TruncateMod, "fmod", """The remainder of input / other with the sign of input.

    Examples:
        >>> print(ops.fmod(Tensor([7.0, -7.0]), 3.0))
        [ 1. -1.]
    """)
truncate_div = binary_xy(ew.TruncateDiv, "truncate_div", """x / y, rounded towards zero.

    Examples:
        >>> print(ops.truncate_div(Tensor([7, -7]), Tensor([2, 2])))
        [ 3 -3]
    """)
truncate_mod = binary_xy(ew.TruncateMod, "truncate_mod", """The remainder of truncate_div: the sign is that of x.

    Examples:
        >>> print(ops.truncate_mod(Tensor([7, -7]), Tensor([3, 3])))
        [ 1 -1]
    """)
maximum = binary(ew.Maximum, "maximum", """The larger of each pair of elements.

    Examples:
        >>> ops.maximum(Tensor([1, 5]), 3).tolist()
        [3, 5]
    """)
minimum = binary(ew.Minimum, "minimum", """The smaller of each pair of elements.

    Examples:
        >>> ops.minimum(Tensor([1, 5]), 3).tolist()
        [1, 3]
    """)
atan2 = binary(ew.Atan2, "atan2", """The angle of the point (other, input), in radians.

    Examples:
        >>> print(ops.atan2(Tensor([1.0, -1.0]), Tensor([0.0, -1.0])))
        [ 1.5707964 -2.3561945]
    """)
arctan2 = alias(atan2, "arctan2")
hypot = binary(ew.Hypot, "hypot", """sqrt(input**2 + other**2) without overflow.

    Examples:
        >>> print(ops.hypot(Tensor([3.0, 5.0]), Tensor([4.0, 12.0])))
        [ 5. 13.]
    """)
nextafter = binary(ew.NextAfter, "nextafter", """The next float after input towards other.

    Examples:
        >>> print(ops.nextafter(Tensor([1.0]), Tensor([2.0])) > Tensor([1.0]))
        [ True]
    """)


def xlogy(input: Any, other: Any) -> Tensor:
    """input * log(other), and 0 where input is 0. Beside a number a tensor of ints becomes one of floats.

    Examples:
        >>> print(ops.xlogy(Tensor([0.0, 2.0]), Tensor([0.0, 1.0])))
        [0. 0.]
    """
    if values.is_number(input) and isinstance(other, TensorBase):
        other = to_float(other)
    if values.is_number(other) and isinstance(input, TensorBase):
        input = to_float(input)
    return ew.Xlogy()(input, other)


xdivy = binary_xy(ew.Xdivy, "xdivy", """x / y, and 0 where x is 0.

    Examples:
        >>> print(ops.xdivy(Tensor([0.0, 6.0]), Tensor([0.0, 2.0])))
        [0. 3.]
    """)
bitwise_and = binary(ew.BitwiseAnd, "bitwise_and", """Bits set in both.

    Examples:
        >>> print(ops.bitwise_and(Tensor([12, 7]), Tensor([10, 3])))
        [8 3]
    """)
bitwise_or = binary(ew.BitwiseOr, "bitwise_or", """Bits set in either.

    Examples:
        >>> print(ops.bitwise_or(Tensor([12, 1]), Tensor([10, 2])))
        [14  3]
    """)
bitwise_xor = binary(ew.BitwiseXor, "bitwise_xor", """Bits set in exactly one.

    Examples:
        >>> print(ops.bitwise_xor(Tensor([12, 7]), Tensor([10, 7])))
        [6 0]
    """)
bitwise_left_shift = binary(ew.LeftShift, "bitwise_left_shift", """input << other.

    Examples:
        >>> print(ops.bitwise_left_shift(Tensor([1, 3]), Tensor([4, 2])))
        [16 12]
    """)
bitwise_right_shift = binary(ew.RightShift, "bitwise_right_shift", """input >> other.

    Examples:
        >>> print(ops.bitwise_right_shift(Tensor([16, 7]), Tensor([3, 1])))
        [2 3]
    """)


def remainder(input: Any, other: Any) -> Tensor:
    """The remainder of input / other with the sign of other.

    Examples:
        >>> print(ops.remainder(Tensor([7.0, -7.0]), 3.0))
        [1. 2.]
    """
    return ew.FloorMod()(input, other)


def subtract(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other.

    Examples:
        >>> print(ops.subtract(Tensor([5.0, 7.0]), Tensor([1.0, 2.0]), alpha=3))
        [2. 1.]
    """
    return ew.Sub()(input, scaled("subtract", input, other, alpha))


def scaled(op: str, input: Any, other: Any, alpha: Any) -> Any:
    """alpha * other, to be added to `input`: the factor alone does not change the type of the sum."""
    if values.is_number(alpha) and alpha == 1:
        return other
    if isinstance(input, TensorBase) and isinstance(other, TensorBase) and values.is_number(alpha):
        dtype = mstype.promote(input.dtype, other.dtype)
        if isinstance(alpha, float) and dtype.kind not in "fc":
            raise TypeError(f"For '{op}', 'alpha' must be an int for tensors of {input.dtype} and {other.dtype}, but got {alpha}.")
        other = cast(other, dtype) if dtype.kind in "fc" else other
    return ew.Mul()(other, alpha)


def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; `rounding_mode` 'floor' or 'trunc' rounds the quotient.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.div(Tensor([7.0, -7.0]), 2.0, rounding_mode="floor").tolist()
        [3.0, -4.0]
    """
    checks.one_of("div", "rounding_mode", rounding_mode, (None, "floor", "trunc"))
    if rounding_mode == "floor":
        return ew.FloorDiv()(input, other)
    if rounding_mode == "trunc":
        return ew.TruncateDiv()(input, other)
    return ew.Div()(input, other)


divide = alias(div, "divide")


def true_divide(dividend: Tensor, divisor: Tensor) -> Tensor:
    """dividend / divisor.

    Examples:
        >>> print(ops.true_divide(Tensor([7, 8]), 2))
        [3.5 4. ]
    """
    return ew.Div()(dividend, divisor)


def pow(input: Any, exponent: Any) -> Tensor:
    """input to the power of exponent.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.pow(Tensor([2.0, 3.0]), 2).tolist()
        [4.0, 9.0]
    """
    return ew.Pow()(input, exponent)


def float_power(input: Any, exponent: Any) -> Tensor:
    """input to the power of exponent, computed in float64 (complex128 for complex numbers).

    Examples:
        >>> print(ops.float_power(Tensor([1, 2, 3]), 2))
        [1. 4. 9.]
    """
    require_operands("float_power", input=input, exponent=exponent)
    x, y = as_tensor(input), as_tensor(exponent)
    wide = mstype.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else mstype.float64
    return ew.Pow()(cast(x, wide), cast(y, wide))


def ldexp(x: Tensor, other: Any) -> Tensor:
    """x * 2**other.

    Examples:
        >>> print(ops.ldexp(Tensor([1.0, 3.0]), Tensor([3, -1])))
        [8.  1.5]
    """
    return ew.Mul()(x, ew.Pow()(2.0, other))


def lerp(input: Tensor, end: Any, weight: Any) -> Tensor:
    """input + weight * (end - input).

    Examples:
        >>> print(ops.lerp(Tensor([0.0, 10.0]), Tensor([10.0, 20.0]), 0.25))
        [ 2.5 12.5]
    """
    require_operands("lerp", end=end, weight=weight)
    require_tensor("lerp", "input", input)
    return input + weight * (end - input)


def addcmul(input: Tensor, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2.

    Examples:
        >>> print(ops.addcmul(Tensor([1.0, 1.0]), Tensor([2.0, 3.0]), Tensor([4.0, 5.0]), value=0.5))
        [5.  8.5]
    """
    require_numbers("addcmul", value=value)
    require_tensors("addcmul", input=input, tensor1=tensor1, tensor2=tensor2)
    return input + value * (tensor1 * tensor2)


def addcdiv(input: Tensor, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2.

    Examples:
        >>> print(ops.addcdiv(Tensor([1.0, 1.0]), Tensor([6.0, 9.0]), Tensor([2.0, 3.0]), value=0.5))
        [2.5 2.5]
    """
    require_numbers("addcdiv", value=value)
    require_tensors("addcdiv", input=input, tensor1=tensor1, tensor2=tensor2)
    return input + value * (tensor1 / tensor2)


def addn(x: Any) -> Tensor:
    """The sum of several tensors of one shape.

    Examples:
        >>> print(ops.addn([Tensor([1, 2]), Tensor([10, 20]), Tensor([100, 200])]))
        [111 222]
    """
    tensors = [x] if isinstance(x, Tensor) else list(x)
    if not tensors:
        raise ValueError("For 'addn', at least one tensor is needed.")
    for i, t in enumerate(tensors):
        require_tensor("addn", f"x[{i}]", t)
        if t.shape != tensors[0].shape:
            raise ValueError(f"For 'addn', the shapes must be equal, but got {tensors[0].shape} and {t.shape}.")
    total = tensors[0]
    for t in tensors[1:]:
        total = total + t
    return total


accumulate_n = alias(addn, "accumulate_n")


def logaddexp(input: Tensor, other: Any) -> Tensor:
    """log(exp(input) + exp(other)) without overflow.

    Examples:
        >>> print(ops.logaddexp(Tensor([0.0, 1000.0]), Tensor([0.0, 1000.0])))
        [6.9314718e-01 1.0006932e+03]
    """
    high, low = maximum(input, other), minimum(input, other)
    gap = low - high
    gap = ew.Select()(ew.IsNan()(gap), ew.zeros_like(gap), gap)  # both infinite
    return high + ew.Log1p()(ew.Exp()(gap))


def logaddexp2(input: Tensor, other: Any) -> Tensor:
    """log2(2**input + 2**other) without overflow.

    Examples:
        >>> print(ops.logaddexp2(Tensor([3.0]), Tensor([3.0])))
        [4.]
    """
    high, low = maximum(input, other), minimum(input, other)
    return high + ew.Log1p()(ew.Exp()((low - high) * math.log(2))) * (1 / math.log(2))


def fmax(input: Any, other: Any) -> Tensor:
    """The larger of each pair; NaN only where both are.

    Examples:
        >>> print(ops.fmax(Tensor([1.0, float("nan")]), Tensor([2.0, 5.0])))
        [2. 5.]
    """
    x, y = _broadcast_pair(input, other)
    return ew.Select()(ew.IsNan()(x), y, ew.Select()(ew.IsNan()(y), x, maximum(x, y)))


def fmin(input: Any, other: Any) -> Tensor:
    """The smaller of each pair; NaN only where both are.

    Examples:
        >>> print(ops.fmin(Tensor([1.0, float("nan")]), Tensor([2.0, 5.0])))
        [1. 5.]
    """
    x, y = _broadcast_pair(input, other)
    return ew.Select()(ew.IsNan()(x), y, ew.Select()(ew.IsNan()(y), x, minimum(x, y)))


def _broadcast_pair(x: Tensor, y: Tensor | float) -> tuple[Any, Any]:
    """Both operands as tensors of their common type."""
    from mindspore.prims.primitive import promote_arguments

    return promote_arguments("fmax", (x, y), "all")


def copysign(x: Any, other: Any) -> Tensor:
    """|x| with the sign of other.

    Examples:
        >>> print(ops.copysign(Tensor([1.0, -2.0]), Tensor([-0.0, 5.0])))
        [-1.  2.]
    """
    require_operands("copysign", x=x, other=other)
    x = to_float(as_tensor(x))
    magnitude = ew.Abs()(x)
    return ew.Select()(signbit(as_tensor(other)), -magnitude, magnitude)


def gcd(input: Tensor, other: Any) -> Tensor:
    """The greatest common divisor.

    Examples:
        >>> print(ops.gcd(Tensor([12, 35]), Tensor([18, 21])))
        [6 7]
    """
    return ew.Gcd()(input, other)


def lcm(input: Tensor, other: Any) -> Tensor:
    """The least common multiple.

    Examples:
        >>> print(ops.lcm(Tensor([4, 6]), Tensor([6, 9])))
        [12 18]
    """
    return ew.Lcm()(input, other)


def heaviside(input: Tensor, values: Any) -> Tensor:
    """0 for negative elements, 1 for positive ones, and `values` at 0.

    Examples:
        >>> print(ops.heaviside(Tensor([-1.5, 0.0, 2.0]), Tensor([0.5])))
        [0.  0.5 1. ]
    """
    x, at_zero = _broadcast_pair(input, values)
    step = cast(ew.Greater()(x, 0), x.dtype)
    return ew.Select()(ew.Equal()(x, 0), at_zero, step)


# -- one argument ---------------------------------------------------------------------------------------------------
abs = unary(ew.Abs, "abs", """The magnitude.

    Examples:
        >>> ops.abs(Tensor([-2.0, 1.0])).tolist()
        [2.0, 1.0]
    """)
absolute = alias(abs, "absolute")
neg = unary(ew.Neg, "neg", """The negative.

    Examples:
        >>> print(ops.neg(Tensor([1.5, -2.0])))
        [-1.5  2. ]
    """)
negative = alias(neg, "negative")
exp = unary_float(ew.Exp, "exp", """e to the power of each element.

    Examples:
        >>> ops.exp(Tensor([0.0])).tolist()
        [1.0]
    """)
expm1 = unary_float(ew.Expm1, "expm1", """exp(x) - 1, accurate near 0.

    Examples:
        >>> print(ops.expm1(Tensor([0.0, 1e-6, 1.0])))
        [0.0000000e+00 1.0000005e-06 1.7182819e+00]
    """)
log = unary_float(ew.Log, "log", """The natural logarithm.

    Examples:
        >>> ops.log(Tensor([1.0])).tolist()
        [0.0]
    """)
log1p = unary_float(ew.Log1p, "log1p", """log(1 + x), accurate near 0.

    Examples:
        >>> print(ops.log1p(Tensor([0.0, 1e-6])))
        [0.000000e+00 9.999995e-07]
    """)
log2 = unary_float(ew.Log2, "log2", """The logarithm to base 2.

    Examples:
        >>> print(ops.log2(Tensor([1.0, 8.0])))
        [0. 3.]
    """)
log10 = unary_float(ew.Log10, "log10", """The logarithm to base 10.

    Examples:
        >>> print(ops.log10(Tensor([0.1, 1.0, 10.0])).round(decimals=4))
        [-1.  0.  1.]
    """)
rsqrt = unary_float(ew.Rsqrt, "rsqrt", """1 / sqrt(x).

    Examples:
        >>> print(ops.rsqrt(Tensor([4.0, 0.25])))
        [0.5 2. ]
    """)
square = unary(ew.Square, "square", """x * x.

    Examples:
        >>> ops.square(Tensor([3.0])).tolist()
        [9.0]
    """)
reciprocal = unary_float(ew.Reciprocal, "reciprocal", """1 / x.

    Examples:
        >>> print(ops.reciprocal(Tensor([0.5, 4.0])))
        [2.   0.25]
    """)
sin = unary_float(ew.Sin, "sin", """The sine of angles in radians.

    Examples:
        >>> ops.sin(Tensor([0.0])).tolist()
        [0.0]
    """)
cos = unary_float(ew.Cos, "cos", """The cosine of angles in radians.

    Examples:
        >>> ops.cos(Tensor([0.0])).tolist()
        [1.0]
    """)
tan = unary_float(ew.Tan, "tan", """The tangent of angles in radians.

    Examples:
        >>> print(ops.tan(Tensor([0.0, 1.0])))
        [0.        1.5574077]
    """)
asin = unary_float(ew.Asin, "asin", """The inverse sine.

    Examples:
        >>> print(ops.asin(Tensor([0.0, 1.0])))
        [0.        1.5707964]
    """)
acos = unary_float(ew.ACos, "acos", """The inverse cosine.

    Examples:
        >>> print(ops.acos(Tensor([1.0, 0.0, -1.0])))
        [0.        1.5707964 3.1415927]
    """)
atan = unary_float(ew.Atan, "atan", """The inverse tangent.

    Examples:
        >>> print(ops.atan(Tensor([0.0, 1.0])))
        [0.        0.7853982]
    """)
sinh = unary_float(ew.Sinh, "sinh", """The hyperbolic sine.

    Examples:
        >>> print(ops.sinh(Tensor([0.0, 1.0])))
        [0.        1.1752012]
    """)
cosh = unary_float(ew.Cosh, "cosh", """The hyperbolic cosine.

    Examples:
        >>> print(ops.cosh(Tensor([0.0, 1.0])))
        [1.        1.5430807]
    """)
tanh = unary_float(ew.Tanh, "tanh", """The hyperbolic tangent.

    Examples:
        >>> print(ops.tanh(Tensor([0.0, 1.0])))
        [0.        0.7615942]
    """)
asinh = unary_float(ew.Asinh, "asinh", """The inverse hyperbolic sine.

    Examples:
        >>> print(ops.asinh(Tensor([0.0, 1.0])))
        [0.        0.8813736]
    """)
acosh = unary_float(ew.Acosh, "acosh", """The inverse hyperbolic cosine.

    Examples:
        >>> print(ops.acosh(Tensor([1.0, 2.0])))
        [0.       1.316958]
    """)
atanh = unary_float(ew.Atanh, "atanh", """The inverse hyperbolic tangent.

    Examples:
        >>> print(ops.atanh(Tensor([0.0, 0.5])))
        [0.         0.54930615]
    """)
arccos, arccosh, arcsin = alias(acos, "arccos"), alias(acosh, "arccosh"), alias(asin, "arcsin")
arcsinh, arctan, arctanh = alias(asinh, "arcsinh"), alias(atan, "arctan"), alias(atanh, "arctanh")
erf = unary_float(ew.Erf, "erf", """The error function.

    Examples:
        >>> print(ops.erf(Tensor([0.0, 1.0])))
        [0.        0.8427008]
    """)
erfc = unary_float(ew.Erfc, "erfc", """1 - erf(x), accurate for large x.

    Examples:
        >>> print(ops.erfc(Tensor([0.0, 1.0])))
        [1.        0.1572992]
    """)
erfinv = unary_float(ew.Erfinv, "erfinv", """The inverse of the error function.

    Examples:
        >>> print(ops.erfinv(Tensor([0.0, 0.5])))
        [0.         0.47693628]
    """)
floor = unary(ew.Floor, "floor", """The largest integer not above each element.

    Examples:
        >>> ops.floor(Tensor([1.7, -1.2])).tolist()
        [1.0, -2.0]
    """)
ceil = unary(ew.Ceil, "ceil", """The smallest integer not below each element.

    Examples:
        >>> print(ops.ceil(Tensor([-1.5, 0.2, 3.0])))
        [-1.  1.  3.]
    """)
trunc = unary(ew.Trunc, "trunc", """The integer part.

    Examples:
        >>> print(ops.trunc(Tensor([1.7, -1.7])))
        [ 1. -1.]
    """)
sign = unary(ew.Sign, "sign", """-1, 0 or 1.

    Examples:
        >>> print(ops.sign(Tensor([-5.0, 0.0, 2.0])))
        [-1.  0.  1.]
    """)
sigmoid = unary_float(ew.Sigmoid, "sigmoid", """1 / (1 + exp(-x)).

    Examples:
        >>> ops.sigmoid(Tensor([0.0])).tolist()
        [0.5]
    """)
real = unary(ew.Real, "real", """The real part.

    Examples:
        >>> print(ops.real(Tensor([1 + 2j, 3 - 4j])))
        [1. 3.]
    """)
imag = unary(ew.Imag, "imag", """The imaginary part.

    Examples:
        >>> print(ops.imag(Tensor([1 + 2j, 3 - 4j])))
        [ 2. -4.]
    """)
conj = unary(ew.Conj, "conj", """The complex conjugate.

    Examples:
        >>> print(ops.conj(Tensor([1 + 2j, 3 - 4j])))
        [1.-2.j 3.+4.j]
    """)


def sqrt(x: Any) -> Tensor:
    """The square root.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([4.0]).sqrt().tolist()
        [2.0]
    """
    require_operands("sqrt", x=x)
    return ew.Sqrt()(to_float(as_tensor(x)))


def exp2(input: Tensor) -> Tensor:
    """2 to the power of each element.

    Examples:
        >>> print(ops.exp2(Tensor([0.0, 3.0, -1.0])))
        [1.  8.  0.5]
    """
    return ew.Pow()(2.0, input)


def inv(x: Tensor) -> Tensor:
    """1 / x.

    Examples:
        >>> print(ops.inv(Tensor([0.5, 4.0])))
        [2.   0.25]
    """
    require_operands("inv", x=x)
    return reciprocal(x)


def invert(x: Tensor) -> Tensor:
    """Every bit flipped.

    Examples:
        >>> print(ops.invert(Tensor([0, 5], ms.int16)))
        [-1 -6]
    """
    return ew.Invert()(x)


def positive(input: Tensor) -> Tensor:
    """The input itself.

    Examples:
        >>> print(ops.positive(Tensor([-1.0, 2.0])))
        [-1.  2.]
    """
    return require_tensor("positive", "input", input)


def round(input: Any, *, decimals: int = 0) -> Tensor:
    """Round to `decimals` places, halves to the even neighbour.

    Examples:
        >>> print(ops.round(Tensor([0.5, 1.5, 2.345]), decimals=1))
        [0.5 1.5 2.3]
    """
    require_operands("round", input=input)
    checks.integer("round", "decimals", decimals)
    if decimals == 0:
        return ew.Round()(input)
    x = as_tensor(input)
    return _rounded_whole(x, decimals) if x.dtype.kind in "iu" else _rounded(x, decimals)


def _rounded(x: Tensor, decimals: int) -> Tensor:
    """Floats to so many decimals. What overflows when it is scaled has no digits there, and stays."""
    wide = cast(x, mstype.float64 if x.dtype is mstype.float64 or builtins.abs(decimals) > 30 else mstype.float32)
    same = ew.StopGradient()(wide)
    if builtins.abs(decimals) > 308:  # the largest number is 1.8e308
        return cast(same if decimals > 0 else ew.Select()(ew.IsFinite()(same), same * 0, same), x.dtype)
    scale = 10.0 ** builtins.abs(decimals)
    scaled = wide * scale if decimals > 0 else wide / scale
    whole = ew.Round()(scaled)
    return cast(ew.Select()(ew.IsFinite()(scaled), whole / scale if decimals > 0 else whole * scale, same), x.dtype)


def _rounded_whole(x: Tensor, decimals: int) -> Tensor:
    """Whole numbers to tens, hundreds …, without floats, which would round large ones."""
    if decimals > 0:
        return ew.Cast()(x, x.dtype)
    step = 10**-decimals
    if step > np.iinfo(x.dtype.np).max:
        return x * 0
    below = floor_div(x, step)
    rest = x - below * step
    return (below + cast((rest > step - rest) | ((rest == step - rest) & (below % 2 == 1)), x.dtype)) * step


def frac(x: Tensor) -> Tensor:
    """The part after the decimal point, with the sign of x.

    Examples:
        >>> print(ops.frac(Tensor([1.75, -2.25])))
        [ 0.75 -0.25]
    """
    return x - ew.Trunc()(x)


def signbit(input: Tensor) -> Tensor:
    """Whether the sign bit is set, also for -0.0.

    Examples:
        >>> print(ops.signbit(Tensor([-0.0, 0.0, -3.0])))
        [ True False  True]
    """
    require_tensors("signbit", input=input)
    if input.dtype.kind != "f":
        return ew.Less()(input, 0) if input.dtype.kind == "i" else cast(ew.zeros_like(input), mstype.bool_)
    return ew.SignBit()(input)


def sgn(input: Tensor) -> Tensor:
    """sign(x); for complex numbers x / |x|, and 0 at 0.

    Examples:
        >>> print(ops.sgn(Tensor([3 + 4j, 0j])))
        [0.6+0.8j 0. +0.j ]
    """
    require_tensors("sgn", input=input)
    if input.dtype.kind != "c":
        return ew.Sign()(input)
    size = ew.Abs()(input)
    return input / cast(ew.Select()(ew.Equal()(size, 0), ew.ones_like(size), size), input.dtype)


def sinc(input: Any) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0.

    Examples:
        >>> print(ops.sinc(Tensor([0.0, 0.5])))
        [1.         0.63661975]
    """
    require_operands("sinc", input=input)
    given = to_float(as_tensor(input))
    x = ew.in_float32(given) * math.pi  # 16 bits have no room for a large angle
    # the Taylor series keeps derivatives right where those of the quotient cancel
    small = ew.Less()(ew.Abs()(x), 0.02 if x.dtype.itemsize == 8 else 0.1)
    safe = ew.Select()(small, ew.ones_like(x), x)
    near = x * x
    out = ew.Select()(small, 1 - near / 6 * (1 - near / 20 * (1 - near / 42)), ew.Sin()(safe) / safe)
    return ew.as_type(out, given.dtype)


def logit(input: Any, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)); with `eps`, x is first kept within [eps, 1 - eps].

    Examples:
        >>> print(ops.logit(Tensor([0.5, 0.75])))
        [0.        1.0986123]
    """
    require_operands("logit", input=input)
    x = to_float(as_tensor(input))
    if eps is not None and eps >= 0:
        x = clamp(x, eps, 1 - eps)
    return ew.Log()(x / (1 - x))


def deg2rad(x: Tensor) -> Tensor:
    """Degrees to radians.

    Examples:
        >>> print(ops.deg2rad(Tensor([0.0, 90.0, 180.0])))
        [0.        1.5707964 3.1415927]
    """
    return to_float(require_tensor("deg2rad", "x", x)) * (math.pi / 180)


def rad2deg(x: Tensor) -> Tensor:
    """Radians to degrees.

    Examples:
        >>> print(ops.rad2deg(Tensor([0.0, 3.1415927])))
        [  0. 180.]
    """
    return to_float(require_tensor("rad2deg", "x", x)) * (180 / math.pi)


def nan_to_num(input: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Replace NaN (by 0), infinity and minus infinity (by the type's extreme values) unless told otherwise.

    Examples:
        >>> print(ops.nan_to_num(Tensor([float("nan"), float("inf"), 1.0]), nan=0.0, posinf=99.0))
        [ 0. 99.  1.]
    """
    require_tensor("nan_to_num", "input", input)
    if input.dtype.kind != "f":
        return Identity()(input)
    limits = _finfo(input.dtype)
    out = ew.Select()(ew.IsNan()(input), 0.0 if nan is None else nan, input)
    out = ew.Select()(ew.Equal()(input, math.inf), float(limits.max) if posinf is None else posinf, out)
    return ew.Select()(ew.Equal()(input, -math.inf), float(limits.min) if neginf is None else neginf, out)


def _finfo(dtype: mstype.DType) -> Any:
    if dtype is mstype.bfloat16:
        import ml_dtypes

        return ml_dtypes.finfo(dtype.np)
    return np.finfo(dtype.np)


def eps(x: Tensor) -> Tensor:
    """The machine epsilon of the type of x, in the shape of x.

    Examples:
        >>> print(ops.eps(Tensor([1.0, 100.0])))
        [1.1920929e-07 1.1920929e-07]
    """
    require_float("eps", "x", x)
    return ew.zeros_like(x) + float(_finfo(x.dtype).eps)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Keep every element within [min, max]; either bound may be None. Also applies to each of a tuple of tensors.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([-2.0, 2.0]).clamp(-1.0, 1.0).tolist()
        [-1.0, 1.0]
    """
    if isinstance(input, (tuple, list)):
        return type(input)(clamp(x, min, max) for x in input)
    require_tensors("clamp", input=input)
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' must be given.")
    out = input
    if min is not None:
        out = ew.Select()(_beyond(ew.Less(), out, min), min, out)
    if max is not None:
        out = ew.Select()(_beyond(ew.Greater(), out, max), max, out)
    return out


def _beyond(compare: Any, x: Any, bound: Any) -> Any:
    """Where elements are to take the value of a bound; one that is NaN makes everything NaN."""
    beyond = compare(x, bound)
    if isinstance(bound, TensorBase):
        return ew.LogicalOr()(beyond, ew.NotEqual()(bound, bound)) if bound.dtype.kind == "f" else beyond
    return ew.Equal()(x, x) if values.is_number(bound) and bound != bound else beyond


def clip(input: Tensor, min: Any = None, max: Any = None) -> Any:
    """The same as `clamp`.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([-2.0, 0.5, 2.0]).clip(-1.0, 1.0).tolist()
        [-1.0, 0.5, 1.0]
    """
    return clamp(input, min, max)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Keep every element of a tensor (or of each tensor of a tuple) within the given bounds.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.clip_by_value(Tensor([-2.0, 0.5, 2.0]), -1.0, 1.0).tolist()
        [-1.0, 0.5, 1.0]
    """
    if isinstance(x, (tuple, list)):
        return type(x)(clip_by_value(t, clip_value_min, clip_value_max) for t in x)
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("For 'clip_by_value', at least one of 'clip_value_min' and 'clip_value_max' must be given.")
    out = x
    if clip_value_max is not None:
        out = ew.Minimum()(out, clip_value_max)
    if clip_value_min is not None:
        out = ew.Maximum()(out, clip_value_min)
    return cast(out, x.dtype) if isinstance(x, Tensor) else out  # the bounds decide no types


# -- complex numbers ------------------------------------------------------------------------------------------------
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """real + i imag.

    Examples:
        >>> print(ops.complex(Tensor([1.0, 2.0]), Tensor([3.0, -4.0])))
        [1.+3.j 2.-4.j]
    """
    return ew.Complex()(real, imag)


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex number of given magnitude and angle.

    Examples:
        >>> print(ops.polar(Tensor([2.0]), Tensor([0.0])))
        [2.+0.j]
    """
    require_operands("polar", abs=abs)
    return ew.Complex()(abs * ew.Cos()(angle), abs * ew.Sin()(angle))


def angle(input: Tensor) -> Tensor:
    """The angle of complex numbers; 0 or pi for real ones.

    Examples:
        >>> print(ops.angle(Tensor([1 + 1j, -2 + 0j])))
        [0.78539816 3.14159265]
    """
    x = to_float(require_tensor("angle", "input", input))
    if x.dtype.kind == "c":
        return ew.Atan2()(ew.Imag()(x), ew.Real()(x))
    return ew.Select()(ew.Less()(x, 0), math.pi, ew.Select()(ew.IsNan()(x), x, ew.zeros_like(x)))


def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts in a new last dimension of size 2.

    Examples:
        >>> print(ops.view_as_real(Tensor([1 + 2j, 3 + 4j])))
        [[1. 2.]
         [3. 4.]]
    """
    require_tensor("view_as_real", "input", input)
    if input.dtype.kind != "c":
        raise TypeError(f"For 'view_as_real', 'input' must be of a complex type, but got {input.dtype}.")
    return Stack(-1)([ew.Real()(input), ew.Imag()(input)])


def view_as_complex(input: Tensor) -> Tensor:
    """The complex tensor whose parts are the last dimension (of size 2).

    Examples:
        >>> print(ops.view_as_complex(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [1.+2.j 3.+4.j]
    """
    require_tensor("view_as_complex", "input", input)
    if not input.shape or input.shape[-1] != 2:
        raise ValueError(f"For 'view_as_complex', the last dimension must be 2, but the shape is {input.shape}.")
    return ew.Complex()(input[..., 0], input[..., 1])


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """Add a 1-D bias along dimension 1 (channels).

    Examples:
        >>> print(ops.bias_add(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([10.0, 20.0])))
        [[11. 22.]
         [13. 24.]]
    """
    require_tensors("bias_add", input_x=input_x, bias=bias)
    if bias.ndim != 1 or input_x.ndim < 2 or bias.shape[0] != input_x.shape[1]:
        raise ValueError(
            f"For 'bias_add', 'bias' must be 1-D and as long as dimension 1 of 'input_x', but got {bias.shape} and "
            f"{input_x.shape}."
        )
    return input_x + (bias if input_x.ndim == 2 else Reshape()(bias, (-1,) + (1,) * (input_x.ndim - 2)))
