"""Elementary functions on vectors of float32, accurate to 4 ulp (measured against float64 in the tests).

Polynomials are the classical single-precision minimax ones (Cephes; erf in the two-branch form with 1-exp(p(x)) for
the tail). Arguments are reduced by Cody-Waite splitting, or in float64 where one constant then suffices. Infinities,
NaN and denormals behave as NumPy's. Functions without a vector form here, and everything in float64, call libm lane by
lane.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindspore.backends.cpu.codegen.text import Function, vector

F32 = "float32"


class Vec:
    """Short notation for emitting float32 arithmetic at one vector width."""

    def __init__(self, f: Function, width: int):
        self.f = f
        self.w = width
        self.t = vector("float", width)
        self.it = vector("i32", width)

    def const(self, value: float) -> str:
        return self.f.constant(value, F32, self.w)

    def iconst(self, value: int) -> str:
        return self.f.splat("i32", str(value), self.w)

    def add(self, a: str, b: str) -> str:
        return self.f.op(f"fadd {self.t} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.f.op(f"fsub {self.t} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.f.op(f"fmul {self.t} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self.f.op(f"fdiv {self.t} {a}, {b}")

    def neg(self, a: str) -> str:
        return self.f.op(f"fneg {self.t} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.f.intrinsic("fma", F32, self.w, a, b, c)

    def abs(self, a: str) -> str:
        return self.f.intrinsic("fabs", F32, self.w, a)

    def copysign(self, a: str, sign: str) -> str:
        return self.f.intrinsic("copysign", F32, self.w, a, sign)

    def compare(self, predicate: str, a: str, b: str) -> str:
        return self.f.op(f"fcmp {predicate} {self.t} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.f.op(f"select {vector('i1', self.w)} {condition}, {self.t} {a}, {self.t} {b}")

    def bits(self, a: str) -> str:
        return self.f.op(f"bitcast {self.t} {a} to {self.it}")

    def from_bits(self, a: str) -> str:
        return self.f.op(f"bitcast {self.it} {a} to {self.t}")

    def iop(self, op: str, a: str, b: str) -> str:
        return self.f.op(f"{op} {self.it} {a}, {b}")

    def poly(self, x: str, coefficients: Sequence[float]) -> str:
        """Horner's scheme, highest power first."""
        result = self.const(coefficients[0])
        for c in coefficients[1:]:
            result = self.fma(result, x, self.const(c))
        return result

    def clamp_above(self, x: str, high: float) -> str:
        """min(x, high) that lets NaN through."""
        limit = self.const(high)
        return self.select(self.compare("ogt", x, limit), limit, x)

    def clamp_below(self, x: str, low: float) -> str:
        limit = self.const(low)
        return self.select(self.compare("olt", x, limit), limit, x)


_MAGIC = 12582912.0  # 1.5 * 2**23: adding it rounds to an integer and leaves that integer in the low bits
_MAGIC_BITS = 0x4B400000
_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
_LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
_ERF_TAIL_EVEN = (-1.72853470e-5, 3.83197126e-4)
_ERF_TAIL_ODD = (-3.88396438e-3, 2.42546219e-2)
_ERF_TAIL = (-1.06777877e-1, -6.34846687e-1, -1.28717512e-1)
_ERF = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def exp(f: Function, x: str, width: int) -> str:
    v = Vec(f, width)
    x = v.clamp_below(v.clamp_above(x, 89.0), -104.0)
    shifted = v.fma(x, v.const(1.44269504088896341), v.const(_MAGIC))
    n = v.sub(shifted, v.const(_MAGIC))
    r = v.fma(n, v.const(-_LN2_HIGH), x)
    r = v.fma(n, v.const(-_LN2_LOW), r)
    p = v.add(v.fma(v.poly(r, _EXP), v.mul(r, r), r), v.const(1.0))
    # 2**n in two factors, so that neither overflow nor denormal results need a branch
    k = v.iop("sub", v.bits(shifted), v.iconst(_MAGIC_BITS))
    half = v.iop("ashr", k, v.iconst(1))
    rest = v.iop("sub", k, half)
    for part in (half, rest):
        biased = v.iop("shl", v.iop("add", part, v.iconst(127)), v.iconst(23))
        p = v.mul(p, v.from_bits(biased))
    return p


