"""Tensor methods: every spelling of their arguments, in-place forms, conversions, new tensors."""

# ruff: noqa: E501 - one case per line

import numpy as np
import pytest
from op_harness import assert_close

import mindspore as ms
from mindspore import Parameter, Tensor

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)

CASES = [
    (lambda x: x.sum(1), X.sum(1)), (lambda x: x.sum(dim=1, keepdim=True), X.sum(1, keepdims=True)),
    (lambda x: x.sum(axis=0, keepdims=True), X.sum(0, keepdims=True)), (lambda x: x.sum(1, True), X.sum(1, keepdims=True)),
    (lambda x: x.sum(initial=5.0), X.sum() + 5), (lambda x: x.mean(axis=1, keep_dims=True), X.mean(1, keepdims=True)),
    (lambda x: x.mean(dim=0), X.mean(0)), (lambda x: x.max(), X.max()), (lambda x: x.max(axis=1), X.max(1)),
    (lambda x: x.max(dim=1)[0], X.max(1)), (lambda x: x.max(dim=0)[1], X.argmax(0)), (lambda x: x.min(axis=0), X.min(0)),
    (lambda x: x.argmax(1), X.argmax(1)), (lambda x: x.argmax(dim=0, keepdim=True), X.argmax(0)[None]),
    (lambda x: x.std(1), X.std(1)), (lambda x: x.std(dim=1), X.std(1, ddof=1)), (lambda x: x.var(axis=0, ddof=1), X.var(0, ddof=1)),
    (lambda x: x.any(), True), (lambda x: x.all(axis=1), X.all(1)), (lambda x: x.prod(1), X.prod(1)),
    (lambda x: x.cumsum(1), X.cumsum(1)), (lambda x: x.cumsum(dim=0), X.cumsum(0)), (lambda x: x.cumsum(), X.cumsum()),
    (lambda x: x.reshape(3, 2), X.reshape(3, 2)), (lambda x: x.reshape((3, -1)), X.reshape(3, 2)),
    (lambda x: x.view(-1), X.reshape(-1)), (lambda x: x.view(ms.int32), X.view(np.int32)),
    (lambda x: x.transpose(), X.T), (lambda x: x.transpose(0, 1), X.T), (lambda x: x.transpose((1, 0)), X.T),
    (lambda x: x.permute(1, 0), X.T), (lambda x: x.T, X.T), (lambda x: x.mT, X.T), (lambda x: x.swapaxes(0, 1), X.T),
    (lambda x: x.flatten(), X.ravel()), (lambda x: x.expand_dims(0).squeeze(0), X), (lambda x: x.expand_dims(1).squeeze(None), X), (lambda x: x.unsqueeze(1), X[:, None]),
    (lambda x: x.repeat(2, 1), np.tile(X, (2, 1))), (lambda x: x.tile((1, 2)), np.tile(X, (1, 2))),
    (lambda x: x[:1].expand(4, -1), np.broadcast_to(X[:1], (4, 3))), (lambda x: x.split(2, dim=1)[1], X[:, 2:]),
    (lambda x: x.chunk(3, 1)[2], X[:, 2:]), (lambda x: x.gather(Tensor([1, 0]), 0), X[[1, 0]]),
    (lambda x: x.gather(1, Tensor([[2], [0]])), np.take_along_axis(X, np.array([[2], [0]]), 1)),
    (lambda x: x.index_select(1, Tensor([2, 0])), X[:, [2, 0]]), (lambda x: x.take(Tensor([1, 99])), X.ravel()[[1, 5]]),
    (lambda x: x.where(x > 2, 0.0), np.where(X > 2, X, 0)), (lambda x: x.select(1, 2), X[:, 2]),
    (lambda x: x.select(x > 2, -1.0), np.where(X > 2, X, -1)), (lambda x: x.masked_fill(x > 2, 9.0), np.where(X > 2, 9, X)),
    (lambda x: x.clamp(1, 4), X.clip(1, 4)), (lambda x: x.clip(min=2), X.clip(2)), (lambda x: x.matmul(x.T), X @ X.T),
    (lambda x: x @ x.T, X @ X.T), (lambda x: Tensor(X.T.astype(np.float32)) @ x, X.T @ X), (lambda x: x.norm(), np.linalg.norm(X)),
    (lambda x: x.topk(2)[0], -np.sort(-X, -1)[:, :2]), (lambda x: x.sort(dim=1, descending=True)[0], -np.sort(-X, 1)),
    (lambda x: x.argsort(axis=0), X.argsort(0)), (lambda x: x.softmax(-1).sum(-1), np.ones(2)), (lambda x: x.add(1, alpha=3), X + 3),
    (lambda x: x.sub(1), X - 1), (lambda x: x.div(2), X / 2), (lambda x: x.pow(2), X**2), (lambda x: x.trace(), np.trace(X)),
    (lambda x: x.diagonal(), np.diagonal(X)), (lambda x: x.ptp(1), np.ptp(X, 1)), (lambda x: x.median(), np.float32(2)),
    (lambda x: x.index_add(0, Tensor([0]), Tensor(X[:1]), alpha=2), np.concatenate([X[:1] * 3, X[1:]])),
    (lambda x: x.scatter(1, Tensor([[0]]), Tensor([[7.0]])), np.where(np.array([[1, 0, 0], [0, 0, 0]]), 7, X)),
    (lambda x: x.scatter_add(1, Tensor([[0]]), Tensor([[7.0]])), X + np.array([[7, 0, 0], [0, 0, 0]])),
    (lambda x: x.unbind(0)[1], X[1]), (lambda x: x.roll(1, 1), np.roll(X, 1, 1)), (lambda x: x.count_nonzero(), 5),
    (lambda x: x.sum_to_size(1, 3), X.sum(0, keepdims=True)), (lambda x: x.resize(7), np.append(X, 0)),
    (lambda x: x.new_zeros(2), np.zeros(2)), (lambda x: x.new_ones((2, 1)), np.ones((2, 1))), (lambda x: x.new_full((2,), 3), np.full(2, 3.0)),
    (lambda x: x.fill(3), np.full((2, 3), 3.0)), (lambda x: -x, -X), (lambda x: abs(-x), X), (lambda x: 2**x, 2**X),
    (lambda x: 7 // (x + 1), 7 // (X + 1)), (lambda x: x.int() << 1, X.astype(np.int32) << 1), (lambda x: ~(x > 2), ~(X > 2)),
]  # fmt: skip


@pytest.mark.parametrize("i", range(len(CASES)))
def test_method_eagerly_and_compiled(i):
    method, expected = CASES[i]
    assert_close(method(Tensor(X)).asnumpy(), expected)
    assert_close(ms.jit(method)(Tensor(X)).asnumpy(), expected)


INPLACE = [
    ("add_", (1,), X + 1), ("sub_", (1,), X - 1), ("mul_", (2,), X * 2), ("div_", (2,), X / 2), ("exp_", (), np.exp(X)),
    ("fill_", (4,), np.full_like(X, 4)), ("zero_", (), X * 0), ("clamp_", (1, 3), X.clip(1, 3)), ("neg_", (), -X),
    ("masked_fill_", (Tensor(X > 2), 0.0), np.where(X > 2, 0, X)), ("copy_", (Tensor(X[:1]),), np.repeat(X[:1], 2, 0)),
    ("index_add_", (0, Tensor([1]), Tensor(X[:1])), np.concatenate([X[:1], X[1:] + X[:1]])), ("floor_", (), X),
    ("scatter_", (0, Tensor([[1, 1, 1]]), 5.0), np.concatenate([X[:1], np.full((1, 3), 5)])), ("tanh_", (), np.tanh(X)),
]  # fmt: skip


@pytest.mark.parametrize("name,args,expected", INPLACE, ids=[i[0] for i in INPLACE])
def test_in_place(name, args, expected):
    x = Tensor(X.copy())
    assert getattr(x, name)(*args) is x
    assert_close(x.asnumpy(), expected)

    @ms.jit
    def compiled(x):
        y = x * 1
        getattr(y, name)(*args)
        return y

    assert_close(compiled(Tensor(X)).asnumpy(), expected)


def test_gradients_flow_through_in_place_updates():
    def f(x):
        y = x * 2
        y.mul_(x)
        y[0] = 0.0
        return y.sum()

    assert ms.grad(f)(Tensor(X)).tolist() == [[0, 0, 0], [12, 16, 20]]


def test_in_place_updates_of_parameters():
    p = Parameter(Tensor(X.copy()), name="p")
    ms.jit(lambda: p.add_(1.0) * 1)()
    assert_close(p.asnumpy(), X + 1)
    with pytest.raises(ValueError, match="shape"):
        p.add_(Tensor(np.ones((4, 2, 3))))


def test_conversions():
    x = Tensor([1.6, 0.0])
    kinds = {
        "int": ms.int32,
        "long": ms.int64,
        "half": ms.float16,
        "double": ms.float64,
        "bool": ms.bool_,
        "byte": ms.uint8,
    }
    for name, dtype in kinds.items():
        assert getattr(x, name)().dtype is dtype
    assert x.to(ms.float16).dtype is x.astype("float16").dtype is x.type(ms.float16).dtype is ms.float16
    assert x.to(Tensor([1], ms.int8)).dtype is x.type_as(Tensor([1], ms.int8)).dtype is ms.int8
    assert x.dim() == x.ndim == 1 and x.numel() == 2 and x.is_floating_point() and x.nelement() == 2


def test_random_fills():
    ms.set_seed(3)
    x = Tensor(np.zeros(10000, np.float32))
    assert abs(x.normal_(2.0, 0.5).asnumpy().mean() - 2) < 0.05
    assert x.uniform_(1, 2).asnumpy().min() >= 1 and x.asnumpy().max() < 2
    assert set(np.unique(x.bernoulli_(0.3).asnumpy())) == {0.0, 1.0}
    assert x.exponential_().asnumpy().min() >= 0


@pytest.mark.parametrize(
    "fn",
    [lambda x: x.sum(1, 2, 3, 4, 5), lambda x: x.sum(1, axis=1), lambda x: x.std(nothing=1), lambda x: x.reshape("a")],
)
def test_wrong_arguments(fn):
    with pytest.raises(TypeError):
        fn(Tensor(X))
