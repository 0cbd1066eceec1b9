"""Arithmetic and functions of single elements."""

import numpy as np
from scipy import special
from table import ANY, COMPLEX, FLOAT, INT, NUMBER, REAL, Fixed, ints, positive, real, row, spread, unit

X, P, U, Y = real(2, 3), positive(2, 3), unit(2, 3), positive(3)
BIG = spread(1.2, 3, 2, 3)
SIGNED = REAL.replace(" B", "")
WIDE = FLOAT + " " + COMPLEX

# -- one argument ---------------------------------------------------------------------------------------------------
row("abs absolute Abs() Tensor.abs Tensor.absolute mint.abs", np.abs, X, dtypes=SIGNED, empty=True)
row(
    "neg negative Neg() neg_tensor Tensor.neg mint.neg mint.negative",
    np.negative,
    X,
    dtypes=SIGNED + " F D",
    empty=True,
)
row("exp Exp() tensor_exp Tensor.exp mint.exp", np.exp, X, dtypes=WIDE, empty=True)
row("expm1 Expm1() tensor_expm1 Tensor.expm1 mint.expm1", np.expm1, X, empty=True, dtypes=WIDE)
row("log Log() Tensor.log mint.log", np.log, P, dtypes=WIDE, empty=True)
row("log1p Log1p() Tensor.log1p mint.log1p", np.log1p, P, empty=True, dtypes=WIDE)
row("log2 Log2() Tensor.log2 mint.log2", np.log2, P, tolerance=4, dtypes=WIDE)
row("log10 Log10() Tensor.log10 mint.log10", np.log10, P, tolerance=4, dtypes=WIDE)
row("sqrt Sqrt() Tensor.sqrt mint.sqrt", np.sqrt, P, dtypes=WIDE, empty=True)
row("rsqrt Rsqrt() Tensor.rsqrt mint.rsqrt", lambda x: 1 / np.sqrt(x), P, dtypes=WIDE)
row("square Square() Tensor.square mint.square", np.square, X, dtypes=NUMBER, empty=True)
row("reciprocal inv Reciprocal() Inv() Tensor.reciprocal mint.reciprocal", lambda x: 1 / x, P, dtypes=WIDE)
row("sin Sin() Tensor.sin mint.sin", np.sin, X, dtypes=WIDE, empty=True)
row("cos Cos() Tensor.cos mint.cos", np.cos, X, dtypes=WIDE, empty=True)
row("tan Tan() Tensor.tan mint.tan", np.tan, U, dtypes=WIDE)
row("asin arcsin Asin() Tensor.asin mint.asin mint.arcsin", np.arcsin, U, dtypes=WIDE)
row("acos arccos ACos() Tensor.acos mint.acos mint.arccos", np.arccos, U, dtypes=WIDE)
row("atan arctan Atan() Tensor.atan mint.atan mint.arctan", np.arctan, X, dtypes=WIDE)
row("sinh Sinh() Tensor.sinh mint.sinh", np.sinh, X, dtypes=WIDE)
row("cosh Cosh() Tensor.cosh mint.cosh", np.cosh, X, dtypes=WIDE)
row("tanh Tanh() Tensor.tanh mint.tanh", np.tanh, X, dtypes=WIDE)
row("asinh arcsinh Asinh() Tensor.asinh mint.asinh mint.arcsinh", np.arcsinh, X, dtypes=WIDE)
row("acosh arccosh Acosh() Tensor.acosh mint.acosh mint.arccosh", np.arccosh, BIG, tolerance=2, dtypes=WIDE)
row("atanh arctanh Atanh() Tensor.atanh mint.atanh mint.arctanh", np.arctanh, U, dtypes=WIDE)
row("erf Erf() Tensor.erf mint.erf", special.erf, X)
row("erfc Erfc() Tensor.erfc mint.erfc", special.erfc, X, tolerance=4)
row("erfinv Erfinv() Tensor.erfinv mint.erfinv", special.erfinv, U, tolerance=4)
row("floor Floor() Tensor.floor mint.floor", np.floor, X, empty=True)
row("ceil Ceil() Tensor.ceil mint.ceil", np.ceil, X, empty=True)
row("trunc Trunc() Tensor.trunc mint.trunc", np.trunc, X)
row("round Round() Tensor.round mint.round Rint()", np.round, X)
row("round mint.round", lambda x: np.round(x, 1), X, call=lambda f, x: f(x, decimals=1), dtypes="f d")
row("frac Tensor.frac mint.frac", lambda x: x - np.trunc(x), X)
row("sign sgn Sign() Tensor.sign mint.sign", np.sign, X, dtypes=SIGNED)
row("sgn", lambda x: x / np.abs(x), X, dtypes=COMPLEX, vmap=False)
row("sigmoid Sigmoid() Tensor.sigmoid mint.sigmoid", special.expit, X)
row("exp2 mint.exp2", np.exp2, X, tolerance=2)
row("sinc Sinc() Tensor.sinc mint.sinc", np.sinc, X, tolerance=8)
row("deg2rad", np.deg2rad, X)
row("rad2deg", np.rad2deg, X)
row("positive Tensor.positive", np.positive, X, dtypes=NUMBER)
row("signbit SignBit()", np.signbit, X, grad=0)
row("logit Tensor.logit", special.logit, spread(0.2, 0.8, 2, 3), tolerance=4)
row(
    "logit Logit(0.3)",
    lambda x: special.logit(np.clip(x, 0.3, 0.7)),
    spread(0.1, 0.9, 2, 3),
    call=lambda f, x: f(x, 0.3) if not hasattr(f, "attrs") else f(x),
    grad=0,
    tolerance=4,
)
row("isfinite IsFinite() Tensor.isfinite mint.isfinite", np.isfinite, np.array([1.0, np.inf, np.nan]), grad=0)
row("isinf IsInf() Tensor.isinf mint.isinf", np.isinf, np.array([1.0, -np.inf, np.nan]), grad=0)
row("isnan IsNan() isnan_ext Tensor.isnan mint.isnan", np.isnan, np.array([1.0, np.inf, np.nan]), grad=0)
row("isneginf Tensor.isneginf mint.isneginf", np.isneginf, np.array([1.0, np.inf, -np.inf]), grad=0)
row("isposinf", np.isposinf, np.array([1.0, np.inf, -np.inf]), grad=0)
row("isreal Tensor.isreal", np.isreal, X, dtypes=REAL, grad=0)
row("logical_not LogicalNot() Tensor.logical_not mint.logical_not", np.logical_not, X, dtypes=ANY, grad=0)
row("invert Invert() Tensor.bitwise_not mint.bitwise_not", np.invert, ints(0, 90, 5), dtypes=INT, grad=0)
row(
    "population_count PopulationCount()",
    lambda x: np.array([bin(int(v)).count("1") for v in x]),
    ints(0, 90, 5),
    dtypes="B h",
    grad=0,
)
row(
    "nan_to_num Tensor.nan_to_num mint.nan_to_num NanToNum(0.0,9.0,-9.0)",
    lambda x: np.nan_to_num(x, nan=0, posinf=9, neginf=-9),
    np.array([1.5, np.nan, np.inf, -np.inf]),
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 0.0, 9.0, -9.0),
    grad=0,
)

