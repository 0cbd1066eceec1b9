"""Functions of single elements against NumPy and SciPy."""

import functools
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
import scipy.special
from op_harness import check

import mindspore as ms
from mindspore import Tensor, ops
from mindspore._base.optional import available

RNG = np.random.default_rng(0)
ANY = RNG.uniform(-2, 2, (2, 3)) + 0.013
POSITIVE = RNG.uniform(0.3, 2, (2, 3))
UNIT = RNG.uniform(-0.9, 0.9, (2, 3))
ABOVE_ONE = RNG.uniform(1.2, 3, (2, 3))

UNARY = [
    ("abs", np.abs, ANY), ("neg", np.negative, ANY), ("exp", np.exp, ANY), ("expm1", np.expm1, ANY),
    ("log", np.log, POSITIVE), ("log1p", np.log1p, POSITIVE), ("log2", np.log2, POSITIVE),
    ("log10", np.log10, POSITIVE), ("sqrt", np.sqrt, POSITIVE), ("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE),
    ("square", np.square, ANY), ("reciprocal", lambda x: 1 / x, POSITIVE), ("sin", np.sin, ANY), ("cos", np.cos, ANY),
    ("tan", np.tan, UNIT), ("asin", np.arcsin, UNIT), ("acos", np.arccos, UNIT), ("atan", np.arctan, ANY),
    ("sinh", np.sinh, ANY), ("cosh", np.cosh, ANY), ("tanh", np.tanh, ANY), ("asinh", np.arcsinh, ANY),
    ("acosh", np.arccosh, ABOVE_ONE), ("atanh", np.arctanh, UNIT), ("erf", scipy.special.erf, ANY),
    ("erfc", scipy.special.erfc, ANY), ("erfinv", scipy.special.erfinv, UNIT), ("floor", np.floor, ANY),
    ("ceil", np.ceil, ANY), ("trunc", np.trunc, ANY), ("sign", np.sign, ANY), ("sigmoid", scipy.special.expit, ANY),
    ("exp2", np.exp2, ANY), ("sinc", np.sinc, ANY), ("deg2rad", np.deg2rad, ANY), ("rad2deg", np.rad2deg, ANY),
    ("frac", lambda x: x - np.trunc(x), ANY), ("round", np.round, ANY), ("signbit", np.signbit, ANY),
    ("logit", lambda x: np.log(x / (1 - x)), RNG.uniform(0.2, 0.8, (2, 3))), ("isfinite", np.isfinite, ANY),
]  # fmt: skip


@pytest.mark.parametrize("name,oracle,x", UNARY, ids=[u[0] for u in UNARY])
def test_unary(name, oracle, x):
    check(getattr(ops, name), oracle, x)


@pytest.mark.parametrize("name", ["arccos", "arcsin", "arctan", "arcsinh", "arctanh", "absolute", "negative"])
def test_second_names(name):
    check(getattr(ops, name), getattr(np, name), UNIT, grad=0)


Y = RNG.uniform(0.5, 2, (3,))
BINARY = [
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide), ("pow", np.power),
    ("maximum", np.maximum), ("minimum", np.minimum), ("atan2", np.arctan2), ("hypot", np.hypot),
    ("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2), ("floor_divide", lambda a, b: np.floor(a / b)),
    ("fmod", np.fmod), ("remainder", np.remainder), ("xlogy", scipy.special.xlogy), ("fmax", np.fmax),
    ("fmin", np.fmin), ("copysign", np.copysign), ("heaviside", np.heaviside), ("true_divide", np.divide),
    ("xdivy", np.divide), ("floor_mod", np.mod), ("truncate_div", lambda a, b: np.trunc(a / b)),
    ("truncate_mod", np.fmod), ("squared_difference", lambda a, b: (a - b) ** 2),
]  # fmt: skip


@pytest.mark.parametrize("name,oracle", BINARY, ids=[b[0] for b in BINARY])
def test_binary_broadcasts(name, oracle):
    function = ops.SquaredDifference() if name == "squared_difference" else getattr(ops, name)
    check(function, oracle, POSITIVE, Y)


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison(name):
    a, b = np.array([1, 2, 3]), np.array([2, 2, 2])
    for dtype in (np.int32, np.float16, np.uint8):
        check(getattr(ops, name), getattr(np, name), a.astype(dtype), b.astype(dtype), grad=0, dtypes=False)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic(name):
    check(getattr(ops, name), getattr(np, name), np.array([True, True, False]), np.array([True, False, False]), grad=0)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"])
def test_integers(name):
    check(getattr(ops, name), getattr(np, name), np.array([12, 18, 7]), np.array([8, 12, 7]), grad=0)
    check(ops.bitwise_left_shift, np.left_shift, np.array([1, 2]), np.array([3, 4]), grad=0)


def test_clamp_bounds():
    check(lambda x: ops.clamp(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5), ANY)
    check(lambda x: ops.clip_by_value(x, clip_value_max=0.5), lambda x: np.minimum(x, 0.5), ANY)
    check(lambda x, low: ops.clamp(x, low), lambda x, low: np.maximum(x, low), ANY, UNIT)
    with pytest.raises(ValueError, match="clamp"):
        ops.clamp(Tensor([1.0]))


def test_fused_arithmetic():
    check(lambda a, b, c: ops.addcmul(a, b, c, 0.5), lambda a, b, c: a + 0.5 * b * c, ANY, UNIT, Y)
    check(lambda a, b, c: ops.addcdiv(a, b, c, 0.5), lambda a, b, c: a + 0.5 * b / c, ANY, UNIT, Y)
    check(lambda a, b, w: ops.lerp(a, b, w), lambda a, b, w: a + w * (b - a), ANY, UNIT, Y)
    check(lambda a, b: ops.addn([a, b, a]), lambda a, b: 2 * a + b, ANY, UNIT)
    check(lambda a, b: ops.subtract(a, b, alpha=3), lambda a, b: a - 3 * b, ANY, UNIT)


def test_div_rounding():
    a, b = np.array([7.0, -7.0, 7.0]), np.array([2.0, 2.0, -2.0])
    check(lambda x, y: ops.div(x, y, rounding_mode="floor"), lambda x, y: np.floor(x / y), a, b, grad=0)
    check(lambda x, y: ops.div(x, y, rounding_mode="trunc"), lambda x, y: np.trunc(x / y), a, b, grad=0)
    with pytest.raises(ValueError, match="rounding_mode"):
        ops.div(Tensor(1.0), 2.0, rounding_mode="up")


def test_special_values_raise_no_warnings(recwarn):
    x = np.array([0.0, -1.0, np.inf, -np.inf, np.nan])
    for name in ("log", "sqrt", "rsqrt", "reciprocal", "exp", "acosh", "asin", "square"):
        getattr(ops, name)(Tensor(x.astype(np.float32)))
    Tensor([1.0]) / 0
    Tensor([1.0]) // Tensor([0.0])
    assert len(recwarn) == 0


def test_nan_to_num():
    x = np.array([np.nan, np.inf, -np.inf, 1.0])
    check(ops.nan_to_num, np.nan_to_num, x, grad=0)
    check(lambda x: ops.nan_to_num(x, 5.0, 6.0, 7.0), np.array([5.0, 6.0, 7.0, 1.0]), x, grad=0)


def test_isclose():
    a, b = np.array([1.0, np.inf, np.nan, 2.0]), np.array([1.0 + 1e-9, np.inf, np.nan, 2.1])
    check(ops.isclose, np.isclose, a, b, grad=0)
    check(lambda x, y: ops.isclose(x, y, equal_nan=True), lambda x, y: np.isclose(x, y, equal_nan=True), a, b, grad=0)


def test_complex_numbers():
    a, b = RNG.normal(size=3), RNG.normal(size=3)
    check(ops.complex, lambda x, y: x + 1j * y, a, b, grad=0)
    check(ops.polar, lambda x, y: x * np.exp(1j * y), np.abs(a), b, grad=0)
    check(lambda x, y: ops.abs(ops.complex(x, y)), lambda x, y: np.abs(x + 1j * y), a, b, grad=1)
    check(lambda x, y: ops.angle(ops.complex(x, y)), lambda x, y: np.angle(x + 1j * y), a, b)
    check(lambda x, y: ops.real(ops.complex(x, y) * ops.complex(y, x)), lambda x, y: 0 * x, a, b)
    check(lambda x, y: ops.view_as_real(ops.complex(x, y)), lambda x, y: np.stack([x, y], -1), a, b)
    check(lambda x: ops.imag(ops.view_as_complex(x)), lambda x: x[:, 1], RNG.normal(size=(3, 2)))


def test_where_and_masks():
    mask = np.array([[True], [False]])
    check(ops.where, np.where, mask, ANY, Y)
    check(lambda x, m: ops.masked_fill(x, m, 7.0), lambda x, m: np.where(m, 7.0, x), ANY, mask)
    check(lambda m, x: ops.select(m, x, 0.0), lambda m, x: np.where(m, x, 0), mask, ANY)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_types_stay_half(dtype):
    x = Tensor(np.array([0.5, 1.5, 2.5]), dtype)
    for name in ("exp", "sqrt", "sin", "erf", "sigmoid", "round", "square", "log"):
        out = getattr(ops, name)(x)
        assert out.dtype is dtype
        expected = getattr(ops, name)(x.astype(ms.float32)).asnumpy()
        np.testing.assert_allclose(out.astype(ms.float32).asnumpy(), expected, 1e-2)


@pytest.mark.parametrize(
    "a,b,expected",
    [
        (ms.int32, ms.float32, ms.float32), (ms.int8, ms.uint8, ms.int16), (ms.float16, ms.float32, ms.float32),
        (ms.bool_, ms.int64, ms.int64), (ms.float32, ms.complex64, ms.complex64), (ms.int64, ms.float16, ms.float16),
    ],
)  # fmt: skip
def test_promotion_of_tensors(a, b, expected):
    x, y = Tensor(np.ones(2), a), Tensor(np.ones(2), b)
    assert (x + y).dtype == (y * x).dtype == expected


@pytest.mark.parametrize(
    "dtype,number,expected",
    [(ms.int32, 2, ms.int32), (ms.int32, 0.5, ms.float32), (ms.float16, 2.5, ms.float16), (ms.bool_, 1, ms.int64)],
)
def test_promotion_of_numbers(dtype, number, expected):
    assert (Tensor(np.ones(2), dtype) + number).dtype == (number + Tensor(np.ones(2), dtype)).dtype == expected


def test_division_of_integers_is_true_division():
    assert (Tensor([7], ms.int32) / 2).tolist() == [3.5]
    assert (Tensor([-7], ms.int32) // 2).tolist() == [-4]
    assert (Tensor([-7], ms.int32) % 3).tolist() == [2]


def test_empty_tensors():
    empty = Tensor(np.zeros((0, 3), np.float32))
    assert ops.exp(empty).shape == (0, 3)
    assert (empty + Tensor([1.0])).shape == (0, 3)
    assert ops.where(empty > 0, empty, 1.0).shape == (0, 3)


def test_gradient_of_nextafter_is_that_of_its_first_argument():
    dx, dy = ms.grad(ops.nextafter, (0, 1))(Tensor([0.0, 1.0]), Tensor([1.0]))
    assert (dx.tolist(), dy.tolist()) == ([1.0, 1.0], [0.0])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("decimals", [-400, -50, -2, 3, 30, 50, 300, 400])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_what_has_no_digits_at_a_place_stays_when_rounded_there(kind, decimals, compiled):
    x = np.array([1234.5, 60000, 0, -2.5, np.inf, np.nan], kind)
    function = lambda x: ops.round(x, decimals=decimals)
    found = (ms.jit(function) if compiled else function)(Tensor(x)).asnumpy()
    expected = x if decimals > 0 else np.where(np.isfinite(x), np.round(x.astype(np.float64), max(decimals, -300)), x)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected, 1e-3 if kind == "float16" else 1e-6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64"])
def test_whole_numbers_are_rounded_exactly(kind, compiled):
    limits = np.iinfo(kind)
    x = np.concatenate([RNG.integers(limits.min // 2, limits.max // 2, 50), [5, 15, 25, 35, 50, 100]]).astype(kind)
    for decimals in (2, 50, -1, -2, -9, -50):
        function = functools.partial(ops.round, decimals=decimals)
        found = (ms.jit(function) if compiled else function)(Tensor(x)).asnumpy()
        step = 10 ** max(-decimals, 0)
        exact = [_half_even(int(v), step) for v in x]
        fits = np.array([limits.min <= v <= limits.max for v in exact])
        assert found.dtype == x.dtype and found[fits].tolist() == [v for v, fit in zip(exact, fits) if fit]


def _half_even(value, step):
    return int((Decimal(value) / step).quantize(Decimal(1), ROUND_HALF_EVEN)) * step


@pytest.mark.parametrize("backend", ["", "interp", "cpu", *(["xla"] if available("jax") else [])])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_the_smallest_number_has_divisors_too(name, kind, backend):
    """XLA's own loop does not end with it."""
    limits = np.iinfo(kind)
    x = np.array([limits.min, limits.min, limits.max, 0, limits.min, 12], kind)
    y = np.array([6, 0, 6, 0, limits.min, 18], kind)
    function = getattr(ops, name)
    with ms.context.local_context(backend=backend):
        found = (ms.jit(lambda x, y: function(x, y)) if backend else function)(Tensor(x), Tensor(y)).asnumpy()
    assert np.array_equal(found, getattr(np, name)(x, y)) and found.dtype == x.dtype
