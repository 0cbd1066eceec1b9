"""Views: writing to a part of a tensor changes the tensor, as it does with NumPy's arrays, which are the oracle here."""

import gc
import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops

VIEWS = {
    "row": (lambda x: x[1], lambda a: a[1]),
    "slice": (lambda x: x[1:, ::2], lambda a: a[1:, ::2]),
    "ellipsis": (lambda x: x[..., -1], lambda a: a[..., -1]),
    "new axis": (lambda x: x[None, 1:], lambda a: a[None, 1:]),
    "backwards": (lambda x: x[::-1], lambda a: a[::-1]),
    "of a view": (lambda x: x[1:][0][::2], lambda a: a[1:][0][::2]),
    "iteration": (lambda x: list(x)[2], lambda a: list(a)[2]),
    "view": (lambda x: x.view(2, 6), lambda a: a.reshape(2, 6)),
    "reshape": (lambda x: x.reshape(-1), lambda a: a.reshape(-1)),
    "T": (lambda x: x.T, lambda a: a.T),
    "transpose": (lambda x: x.transpose(1, 0), lambda a: a.transpose(1, 0)),
    "permute": (lambda x: x.permute(1, 0), lambda a: a.transpose(1, 0)),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    "squeeze": (lambda x: x[None].squeeze(0), lambda a: a[None][0]),
    "select": (lambda x: x.select(1, 2), lambda a: a[:, 2]),
    "narrow": (lambda x: x.narrow(0, 1, 2), lambda a: a[1:3]),
    "split": (lambda x: x.split(1)[1], lambda a: a[1:2]),
    "chunk": (lambda x: x.chunk(2, 1)[1], lambda a: a[:, 2:]),
    "unbind": (lambda x: x.unbind(0)[2], lambda a: a[2]),
}
WRITES = {
    "element": (lambda z: z.__setitem__((0,) * z.ndim, 50), lambda b: b.__setitem__((0,) * b.ndim, 50)),
    "add_": (lambda z: z.add_(7), lambda b: np.add(b, 7, out=b)),
    "mul_": (lambda z: z.mul_(3), lambda b: np.multiply(b, 3, out=b)),
    "zero_": (lambda z: z.zero_(), lambda b: b.fill(0)),
    "copy_": (lambda z: z.copy_(z * 2 + 1), lambda b: np.copyto(b, b * 2 + 1)),
}


def numbers():
    return np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_to_a_view_and_one_to_its_base(view, write):
    x, a = Tensor(numbers()), numbers()
    part, expected = VIEWS[view][0](x), VIEWS[view][1](a)
    WRITES[write][0](part)
    WRITES[write][1](expected)
    np.testing.assert_array_equal(x.asnumpy(), a)
    np.testing.assert_array_equal(part.asnumpy(), expected)
    WRITES[write][0](x)
    WRITES[write][1](a)
    np.testing.assert_array_equal(part.asnumpy(), expected)


def test_views_of_one_base_agree():
    x, a = Tensor(numbers()), numbers()
    parts, expected = [x[1], x[:, 1], x.view(-1)], [a[1], a[:, 1], a.reshape(-1)]
    parts[0].add_(10)
    expected[0] += 10
    parts[2][5] = -1
    expected[2][5] = -1
    for part, array in zip([x, *parts], [a, *expected]):
        np.testing.assert_array_equal(part.asnumpy(), array)


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["pynative", "graph"])
def test_a_chain_of_indices_reaches_the_tensor(wrap):
    def chained(x):
        y = x * 1
        y[0][1] = 5.0
        y[1:][0][2:] = 7.0
        y[2][0] += 3.0
        return y

    expected = numbers()
    expected[0][1], expected[1:][0][2:] = 5, 7
    expected[2][0] += 3
    np.testing.assert_array_equal(wrap(chained)(Tensor(numbers())).asnumpy(), expected)


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["pynative", "graph"])
def test_gradients_of_a_chain_of_indices(wrap):
    def chained(x):
        y = x * 2
        y[0][1] = 5.0
        y[1][2] *= 3.0
        return y.sum()

    expected = np.full((3, 4), 2.0)
    expected[0, 1], expected[1, 2] = 0, 6
    np.testing.assert_array_equal(ms.grad(wrap(chained))(Tensor(numbers())).asnumpy(), expected)


def test_gradients_through_a_view_with_a_name():
    def through(x):
        y = x * 2
        part = y.view(-1)[4:8]
        part.mul_(3)
        return (y * y).sum() + part.sum()

    a = numbers()
    scale = np.full((3, 4), 2.0)
    scale[1] = 6
    expected = 2 * scale * scale * a
    expected[1] += 6
    np.testing.assert_allclose(ms.grad(through)(Tensor(a)).asnumpy(), expected)


def test_what_is_no_view():
    x = Tensor(numbers())
    for copy in (x[[0, 1]], x[x > 3], x.copy(), x + 0, x[Tensor([0, 1])]):
        copy.add_(100)
    np.testing.assert_array_equal(x.asnumpy(), numbers())


def test_a_part_of_a_parameter():
    p = Parameter(Tensor(numbers()), name="p")
    p[1][2:] = 0
    expected = numbers()
    expected[1][2:] = 0
    np.testing.assert_array_equal(p.asnumpy(), expected)
    ops.assign(p, Tensor(numbers()))


def test_views_that_nobody_holds_cost_nothing():
    x = Tensor(numbers())
    dropped = weakref.ref(x[0])
    gc.collect()
    assert dropped() is None
    for _ in range(1000):
        x[0]
    assert len(x._link.views) < 20


def test_a_loop_does_not_keep_every_view_of_a_view():
    first = x = Tensor(numbers())
    kept = []
    for _ in range(500):
        x = x.T
        kept.append(weakref.ref(x))
    gc.collect()
    assert sum(ref() is not None for ref in kept) < 100
    x[0, 0] = 50
    np.testing.assert_array_equal(first.asnumpy(), numbers())


def test_an_array_made_of_a_tensor_is_a_copy():
    """`np.array` copies, whatever it is given; `np.asarray` may share."""
    x = Tensor(numbers())
    np.array(x)[0, 0] = 99
    np.testing.assert_array_equal(x.asnumpy(), numbers())
    assert np.array(x, np.int32).dtype == np.int32
