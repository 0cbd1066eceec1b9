"""Accuracy of the generated elementary functions, in units in the last place, and their special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mindspore.backends.cpu import available

if not available():
    pytest.skip("the native backend is not installed", allow_module_level=True)

from mindspore.backends.cpu import kernels
from mindspore.backends.cpu.codegen.spec import Axis, Buffer, Instr, Kernel

_ERF = np.vectorize(math.erf, otypes=[np.float64])


def apply(op: str, x: np.ndarray) -> np.ndarray:
    """One function over an array, by a generated kernel."""
    dtype = x.dtype.name
    out = np.empty_like(x)
    code = (Instr("load", dtype, (), 0), Instr(op, dtype, (0,)))
    kernels.call(Kernel((Axis(x.size),), (Buffer(dtype, (1,)), Buffer(dtype, (1,))), code, ((1, 1),)), [x, out])
    return out


def worst_ulp(got: np.ndarray, exact: np.ndarray) -> float:
    unit = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    return float(np.max(np.abs(got.astype(np.float64) - exact) / unit))


def samples() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.standard_normal(20011) * s for s in (1e-6, 1e-3, 0.1, 1, 10)]).astype(np.float32)


FUNCTIONS = {
    "exp": np.exp, "tanh": np.tanh, "erf": _ERF, "sin": np.sin, "cos": np.cos, "expm1": np.expm1, "atan": np.arctan,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.logaddexp(x, 0), "sinh": np.sinh,
}  # fmt: skip
POSITIVE = {"log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "log2": np.log2}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_4_ulp(name):
    x = samples()
    assert worst_ulp(apply(name, x), FUNCTIONS[name](x.astype(np.float64))) <= 4


@pytest.mark.parametrize("name", POSITIVE)
def test_of_positive_numbers_within_4_ulp(name):
    x = np.abs(samples()) + np.float32(1e-38)
    assert worst_ulp(apply(name, x), POSITIVE[name](x.astype(np.float64))) <= 4


def test_exp_over_its_whole_range():
    x = np.linspace(-87, 88.7, 50001).astype(np.float32)
    assert worst_ulp(apply("exp", x), np.exp(x.astype(np.float64))) <= 2


def test_sine_of_large_arguments():
    x = np.array([1e4, 123456.0, 1e7, 3e38, -2e9], np.float32)
    np.testing.assert_allclose(apply("sin", x), np.sin(x.astype(np.float64)), rtol=1e-5)


SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1, 89, -104, -95, 200, -200, 1e-45, 3e38], np.float32)


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "log1p", "sin", "cos", "sqrt", "expm1", "atan"])
def test_special_values_as_numpy(name):
    function = getattr(np, {"atan": "arctan"}.get(name, name))
    with np.errstate(all="ignore"):
        want = function(SPECIAL)
    got = apply(name, SPECIAL)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-44)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 1000])
def test_tails(size):
    x = samples()[:size]
    np.testing.assert_allclose(apply("exp", x), np.exp(x), rtol=1e-6)
