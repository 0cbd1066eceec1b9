"""Attention where several heads of queries share one of keys and values, against NumPy with repeated heads."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

RNG = np.random.default_rng(5)


def numbers(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def expected(q, k, v, bias, scale):
    k, v = (x.repeat(q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * scale + bias
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("bias_shape", [None, (1, 1, 1, 5), (2, 6, 1, 5), (2, 1, 1, 5)])
@pytest.mark.parametrize("queries", [1, 3])
def test_heads_are_shared(backend, mode, bias_shape, queries):
    ms.set_context(mode=mode, backend=backend)
    q, k, v = numbers(2, 6, queries, 4), numbers(2, 2, 5, 4), numbers(2, 2, 5, 4)
    bias = np.float32(0) if bias_shape is None else numbers(*bias_shape)
    mask = None if bias_shape is None else Tensor(bias)

    def run(q, k, v):
        return ops.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)

    function = ms.jit(run) if mode == ms.GRAPH_MODE else run
    found = function(*map(Tensor, (q, k, v)))
    np.testing.assert_allclose(found.asnumpy(), expected(q, k, v, bias, 0.5), rtol=2e-5, atol=2e-5)


def test_gradients_reach_the_shared_heads():
    q, k, v = numbers(1, 4, 1, 4), numbers(1, 2, 3, 4), numbers(1, 2, 3, 4)
    weight = Tensor(numbers(1, 4, 1, 4))

    def loss(q, k, v, repeated):
        if repeated:
            k, v = (ops.repeat_interleave(x, 2, 1) for x in (k, v))
        return (ops.scaled_dot_product_attention(q, k, v, enable_gqa=not repeated) * weight).sum()

    for grads in zip(*(ms.grad(lambda *a, r=r: loss(*a, r), (0, 1, 2))(*map(Tensor, (q, k, v))) for r in (False, True))):
        np.testing.assert_allclose(grads[0].asnumpy(), grads[1].asnumpy(), rtol=2e-5, atol=2e-6)
