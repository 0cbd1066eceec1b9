"""Random numbers under vmap: each example has its own, and a Jacobian those of the one computation it is of."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.prims.attention_dropout import DropoutAttention
from mindspore.prims.random import FoldIn

ROWS = np.ones((3, 64), np.float32)
DRAWS = {
    "normal": lambda x: x + ops.standard_normal((64,)),
    "uniform_like": ops.rand_like,
    "dropout": lambda x: ops.dropout(x, 0.5, True),
    "choices": lambda x: ops.multinomial(x, 64, True),
    "order": lambda x: ops.shuffle(ops.arange(64)),
    "gamma": lambda x: ops.random_gamma(Tensor([64]), x[0]),
    "poisson": lambda x: ops.random_poisson(Tensor([64]), x[0] * 9),
    "integers": lambda x: ops.randint(0, 1 << 20, (64,)) + x.astype(ms.int64),
    "slopes": lambda x: ops.rrelu(-x, 0.1, 0.9),
    "with_a_seed": lambda x: ops.Multinomial(seed=3)(x, 64),
}


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_each_example_has_its_own_numbers(draw, mode):
    ms.set_context(mode=mode)
    found = ms.vmap(draw)(Tensor(ROWS)).asnumpy()
    one = draw(Tensor(ROWS[0]))
    assert found.shape == (3, *one.shape) and found.dtype == one.asnumpy().dtype
    assert all((found[i] != found[k]).any() for i, k in ((0, 1), (0, 2), (1, 2)))


def test_parameters_of_a_distribution_may_differ_between_examples():
    rates = Tensor([0.0, 1000.0])
    few, many = ms.vmap(lambda rate: ops.random_poisson(Tensor([5, 40]), rate))(rates).asnumpy()
    assert (few == 0).all() and (many > 500).all()


def test_gradients_see_the_numbers_of_the_forward_pass():
    def loss(x):
        return ops.dropout(x * x, 0.5, True).sum()

    values, slopes = ms.vmap(ms.value_and_grad(loss))(Tensor(ROWS))
    assert (values.asnumpy() * 2 == slopes.asnumpy().sum(-1)).all() and len(np.unique(slopes.asnumpy(), axis=0)) == 3


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_a_jacobian_is_of_one_computation(jacobian):
    direction = Tensor(np.arange(1, 6, dtype=np.float32))

    def scaled(x):
        return x.sum() * direction * ops.rand_like(direction)

    columns = jacobian(scaled)(Tensor(np.ones(4, np.float32))).asnumpy()
    assert columns.shape == (5, 4) and (columns == columns[:, :1]).all()


@pytest.mark.parametrize("bias_per_example", [False, True])
def test_attention_with_dropout(bias_per_example):
    rng = np.random.default_rng(0)
    q, k, v = (Tensor(rng.normal(size=(3, 2, 4, 8)).astype(np.float32)) for _ in range(3))
    bias = Tensor(rng.normal(size=(3, 4, 4) if bias_per_example else (4, 4)).astype(np.float32))
    key = FoldIn()(Tensor(np.array([1, 2], np.uint32)), 3)
    attend = DropoutAttention(0.3, False, 0.5)

    def loss(q, k, v, bias):
        return (attend(q, k, v, bias, key) ** 2).sum()

    axes = (0, 0, 0, 0 if bias_per_example else None)
    found = ms.vmap(ms.grad(loss, (0, 1, 2, 3)), axes)(q, k, v, bias)
    whole = bias.reshape(3, 1, 4, 4) if bias_per_example else bias
    expected = ms.grad(loss, (0, 1, 2, 3))(q, k, v, whole)
    for f, e in zip(found[:3], expected[:3]):
        assert np.allclose(f.asnumpy(), e.asnumpy(), rtol=1e-4, atol=1e-5)
    total = found[3].asnumpy() if bias_per_example else found[3].asnumpy().sum(0)
    assert np.allclose(total, expected[3].asnumpy().reshape(total.shape), rtol=1e-4, atol=1e-4)
