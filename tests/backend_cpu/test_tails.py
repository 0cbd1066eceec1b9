"""Narrow types in vectors: results of column reductions whose last axis leaves a few elements over, in both modes.

LLVM miscompiles a masked store of one lane of a truncated vector, so every tail of every narrow type is looked at.
"""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import ops

NARROW = [ms.float16, ms.bfloat16, ms.int8, ms.uint8, ms.int16]


@pytest.mark.parametrize("wide", [ms.int32, ms.float32, ms.float64], ids=str)
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_every_tail(dtype, wide):
    """A narrow copy is stored beside the sums by columns."""

    def narrow_and_columns(x):
        doubled = x * 2
        return doubled.astype(dtype), doubled.sum(0)

    for n in [*range(1, 18), 31, 33]:
        given = np.random.default_rng(n).integers(0, 9, (5, n))
        for function in (ms.jit(narrow_and_columns), narrow_and_columns):
            narrow, columns = function(ms.Tensor(given, wide))
            assert narrow.dtype == dtype
            np.testing.assert_array_equal(narrow.astype(ms.float32).asnumpy(), 2 * given)
            np.testing.assert_array_equal(columns.asnumpy(), 2 * given.sum(0))


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=str)
@pytest.mark.parametrize("n", [1, 9, 17, 33])
def test_gradient_of_a_normalisation_over_columns(n, dtype):
    """The case in which training went wrong: sums over the batch beside the results they come from."""
    x = np.random.default_rng(n).standard_normal((6, n)).astype(np.float32)

    def loss(x):
        y = ops.tanh(x)
        return (y * y.sum(0)).astype(ms.float32).sum()

    got = ms.jit(ms.grad(loss))(ms.Tensor(x, dtype)).astype(ms.float32).asnumpy()
    exact = np.asarray(ms.Tensor(x, dtype).astype(ms.float32).asnumpy(), np.float64)
    y = np.tanh(exact)
    want = 2 * y.sum(0) * (1 - y * y)
    np.testing.assert_allclose(got, want, atol=0.004 if dtype == ms.float16 else 0.15)
