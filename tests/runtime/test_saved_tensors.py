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
    assert len(store.arrays) == 3  # both factors and the product
    ms.grad(ops.sin)(X)
    assert len(store.arrays) == 3


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
