"""Programs that unroll to thousands of operations: kernels stay bounded, and what is not worth compiling is not compiled."""

from __future__ import annotations

import numpy as np
import pytest
from tests.backend_cpu.helpers import check

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.backends.cpu import available
from mindspore.prims import elementwise as ew

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")


def chain(length):
    def function(a):
        y = a
        for i in range(length):
            y = y * 0.5 + a if i % 2 else ew.Abs()(y)
        return y

    return function


def test_a_long_chain_is_cut_into_kernels_of_bounded_size():
    """Twice the operations, twice the kernels: the time to compile grows with the length and no faster."""
    x = np.random.default_rng(0).standard_normal(40).astype(np.float32)
    counts = [len(check(chain(n), x).steps()) for n in (400, 800)]
    assert 2 <= counts[0] < counts[1] <= 2 * counts[0]


def test_a_sampler_of_few_numbers_is_not_unrolled():
    """Gamma's rejection sampler is thousands of operations: for a few numbers the host is there before a compiler."""
    function = ms.jit(lambda a: ops.random_gamma((10,), a, seed=5))
    alpha = Tensor(np.array([1.0, 2.0], np.float32))
    ms.set_seed(1)
    found = function(alpha).asnumpy()
    (entry,) = function.entries()
    assert len(entry.executable.steps()) < 10
    ms.set_context(backend="interp")
    try:
        ms.set_seed(1)
        np.testing.assert_allclose(
            ms.jit(lambda a: ops.random_gamma((10,), a, seed=5))(alpha).asnumpy(), found, rtol=1e-5
        )
    finally:
        ms.set_context(backend="")


def test_thousands_of_views_of_views_are_looked_through():
    def function(a):
        for _ in range(700):
            a = a.reshape(4, 6).swapaxes(0, 1).reshape(4, 6)
        return a

    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected = x
    for _ in range(700):
        expected = expected.reshape(4, 6).T.reshape(4, 6)
    with ms.context.local_context(backend="cpu"):
        assert np.array_equal(ms.jit(function)(Tensor(x)).asnumpy(), expected)
