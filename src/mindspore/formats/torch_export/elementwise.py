"""Elementwise ATen operations, and arithmetic on sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.formats.torch_export.registry import RULES, Rule, Value, rule
from mindspore.formats.torch_export.writer import AtenWriter as Writer

_UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh", "ceil": "Ceil",
    "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "log": "Log", "neg": "Neg", "reciprocal": "Reciprocal",
    "relu": "Relu", "round.default": "Round", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt",
    "tan": "Tan", "tanh": "Tanh", "isnan": "IsNaN", "isinf": "IsInf", "mish": "Mish", "hardswish": "HardSwish",
}  # fmt: skip
_BINARY = {"mul": "Mul", "maximum": "Max", "minimum": "Min", "max.other": "Max", "min.other": "Min"}
_COMPARED = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
_LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}
_BITS = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor"}


def _unary(op: str) -> Rule:
    def write(w: Writer, x: Any) -> str:
        # results of whole numbers are float for functions that have no whole results
        return w.op(op, w.as_type(x, w.dtype) if w.dtype != "bool" else x)

    return write


def _binary(op: str) -> Callable[..., str]:
    def write(w: Writer, x: Any, y: Any) -> str:
        if w.dtype == "bool":
            return w.op({"Mul": "And", "Max": "Or", "Min": "And"}[op], x, y)
        return w.op(op, w.as_type(x, w.dtype), w.as_type(y, w.dtype))

    return write


def _compared(op: str) -> Callable[..., str]:
    def write(w: Writer, x: Any, y: Any) -> str:
        kind = w.common(x, y)
        kind = "int32" if kind == "bool" and op != "Equal" else kind
        return w.op(op, w.as_type(x, kind), w.as_type(y, kind))

    return write


def _logical(op: str) -> Rule:
    return lambda w, x, y: w.op(op, w.as_type(x, "bool"), w.as_type(y, "bool"))


def _bits(op: str) -> Rule:
    def write(w: Writer, x: Any, y: Any) -> str:
        name = op if w.dtype == "bool" else f"Bitwise{op}"
        return w.op(name, w.as_type(x, w.dtype), w.as_type(y, w.dtype))

    return write


RULES.update({name: _unary(op) for name, op in _UNARY.items()})
RULES.update({name: _binary(op) for name, op in _BINARY.items()})
RULES.update({name: _compared(op) for name, op in _COMPARED.items()})
RULES.update({name: _logical(op) for name, op in _LOGICAL.items()})
RULES.update({name: _bits(op) for name, op in _BITS.items()})


@rule("ne")
def _ne(w: Writer, x: Any, y: Any) -> str:
    return w.op("Not", _compared("Equal")(w, x, y))


@rule("logical_not")
def _logical_not(w: Writer, x: Any) -> str:
    return w.op("Not", w.as_type(x, "bool"))


@rule("bitwise_not")
def _bitwise_not(w: Writer, x: Value) -> str:
    return w.op("Not" if x.dtype == "bool" else "BitwiseNot", x)


@rule("add")
def _add(w: Writer, x: Any, y: Any, alpha: Any = 1) -> str:
    second = w.as_type(y, w.dtype) if w.dtype != "bool" else y
    if alpha != 1:
        second = w.op("Mul", second, w.number(alpha, w.dtype))
    return w.op("Or", x, y) if w.dtype == "bool" else w.op("Add", w.as_type(x, w.dtype), second)


@rule("sub")
def _sub(w: Writer, x: Any, y: Any, alpha: Any = 1) -> str:
    second = w.as_type(y, w.dtype)
    return w.op("Sub", w.as_type(x, w.dtype), second if alpha == 1 else w.op("Mul", second, w.number(alpha, w.dtype)))


@rule("rsub")
def _rsub(w: Writer, x: Any, y: Any, alpha: Any = 1) -> str:
    first = w.as_type(x, w.dtype)
    return w.op("Sub", w.as_type(y, w.dtype), first if alpha == 1 else w.op("Mul", first, w.number(alpha, w.dtype)))


@rule("div")
def _div(w: Writer, x: Any, y: Any, rounding: str | None = None) -> str:
    if rounding == "floor":
        return _floor_divide(w, x, y)
    whole = "int" in w.dtype
    kind = "float64" if whole else w.dtype
    found = w.op("Div", w.as_type(x, kind), w.as_type(y, kind))
    if rounding == "trunc":
        found = _truncated(w, found)
    return w.cast(found, w.dtype) if whole else found


@rule("floor_divide", "floordiv")
def _floor_divide(w: Writer, x: Any, y: Any) -> str:
    kind = w.dtype
    first, second = w.as_type(x, kind), w.as_type(y, kind)
    if "int" not in kind:
        return w.op("Floor", w.op("Div", first, second))
    rest = w.op("Mod", first, second)  # of the divisor's sign, so that what is left divides evenly
    return w.op("Div", w.op("Sub", first, rest), second)


@rule("remainder", "mod")
def _remainder(w: Writer, x: Any, y: Any) -> str:
    first, second = w.as_type(x, w.dtype), w.as_type(y, w.dtype)
    if "int" in w.dtype:
        return w.op("Mod", first, second)
    return w.op("Sub", first, w.op("Mul", w.op("Floor", w.op("Div", first, second)), second))


@rule("fmod")
def _fmod(w: Writer, x: Any, y: Any) -> str:
    return w.op("Mod", w.as_type(x, w.dtype), w.as_type(y, w.dtype), fmod=1)


@rule("pow")
def _pow(w: Writer, x: Any, y: Any) -> str:
    return w.op("Pow", w.as_type(x, w.dtype), w.as_type(y, w.dtype))


@rule("bitwise_left_shift", "__lshift__", "bitwise_right_shift", "__rshift__")
def _shift(w: Writer, x: Any, y: Any) -> str:
    raise ValueError("shifts of bits are not supported; multiply or divide by powers of two")


def _truncated(w: Writer, name: str) -> str:
    return w.op("Mul", w.op("Sign", name), w.op("Floor", w.op("Abs", name)))


@rule("trunc", "fix")
def _trunc(w: Writer, x: Value) -> str:
    return x.name if "int" in x.dtype else _truncated(w, x.name)


@rule("frac")
def _frac(w: Writer, x: Value) -> str:
    return w.op("Sub", x, _truncated(w, x.name))


@rule("round.decimals")
def _round(w: Writer, x: Value, decimals: int) -> str:
    factor = w.number(10.0**decimals, w.dtype)
    return w.op("Div", w.op("Round", w.op("Mul", x, factor)), factor)


def _composed(name: str, make: Any) -> None:
    RULES[name] = lambda w, x, *_: make(w, w.as_type(x, w.dtype))


_composed("rsqrt", lambda w, x: w.op("Reciprocal", w.op("Sqrt", x)))
_composed("square", lambda w, x: w.op("Mul", x, x))
_composed("log2", lambda w, x: w.op("Mul", w.op("Log", x), w.number(1 / math.log(2), w.dtype)))
_composed("log10", lambda w, x: w.op("Mul", w.op("Log", x), w.number(1 / math.log(10), w.dtype)))
_composed("exp2", lambda w, x: w.op("Pow", w.number(2, w.dtype), x))
_composed("erfc", lambda w, x: w.op("Sub", w.number(1, w.dtype), w.op("Erf", x)))
_composed("silu", lambda w, x: w.op("Mul", x, w.op("Sigmoid", x)))
# no gradient at 0, as with PyTorch: a Clip would pass it
_composed("relu6", lambda w, x: w.op("Min", w.op("Relu", x), w.number(6, w.dtype)))
_composed("hardsigmoid", lambda w, x: w.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))
_composed("selu", lambda w, x: w.op("Selu", x))
_composed("softsign", lambda w, x: w.op("Softsign", x))
_composed("log_sigmoid", lambda w, x: w.op("Neg", w.op("Softplus", w.op("Neg", x))))


@rule("log1p")
def _log1p(w: Writer, x: Any) -> str:
    """log(1 + x), exact for small x: Kahan's x log(u) / (u - 1) with u = 1 + x."""
    x, one = w.as_type(x, w.dtype), w.number(1, w.dtype)
    u = w.op("Add", x, one)
    less = w.op("Sub", u, one)
    same = w.op("Equal", less, w.number(0, w.dtype))
    unbounded = w.op("IsInf", u)
    divided = w.op("Div", w.op("Mul", x, w.op("Log", u)), w.op("Where", w.op("Or", same, unbounded), one, less))
    return w.op("Where", same, x, w.op("Where", unbounded, w.op("Log", u), divided))


