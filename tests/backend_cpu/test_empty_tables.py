"""Tensors without elements: picking from them is refused in PyNative's words, and no memory of others is read or written."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

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


@pytest.mark.parametrize("name", ["atan2", "div", "mul"])
def test_values_beside_the_sum_over_an_empty_axis_are_stored_nowhere(name):
    """1 / y is the same along the axis that has no elements, and has none there: it was written before other memory."""
    program = f"""
        import numpy as np, mindspore as ms
        from mindspore import Tensor, ops
        ms.set_context(mode=ms.GRAPH_MODE)
        step = ms.jit(ms.grad(lambda x, y: ops.{name}(x, y).sum(), (0, 1)))
        for n in (1, 3, 8, 17):
            for _ in range(10):
                dx, dy = step(ops.zeros((0, n)), ops.ones((1, n)))
            assert dx.shape == (0, n) and dy.asnumpy().tolist() == [[0.0] * n]
    """
    checked = {**os.environ, "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "85"}  # damage of the heap ends the process
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env=checked, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_complex_parts_and_deviations_of_nothing_compile():
    x = (np.arange(18).reshape(2, 3, 3) + 1j).astype(np.complex64)
    part = np.full((2, 3), 2 - 1j, np.complex64)
    expected = x.copy()
    expected[:, 1] = part
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        found = ms.jit(lambda a, b: ops.select_scatter(a, b, 1, 1))(Tensor(x), Tensor(part))
        np.testing.assert_array_equal(found.asnumpy(), expected)
        assert ms.jit(ms.grad(lambda a: ops.std(a, -1).sum()))(ops.zeros((0, 33, 0))).shape == (0, 33, 0)