def log(f: Function, x: str, width: int) -> str:
    v = Vec(f, width)
    tiny = v.compare("olt", x, v.const(1.1754943508222875e-38))
    scaled = v.select(tiny, v.mul(x, v.const(8388608.0)), x)
    # exponent and mantissa in [sqrt(1/2), sqrt(2))
    raw = v.iop("sub", v.bits(scaled), v.iconst(0x3F3504F3))
    exponent = v.iop("ashr", raw, v.iconst(23))
    mantissa = v.from_bits(v.iop("add", v.iop("and", raw, v.iconst(0x7FFFFF)), v.iconst(0x3F3504F3)))
    e = f.op(f"sitofp {v.it} {exponent} to {v.t}")
    e = v.sub(e, v.select(tiny, v.const(23.0), v.const(0.0)))
    m = v.sub(mantissa, v.const(1.0))
    z = v.mul(m, m)
    y = v.mul(v.mul(m, z), v.poly(m, _LOG))
    y = v.fma(e, v.const(_LN2_LOW), y)
    y = v.fma(z, v.const(-0.5), y)
    result = v.fma(e, v.const(_LN2_HIGH), v.add(m, y))
    result = v.select(v.compare("oeq", x, v.const(float("inf"))), x, result)
    result = v.select(v.compare("oeq", x, v.const(0.0)), v.const(float("-inf")), result)
    return v.select(
        v.compare("uge", x, v.const(0.0)), v.select(v.compare("uno", x, x), x, result), v.const(float("nan"))
    )


def log1p(f: Function, x: str, width: int) -> str:
    """Kahan's correction: log(u) * x / (u - 1) with u = 1 + x rounded."""
    v = Vec(f, width)
    u = v.add(x, v.const(1.0))
    plain = log(f, u, width)
    corrected = v.mul(plain, v.div(x, v.sub(u, v.const(1.0))))
    result = v.select(v.compare("oeq", u, v.const(1.0)), x, corrected)
    infinite = v.compare("oeq", u, v.const(float("inf")))
    return v.select(infinite, plain, result)


def tanh(f: Function, x: str, width: int) -> str:
    v = Vec(f, width)
    a = v.abs(x)
    z = v.mul(x, x)
    small = v.fma(v.mul(v.poly(z, _TANH), z), x, x)
    e = exp(f, v.add(a, a), width)
    large = v.sub(v.const(1.0), v.div(v.const(2.0), v.add(e, v.const(1.0))))
    return v.copysign(v.select(v.compare("olt", a, v.const(0.625)), small, large), x)


def sigmoid(f: Function, x: str, width: int) -> str:
    v = Vec(f, width)
    return v.div(v.const(1.0), v.add(v.const(1.0), exp(f, v.neg(x), width)))


def erf(f: Function, x: str, width: int) -> str:
    v = Vec(f, width)
    t = v.abs(x)
    s = v.mul(x, x)
    capped = v.clamp_above(t, 5.0)
    square = v.mul(capped, capped)
    r = v.fma(v.poly(capped, _ERF_TAIL_EVEN), square, v.poly(capped, _ERF_TAIL_ODD))
    for c in _ERF_TAIL:
        r = v.fma(r, capped, v.const(c))
    tail = v.sub(v.const(1.0), exp(f, v.fma(r, capped, v.neg(capped)), width))
    small = v.fma(v.poly(s, _ERF), x, x)
    return v.select(v.compare("ogt", t, v.const(0.927734375)), v.copysign(tail, x), small)


def softplus(f: Function, x: str, width: int) -> str:
    v = Vec(f, width)
    positive = v.clamp_below(x, 0.0)
    return v.add(positive, log1p(f, exp(f, v.neg(v.abs(x)), width), width))


