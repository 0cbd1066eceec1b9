"""Products of float64 and integer matrices in native code, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend_cpu.helpers import check

from mindspore.backends.cpu import available
from mindspore.backends.cpu.steps import HostStep
from mindspore.prims import arrays, linalg

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")

SIZES = [1, 2, 3, 5, 8, 9, 17, 24, 25, 33, 130]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_products(data):
    m, n, k = (data.draw(st.sampled_from(SIZES)) for _ in range(3))
    k = data.draw(st.sampled_from([k, 300])) if m * n < 1000 else k
    dtype = data.draw(st.sampled_from([np.float64, np.int32, np.int64, np.int8, np.uint8, np.uint16]))
    ta, tb = data.draw(st.booleans()), data.draw(st.booleans())
    batches = data.draw(st.sampled_from([((), ()), ((3,), (3,)), ((2, 1), (3,)), ((), (2,)), ((1, 4), (2, 1))]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    shapes = (*batches[0], *((k, m) if ta else (m, k))), (*batches[1], *((n, k) if tb else (k, n)))
    x, y = ((rng.standard_normal(s) * 50).astype(np.int64).astype(dtype) for s in shapes)
    executable = check(lambda a, b: linalg.BatchMatMul(ta, tb)(a, b), x, y)
    assert not any(isinstance(s, HostStep) for s in executable.blueprint.steps), executable.steps()


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_operands_that_are_views(dtype):
    x = np.arange(240).reshape(2, 3, 40).astype(dtype)
    turned = lambda a: arrays.Transpose()(a, (0, 2, 1))
    check(lambda a: (linalg.BatchMatMul()(a[:, ::-1, ::2], turned(a)[:, :20]),), x)


def test_special_values():
    x = np.array([[np.nan, 1.0], [np.inf, -1.0]])
    check(lambda a: linalg.MatMul()(a, a), x)


def test_large_and_nothing():
    rng = np.random.default_rng(0)
    check(lambda a, b: linalg.MatMul()(a, b), rng.standard_normal((500, 300)), rng.standard_normal((300, 270)))
    check(lambda a, b: linalg.MatMul()(a, b), np.ones((0, 3)), np.ones((3, 4)))
    check(lambda a, b: linalg.MatMul()(a, b), np.ones((2, 0)), np.ones((0, 4)))
