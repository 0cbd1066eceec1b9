"""Scattered truth values: sums are "or", products "and", on every backend."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore._base.optional import available

BACKENDS = ["interp", "cpu", pytest.param("xla", marks=pytest.mark.skipif(not available("jax"), reason="needs JAX"))]
X = np.array([[True, True], [True, False], [False, True]])
UPDATES = np.array([[True, False], [False, True]])
ROWS = np.array([[1], [1]])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [("tensor_scatter_add", X[1] | UPDATES[0] | UPDATES[1]), ("tensor_scatter_mul", X[1] & UPDATES[0] & UPDATES[1])],
)
def test_scatters_combine_truths(name, expected, backend):
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend=backend):
        out = ms.jit(lambda x, u: getattr(ops, name)(x, Tensor(ROWS), u))(Tensor(X), Tensor(UPDATES)).asnumpy()
    np.testing.assert_array_equal(out, [X[0], expected, X[2]])


@pytest.mark.parametrize("backend", BACKENDS)
def test_scatter_nd_of_truths(backend):
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend=backend):
        out = ms.jit(lambda u: ops.scatter_nd(Tensor(ROWS), u, (3, 2)))(Tensor(UPDATES)).asnumpy()
    np.testing.assert_array_equal(out, [[False, False], UPDATES.any(0), [False, False]])
