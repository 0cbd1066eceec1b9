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