def _sin_cos(f: Function, x: str, width: int, shift: int) -> str:
    """sin(x + shift * pi/2). The argument is reduced in float64, exactly enough for |x| < 1e5; beyond that, libm."""
    v = Vec(f, width)
    wide = vector("double", width)

    def c64(value: float) -> str:
        return f.constant(value, "float64", width)

    d = f.op(f"fpext {v.t} {x} to {wide}")
    n = f.intrinsic("rint", "float64", width, f.op(f"fmul {wide} {d}, {c64(0.6366197723675814)}"))
    negated = f.op(f"fneg {wide} {n}")
    r = f.intrinsic("fma", "float64", width, negated, c64(1.5707963267948966), d)
    r = f.intrinsic("fma", "float64", width, negated, c64(6.123233995736766e-17), r)
    y = f.op(f"fptrunc {wide} {r} to {v.t}")
    quadrant = f.op(f"fptosi {wide} {n} to {v.it}")
    quadrant = v.iop("add", quadrant, v.iconst(shift))
    z = v.mul(y, y)
    sine = v.fma(v.mul(v.poly(z, _SIN), z), y, y)
    cosine = v.add(v.fma(v.mul(v.poly(z, _COS), z), z, v.mul(z, v.const(-0.5))), v.const(1.0))
    odd = f.op(f"icmp ne {v.it} {v.iop('and', quadrant, v.iconst(1))}, {v.iconst(0)}")
    value = v.select(odd, cosine, sine)
    sign = v.iop("shl", v.iop("and", quadrant, v.iconst(2)), v.iconst(30))
    near = v.from_bits(v.iop("xor", v.bits(value), sign))
    if shift == 0:
        near = v.select(v.compare("oeq", x, v.const(0.0)), x, near)  # sums make 0.0 of -0.0
    return _with_libm_for_large(f, x, near, width, "sinf" if shift == 0 else "cosf")


def _with_libm_for_large(f: Function, x: str, near: str, width: int, name: str) -> str:
    """Replace `near` by libm's result, lane by lane, when any |x| is too large for the fast reduction."""
    v = Vec(f, width)
    large = f.op(f"fcmp ugt {v.t} {v.abs(x)}, {v.const(1e5)}")
    any_large = large if width == 1 else f.call("i1", f"llvm.vector.reduce.or.v{width}i1", (f"<{width} x i1>", large))
    slow, done = f.new_label(), f.new_label()
    before = f.block
    f.do(f"br i1 {any_large}, label {slow}, label {done}")
    f.label(slow)
    exact = f.lanes(v.t, width, F32, lambda lane: f.call("float", name, ("float", lane)), x)
    after = f.block
    f.do(f"br label {done}")
    f.label(done)
    return f.op(f"phi {v.t} [ {near}, %{before} ], [ {exact}, %{after} ]")


def sin(f: Function, x: str, width: int) -> str:
    return _sin_cos(f, x, width, 0)


def cos(f: Function, x: str, width: int) -> str:
    return _sin_cos(f, x, width, 1)


VECTOR_FUNCTIONS = {
    "exp": exp, "log": log, "log1p": log1p, "tanh": tanh, "sigmoid": sigmoid, "erf": erf, "softplus": softplus, "sin": sin,
    "cos": cos,
}  # fmt: skip
#: functions of libm, called once per lane
LIBM = (
    "exp", "log", "log1p", "tanh", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
    "atanh", "erfc", "expm1", "log2", "log10", "pow", "atan2", "hypot", "fmod", "exp2", "lgamma",
)  # fmt: skip


def libm(f: Function, name: str, dtype: str, width: int, *values: str) -> str:
    element = "double" if dtype == "float64" else "float"
    symbol = name if dtype == "float64" else name + "f"

    def one(*lanes: str) -> str:
        return f.call(element, symbol, *((element, lane) for lane in lanes))

    return f.lanes(vector(element, width), width, dtype, one, *values)