@rule("expm1")
def _expm1(w: Writer, x: Any) -> str:
    """exp(x) - 1 as 2 exp(x/2) sinh(x/2), which loses nothing near 0."""
    half = w.op("Mul", w.as_type(x, w.dtype), w.number(0.5, w.dtype))
    return w.op("Mul", w.number(2, w.dtype), w.op("Mul", w.op("Exp", half), w.op("Sinh", half)))


@rule("gelu")
def _gelu(w: Writer, x: Value, approximate: str = "none") -> str:
    return w.op("Gelu", x, approximate=approximate)


@rule("leaky_relu")
def _leaky_relu(w: Writer, x: Value, slope: float = 0.01) -> str:
    return w.op("LeakyRelu", x, alpha=float(slope))


@rule("elu")
def _elu(w: Writer, x: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> str:
    if scale == input_scale == 1:
        return w.op("Elu", x, alpha=float(alpha))
    grown = w.op("Exp", w.op("Mul", x, w.number(input_scale, w.dtype)))
    low = w.op("Mul", w.number(alpha, w.dtype), w.op("Sub", grown, w.number(1, w.dtype)))
    kept = w.op("Where", w.op("Greater", x, w.number(0, w.dtype)), x, low)
    return w.op("Mul", w.number(scale, w.dtype), kept)


@rule("celu")
def _celu(w: Writer, x: Value, alpha: float = 1.0) -> str:
    return w.op("Celu", x, alpha=float(alpha))


@rule("prelu", "_prelu_kernel")
def _prelu(w: Writer, x: Value, slope: Value) -> str:
    if slope.rank == 1 and x.rank > 1:
        return w.op("PRelu", x, w.op("Reshape", slope, np.array([-1] + [1] * (x.rank - 2), np.int64)))
    return w.op("PRelu", x, slope)


@rule("softplus")
def _softplus(w: Writer, x: Value, beta: float = 1.0, threshold: float = 20.0) -> str:
    scaled = x.name if beta == 1 else w.op("Mul", x, w.number(beta, w.dtype))
    soft = w.op("Softplus", scaled)
    soft = soft if beta == 1 else w.op("Div", soft, w.number(beta, w.dtype))
    return w.op("Where", w.op("Greater", scaled, w.number(threshold, w.dtype)), x, soft)


@rule("hardtanh")
def _hardtanh(w: Writer, x: Value, low: Any = -1.0, high: Any = 1.0) -> str:
    if low == 0:  # ReLU6
        return w.op("Min", w.op("Relu", w.as_type(x, w.dtype)), w.as_type(high, w.dtype))
    return _clamp(w, x, low, high)


@rule("clamp", "clip", "clamp_min", "clamp_max")
def _clamp(w: Writer, x: Value, low: Any = None, high: Any = None) -> str:
    found = w.as_type(x, w.dtype)
    found = found if low is None else w.op("Max", found, w.as_type(low, w.dtype))
    return found if high is None else w.op("Min", found, w.as_type(high, w.dtype))


RULES["clamp_max"] = lambda w, x, high: _clamp(w, x, None, high)


@rule("threshold")
def _threshold(w: Writer, x: Value, threshold: float, value: float) -> str:
    return w.op("Where", w.op("Greater", x, w.number(threshold, w.dtype)), x, w.number(value, w.dtype))


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def _where(w: Writer, condition: Value, x: Any, y: Any) -> str:
    return w.op("Where", w.as_type(condition, "bool"), w.as_type(x, w.dtype), w.as_type(y, w.dtype))


@rule("masked_fill")
def _masked_fill(w: Writer, x: Value, mask: Value, value: Any) -> str:
    return w.op("Where", mask, w.as_type(value, w.dtype), x)


@rule("addcmul")
def _addcmul(w: Writer, x: Value, a: Value, b: Value, value: Any = 1) -> str:
    return w.op("Add", x, w.op("Mul", w.number(value, w.dtype), w.op("Mul", w.as_type(a, w.dtype), w.as_type(b, w.dtype))))


@rule("addcdiv")
def _addcdiv(w: Writer, x: Value, a: Value, b: Value, value: Any = 1) -> str:
    return w.op("Add", x, w.op("Mul", w.number(value, w.dtype), w.op("Div", w.as_type(a, w.dtype), w.as_type(b, w.dtype))))


@rule("lerp")
def _lerp(w: Writer, x: Value, y: Value, weight: Any) -> str:
    return w.op("Add", x, w.op("Mul", w.as_type(weight, w.dtype), w.op("Sub", y, x)))


@rule("_to_copy", "to", "type_as", "convert_element_type", "prims::convert_element_type")
def _to(w: Writer, x: Value, *_: Any) -> str:
    return w.as_type(x, w.dtype)


@rule("alias", "clone", "contiguous", "detach", "detach_", "lift_fresh_copy", "lift_fresh", "dropout", "native_dropout", "feature_dropout",
      "alpha_dropout", "dropout_", "positive", "_conj", "resolve_conj", "resolve_neg", "real", "pin_memory")  # fmt: skip
def _same(w: Writer, x: Value, *given: Any) -> Any:
    if any(flag is True for flag in given[1:2]):
        raise ValueError("the model drops values at random: call eval() before it is exported")
    return x


# -- sizes: Python's operators on numbers that are left open ------------------------------------------------------------
@rule("sym_size", "sym_size.int")
def _sym_size(w: Writer, x: Value, axis: int) -> str:
    return w.op("Gather", w.op("Shape", x), np.array(axis % x.rank, np.int64), axis=0)


@rule("truediv")
def _truediv(w: Writer, x: Any, y: Any) -> str:
    return w.op("Div", w.as_type(x, "float32"), w.as_type(y, "float32"))


@rule("item", "_local_scalar_dense")
def _item(w: Writer, x: Value) -> str:
    return w.op("Reshape", x, np.array([], np.int64))


@rule("sym_max")
def _sym_max(w: Writer, x: Any, y: Any) -> str:
    return w.op("Max", w.as_type(x, "int64"), w.as_type(y, "int64"))


@rule("sym_min")
def _sym_min(w: Writer, x: Any, y: Any) -> str:
    return w.op("Min", w.as_type(x, "int64"), w.as_type(y, "int64"))


@rule("atan2")
def _atan2(w: Writer, y: Any, x: Any) -> str:
    """The angle of (x, y): atan(y / x), turned by ±π left of the y axis."""
    y, x = w.as_type(y, w.dtype), w.as_type(x, w.dtype)
    zero, one = w.number(0, w.dtype), w.number(1, w.dtype)
    right = w.op("Greater", x, zero)
    slope = w.op("Atan", w.op("Div", y, w.op("Where", w.op("Equal", x, zero), one, x)))
    up = w.op("GreaterOrEqual", y, zero)
    turned = w.op("Where", up, w.op("Add", slope, w.number(math.pi, w.dtype)), w.op("Sub", slope, w.number(math.pi, w.dtype)))
    upright = w.op("Mul", w.op("Sign", y), w.number(math.pi / 2, w.dtype))
    return w.op("Where", right, slope, w.op("Where", w.op("Equal", x, zero), upright, turned))
