"""Floats of 16 bits are rounded after every operation, in kernels of many operations as in PyNative mode: to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.backends.cpu import CpuBackend, available

CHAINS = {
    "sum and difference": lambda x: (x + 100) - 100,
    "polynomial": lambda x: ((x * 3.3 + 1.7) * x - 0.3) / 7,
    "columns": lambda x: ops.relu(x * x - 0.1).sum(0) + x,
    "rows": lambda x: x.sum(1, keepdims=True) * x - x.mean(),
    "extremes": lambda x: ops.sqrt(ops.abs(x)) * x + ops.minimum(x * 7, x),
    "choice": lambda x: ops.where(x > 0, x * x + 1, x * 3) - 1,
    "picked": lambda x: (x * 1.1 + 0.7)[:, 3] * 5 - 0.1,
    "gradient": lambda x: ms.grad(lambda t: (t * t * t - t / 3).sum())(x),
}


@pytest.fixture(
    params=["interp", pytest.param("cpu", marks=pytest.mark.skipif(not available(), reason="not installed"))]
)
def backend(request):
    ms.set_context(backend=request.param)
    yield request.param
    ms.set_context(backend="")


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=str)
@pytest.mark.parametrize("name", CHAINS)
def test_both_modes_round_alike(backend, name, dtype):
    x = Tensor(np.random.default_rng(0).standard_normal((5, 33)).astype(np.float32), dtype)
    alone, fused = CHAINS[name](x), ms.jit(CHAINS[name])(x)
    assert alone.dtype == fused.dtype == dtype
    np.testing.assert_array_equal(fused.astype(ms.float32).asnumpy(), alone.astype(ms.float32).asnumpy())


def test_against_numpy(backend):
    x = np.linspace(0, 1, 77).astype(np.float16)
    found = ms.jit(lambda t: (t + 100) - 100)(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(found, (x + np.float16(100)) - np.float16(100))
    assert (found != x).any()


@pytest.mark.skipif(not available(), reason="the native backend is not installed")
def test_excess_precision_on_request(monkeypatch):
    from tests.backend_cpu.helpers import build

    x = np.linspace(0, 1, 77).astype(np.float16)
    monkeypatch.setenv("MS_DEV_EXCESS_PRECISION", "1")
    (found,) = CpuBackend().compile(build(lambda t: (t + 100) - 100, x))(x)
    np.testing.assert_allclose(found.astype(np.float32), x.astype(np.float32), atol=2e-5)


def test_xla_rounds_between_operations():
    ms.set_context(backend="xla")
    try:
        x = Tensor(np.linspace(0, 1, 77).astype(np.float32), ms.bfloat16)
        found = ms.jit(lambda t, u: (t + u) - u)(x, Tensor(100, ms.bfloat16)).astype(ms.float32).asnumpy()
    finally:
        ms.set_context(backend="")
    assert set(np.unique(found)) <= {0.0, 0.5, 1.0}
