"""THOR against its formula in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

RNG = np.random.default_rng(0)


def inverse(factor, damping):
    return np.linalg.inv(factor + np.sqrt(damping) * np.eye(len(factor)))


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def squares(net, label):
    return lambda x: ops.ReduceMean()(ops.ReduceSum()(ops.square(net(x) - label), 1), ())


def test_dense_steps(mode):
    x, y = RNG.normal(size=(6, 3)).astype(np.float32), RNG.normal(size=(6, 2)).astype(np.float32)
    net = nn.DenseThor(3, 2).set_train()
    optimizer = nn.thor(net, Tensor([0.1, 0.1]), Tensor([0.03, 0.5]), 0.9, batch_size=6, frequency=2)
    weight, bias = net.weight.asnumpy().copy(), net.bias.asnumpy().copy()
    step = ms.value_and_grad(squares(net, Tensor(y)), None, optimizer.parameters)
    velocity = [np.zeros_like(weight), np.zeros_like(bias)]
    for i in range(2):
        _, grads = step(Tensor(x))
        optimizer(grads)
        dout = 2 * (x @ weight.T + bias - y) / 6
        if i == 0:  # the second step keeps the inverses
            left, right = inverse(dout.T @ dout / 6 * 36, 0.03), inverse(x.T @ x / 6, 0.03)
        velocity[0] = 0.9 * velocity[0] + left @ (dout.T @ x) @ right
        velocity[1] = 0.9 * velocity[1] + dout.sum(0)
        weight, bias = weight - 0.1 * velocity[0], bias - 0.1 * velocity[1]
        np.testing.assert_allclose(net.weight.asnumpy(), weight, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(net.bias.asnumpy(), bias, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("pad_mode,padding", [("same", 0), ("valid", 0), ("pad", 1)])
def test_factors_of_a_convolution(mode, pad_mode, padding):
    x = RNG.normal(size=(2, 2, 5, 5)).astype(np.float32)
    net = nn.Conv2dThor(2, 3, 3, stride=2, pad_mode=pad_mode, padding=padding).set_train()
    loss = lambda v: ops.ReduceSum()(ops.square(net(v)), ()) * 0.5
    ms.value_and_grad(loss, None, net.trainable_params())(Tensor(x))
    amount = {"same": 1, "valid": 0, "pad": 1}[pad_mode]
    padded = np.pad(x, ((0, 0), (0, 0), (amount, amount), (amount, amount)))
    size = (padded.shape[2] - 3) // 2 + 1
    rows = np.stack(
        [padded[n, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3].ravel() for n, i, j in np.ndindex(2, size, size)]
    )
    np.testing.assert_allclose(net.matrix_a.asnumpy(), rows.T @ rows / len(rows), rtol=1e-4, atol=1e-5)
    out = rows @ net.weight.asnumpy().reshape(3, -1).T  # the gradient of half the squares is the output
    np.testing.assert_allclose(net.matrix_g.asnumpy(), out.T @ out / len(out), rtol=1e-3, atol=1e-6)


def test_it_needs_fewer_steps_than_momentum(mode):
    rng = np.random.default_rng(1)
    scales = np.array([10.0, 1.0, 0.1])
    x = (rng.normal(size=(64, 3)) * scales).astype(np.float32)
    y = (x @ (1 / scales)[:, None]).astype(np.float32)

    def final(make):
        net = nn.DenseThor(3, 1, weight_init="zeros", has_bias=False).set_train()
        optimizer = make(net)
        step = ms.value_and_grad(squares(net, Tensor(y)), None, optimizer.parameters)
        for _ in range(15):
            loss, grads = step(Tensor(x))
            optimizer(grads)
        return float(loss)

    thor = final(lambda net: nn.thor(net, 0.3, 1e-4, 0.0, batch_size=64, frequency=1))
    plain = final(lambda net: nn.Momentum(net.trainable_params(), 0.004, 0.0))
    assert thor < plain / 10


def test_bad_input():
    with pytest.raises(ValueError, match="'group' must be 1"):
        nn.Conv2dThor(2, 2, 3, group=2)
    with pytest.raises(ValueError, match="frequency"):
        nn.thor(nn.DenseThor(2, 1), 0.1, 0.1, 0.9, frequency=0)


@pytest.mark.parametrize("layer", [nn.EmbeddingThor, nn.EmbeddingLookupThor])
def test_embedding_step(mode, layer):
    net = layer(5, 3).set_train()
    optimizer = nn.thor(net, Tensor([0.1]), Tensor([0.03]), 0.9, batch_size=4)
    table, ids = net.embedding_table.asnumpy().copy(), np.array([1, 3, 3, 0])
    step = ms.value_and_grad(lambda v: ops.ReduceSum()(ops.square(net(v)), ()) * 0.5, None, optimizer.parameters)
    _, grads = step(Tensor(ids, ms.int32))
    dout = table[ids]
    counts = np.bincount(ids, minlength=5) / 4
    np.testing.assert_allclose(net.matrix_a.asnumpy(), counts, rtol=1e-6)
    np.testing.assert_allclose(net.matrix_g.asnumpy(), dout.T @ dout / 4, rtol=1e-5, atol=1e-8)
    gradient = np.zeros_like(table)
    np.add.at(gradient, ids, dout)
    np.testing.assert_allclose(grads[0].asnumpy(), gradient, rtol=1e-5)
    optimizer(grads)
    natural = (gradient / (counts + np.sqrt(0.03))[:, None]) @ inverse(dout.T @ dout / 4 * 16, 0.03)
    np.testing.assert_allclose(net.embedding_table.asnumpy(), table - 0.1 * natural, rtol=1e-4, atol=1e-6)
