"""Attention against its definition in float64: values, first and second gradients, half types, long sequences."""

import numpy as np
import pytest

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, ops
from mindspore.prims.attention import Attention

RNG = np.random.default_rng(3)


def definition(q, k, v, bias, scale, causal):
    scores = np.matmul(q, k.swapaxes(-1, -2)).astype(np.float64) * scale + (0 if bias is None else bias)
    if causal:
        queries, keys = scores.shape[-2:]
        scores = np.where(np.arange(keys) > np.arange(queries)[:, None] + keys - queries, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.matmul(weights / weights.sum(-1, keepdims=True), v)


def normal(*shape):
    return RNG.standard_normal(shape)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("bias_shape", [None, (4, 5), (2, 1, 4, 5), (5,)])
def test_first_and_second_gradients(causal, bias_shape):
    q, k, v = normal(2, 2, 4, 3), normal(2, 2, 5, 3), normal(2, 2, 5, 2)
    op = Attention(0.7, causal)
    if bias_shape is None:
        check_gradients(lambda a, b, c: op(a, b, c, None), q, k, v)
    else:
        check_gradients(lambda a, b, c, d: op(a, b, c, d), q, k, v, normal(*bias_shape))


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(ms.float32, 1e-5), (ms.float16, 1e-2), (ms.bfloat16, 5e-2)])
def test_gradients_agree_between_backends(backend, dtype, tolerance, monkeypatch):
    arrays = [normal(2, 3, 8, 16) for _ in range(3)]
    tensors = [Tensor(a.astype(np.float32)).astype(dtype) for a in arrays]

    def loss(q, k, v):
        return ops.scaled_dot_product_attention(q, k, v, is_causal=True).astype(ms.float32).sum()

    ms.set_context(backend=backend)
    try:
        value, grads = ms.jit(ms.value_and_grad(loss, (0, 1, 2)))(*tensors)
    finally:
        ms.set_context(backend="")
    exact = [Tensor(t.astype(ms.float32).asnumpy().astype(np.float64)) for t in tensors]
    expected = definition(*(t.asnumpy() for t in exact), None, 0.25, True).sum()
    np.testing.assert_allclose(value.asnumpy(), expected, rtol=tolerance, atol=tolerance * 10)
    for got, want in zip(grads, ms.grad(loss, (0, 1, 2))(*exact)):
        np.testing.assert_allclose(
            got.astype(ms.float32).asnumpy(), want.asnumpy(), rtol=10 * tolerance, atol=10 * tolerance
        )


def test_long_sequences_go_block_by_block():
    """More queries than one block: the same values and gradients, up to summation order."""
    q, k, v, bias = normal(1, 1, 1100, 4), normal(1, 1, 7, 4), normal(1, 1, 7, 4), normal(1100, 7)
    op = Attention(0.5)
    out = op(*map(Tensor, (q, k, v, bias)))
    np.testing.assert_allclose(out.asnumpy(), definition(q, k, v, bias, 0.5, False), rtol=1e-12)
    whole = ms.grad(lambda *t: op(*t).sum(), (1, 2))(*map(Tensor, (q, k, v, bias)))
    halves = [
        ms.grad(lambda *t: op(*t).sum(), (1, 2))(*map(Tensor, (q[..., part, :], k, v, bias[part])))
        for part in (slice(0, 400), slice(400, None))
    ]
    for i in range(2):
        np.testing.assert_allclose(whole[i].asnumpy(), halves[0][i].asnumpy() + halves[1][i].asnumpy(), rtol=1e-9)
