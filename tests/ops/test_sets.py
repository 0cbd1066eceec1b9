"""Sets, counts, ragged rows, tridiagonal systems and fractional pooling against plain Python and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, ops
from mindspore.ops.operations import math_ops, sparse_ops

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "name,expected",
    [
        ("a-b", [{1, 3}, {5, 6}]),
        ("b-a", [{9}, set()]),
        ("union", [{1, 2, 3, 9}, {4, 5, 6}]),
        ("intersection", [{2}, {4}]),
    ],
)
def test_sets_of_rows(name, expected):
    a, b = Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([[2, 9], [4, 4]])
    indices, values, shape = sparse_ops.DenseToDenseSetOperation(name)(a, b)
    found = [set(), set()]
    for (row, place), value in zip(indices.asnumpy().tolist(), values.asnumpy().tolist()):
        assert place == len(found[row])
        found[row].add(value)
    assert found == expected and shape.asnumpy().tolist() == [2, max(map(len, expected))]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_sets_of_rows_with_those_of_a_sparse_tensor(mode):
    ms.set_context(mode=mode)
    sparse = Tensor([[0, 0], [0, 3], [1, 1]]), Tensor([2, 9, 4]), Tensor([3, 5])
    rows = Tensor([[1, 2, 2], [4, 5, 6], [7, 7, 7]])
    for name, expected in {
        "a-b": [{1}, {5, 6}, {7}],
        "b-a": [{9}, set(), set()],
        "Union": [{1, 2, 9}, {4, 5, 6}, {7}],
        "intersection": [{2}, {4}, set()],
    }.items():
        indices, values, shape = sparse_ops.DenseToSparseSetOperation(name)(rows, *sparse)
        found = [set(), set(), set()]
        for (row, _), value in zip(indices.asnumpy().tolist(), values.asnumpy().tolist()):
            found[row].add(value)
        assert found == expected and shape.asnumpy().tolist() == [3, max(map(len, expected))]
    with pytest.raises(ValueError, match="must lie within"):
        sparse_ops.DenseToSparseSetOperation("union")(rows, Tensor([[3, 0]]), Tensor([1]), Tensor([3, 5]))
    with pytest.raises(ValueError, match="'set_operation' must be one of"):
        sparse_ops.DenseToSparseSetOperation()(rows, *sparse)


def test_sizes_and_counts():
    parts = Tensor([[0, 0], [0, 1], [1, 0], [1, 1]]), Tensor([1, 1, 2, 3]), Tensor([2, 3])
    assert sparse_ops.SetSize()(*parts).asnumpy().tolist() == [1, 2]
    indices, values, shape = sparse_ops.SparseCountSparseOutput()(*parts, Tensor([1.0, 1.0, 2.0, 0.5]))
    assert indices.asnumpy().tolist() == [[0, 1], [1, 2], [1, 3]]
    assert values.asnumpy().tolist() == [2.0, 2.0, 0.5] and shape.asnumpy().tolist() == [2, 4]


def test_ragged_rows():
    splits = [Tensor([0, 2, 4, 7]), Tensor([0, 3, 3, 5, 9, 9, 10, 11])]
    indices, values, shape = sparse_ops.RaggedTensorToSparse(ms.int64)(splits, Tensor(np.arange(1, 12)))
    rows = [[[1, 2, 3], []], [[4, 5], [6, 7, 8, 9]], [[], [10], [11]]]
    for place, value in zip(indices.asnumpy().tolist(), values.asnumpy().tolist()):
        assert rows[place[0]][place[1]][place[2]] == value
    assert shape.asnumpy().tolist() == [3, 3, 4]


def test_matrices():
    matrix = RNG.normal(size=(3, 3))
    matrix = matrix + matrix.T
    values, vectors = math_ops.SelfAdjointEig()(Tensor(matrix))
    np.testing.assert_allclose(vectors.asnumpy() * values.asnumpy() @ vectors.asnumpy().T, matrix, atol=1e-8)
    diagonals, rhs = RNG.normal(size=(3, 4)) + [[0], [5], [0]], RNG.normal(size=(4, 2))
    full = np.diag(diagonals[1]) + np.diag(diagonals[0, :-1], 1) + np.diag(diagonals[2, 1:], -1)
    solve = math_ops.TridiagonalSolve()
    np.testing.assert_allclose(solve(Tensor(diagonals), Tensor(rhs)).asnumpy(), np.linalg.solve(full, rhs), atol=1e-8)
    check_gradients(solve, diagonals, rhs)


@pytest.mark.parametrize("pseudo", [False, True])
@pytest.mark.parametrize("name,reduce", [("FractionalMaxPool", np.max), ("FractionalAvgPool", np.mean)])
def test_windows_of_drawn_sizes(name, reduce, pseudo):
    x = RNG.normal(size=(2, 7, 9, 3)).astype(np.float32)
    out, rows, columns = getattr(ops, name)([1.0, 1.5, 1.6, 1.0], pseudo, deterministic=True, seed=3)(Tensor(x))
    rows, columns = rows.asnumpy(), columns.asnumpy()
    assert rows[0] == columns[0] == 0 and rows[-1] == 7 and columns[-1] == 9 and out.shape == (2, 4, 5, 3)
    for i, j in np.ndindex(4, 5):
        window = x[:, rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
        assert window.size
        np.testing.assert_allclose(out.asnumpy()[:, i, j], reduce(window, (1, 2)), rtol=1e-5, atol=1e-6)
