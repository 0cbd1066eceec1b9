"""vmap of layers' primitives: equal to one example at a time, and computed at once."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.compiler.autodiff.vmap import _Walk
from mindspore.prims.attention import Attention
from mindspore.prims.loss import SparseCrossEntropy
from mindspore.prims.norm import LayerNorm, Standardize

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def shared(*shape):
    return Tensor(normal(*shape))


WEIGHT, GAMMA, BETA = shared(4, 2, 3, 3), shared(5), shared(5)
TABLE = shared(6, 5)
CASES = {
    "softmax": (lambda x: ops.softmax(x, 0), [normal(3, 4, 5)]),
    "log_softmax": (lambda x: ops.log_softmax(x, -1), [normal(3, 4, 5)]),
    "layer_norm": (lambda x: LayerNorm(-1, -1, 1e-5)(x, GAMMA, BETA)[0], [normal(3, 4, 5)]),
    "layer_norm_from_the_front": (lambda x: LayerNorm(1, 1, 1e-5)(x, GAMMA, BETA)[0], [normal(3, 4, 5)]),
    "standardize": (lambda x: Standardize((0,))(x)[0], [normal(3, 4, 5)]),
    "cumsum": (lambda x: ops.cumsum(x, 1), [normal(3, 4, 5)]),
    "sort": (lambda x: ops.sort(x, 0)[0], [normal(3, 4, 5)]),
    "topk": (lambda x: ops.topk(x, 2)[0], [normal(3, 4, 5)]),
    "argmax": (lambda x: ops.argmax(x, 0), [normal(3, 4, 5)]),
    "pad": (lambda x: ops.pad(x, (1, 2)), [normal(3, 4, 5)]),
    "gather_rows": (lambda x: ops.gather(x, Tensor([2, 0]), 0), [normal(3, 4, 5)]),
    "embedding": (lambda i: ops.gather(TABLE, i, 0), [RNG.integers(0, 6, (3, 4))]),
    "columns": (lambda i: ops.gather(TABLE, i, 1), [RNG.integers(0, 5, (3, 4))]),
    "own_rows": (lambda x, i: ops.gather(x, i, 0), [normal(3, 4, 5), RNG.integers(0, 4, (3, 2))]),
    "gather_elements": (lambda x, i: ops.gather_elements(x, 1, i), [normal(3, 4, 5), RNG.integers(0, 5, (3, 4, 2))]),
    "conv2d": (lambda x: ops.conv2d(x, WEIGHT, None, 1, "pad", 1), [normal(3, 2, 2, 6, 6)]),
    "max_pool": (lambda x: ops.max_pool2d(x, 2), [normal(3, 2, 2, 6, 6)]),
    "avg_pool": (lambda x: ops.avg_pool2d(x, 2, 2), [normal(3, 2, 2, 6, 6)]),
    "cross_entropy": (lambda x, y: SparseCrossEntropy()(x, y), [normal(3, 4, 5), RNG.integers(0, 5, (3, 4))]),
    "attention": (lambda q, k: Attention(0.5)(q, k, k, None), [normal(3, 2, 4, 5), normal(3, 2, 6, 5)]),
}


@pytest.fixture
def at_once(monkeypatch):
    """No primitive may be applied example by example."""

    def refuse(self, apply, args):
        raise AssertionError("an operation went example by example")

    monkeypatch.setattr(_Walk, "_one_by_one", refuse)


def first(out):
    return out[0] if isinstance(out, tuple) else out


@pytest.mark.parametrize("name", CASES)
def test_equals_one_example_at_a_time(name, at_once):
    function, arrays = CASES[name]
    one = lambda *xs: first(function(*xs))
    found = ops.vmap(one)(*map(Tensor, arrays)).asnumpy()
    expected = np.stack([one(*(Tensor(a[i]) for a in arrays)).asnumpy() for i in range(3)])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "cumsum", "conv2d", "max_pool", "avg_pool", "attention"])
def test_gradients_per_example(name):
    function, arrays = CASES[name]
    slope = ms.grad(lambda *xs: ops.square(first(function(*xs))).sum())
    found = ops.vmap(slope)(*map(Tensor, arrays)).asnumpy()
    expected = np.stack([slope(*(Tensor(a[i]) for a in arrays)).asnumpy() for i in range(3)])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


# -- axes that do not fit ---------------------------------------------------------------------------------------------
X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


class Two(ms.nn.Cell):
    def construct(self, x, y):
        return x + y, 1


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(
    ("error", "words", "in_axes", "out_axes", "args"),
    [
        (RuntimeError, "single None", None, 0, (X, X)),
        (RuntimeError, "all None", 0, (None, None), (X, X)),
        (RuntimeError, "number of results of 'fn': 2, but got size: 3", 0, (0, 0, 0), (X, X)),
        (RuntimeError, "should be a None or a scalar", (1.0, 0), 0, (X, X)),
        (RuntimeError, "-3 in 'in_axes' is out of bounds", (-3, 0), 0, (X, X)),
        (RuntimeError, "dst is None", 0, (None, 0), (X, X)),
        (RuntimeError, "2 in 'out_axes' is out of bounds", 0, (2, 0), (X, X)),
        (RuntimeError, "1 in 'out_axes' is out of bounds", 0, (0, 1), (X, X)),
        (TypeError, "number of the function is 2", (0, 0), 0, (X,)),
        (RuntimeError, "should be equal, but got 2 and 3", (0, 1), 0, (X, X)),
    ],
)
def test_axes_that_do_not_fit(mode, error, words, in_axes, out_axes, args):
    ms.set_context(mode=mode)
    with pytest.raises(error) as caught:
        ops.vmap(Two(), in_axes, out_axes)(*args)
    assert words in str(caught.value)


def test_numbers_are_the_same_for_every_example():
    total, one = ops.vmap(Two(), (1, 1), (1, 0))(X, X)
    assert total.tolist() == (X + X).tolist() and one.tolist() == [1, 1, 1]
    assert ops.vmap(Two(), 0, (0, None))(X, X)[1] == 1


def test_an_example_for_each_of_several_cells():
    double, triple = ms.nn.Dense(3, 1), ms.nn.Dense(3, 1)
    outs = ops.vmap(ms.nn.CellList([double, triple]), 0)(X)
    assert np.allclose(outs.asnumpy(), np.stack([double(X[0]).asnumpy(), triple(X[1]).asnumpy()]))
    with pytest.raises(ValueError, match="axis_size: 3 and the cell size: 2"):
        ops.vmap(ms.nn.CellList([double, triple]), 1)(X)
    with pytest.raises(RuntimeError, match="must be greater than 1"):
        ops.vmap(ms.nn.CellList([double]), 0)(X)
