"""What PyNative mode keeps for gradients, packed by the user's hooks."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

X = Tensor([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def pynative():
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Store:
    """Keeps arrays by number."""

    def __init__(self):
        self.arrays, self.unpacked = [], []

    def pack(self, tensor):
        assert isinstance(tensor, Tensor)
        self.arrays.append(tensor.asnumpy().copy())
        return len(self.arrays) - 1

    def unpack(self, number):
        self.unpacked.append(number)
        return Tensor(self.arrays[number])

    def hooks(self):
        return ms.saved_tensors_hooks(self.pack, self.unpack)


def function(x):
    return ops.sin(x * x).sum()


def test_hooks_are_called_and_the_gradient_is_the_same():
    store = Store()
    with store.hooks():
        grad = ms.grad(function)(X)
    x = X.asnumpy()
    np.testing.assert_allclose(grad.asnumpy(), np.cos(x * x) * 2 * x, rtol=1e-6)
    assert any(np.array_equal(a, x) for a in store.arrays) and store.unpacked
    assert len(store.arrays) == len(set(store.unpacked))


def test_the_backward_pass_computes_with_what_is_unpacked():
    with ms.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        assert ms.grad(lambda x: x * x)(Tensor(3.0)).asnumpy() == 60


def test_hooks_count_where_the_forward_pass_runs():
    store = Store()

    @store.hooks()
    def inner(x):
        return x * x

    ms.grad(lambda x: inner(x) + ops.exp(x))(Tensor(1.0))
    assert len(store.arrays) == 2  # both factors
    ms.grad(ops.sin)(X)
    assert len(store.arrays) == 2


# what a derivative is written with: x and y, the result z, or neither
@pytest.mark.parametrize(
    ("operation", "kept"),
    [
        (lambda x, y: x * y, "xy"),
        (lambda x, y: x / y, "yz"),
        (lambda x, y: x @ y, "xy"),
        (lambda x, y: ops.maximum(x, y), "xy"),
        (lambda x, y: x + y, ""),
        (lambda x, y: x.sum(0), ""),
        (lambda x, y: x.T.reshape(-1), ""),
        (lambda x, y: ops.sin(x), "x"),
        (lambda x, y: ops.exp(x), "z"),
        (lambda x, y: ops.sqrt(x), "z"),
        (lambda x, y: ops.softmax(x), "z"),
    ],
)
def test_only_what_the_gradient_looks_at_is_kept(operation, kept):
    x, y = Tensor([[1.0, 2.0], [3.0, 5.0]]), Tensor([[2.0, 0.5], [7.0, 4.0]])
    z, expected = operation(x, y), ms.grad(operation, (0, 1))(x, y)
    store = Store()
    with store.hooks():
        grads = ms.grad(operation, (0, 1))(x, y)
    named = {"x": x, "y": y, "z": z}
    assert len(store.arrays) == len(kept)
    for name, array in zip(kept, store.arrays):
        np.testing.assert_array_equal(array, named[name].asnumpy())
    for grad, wanted in zip(grads, expected):
        np.testing.assert_allclose(grad.asnumpy(), wanted.asnumpy(), rtol=1e-6)


def test_gradients_of_gradients_need_no_more():
    store = Store()
    with store.hooks():
        second = ms.grad(ms.grad(lambda x: ops.exp(x) * x))(Tensor(0.5))
    np.testing.assert_allclose(second.asnumpy(), 2.5 * np.exp(0.5), rtol=1e-6)


def test_of_a_rule_of_ones_own_everything_is_kept():
    class Twice(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * x * out,)

    store = Store()
    with store.hooks():
        grad = ms.grad(Twice())(Tensor(3.0))
    assert grad.asnumpy() == 18 and [float(a) for a in store.arrays] == [3, 6]


def test_the_innermost_counts():
    outer, inner = Store(), Store()
    with outer.hooks():
        with inner.hooks():
            ms.grad(ops.sin)(X)
        assert inner.arrays and not outer.arrays
        ms.grad(ops.sin)(X)
    assert outer.arrays


def test_tensors_are_not_kept_and_their_hooks_run():
    store, seen, alive = Store(), [], []

    def program(x):
        with store.hooks():
            middle = x * 2
            middle.register_hook(lambda g: seen.append(g.asnumpy().tolist()))
            alive.append(weakref.ref(middle))
            out = ops.sin(middle)
        del middle
        gc.collect()
        alive.append(alive[0]())
        return out

    ms.grad(program)(Tensor(0.0))
    assert seen == [1.0] and alive[1] is None


def test_networks_and_second_derivatives():
    store, net = Store(), nn.Dense(3, 2)
    plain = ms.grad(lambda x: net(x).sum(), weights=net.trainable_params())
    x = Tensor(np.ones((2, 3), np.float32))
    expected = plain(x)
    with store.hooks():
        grads = plain(x)
        second = ms.grad(ms.grad(lambda x: x**3))(Tensor(2.0))
    for a, b in zip(ops.flatten(expected[0]), ops.flatten(grads[0])):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    np.testing.assert_allclose(second.asnumpy(), 12, rtol=1e-6)


@pytest.mark.parametrize(
    ("unpack", "error", "words"),
    [
        (lambda t: 3, TypeError, "must return a Tensor, but got int"),
        (lambda t: ops.stack([t, t]), ValueError, "must return what"),
    ],
)
def test_wrong_results_are_refused(unpack, error, words):
    with ms.saved_tensors_hooks(lambda t: t, unpack), pytest.raises(error, match=words):
        ms.grad(ops.sin)(X)


def test_hooks_must_be_functions():
    with pytest.raises(TypeError, match="'pack_hook' must be a function"):
        ms.saved_tensors_hooks(None, lambda t: t)
