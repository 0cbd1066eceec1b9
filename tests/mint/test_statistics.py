"""Batch normalisation in parts, and other functions with few users, against NumPy."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from mindspore import Tensor, mint

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def test_parts_of_a_batch_give_the_whole_batch_s_statistics():
    x = normal(8, 3, 4)
    parts = [x[:2], x[2:]]
    means, inverses = zip(*(mint.batch_norm_stats(Tensor(p), 1e-5) for p in parts))
    counts = Tensor(np.array([p.size / 3 for p in parts], np.float32))
    running = Tensor(np.zeros(3, np.float32)), Tensor(np.ones(3, np.float32))
    mean, inverse = mint.batch_norm_gather_stats_with_counts(
        Tensor(x), mint.stack(means), mint.stack(inverses), *running, 0.1, 1e-5, counts
    )
    np.testing.assert_allclose(mean.asnumpy(), x.mean((0, 2)), atol=1e-6)
    np.testing.assert_allclose(inverse.asnumpy(), 1 / np.sqrt(x.var((0, 2)) + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(running[0].asnumpy(), 0.1 * x.mean((0, 2)), atol=1e-6)
    np.testing.assert_allclose(running[1].asnumpy(), 0.9 + 0.1 * x.var((0, 2), ddof=1), rtol=1e-5)
    weight, bias = normal(3), normal(3)
    out = mint.batch_norm_elemt(Tensor(x), Tensor(weight), Tensor(bias), mean, inverse)
    expected = (x - x.mean((0, 2))[:, None]) / np.sqrt(x.var((0, 2)) + 1e-5)[:, None] * weight[:, None] + bias[:, None]
    np.testing.assert_allclose(out.asnumpy(), expected, atol=1e-5)


def test_convolution_with_time_first():
    x, w, b = normal(6, 2, 3), normal(3, 3, 4), normal(4)
    padded = np.pad(x, ((1, 1), (0, 0), (0, 0)))
    expected = sum(padded[k : k + 6] @ w[k] for k in range(3)) + b
    np.testing.assert_allclose(mint.conv_tbc(Tensor(x), Tensor(w), Tensor(b), 1).asnumpy(), expected, atol=1e-5)


def test_addr_in_place_and_gelu():
    base, a, b = Tensor(normal(2, 3)), normal(2), normal(3)
    before = base.asnumpy().copy()
    assert mint.addr_(base, Tensor(a), Tensor(b), alpha=2) is base
    np.testing.assert_allclose(base.asnumpy(), before + 2 * np.outer(a, b), rtol=1e-5)
    x = normal(5)
    np.testing.assert_allclose(mint.npu_gelu(Tensor(x)).asnumpy(), x * sp.ndtr(x), atol=1e-6)


def test_running_statistics_without_momentum_are_those_of_all_batches():
    rng, norm = np.random.default_rng(2), mint.nn.BatchNorm1d(3, momentum=None)
    norm.set_train()
    batches = [rng.normal(size=(5, 3)).astype(np.float32) for _ in range(3)]
    for batch in batches:
        norm(Tensor(batch))
    np.testing.assert_allclose(norm.running_mean.asnumpy(), np.mean([b.mean(0) for b in batches], 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(norm.running_var.asnumpy(), np.mean([b.var(0, ddof=1) for b in batches], 0), rtol=1e-5)