# -- two arguments, broadcast ---------------------------------------------------------------------------------------
row("add Add() tensor_add TensorAdd() Tensor.add mint.add", np.add, X, Y, dtypes=NUMBER, empty=True)
row(
    "sub Sub() tensor_sub subtract Tensor.sub Tensor.subtract mint.sub",
    np.subtract,
    X,
    Y,
    dtypes=SIGNED + " F D",
    empty=True,
)
row(
    "mul Mul() tensor_mul tensor_muls multiply Tensor.mul Tensor.multiply mint.mul",
    np.multiply,
    X,
    Y,
    dtypes=NUMBER,
    empty=True,
)
row(
    "div Div() divide true_divide RealDiv() tensor_div Tensor.div Tensor.true_divide mint.div mint.divide",
    np.divide,
    X,
    Y,
    dtypes=WIDE,
    empty=True,
)
row(
    "div divide Tensor.div mint.div",
    lambda a, b: np.floor(a / b),
    X,
    Y,
    call=lambda f, a, b: f(a, b, rounding_mode="floor"),
    dtypes="f d i",
)
row(
    "div divide Tensor.div mint.div",
    lambda a, b: np.trunc(a / b),
    X,
    Y,
    call=lambda f, a, b: f(a, b, rounding_mode="trunc"),
    dtypes="f d",
)
row("subtract mint.sub", lambda a, b: a - 3 * b, X, Y, call=lambda f, a, b: f(a, b, alpha=3))
row("mint.add", lambda a, b: a + 3 * b, X, Y, call=lambda f, a, b: f(a, b, alpha=3))
row("DivNoNan()", lambda a, b: np.where(b == 0, 0, a / np.where(b == 0, 1, b)), X, np.array([0.0, 2.0, 0.5]), grad=0)
row("MulNoNan()", lambda a, b: np.where(b == 0, 0, a * b), X, np.array([0.0, 2.0, 0.5]), grad=0)
row("DivNoNan()", np.divide, X, Y)
row("MulNoNan()", np.multiply, X, Y)
row("pow Pow() tensor_pow pows Tensor.pow mint.pow", np.power, P, Y, dtypes=FLOAT + " i l F D", empty=True, tolerance=4)
row(
    "float_power float_power_ext Tensor.float_power mint.float_power",
    np.power,
    P,
    Y,
    dtypes="f d i",
    keeps=False,
    tolerance=4,
)
row("maximum Maximum() Tensor.maximum mint.maximum", np.maximum, X, Y, dtypes=REAL, empty=True)
row("minimum Minimum() Tensor.minimum mint.minimum", np.minimum, X, Y, dtypes=REAL, empty=True)
row("fmax Fmax()", np.fmax, X, Y)
row("fmin Fmin()", np.fmin, X, Y)
row("fmax fmin", np.fmax, np.array([1.0, np.nan]), np.array([np.nan, 2.0]), grad=0)
row("atan2 arctan2 Atan2() Tensor.atan2 mint.atan2 mint.arctan2", np.arctan2, X, Y)
row("hypot Hypot() Tensor.hypot", np.hypot, X, Y)
row("logaddexp Tensor.logaddexp mint.logaddexp", np.logaddexp, X, Y)
row("logaddexp2 Tensor.logaddexp2 mint.logaddexp2", np.logaddexp2, X, Y, tolerance=2)
row(
    "floor_divide FloorDiv() floor_div tensor_floordiv floordiv Tensor.floor_divide mint.floor_divide",
    lambda a, b: np.floor(a / b),
    X,
    Y + 0.7,
    dtypes=FLOAT + " i l",
    grad=1,
)
row(
    "floor_mod FloorMod() floormod tensor_mod remainder Tensor.remainder mint.remainder",
    np.mod,
    X,
    Y + 0.7,
    dtypes=FLOAT + " i l",
    tolerance=4,
)
row(
    "fmod mod Mod() TruncateMod() truncate_mod Tensor.fmod mint.fmod",
    np.fmod,
    X,
    Y + 0.7,
    dtypes=FLOAT + " i l",
    tolerance=4,
)
row("truncate_div TruncateDiv()", lambda a, b: np.trunc(a / b), X, Y + 0.7, dtypes=FLOAT + " i", grad=1)
row("xlogy Xlogy() Tensor.xlogy mint.xlogy", special.xlogy, P, Y)
row("xdivy Xdivy()", lambda a, b: np.where(a == 0, 0, a / b), X, Y)
row("copysign Tensor.copysign", np.copysign, X, real(3), grad=1)
row(
    "heaviside Heaviside() Tensor.heaviside",
    np.heaviside,
    np.array([-1.0, 0.0, 2.0]),
    np.array([0.5, 0.25, 1.0]),
    grad=0,
)
row("nextafter NextAfter() Tensor.nextafter", np.nextafter, X, Y, dtypes="d", grad=0)
row("SquaredDifference()", lambda a, b: (a - b) * np.conj(a - b), X, Y, dtypes=FLOAT + " i F D")
row("ldexp Tensor.ldexp", lambda a, b: a * 2.0**b, X, Fixed([1, 2, 3]), keeps=False)
row("lerp Lerp() Tensor.lerp mint.lerp", lambda a, b, w: a + w * (b - a), X, P, U, tolerance=2)
row("lerp mint.lerp", lambda a, b: a + 0.3 * (b - a), X, P, call=lambda f, a, b: f(a, b, 0.3), tolerance=2)
row(
    "addcmul Addcmul() Tensor.addcmul mint.addcmul",
    lambda a, b, c: a + b * c,
    X,
    P,
    Y,
    call=lambda f, a, b, c: f(a, b, c) if not hasattr(f, "attrs") else f(a, b, c, a[:1, :1] * 0 + 1),
    tolerance=2,
)
row(
    "addcdiv Addcdiv() Tensor.addcdiv mint.addcdiv",
    lambda a, b, c: a + b / c,
    X,
    P,
    Y,
    call=lambda f, a, b, c: f(a, b, c) if not hasattr(f, "attrs") else f(a, b, c, a[:1, :1] * 0 + 1),
    tolerance=2,
)
row(
    "addn AddN() accumulate_n AccumulateNV2()",
    lambda a, b, c: a + b + c,
    X,
    P,
    U,
    call=lambda f, a, b, c: f([a, b, c]),
    tolerance=2,
)
row("bias_add BiasAdd()", lambda x, b: x + b, X, Y)
row(
    "bitwise_and BitwiseAnd() Tensor.bitwise_and mint.bitwise_and",
    np.bitwise_and,
    ints(0, 90, 2, 3),
    ints(0, 90, 3),
    dtypes=INT,
    grad=0,
)
row(
    "bitwise_or BitwiseOr() Tensor.bitwise_or mint.bitwise_or",
    np.bitwise_or,
    ints(0, 90, 2, 3),
    ints(0, 90, 3),
    dtypes=INT,
    grad=0,
)
row(
    "bitwise_xor BitwiseXor() Tensor.bitwise_xor mint.bitwise_xor",
    np.bitwise_xor,
    ints(0, 90, 2, 3),
    ints(0, 90, 3),
    dtypes=INT,
    grad=0,
)
row(
    "bitwise_left_shift LeftShift() Tensor.bitwise_left_shift",
    np.left_shift,
    ints(0, 9, 2, 3),
    ints(0, 3, 3),
    dtypes=INT,
    grad=0,
)
row(
    "bitwise_right_shift RightShift() Tensor.bitwise_right_shift",
    np.right_shift,
    ints(0, 90, 2, 3),
    ints(0, 3, 3),
    dtypes=INT,
    grad=0,
)
row("gcd Gcd() Tensor.gcd", np.gcd, ints(1, 90, 2, 3), ints(1, 90, 3), dtypes="i l", grad=0)
row("lcm Lcm() Tensor.lcm", np.lcm, ints(1, 90, 2, 3), ints(1, 90, 3), dtypes="i l", grad=0)

