"""Arrays where a number or a word belongs, and numbers far beyond a tensor: refused in words, or answered at once."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, mint, ops

X = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))


@pytest.mark.parametrize(
    "given", [X, np.ones(4), np.array(1.5), Tensor(1.5)], ids=["tensor", "array", "0-d array", "0-d tensor"]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda v: mint.argmax(X, v),
        lambda v: ops.broadcast_to(X, (v, 4)),
        lambda v: ops.cumsum(X, v),
        lambda v: ops.flip(X, (v,)),
        lambda v: ops.squeeze(X, v),
        lambda v: ops.diff(X, v),
        lambda v: ops.gelu(X, v),
        lambda v: ops.topk(X, v),
    ],
    ids=["argmax", "broadcast_to", "cumsum", "flip", "squeeze", "diff", "gelu", "topk"],
)
def test_no_array_stands_for_an_int_or_a_word(call, given):
    with pytest.raises((TypeError, ValueError), match=r"For '.*must be|Only integer tensors of a single element"):
        call(given)


def test_an_array_of_one_integer_does():
    assert mint.argmax(X, np.array(1)).tolist() == mint.argmax(X, Tensor(1)).tolist() == [3, 3, 3]


@pytest.mark.parametrize("n", [3, 4, 2**40])
def test_more_differences_than_elements_leave_none(n):
    assert ops.diff(X, n, 0).shape == (0, 4)


def test_diagonals_beyond_all_elements():
    for k in (4, 2**40, 2**70):
        np.testing.assert_array_equal(ops.tril(X, k).asnumpy(), X.asnumpy())
        np.testing.assert_array_equal(ops.triu(X, -k).asnumpy(), X.asnumpy())
        assert not ops.triu(X, k).asnumpy().any() and not ops.tril(X, -k).asnumpy().any()
