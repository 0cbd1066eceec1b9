"""NaN is the largest number of every float type, whatever its sign bit: in sorting, picking, searching and running extrema.

NumPy's own sorts leave bfloat16 arrays with NaN unsorted, and XLA puts NaN with a sign bit below all numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore._base.optional import available

WAYS = ("pynative", "interp", "cpu", *(("xla",) if available("jax") else ()))
ROWS = np.array([[3.0, np.nan, -1.0, 2.0, np.nan, 7.0], [1.0, -np.inf, 5.0, np.nan, 5.0, -2.0]], np.float32)
ORDER = [[2, 3, 0, 5, 1, 4], [1, 5, 0, 2, 4, 3]]
FALLING = [[1, 4, 5, 0, 3, 2], [3, 2, 4, 0, 5, 1]]

CASES = {
    "sort": (lambda x: ops.sort(x, 1)[1], ORDER),
    "sort, falling": (lambda x: ops.sort(x, 1, True)[1], FALLING),
    "argsort": (lambda x: mint.argsort(x, 1), ORDER),
    "topk": (lambda x: ops.topk(x, 3)[1], [row[:3] for row in FALLING]),
    "topk of few": (lambda x: ops.topk(x, 1)[1], [row[:1] for row in FALLING]),
    "topk, smallest": (lambda x: ops.topk(x, 4, None, False)[1], [row[:4] for row in ORDER]),
    "mint.sort": (lambda x: mint.sort(x, dim=1, stable=True)[1], ORDER),
    "nanmedian": (lambda x: ops.nanmedian(x, 1)[0].astype(ms.float32), [2.0, 1.0]),
    "searchsorted": (lambda x: ops.searchsorted(ops.sort(x, 1)[0], x), [[2, 4, 0, 1, 4, 3], [2, 0, 3, 5, 3, 1]]),
    "cummax": (lambda x: mint.cummax(x, 1)[1], [[0, 1, 1, 1, 4, 4], [0, 0, 2, 3, 3, 3]]),
    "cummin": (lambda x: mint.cummin(x, 1)[1], [[0, 1, 1, 1, 4, 4], [0, 1, 1, 3, 3, 3]]),
    "argmax": (lambda x: mint.argmax(x, 1), [1, 3]),
    "argmin": (lambda x: mint.argmin(x, 1), [1, 3]),
}


@pytest.fixture(params=WAYS)
def compiled(request):
    """What makes a function run one way or the other."""
    pynative = request.param == "pynative"
    settings = {"mode": ms.PYNATIVE_MODE} if pynative else {"mode": ms.GRAPH_MODE, "backend": request.param}
    with ms.context.local_context(**settings):
        yield (lambda function: function) if pynative else ms.jit


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", CASES)
def test_nan_is_the_largest(compiled, name, sign):
    function, expected = CASES[name]
    given = np.where(np.isnan(ROWS), np.copysign(np.float32(np.nan), np.float32(sign)), ROWS)
    for dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64):
        np.testing.assert_array_equal(compiled(function)(Tensor(given).astype(dtype)).asnumpy(), expected)


def test_the_smallest_have_the_gradient_of_their_places(compiled):
    x = Tensor([3.0, np.nan, -1.0, 2.0], ms.float32)
    weights = Tensor([1.0, 10.0], ms.float32)
    found = compiled(ms.grad(lambda x: (ops.topk(x, 2, None, False)[0] * weights).sum()))(x)
    assert found.tolist() == [0.0, 0.0, 1.0, 10.0]


def test_segments_beyond_the_last_are_refused(compiled):
    sums = compiled(lambda x, ids: ops.unsorted_segment_sum(x, ids, 3))
    x = Tensor([1.0, 2.0, 4.0], ms.float32)
    assert sums(x, Tensor([2, -1, 2], ms.int32)).tolist() == [0.0, 0.0, 5.0]  # negative ids stand for no segment
    for place in (3, 4):  # 3 went the way of the negative ones
        with pytest.raises(
            IndexError, match=f"'unsorted_segment_sum', every 'segment_ids' must be less than 3, but got {place}"
        ):
            sums(x, Tensor([0, place, 1], ms.int32))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_integers_by_zero_and_to_negative_powers(compiled, dtype):
    """No processor divides by zero: the result is 0 everywhere. (Official MindSpore gives the largest integer or refuses.)"""
    x = np.array([1, 0, 5, 7, 2, 127]).astype(dtype)
    zeros = Tensor(np.zeros_like(x))
    for divide in (lambda x, y: x // y, lambda x, y: ops.div(x, y, rounding_mode="trunc"), ops.TruncateDiv()):
        assert not compiled(lambda x, y: divide(x, y))(Tensor(x), zeros).asnumpy().any()  # noqa: B023 (called here)
    if np.issubdtype(dtype, np.signedinteger):
        base = np.array([1, -1, -1, 2, -2, 3, 2], dtype)
        exponent = np.array([-3, -3, -2, -1, -2, 4, 6], dtype)
        found = compiled(lambda x, y: x**y)(Tensor(base), Tensor(exponent))
        assert found.tolist() == [1, -1, 1, 0, 0, 81, 64]


@pytest.mark.parametrize("compiled", [False, True])
def test_medians_say_where_a_nan_is_and_know_infinities(compiled):
    x = Tensor(np.array([[3, np.inf, np.nan, 1], [np.nan, -np.inf, np.nan, 2], [1, 0, 5, 4]], np.float32))
    for keepdims in (False, True):
        median = lambda t: ops.median(t, 0, keepdims)  # noqa: B023
        value, where = (ms.jit(median) if compiled else median)(x)
        np.testing.assert_array_equal(value.asnumpy().reshape(-1), [np.nan, 0, np.nan, 2])
        assert where.asnumpy().reshape(-1).tolist() == [1, 2, 0, 1]