# -- comparisons and logic ------------------------------------------------------------------------------------------
TIES = np.array([[1.0, 2.0, 3.0], [2.5, 2.0, 1.0]])
TWO = np.array([2.0, 2.0, 2.0])
row("eq equal Equal() Tensor.eq Tensor.equal mint.eq", np.equal, TIES, TWO, dtypes=ANY, grad=0, empty=True)
row(
    "ne not_equal NotEqual() Tensor.ne Tensor.not_equal mint.ne mint.not_equal",
    np.not_equal,
    TIES,
    TWO,
    dtypes=ANY,
    grad=0,
    empty=True,
)
row(
    "lt less Less() tensor_lt Tensor.lt Tensor.less mint.lt mint.less",
    np.less,
    TIES,
    TWO,
    dtypes=REAL,
    grad=0,
    empty=True,
)
row(
    "le less_equal LessEqual() tensor_le Tensor.le mint.le mint.less_equal",
    np.less_equal,
    TIES,
    TWO,
    dtypes=REAL,
    grad=0,
)
row(
    "gt greater Greater() tensor_gt Tensor.gt Tensor.greater mint.gt mint.greater",
    np.greater,
    TIES,
    TWO,
    dtypes=REAL,
    grad=0,
)
row(
    "ge greater_equal GreaterEqual() tensor_ge Tensor.ge mint.ge mint.greater_equal",
    np.greater_equal,
    TIES,
    TWO,
    dtypes=REAL,
    grad=0,
)
LEFT, RIGHT = np.array([[True, True], [False, False]]), np.array([True, False])
row(
    "logical_and LogicalAnd() Tensor.logical_and mint.logical_and",
    np.logical_and,
    LEFT,
    RIGHT,
    dtypes="?",
    grad=0,
    empty=True,
)
row("logical_or LogicalOr() Tensor.logical_or mint.logical_or", np.logical_or, LEFT, RIGHT, dtypes="?", grad=0)
row("logical_xor LogicalXor() Tensor.logical_xor mint.logical_xor", np.logical_xor, LEFT, RIGHT, dtypes="?", grad=0)
row("logical_and", lambda a, b: np.logical_and(a > 2, b > 1), X, P, call=lambda f, a, b: f(a > 2, b > 1), grad=0)
row(
    "isclose IsClose() Tensor.isclose mint.isclose",
    np.isclose,
    np.array([1.0, 2.0, np.nan]),
    np.array([1.0, 2.1, 1.0]),
    dtypes="f d",
    grad=0,
)
row(
    "approximate_equal ApproximateEqual(0.3)",
    lambda a, b: np.abs(a - b) < 0.3,
    np.array([1.0, 2.0]),
    np.array([1.1, 2.5]),
    dtypes="f",
    call=lambda f, a, b: f(a, b) if hasattr(f, "attrs") else f(a, b, 0.3),
    grad=0,
)

