"""Attention with dropout over long sequences: a function of its key, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp
from nn_harness import both_namespaces

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, ops
from mindspore.prims import attention
from mindspore.prims.attention_dropout import DropoutAttention, DropoutAttentionGrad

RNG = np.random.default_rng(0)
KEY = np.array([7, 11], np.uint32)


def sample(*lengths):
    return [RNG.normal(size=(2, 2, n, 4)) for n in lengths]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_it_is_the_definition_with_its_own_mask(causal, with_bias, monkeypatch):
    q, k, v = sample(5, 6, 6)
    bias = RNG.normal(size=(5, 6)) if with_bias else None
    op = DropoutAttention(0.5, causal, 0.75)
    out = both_namespaces(op, q, k, v, bias, KEY)
    scores = 0.5 * q @ k.swapaxes(-1, -2) + (bias if with_bias else 0)
    if causal:
        scores = np.where(np.arange(6) > np.arange(5)[:, None] + 1, -1e9, scores)
    factor = op.factor(np, KEY, scores.shape, 0)
    assert set(np.unique(factor)) <= {0, np.float32(1 / 0.75)}
    np.testing.assert_allclose(out, (sp.softmax(scores, -1) * factor) @ v)
    both_namespaces(DropoutAttentionGrad(0.5, causal, 0.75), q, k, v, bias, KEY, RNG.normal(size=out.shape))
    inputs = [q, k, v, bias] if with_bias else [q, k, v]
    check_gradients(lambda *xs: op(*xs, *([] if with_bias else [None]), Tensor(KEY)), *inputs, order=1)
    monkeypatch.setattr(attention, "_BLOCK", 2)  # block by block the same
    np.testing.assert_allclose(op.eval(np, q, k, v, bias, KEY), out)


def test_the_share_that_survives():
    factor = DropoutAttention(1.0, False, 0.9).factor(np, KEY, (4, 100, 100), 0)
    assert abs((factor > 0).mean() - 0.9) < 0.01


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_long_sequences(mode):
    ms.set_context(mode=mode)
    q, k, v = (Tensor(RNG.normal(size=(1, 1, n, 8)), ms.float32) for n in (600, 64, 64))
    loss = lambda a, b, c: ops.scaled_dot_product_attention(a, b, c, dropout_p=0.1).sum()
    value, grads = ms.value_and_grad(loss, (0, 1, 2))(q, k, v)
    assert np.isfinite(float(value)) and [g.shape for g in grads] == [q.shape, k.shape, v.shape]
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_second_derivatives_are_refused():
    q, k, v = (Tensor(a[:1, :1]) for a in sample(3, 3, 3))
    total = lambda a: DropoutAttention(1.0, False, 0.5)(a, k, v, None, Tensor(KEY)).sum()
    with pytest.raises(RuntimeError, match="Second derivatives of attention with dropout"):
        ms.grad(lambda a: ms.grad(total)(a).sum())(q)
