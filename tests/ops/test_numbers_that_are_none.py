"""NaN, infinity and the two zeros are what IEEE 754 says in every mode and on every backend, also beside a mask."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
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
