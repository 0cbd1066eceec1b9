"""Compiled functions that need values: data-dependent shapes, computed sizes, branches that leave different structures.

Each must give what NumPy gives, compile a graph per set of values at most, and never fall back to plain Python.
"""

import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn, ops

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def no_fallback():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def data(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


CASES = {
    "masked_select": (lambda x: ops.masked_select(x * 2, x > 0), lambda a: (a * 2)[a > 0]),
    "mask": (lambda x: x[x > 0.5] + 1, lambda a: a[a > 0.5] + 1),
    "rows": (lambda x: x[x.sum(1) > 0] * 3, lambda a: a[a.sum(1) > 0] * 3),
    "nonzero": (lambda x: ops.nonzero(x > 0) + 1, lambda a: np.argwhere(a > 0) + 1),
    "nonzero as tuple": (lambda x: ops.nonzero(x > 0, as_tuple=True)[1], lambda a: np.nonzero(a > 0)[1]),
    "unique": (lambda x: mint.unique(ops.floor(x * 2)), lambda a: np.unique(np.floor(a * 2))),
    "slice": (lambda x: x[: (x > 0).sum().item() % 3 + 1], lambda a: a[: (a > 0).sum() % 3 + 1]),
    "slice by a tensor": (lambda x: x[: (x[:, 0] > 0).sum()], lambda a: a[: (a[:, 0] > 0).sum()]),
    "size": (lambda x: ops.zeros(int((x > 0).sum())), lambda a: np.zeros((a > 0).sum(), np.float32)),
    "range": (lambda x: ops.arange(int((x > 0).sum())), lambda a: np.arange((a > 0).sum())),
    "reshape": (
        lambda x: x.reshape(((x > 9).sum().item() + x.shape[1], -1)),
        lambda a: a.reshape(a.shape[1], -1),
    ),
    "sequence_mask": (
        lambda x: ops.sequence_mask(ops.abs(ops.floor(x * 3)).astype(ms.int32).reshape(-1)),
        lambda a: np.arange(np.abs(np.floor(a * 3)).max()) < np.abs(np.floor(a * 3)).reshape(-1, 1),
    ),
    "repeat_interleave": (
        lambda x: ops.repeat_interleave(x, (x.sum(1) > 0).astype(ms.int32) + 1, 0),
        lambda a: np.repeat(a, (a.sum(1) > 0) + 1, 0),
    ),
    "list_difference": (
        lambda x: ops.list_difference(ops.floor(x).reshape(-1), Tensor([0.0, 1.0]))[0],
        lambda a: np.floor(a).reshape(-1)[~np.isin(np.floor(a).reshape(-1), [0, 1])],
    ),
    "axis": (lambda x: ops.sum(x, int((x > 9).sum())), lambda a: a.sum(0)),
    "twice": (
        lambda x: ops.masked_select(ops.masked_select(x, x > 0), ops.masked_select(x, x > 0) < 1),
        lambda a: a[(a > 0) & (a < 1)],
    ),
    "comprehension": (
        lambda x: ops.stack([x[0] * i for i in range((x > 9).sum().item() + 2)]),
        lambda a: np.stack([a[0] * i for i in range(2)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name):
    function, reference = CASES[name]
    compiled = ms.jit(function)
    for _ in range(4):
        a = data(4, 3)
        np.testing.assert_allclose(compiled(Tensor(a)).asnumpy(), reference(a), rtol=1e-5, atol=1e-5)


def test_the_same_values_compile_once():
    compiled = ms.jit(lambda x, n: x[:n] * 2)
    for _ in range(3):
        assert compiled(Tensor(data(5)), Tensor(2)).shape == (2,)
    assert compiled.compile_cache_size == 1
    assert compiled(Tensor(data(5)), Tensor(4)).shape == (4,)
    assert compiled(Tensor(data(5)), Tensor(2)).shape == (2,)
    assert compiled.compile_cache_size == 2


def test_gradients():
    def f(x):
        kept = ops.masked_select(x * x, x > 0)
        return (kept * ops.arange(kept.shape[0])).sum() + x.mean()

    for gradient in (ms.grad(f), ms.jit(ms.grad(f)), ms.grad(ms.jit(f))):
        for _ in range(3):
            a = data(6)
            expected = np.full(6, 1 / 6, np.float32)
            expected[a > 0] += 2 * a[a > 0] * np.arange((a > 0).sum())
            np.testing.assert_allclose(gradient(Tensor(a)).asnumpy(), expected, rtol=1e-5)


class Chooser(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)
        self.calls = ms.Parameter(Tensor(0.0), name="calls")

    def construct(self, x):
        self.calls += 1
        hidden = self.dense(x)
        return hidden[hidden.sum(1) > 0].sum()


def test_cells_write_parameters_once_per_call(graph_mode):
    net = Chooser()
    weight, bias = net.dense.weight.asnumpy(), net.dense.bias.asnumpy()
    for _ in range(6):
        a = data(5, 3)
        hidden = a @ weight.T + bias
        np.testing.assert_allclose(net(Tensor(a)).asnumpy(), hidden[hidden.sum(1) > 0].sum(), rtol=1e-4, atol=1e-5)
    assert net.calls.asnumpy() == 6


def test_training_with_a_mask(graph_mode):
    net = Chooser()
    net.dense.weight.set_data(Tensor(np.ones((3, 3), np.float32)))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    before = net.dense.weight.asnumpy().copy()
    x = Tensor(np.abs(data(5, 3)))
    losses = [float(step(x)) for _ in range(3)]
    assert losses[2] < losses[0]
    assert not np.array_equal(before, net.dense.weight.asnumpy())


def test_branches_that_leave_different_structures():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            return x, x * 2
        return x[:1]

    assert len(f(Tensor([1.0, 2.0]))) == 2
    assert f(Tensor([-1.0, -2.0])).shape == (1,)
    assert len(f(Tensor([1.0, 3.0]))) == 2
    assert f.compile_cache_size == 2


def test_a_list_that_grows_in_a_loop():
    @ms.jit
    def f(x, limit):
        found = []
        while x.sum() < limit:
            found.append(x)
            x = x * 2
        return found

    assert len(f(Tensor([1.0, 2.0]), Tensor(10.0))) == 2
    assert len(f(Tensor([1.0, 2.0]), Tensor(20.0))) == 3
    assert len(f(Tensor([1.0, 1.0]), Tensor(10.0))) == 3


def test_match_on_a_run_time_value():
    @ms.jit
    def f(x):
        match x.item():
            case 1:
                return x + 10
            case _:
                return x - 10

    assert [int(f(Tensor(v))) for v in (1, 2, 1)] == [11, -8, 11]


def test_values_that_always_differ_end_in_plain_python():
    compiled = ms.jit(lambda x, n: x[:n] * 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (*range(1, 15), 3):
            assert compiled(Tensor(data(20)), Tensor(n)).shape == (n,)
    assert ["change too often" in str(w.message) for w in caught] == [True]


def test_printing_is_not_done_twice(capfd):
    @ms.jit
    def f(x):
        print("sum", x.sum())
        return x[x > 0]

    f(Tensor([1.0, -1.0]))
    f(Tensor([1.0, 1.0]))
    f(Tensor([1.0, -1.0]))
    assert capfd.readouterr().out.count("sum") == 3


def test_inside_a_loop_it_needs_plain_python():
    @ms.jit
    def f(x, n):
        total = x.sum()
        for i in range(n):
            total = total + x[x > i].sum()
        return total

    a = data(8)
    expected = a.sum() + sum(a[a > i].sum() for i in range(3))
    np.testing.assert_allclose(f(Tensor(a), Tensor(3)).asnumpy(), expected, rtol=1e-5)


def test_random_numbers_before_a_mask():
    @ms.jit
    def f(x):
        noise = ops.rand(x.shape)
        return (x + noise)[noise > 0.5], noise

    for _ in range(6):
        kept, noise = f(Tensor(np.zeros(10, np.float32)))
        noise = noise.asnumpy()
        np.testing.assert_array_equal(kept.asnumpy(), noise[noise > 0.5])


def test_mutable_numbers_made_in_the_function():
    @ms.jit
    def f(x):
        return x[: ms.mutable(2)] * 2, [1, 2, 3][: ms.mutable(2)]

    found, part = f(Tensor([1.0, 2.0, 3.0]))
    assert found.asnumpy().tolist() == [2.0, 4.0]
    assert list(part) == [1, 2]


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_jacobians_of_a_masked_result(jacobian):
    a = np.array([1.0, -2.0, 3.0], np.float32)
    expected = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 6.0]], np.float32)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        np.testing.assert_allclose(jacobian(lambda x: x[x > 0] ** 2)(Tensor(a)).asnumpy(), expected)
