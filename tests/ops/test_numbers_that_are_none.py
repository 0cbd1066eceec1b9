"""NaN, infinity and the two zeros are what IEEE 754 says in every mode and on every backend, also beside a mask."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore._base.optional import available

WAYS = ("pynative", "interp", "cpu", *(("xla",) if available("jax") else ()))


@pytest.fixture(params=WAYS)
def run(request):
    """What calls a function one way or the other."""
    pynative = request.param == "pynative"
    settings = {"mode": ms.PYNATIVE_MODE} if pynative else {"mode": ms.GRAPH_MODE, "backend": request.param}
    with contextlib.ExitStack() as stack:
        stack.enter_context(ms.context.local_context(**settings))
        yield lambda f, *xs: (f if pynative else ms.jit(f))(*xs)


def test_a_mask_hides_no_nan(run):
    x = np.array([1.0, np.nan, np.inf, -np.inf, 200.0], np.float32)
    masked, finite = run(lambda x: (x * (x > 100).astype(ms.float32), x * ops.isfinite(x).astype(ms.float32)), Tensor(x))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(masked.asnumpy(), x * (x > 100).astype(np.float32))
        np.testing.assert_array_equal(finite.asnumpy(), x * np.isfinite(x).astype(np.float32))


def test_sine_and_tangent_keep_the_sign_of_zero(run):
    x = np.array([-0.0, 0.0, -1e-30, 3.0] * 5, np.float32)
    found = run(lambda x: (ops.sin(x), ops.tan(x), ops.tanh(x)), Tensor(x))
    for result in found:
        np.testing.assert_array_equal(np.signbit(result.asnumpy()[:3]), [True, False, True])


def test_sums_over_nothing_beside_what_is_summed(run):
    weight = np.array([1.0, 2.0, 3.0, 4.0], np.float32)

    def centred(x, w):
        mean = x.sum((0, 2, 3), keepdims=True)
        return (x - mean) * w.reshape(1, 4, 1, 1), mean.reshape(-1) + w, ((x - mean) ** 2).sum((0, 2, 3)) * w

    parts, first, second = run(centred, Tensor(np.zeros((2, 4, 6, 0), np.float32)), Tensor(weight))
    assert parts.shape == (2, 4, 6, 0)
    np.testing.assert_array_equal(first.asnumpy(), weight)
    np.testing.assert_array_equal(second.asnumpy(), np.zeros(4))


@pytest.mark.parametrize("shape", [(2, 4, 6, 0), (0, 4, 3, 3)])
def test_batch_statistics_of_nothing_are_refused(run, shape):
    net = nn.BatchNorm2d(4).set_train()
    with pytest.raises(ValueError, match="no values to take means of"):
        run(lambda x: net(x), Tensor(np.zeros(shape, np.float32)))
    assert net.moving_mean.tolist() == [0.0] * 4


def test_largest_integers_of_windows(run):
    x = np.arange(-24, 24, dtype=np.int32).reshape(1, 2, 4, 2, 3)
    found = run(lambda x: ops.max_pool3d(x, 2), Tensor(x))
    np.testing.assert_array_equal(found.asnumpy(), x.reshape(1, 2, 2, 2, 1, 2, 3)[..., :2].max((3, 5, 6), keepdims=False)[..., None])


def test_a_rectangle_that_is_nowhere_has_no_overlap(run):
    box = Tensor([[[0.0, 0.0, 2.0, 2.0, 0.0]]])
    others = Tensor([[[1.0, 0.0, 2.0, 2.0, 0.0], [0.0, 0.0, 2.0, 2.0, np.nan], [np.inf, 0.0, 1.0, 1.0, 0.0]]])
    found = run(ops.rotated_iou, box, others).asnumpy()
    np.testing.assert_allclose(found, [[[1 / 3, np.nan, np.nan]]], rtol=1e-5)


def test_memory_that_no_machine_has(run):
    """More than the addresses of a process."""
    x, places = Tensor([[[3.0, 4.0]]]), Tensor([[[1, 3]]])
    with pytest.raises((MemoryError, RuntimeError), match=r"[Mm]emory|allocate|GiB"):
        run(lambda x: ops.max_unpool1d(x, places, 2, 2**46), x)
    image, kernel = Tensor(np.ones((1, 2, 4, 4), np.float32)), Tensor(np.ones((3, 2, 2, 2), np.float32))
    with pytest.raises((MemoryError, RuntimeError, ValueError)):
        run(lambda x: ops.conv2d(x, kernel, None, 1, "pad", (2**40, 2)), image)


def test_rectangles_that_are_lines_have_nothing_in_common(run):
    line, square = [2.0, 5.0, 0.0, 5.0, 4.0], [3.3442445, 3.3442445, 2.6753955, 1.3376977, 60.1964]
    assert run(ops.rotated_iou, Tensor([[line]]), Tensor([[square, line]])).asnumpy().max() == 0


@pytest.mark.skipif(not available("jax"), reason="XLA cannot refuse: the others are in test_linalg")
def test_singular_values_on_xla_end_where_a_matrix_is_not_finite():
    x = np.array([[[np.inf, 1.0], [2.0, 3.0]], [[3.0, 0.0], [0.0, 4.0]]], np.float32)
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend="xla"):
        values, u, v = ms.jit(ops.svd)(Tensor(x))
        alone = ms.jit(lambda t: ops.svd(t, compute_uv=False))(Tensor(x))
    for found in (values, alone):
        np.testing.assert_allclose(found.asnumpy(), [[np.nan, np.nan], [4, 3]], rtol=1e-6)
    assert np.isnan(u.asnumpy()[0]).all() and np.isnan(v.asnumpy()[0]).all() and np.isfinite(u.asnumpy()[1]).all()
