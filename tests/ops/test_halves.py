"""16-bit floats: a function or a derivative that a step within it would overflow or round away is right all the same."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

WAYS = ["pynative", "interp", "cpu", "xla"]


def computed(function, x, way):
    if way == "xla":
        pytest.importorskip("jax")
    settings = {"mode": ms.PYNATIVE_MODE} if way == "pynative" else {"mode": ms.GRAPH_MODE, "backend": way}
    with ms.context.local_context(**settings):
        out = (function if way == "pynative" else ms.jit(function))(x)
        assert out.dtype == x.dtype
        return out.astype(ms.float64).asnumpy()


def compared(function, oracle, values, kind, way):
    x = Tensor(values, kind)
    wanted = oracle(x.astype(ms.float64).asnumpy())
    rounding = 2e-3 if kind == ms.float16 else 1.2e-2
    np.testing.assert_allclose(computed(function, x, way), wanted, rtol=rounding, atol=2e-7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize(
    ("name", "oracle", "values"),
    [
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), [-16.0, -12.0, -11.1, -3.0, 4.0]),
        ("sinc", np.sinc, [0.0, 0.01, 0.3, 125.5, 250.25, 1000.5, 22368.0]),
    ],
)
def test_functions_keep_their_range(name, oracle, values, kind, way):
    compared(getattr(ops, name), oracle, values, kind, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [ms.float16, ms.bfloat16])
@pytest.mark.parametrize(
    ("name", "derivative", "values"),
    [
        ("asinh", lambda x: 1 / np.sqrt(x * x + 1), [0.5, 300.0, -2000.0]),
        ("acosh", lambda x: 1 / np.sqrt(x * x - 1), [1.5, 300.0, 2000.0]),
        ("atan", lambda x: 1 / (x * x + 1), [0.5, 263.0, -280.0]),
        ("atanh", lambda x: 1 / (1 - x * x), [0.5, -0.75]),
        ("log10", lambda x: 1 / (x * np.log(10)), [0.5, 3.0, 30000.0]),
        ("rsqrt", lambda x: -0.5 * x**-1.5, [0.5, 4.0, 5e-4]),
    ],
)
def test_derivatives_keep_their_range(name, derivative, values, kind, way):
    compared(ms.grad(getattr(ops, name)), derivative, values, kind, way)


@pytest.mark.parametrize("way", WAYS)
def test_sinc_is_smooth_at_zero(way):
    x = np.array([1e-8, 1e-5, 1e-3, 0.02, 0.05], np.float32)
    wanted = -np.pi**2 * x / 3 + np.pi**4 * x.astype(float) ** 3 / 30 - np.pi**6 * x.astype(float) ** 5 / 840
    np.testing.assert_allclose(computed(ms.grad(ops.sinc), Tensor(x), way), wanted, rtol=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_hardshrink_keeps_nan_and_relu6_has_one_zero(way):
    found = computed(ops.hardshrink, Tensor([np.nan, 0.2, -2.0], ms.float32), way)
    np.testing.assert_array_equal(found, [np.nan, 0.0, -2.0])
    assert not np.signbit(computed(ops.relu6, Tensor([-0.0] * 9, ms.float32), way)).any()
