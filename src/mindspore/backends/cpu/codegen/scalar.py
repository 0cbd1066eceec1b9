"""The operations that kernels apply to their values, as LLVM instructions.

Each entry of `OPS` receives the function being written, the computed type of its operands, the vector width and the
operands, and returns the result's name. Semantics follow NumPy where LLVM's differ: integer division by zero gives 0
instead of trapping, shifts by too much give 0 or the sign, maxima propagate NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.backends.cpu.codegen import vecmath
from mindspore.backends.cpu.codegen.text import LLVM_TYPES, Function, computed, is_float, is_signed, vector

Emit = Callable[..., str]
OPS: dict[str, Emit] = {}
#: operations whose result is a bool whatever the operands are
PREDICATES = {"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "and_", "or_", "xor_", "not_"}
#: values worth storing rather than computing twice
EXPENSIVE = {*vecmath.LIBM, "sigmoid", "softplus", "div", "sqrt", "rsqrt", "floordiv", "floormod", "fmod"}


def define(*names: str) -> Callable[[Emit], Emit]:
    def register(function: Emit) -> Emit:
        for name in names:
            OPS[name] = function
        return function

    return register


def kind_of(dtype: str, width: int) -> str:
    return vector(LLVM_TYPES[computed(dtype)], width)


def _bools(width: int) -> str:
    return vector("i1", width)


def select(f: Function, dtype: str, width: int, condition: str, a: str, b: str) -> str:
    t = kind_of(dtype, width)
    return f.op(f"select {_bools(width)} {condition}, {t} {a}, {t} {b}")


def _binary(name: str, float_op: str, int_op: str) -> None:
    def emit(f: Function, dtype: str, width: int, a: str, b: str) -> str:
        return f.op(f"{float_op if is_float(dtype) else int_op} {kind_of(dtype, width)} {a}, {b}")

    OPS[name] = emit


_binary("add", "fadd", "add")
_binary("sub", "fsub", "sub")
_binary("mul", "fmul", "mul")
_binary("and_", "and", "and")
_binary("or_", "or", "or")
_binary("xor_", "xor", "xor")


@define("div")
def _div(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    return f.op(f"fdiv {kind_of(dtype, width)} {a}, {b}")


_COMPARISONS = {
    "eq": ("oeq", "eq", "eq"), "ne": ("une", "ne", "ne"), "lt": ("olt", "slt", "ult"), "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"), "ge": ("oge", "sge", "uge"),
}  # fmt: skip


def compare(f: Function, name: str, dtype: str, width: int, a: str, b: str) -> str:
    ordered, signed, unsigned = _COMPARISONS[name]
    t = kind_of(dtype, width)
    if is_float(dtype):
        return f.op(f"fcmp {ordered} {t} {a}, {b}")
    return f.op(f"icmp {signed if is_signed(dtype) else unsigned} {t} {a}, {b}")


for _name in _COMPARISONS:
    OPS[_name] = lambda f, dtype, width, a, b, _name=_name: compare(f, _name, dtype, width, a, b)


def _extreme(f: Function, dtype: str, width: int, a: str, b: str, name: str) -> str:
    wins = compare(f, name, dtype, width, a, b)
    if is_float(dtype):
        nan = f.op(f"fcmp uno {kind_of(dtype, width)} {a}, {a}")
        wins = f.op(f"or {_bools(width)} {wins}, {nan}")
    return select(f, dtype, width, wins, a, b)


OPS["max"] = lambda f, dtype, width, a, b: _extreme(f, dtype, width, a, b, "gt")
OPS["min"] = lambda f, dtype, width, a, b: _extreme(f, dtype, width, a, b, "lt")


@define("select")
def _select(f: Function, dtype: str, width: int, condition: str, a: str, b: str) -> str:
    return select(f, dtype, width, condition, a, b)


@define("neg")
def _neg(f: Function, dtype: str, width: int, a: str) -> str:
    t = kind_of(dtype, width)
    return (
        f.op(f"fneg {t} {a}")
        if is_float(dtype)
        else f.op(f"sub {t} zeroinitializer, {a}" if width > 1 else f"sub {t} 0, {a}")
    )


@define("not_")
def _not(f: Function, dtype: str, width: int, a: str) -> str:
    return f.op(f"xor {kind_of(dtype, width)} {a}, {f.constant(1 if dtype == 'bool_' else -1, dtype, width)}")


@define("abs")
def _abs(f: Function, dtype: str, width: int, a: str) -> str:
    if is_float(dtype):
        return f.intrinsic("fabs", computed(dtype), width, a)
    if not is_signed(dtype):
        return a
    return select(
        f, dtype, width, compare(f, "lt", dtype, width, a, f.constant(0, dtype, width)), _neg(f, dtype, width, a), a
    )


@define("sign")
def _sign(f: Function, dtype: str, width: int, a: str) -> str:
    zero, one = f.constant(0, computed(dtype), width), f.constant(1, computed(dtype), width)
    rest = f.op(f"fadd {kind_of(dtype, width)} {a}, {zero}") if is_float(dtype) else a  # of -0.0 it is 0.0
    positive = select(f, dtype, width, compare(f, "gt", dtype, width, a, zero), one, rest)
    if not is_signed(dtype):
        return positive
    below = compare(f, "lt", dtype, width, a, zero)
    return select(f, dtype, width, below, f.constant(-1, computed(dtype), width), positive)


@define("relu")
def _relu(f: Function, dtype: str, width: int, a: str) -> str:
    zero = f.constant(0, computed(dtype), width)
    return select(f, dtype, width, compare(f, "lt", dtype, width, a, zero), zero, a)


def _rounding(name: str, intrinsic: str) -> None:
    OPS[name] = lambda f, dtype, width, a: f.intrinsic(intrinsic, computed(dtype), width, a) if is_float(dtype) else a


_rounding("floor", "floor")
_rounding("ceil", "ceil")
_rounding("trunc", "trunc")
_rounding("rint", "rint")
_rounding("sqrt", "sqrt")


@define("rsqrt")
def _rsqrt(f: Function, dtype: str, width: int, a: str) -> str:
    return _div(f, dtype, width, f.constant(1, computed(dtype), width), f.intrinsic("sqrt", computed(dtype), width, a))


@define("isnan")
def _isnan(f: Function, dtype: str, width: int, a: str) -> str:
    return f.op(f"fcmp uno {kind_of(dtype, width)} {a}, {a}")


@define("signbit")
def _signbit(f: Function, dtype: str, width: int, a: str) -> str:
    bits = vector("i64" if computed(dtype) == "float64" else "i32", width)
    raw = f.op(f"bitcast {kind_of(dtype, width)} {a} to {bits}")
    return f.op(f"icmp slt {bits} {raw}, {'zeroinitializer' if width > 1 else '0'}")


@define("isinf")
def _isinf(f: Function, dtype: str, width: int, a: str) -> str:
    return compare(f, "eq", dtype, width, _abs(f, dtype, width, a), f.constant(float("inf"), computed(dtype), width))


@define("isfinite")
def _isfinite(f: Function, dtype: str, width: int, a: str) -> str:
    return compare(f, "lt", dtype, width, _abs(f, dtype, width, a), f.constant(float("inf"), computed(dtype), width))


# -- integer division: NumPy's results where the hardware would trap --------------------------------------------------
def _int_divide(f: Function, dtype: str, width: int, a: str, b: str) -> tuple[str, str, str]:
    """Truncated quotient and remainder, both 0 where b is 0; the safe divisor."""
    t = kind_of(dtype, width)
    zero, one = f.constant(0, dtype, width), f.constant(1, dtype, width)
    by_zero = compare(f, "eq", dtype, width, b, zero)
    safe = select(f, dtype, width, by_zero, one, b)
    if is_signed(dtype):
        minus = compare(f, "eq", dtype, width, b, f.constant(-1, dtype, width))
        safe = select(f, dtype, width, minus, one, safe)
        quotient = f.op(f"sdiv {t} {a}, {safe}")
        remainder = f.op(f"sub {t} {a}, {f.op(f'mul {t} {quotient}, {safe}')}")
        quotient = select(f, dtype, width, minus, _neg(f, dtype, width, a), quotient)
    else:
        quotient = f.op(f"udiv {t} {a}, {safe}")
        remainder = f.op(f"sub {t} {a}, {f.op(f'mul {t} {quotient}, {safe}')}")
    quotient = select(f, dtype, width, by_zero, zero, quotient)
    return quotient, select(f, dtype, width, by_zero, zero, remainder), safe


def _rounds_up(f: Function, dtype: str, width: int, remainder: str, b: str) -> str:
    """Whether the truncated quotient is above the floor: remainder nonzero and of the other sign than b."""
    t = kind_of(dtype, width)
    zero = f.constant(0, dtype, width)
    differs = compare(f, "lt", dtype, width, f.op(f"xor {t} {remainder}, {b}"), zero)
    nonzero = compare(f, "ne", dtype, width, remainder, zero)
    return f.op(f"and {_bools(width)} {differs}, {nonzero}")


@define("floordiv")
def _floordiv(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    if is_float(dtype):
        return f.intrinsic("floor", computed(dtype), width, _div(f, dtype, width, a, b))
    quotient, remainder, _ = _int_divide(f, dtype, width, a, b)
    if not is_signed(dtype):
        return quotient
    lower = f.op(f"sub {kind_of(dtype, width)} {quotient}, {f.constant(1, dtype, width)}")
    return select(f, dtype, width, _rounds_up(f, dtype, width, remainder, b), lower, quotient)


@define("floormod")
def _floormod(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    t = kind_of(dtype, width)
    if is_float(dtype):
        zero = f.constant(0, computed(dtype), width)
        remainder = vecmath.libm(f, "fmod", computed(dtype), width, a, b)
        negative = compare(f, "lt", dtype, width, remainder, zero)
        other = f.op(f"xor {_bools(width)} {negative}, {compare(f, 'lt', dtype, width, b, zero)}")
        nonzero = f.op(f"and {_bools(width)} {other}, {compare(f, 'ne', dtype, width, remainder, zero)}")
        adjusted = select(f, dtype, width, nonzero, f.op(f"fadd {t} {remainder}, {b}"), remainder)
        signed_zero = f.intrinsic("copysign", computed(dtype), width, zero, b)
        return select(f, dtype, width, compare(f, "eq", dtype, width, remainder, zero), signed_zero, adjusted)
    _, remainder, _ = _int_divide(f, dtype, width, a, b)
    if not is_signed(dtype):
        return remainder
    return select(
        f, dtype, width, _rounds_up(f, dtype, width, remainder, b), f.op(f"add {t} {remainder}, {b}"), remainder
    )


@define("truncmod")
def _truncmod(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    if is_float(dtype):
        return vecmath.libm(f, "fmod", computed(dtype), width, a, b)
    return _int_divide(f, dtype, width, a, b)[1]


@define("truncdiv")
def _truncdiv(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    if is_float(dtype):
        return f.intrinsic("trunc", computed(dtype), width, _div(f, dtype, width, a, b))
    return _int_divide(f, dtype, width, a, b)[0]


def _shift(f: Function, dtype: str, width: int, a: str, b: str, left: bool) -> str:
    t = kind_of(dtype, width)
    bits = int(LLVM_TYPES[dtype][1:])
    last = f.constant(bits - 1, dtype, width)
    inside = f.op(f"icmp ule {t} {b}, {last}")  # negative counts are huge when unsigned
    count = select(f, dtype, width, inside, b, last)
    op = "shl" if left else "ashr" if is_signed(dtype) else "lshr"
    shifted = f.op(f"{op} {t} {a}, {count}")
    if op == "ashr":
        return shifted
    return select(f, dtype, width, inside, shifted, f.constant(0, dtype, width))


OPS["shl"] = lambda f, dtype, width, a, b: _shift(f, dtype, width, a, b, True)
OPS["shr"] = lambda f, dtype, width, a, b: _shift(f, dtype, width, a, b, False)


# -- functions ----------------------------------------------------------------------------------------------------------
def _function(name: str) -> Emit:
    def emit(f: Function, dtype: str, width: int, *args: str) -> str:
        if computed(dtype) == "float32" and name in vecmath.VECTOR_FUNCTIONS:
            return vecmath.VECTOR_FUNCTIONS[name](f, args[0], width)
        return vecmath.libm(f, name, computed(dtype), width, *args)

    return emit


for _name in vecmath.LIBM:
    OPS[_name] = _function(_name)


@define("sigmoid")
def _sigmoid(f: Function, dtype: str, width: int, a: str) -> str:
    if computed(dtype) == "float32":
        return vecmath.sigmoid(f, a, width)
    t = kind_of(dtype, width)
    one = f.constant(1, dtype, width)
    decay = vecmath.libm(f, "exp", dtype, width, _neg(f, dtype, width, a))
    return f.op(f"fdiv {t} {one}, {f.op(f'fadd {t} {one}, {decay}')}")


@define("softplus")
def _softplus(f: Function, dtype: str, width: int, a: str) -> str:
    if computed(dtype) == "float32":
        return vecmath.softplus(f, a, width)
    t = kind_of(dtype, width)
    decay = vecmath.libm(f, "exp", dtype, width, _neg(f, dtype, width, _abs(f, dtype, width, a)))
    below = compare(f, "lt", dtype, width, a, f.constant(0, dtype, width))
    positive = select(f, dtype, width, below, f.constant(0, dtype, width), a)
    return f.op(f"fadd {t} {positive}, {vecmath.libm(f, 'log1p', dtype, width, decay)}")


# -- conversions --------------------------------------------------------------------------------------------------------
def cast(f: Function, source: str, target: str, width: int, value: str) -> str:
    """Convert a value; halves are rounded to their precision but stay in float32 registers."""
    if source == target:
        return value
    a, b = computed(source), computed(target)
    if a != b:
        value = _convert(f, a, b, width, value)
    return round_half(f, target, width, value) if target in ("float16", "bfloat16") else value


def _convert(f: Function, a: str, b: str, width: int, value: str) -> str:
    ta, tb = kind_of(a, width), kind_of(b, width)
    if b == "bool_":
        return compare(f, "ne", a, width, value, f.constant(0, a, width))
    if a == "bool_":
        return f.op(f"{'uitofp' if is_float(b) else 'zext'} {ta} {value} to {tb}")
    if is_float(a) and is_float(b):
        return f.op(f"{'fpext' if b == 'float64' else 'fptrunc'} {ta} {value} to {tb}")
    if is_float(b):
        return f.op(f"{'sitofp' if is_signed(a) else 'uitofp'} {ta} {value} to {tb}")
    if is_float(a):
        return _to_integer(f, a, b, width, value)
    bits_a, bits_b = int(LLVM_TYPES[a][1:]), int(LLVM_TYPES[b][1:])
    if bits_a == bits_b:
        return value
    op = "trunc" if bits_b < bits_a else "sext" if is_signed(a) else "zext"
    return f.op(f"{op} {ta} {value} to {tb}")


def _to_integer(f: Function, a: str, b: str, width: int, value: str) -> str:
    """As NumPy on x86: narrow types go through int32, uint32 through int64."""
    ta, tb = kind_of(a, width), kind_of(b, width)
    if b == "uint64":
        return f.op(f"fptoui {ta} {value} to {tb}")
    bits = int(LLVM_TYPES[b][1:])
    through = "i64" if b in ("uint32", "int64") else "i32"
    wide = f.op(f"fptosi {ta} {value} to {vector(through, width)}")
    return wide if bits == int(through[1:]) else f.op(f"trunc {vector(through, width)} {wide} to {tb}")


def round_half(f: Function, dtype: str, width: int, value: str) -> str:
    """To the precision of a half, in float32 registers."""
    if dtype == "bfloat16":
        it = vector("i32", width)
        upper = f.op(f"and {it} {_rounded_bits(f, width, value)}, {f.splat('i32', str(-0x10000), width)}")
        return f.op(f"bitcast {it} {upper} to {vector('float', width)}")
    return from_memory(f, dtype, width, to_memory(f, dtype, width, value))


@define("rounded")
def _rounded(f: Function, dtype: str, width: int, a: str) -> str:
    """A half as it would come back from memory."""
    return round_half(f, dtype, width, a) if dtype in ("float16", "bfloat16") else a


def to_memory(f: Function, dtype: str, width: int, value: str) -> str:
    """From the computed type to the type stored."""
    if dtype == "bool_":
        return f.op(f"zext {_bools(width)} {value} to {vector('i8', width)}")
    if dtype == "float16":
        return f.op(f"fptrunc {vector('float', width)} {value} to {vector('half', width)}")
    if dtype == "bfloat16":
        return _to_bfloat16(f, width, value)
    return value


def _to_bfloat16(f: Function, width: int, value: str) -> str:
    it = vector("i32", width)
    upper = f.op(f"lshr {it} {_rounded_bits(f, width, value)}, {f.splat('i32', '16', width)}")
    return f.op(f"trunc {it} {upper} to {vector('i16', width)}")


def _rounded_bits(f: Function, width: int, value: str) -> str:
    """The bits of a float32 whose upper half is the nearest bfloat16, ties to even; NaN stays NaN."""
    it = vector("i32", width)

    def c(number: int) -> str:
        return f.splat("i32", str(number), width)

    bits = f.op(f"bitcast {vector('float', width)} {value} to {it}")
    odd = f.op(f"and {it} {f.op(f'lshr {it} {bits}, {c(16)}')}, {c(1)}")
    rounded = f.op(f"add {it} {bits}, {f.op(f'add {it} {odd}, {c(0x7FFF)}')}")
    nan = f.op(f"fcmp uno {vector('float', width)} {value}, {value}")
    quiet = f.op(f"or {it} {bits}, {c(0x400000)}")
    return f.op(f"select {_bools(width)} {nan}, {it} {quiet}, {it} {rounded}")


def from_memory(f: Function, dtype: str, width: int, value: str) -> str:
    """From the type stored to the computed type."""
    if dtype == "bool_":
        return f.op(f"icmp ne {vector('i8', width)} {value}, {f.splat('i8', '0', width)}")
    if dtype == "float16":
        return f.op(f"fpext {vector('half', width)} {value} to {vector('float', width)}")
    if dtype == "bfloat16":
        it = vector("i32", width)
        wide = f.op(f"zext {vector('i16', width)} {value} to {it}")
        shifted = f.op(f"shl {it} {wide}, {f.splat('i32', '16', width)}")
        return f.op(f"bitcast {it} {shifted} to {vector('float', width)}")
    return value


# -- reductions ---------------------------------------------------------------------------------------------------------
def identity(kind: str, dtype: str) -> Any:
    """The neutral element of a reduction."""
    if kind in ("sum", "any"):
        return 0
    if kind in ("prod", "all"):
        return 1
    if is_float(dtype):
        return float("-inf") if kind == "max" else float("inf")
    if dtype == "bool_":
        return kind == "min"
    bits = int(LLVM_TYPES[dtype][1:])
    if is_signed(dtype):
        return -(1 << (bits - 1)) if kind == "max" else (1 << (bits - 1)) - 1
    return 0 if kind == "max" else (1 << bits) - 1


def combine(f: Function, kind: str, dtype: str, width: int, accumulator: str, value: str) -> str:
    op = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "all": "and_", "any": "or_"}[kind]
    if dtype == "bool_" and kind in ("max", "min"):
        op = "or_" if kind == "max" else "and_"
    if op in ("max", "min"):
        return OPS[op](f, dtype, width, value, accumulator)
    return OPS[op](f, dtype, width, accumulator, value)


def horizontal(f: Function, kind: str, dtype: str, width: int, value: str) -> str:
    """Combine the lanes of a vector: halves against halves, so the error stays small."""
    element = LLVM_TYPES[computed(dtype)]
    while width > 1:
        half = width // 2
        t = f"<{width} x {element}>"
        parts = []
        for start in (0, half):
            mask = ", ".join(f"i32 {i}" for i in range(start, start + half))
            parts.append(f.op(f"shufflevector {t} {value}, {t} poison, <{half} x i32> <{mask}>"))
        if half == 1:
            parts = [f.op(f"extractelement <1 x {element}> {p}, i64 0") for p in parts]
        value = combine(f, kind, dtype, half, parts[0], parts[1])
        width = half
    return value
