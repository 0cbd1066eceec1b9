"""Picking from a tensor without elements: graphs refuse it in PyNative's words and read no memory of others."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.backends.cpu import available

ROWS = Tensor(np.array([0, 1]), ms.int32)
TABLE = Tensor(np.zeros((0, 3)), ms.float32)
PLACES = Tensor(np.zeros((2, 3)), ms.int64)
CASES = {
    "gather": (lambda x, i: ops.gather(x, i, 0), TABLE, ROWS),
    "gather a scalar's place": (lambda x, i: ops.gather(x, i, 0), TABLE, Tensor(0, ms.int32)),
    "gather columns": (lambda x, i: ops.gather(x, i, 1), Tensor(np.zeros((3, 0)), ms.float16), ROWS),
    "gather for an empty result": (lambda x, i: ops.gather(x, i, 1), Tensor(np.zeros((0, 0)), ms.int8), ROWS),
    "gather in a chain": (lambda x, i: ops.relu(ops.gather(x * 2, i, 0)) + 1, TABLE, ROWS),
    "gather in batches": (
        lambda x, i: ops.gather(x, i, 1, 1), Tensor(np.zeros((2, 0, 3)), ms.float32), Tensor(np.zeros((2, 1)), ms.int32),
    ),
    "index_select": (lambda x, i: ops.index_select(x, 0, i), TABLE, ROWS),
    "gather_nd": (ops.gather_nd, TABLE, Tensor([[0], [1]], ms.int32)),
    "gather_elements": (lambda x, i: ops.gather_elements(x, 0, i), TABLE, PLACES),
    "mint.gather": (lambda x, i: mint.gather(x, 0, i), TABLE, PLACES),
    "take": (lambda x, i: x.take(i, 0), TABLE, ROWS),
    "embedding": (lambda x, i: mint.nn.functional.embedding(i, x), TABLE, ROWS),
    "indexing": (lambda x, i: x[i], TABLE, ROWS),
    "indexing twice": (lambda x, i: x[i, i], TABLE, ROWS),
    "nll_loss": (ops.nll_loss, Tensor(np.zeros((2, 0)), ms.float32), ROWS),
}  # fmt: skip


@pytest.fixture(params=["interp", pytest.param("cpu", marks=pytest.mark.skipif(not available(), reason="not installed"))])
def backend(request):
    ms.set_context(backend=request.param)
    yield request.param
    ms.set_context(backend="")


@pytest.mark.parametrize("name", CASES)
def test_the_same_words_in_both_modes(backend, name):
    function, *arguments = CASES[name]
    said = []
    for call in (function, ms.jit(function)):
        with pytest.raises(IndexError) as caught:
            call(*arguments)
        said.append(str(caught.value).strip().splitlines()[0])
    assert said[0] == said[1]


def test_nothing_from_nothing_is_nothing(backend):
    none = Tensor(np.zeros((0,)), ms.int32)
    assert ms.jit(lambda x, i: ops.gather(x, i, 0))(TABLE, none).shape == (0, 3)
    assert ms.jit(lambda x, i: ops.gather_nd(x, i))(TABLE, Tensor(np.zeros((0, 1)), ms.int32)).shape == (0, 3)
    assert ms.jit(lambda x, i: x[i] + 1)(TABLE, none).shape == (0, 3)
