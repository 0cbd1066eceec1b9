"""Joins whose parts are computed in place, and gradients of slices that make up a tensor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend_cpu.helpers import check

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.backends.cpu import available
from mindspore.prims import arrays, conv, linalg
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import SetItem
from mindspore.prims.broadcasting import Reshape

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")
RNG = np.random.default_rng(4)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def copies(executable) -> int:
    return sum(name in ("copy", "reorder") for name in executable.steps())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_parts_are_stored_where_they_belong(axis):
    executable = check(lambda a, b: arrays.Concat(axis)(a * 2, ew.Exp()(b), a - b), normal(3, 4, 5), normal(3, 4, 5))
    assert copies(executable) == 0


def test_parts_with_other_readers():
    def function(a, b):
        x = a * 2
        return arrays.Concat(0)(x, b, x), x, x + 1, arrays.Concat(1)(x, b + 1) * 3

    check(function, normal(3, 4), normal(3, 4))


def test_a_part_that_is_empty():
    check(lambda a, b: arrays.Concat(0)(a * 2, b[:0], b + 1), normal(3, 4), normal(2, 4))


def test_products_go_straight_into_a_stack():
    x, y = normal(6, 5), normal(5, 4)

    def function(a, b):
        parts = [Reshape()(linalg.MatMul()(a + i, b), (1, 6, 4)) for i in range(3)]
        return arrays.Concat(0)(*parts) * 2

    assert copies(check(function, x, y)) == 0


def test_joins_of_joins():
    def function(a, b):
        inner = arrays.Concat(1)(a * 2, b * 3)
        return arrays.Concat(0)(inner, inner + 1), inner

    check(function, normal(3, 4), normal(3, 2))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_sums_of_parts(data):
    """Whether or not they make up the whole, overlap, or leave gaps."""
    shape = data.draw(st.sampled_from([(6,), (4, 6), (6, 3, 2)]))
    axis = data.draw(st.integers(0, len(shape) - 1))
    size = shape[axis]
    cuts = sorted(data.draw(st.sets(st.integers(1, size - 1), max_size=3)))
    ranges = list(zip([0, *cuts], [*cuts, size]))
    if data.draw(st.booleans()):
        ranges[0] = (ranges[0][0], min(size, ranges[0][1] + 1))  # an overlap
    if len(ranges) > 1 and data.draw(st.booleans()):
        del ranges[data.draw(st.integers(0, len(ranges) - 1))]  # a gap
    ranges = data.draw(st.permutations(ranges))
    level = data.draw(st.integers(0, 3))
    specs = [(*(slice(None),) * axis, slice(a, b)) for a, b in ranges]
    values = [normal(*(b - a if d == axis else n for d, n in enumerate(shape))) for a, b in ranges]

    def function(zero, *parts):
        del zero
        total = None
        for spec, part in zip(specs, parts):
            one = SetItem(spec)(arrays.Fill()(ms.float32, shape, 0), part * 2)
            total = one if total is None else total + one
        return total, ew.Tanh()(total)

    check(function, np.zeros(1, np.float32), *values, flags=f"--opt_level={level}")


def test_gradient_of_slices():
    x, w = normal(8, 12), normal(12, 12)

    def function(a, b):
        q, k, v = ops.split(ops.matmul(a, b), 4, axis=-1)
        h = ops.stack([q, k, v])
        return (ops.softmax(q @ k.T, -1) @ v * h[0] + h[1] * h[2]).sum()

    expected = ms.grad(function, (0, 1))(Tensor(x.astype(np.float64)), Tensor(w.astype(np.float64)))
    ms.set_context(backend="cpu")
    try:
        found = ms.jit(ms.grad(function, (0, 1)))(Tensor(x), Tensor(w))
    finally:
        ms.set_context(backend="")
    for got, want in zip(found, expected):
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), 1e-3, 1e-3)


@pytest.mark.parametrize("channels", [(16, 16), (32, 16), (16, 48, 32), (8, 8), (24, 16), (16, 3), (1, 16), (5, 7)])
def test_joins_of_images_keep_the_layout_of_convolutions(channels):
    """Whether channels fill whole blocks or not; and slices of the joined channels, through blocks and between them."""
    x = normal(2, 3, 6, 5)
    filters = [normal(c, 3, 3, 3) for c in channels]
    last = normal(4, sum(channels), 3, 3)

    def function(a, w, *fs):
        images = [ew.ReLU()(conv.Conv2D(c, 3)(a, f)) for c, f in zip(channels, fs)]
        joined = arrays.Concat(1)(*images)
        parts = joined[:, channels[0] :], joined[:, : channels[0]] * 2, joined[:, 1:3, ::2], joined[1:, ..., 2]
        return conv.Conv2D(4, 3)(joined, w), joined, ew.Exp()(joined), *parts

    check(function, x, last, *filters, tolerance=2e-4)


def test_joined_images_along_other_axes():
    x, w = normal(2, 3, 6, 5), normal(16, 3, 3, 3)

    def function(a, f):
        image = conv.Conv2D(16, 3)(a, f)
        return tuple(arrays.Concat(axis)(image, image * 2) + 1 for axis in range(4))

    check(function, x, w, tolerance=2e-4)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_gradients_of_slices_with_new_axes(shape):
    def function(x):
        y = x * x
        return (y[True] * 2 + y[None] * 3).sum() + y[..., None].sum()

    ms.set_context(mode=ms.GRAPH_MODE)
    x = normal(*shape)
    np.testing.assert_allclose(ms.grad(function)(Tensor(x)).asnumpy(), 12 * x, rtol=1e-5)


def test_the_gradient_of_an_update_under_a_constant_mask():
    def function(x):
        y = x * 1
        y[True] += 1.0
        return ops.relu(y)

    ms.set_context(mode=ms.GRAPH_MODE)
    sens = ops.GradOperation(get_all=True, sens_param=True)(function)
    assert sens(Tensor(2.0), Tensor(3.0))[0].asnumpy() == 3