# -- numbers beside tensors -----------------------------------------------------------------------------------------
row("add Add() Tensor.add mint.add", lambda x: x + 2, X, call=lambda f, x: f(x, 2), dtypes=NUMBER)
row("mul Mul() Tensor.mul mint.mul", lambda x: x * 2.5, X, call=lambda f, x: f(x, 2.5), dtypes=FLOAT)
row("pow Pow() Tensor.pow mint.pow", lambda x: x**3, X, call=lambda f, x: f(x, 3), dtypes=FLOAT + " i l")
row("pow", lambda x: 2.0**x, X, call=lambda f, x: f(2.0, x))
row(
    "maximum minimum",
    lambda x: (np.maximum(x, 0.5), np.minimum(x, 0.5))[0],
    X,
    call=lambda f, x: f(x, 0.5) if "max" in f.__name__ else -f(-x, -0.5),
)
row(
    "clamp clip clip_by_value Tensor.clamp Tensor.clip mint.clamp",
    lambda x: np.clip(x, -1, 1.25),
    X,
    call=lambda f, x: f(x, -1, 1.25),
)
row("clamp clip Tensor.clamp mint.clamp", lambda x: np.maximum(x, -1), X, call=lambda f, x: f(x, min=-1), dtypes=SIGNED)
row("clamp clip_by_value Tensor.clip mint.clamp", lambda x, a, b: np.clip(x, a, b), X, np.array([-1.0, -0.5, 0]), Y)

# -- complex numbers ------------------------------------------------------------------------------------------------
row("complex Complex()", lambda a, b: a + 1j * b, X, P, dtypes="f d", grad=0)
row("polar Polar()", lambda a, b: a * np.exp(1j * b), P, X, dtypes="f d", grad=0)
row("real Real() Tensor.real mint.real", np.real, X, dtypes=COMPLEX, grad=0, keeps=False)
row("imag Imag() Tensor.imag mint.imag", np.imag, X, dtypes=COMPLEX, grad=0, keeps=False)
row("conj Conj() Tensor.conj", np.conj, X, dtypes=COMPLEX, grad=0)
row("angle Angle() Tensor.angle", np.angle, X, dtypes=COMPLEX, grad=0, keeps=False)
row("ComplexAbs() abs", np.abs, X, dtypes=COMPLEX, grad=0, keeps=False)
row("is_complex", lambda x: True, X, dtypes="F", grad=0, vmap=False, graph=False)
row("view_as_real", lambda z: np.stack([z.real, z.imag], -1), X, dtypes=COMPLEX, grad=0)
row("view_as_complex", lambda x: x[..., 0] + 1j * x[..., 1], real(3, 2), dtypes="f d", grad=0)
