"""Sparse tensors by their parts against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp

import mindspore as ms
from gradcheck import check_gradients
from mindspore import COOTensor, Tensor, nn, ops
from mindspore.ops.operations import sparse_ops as so

RNG = np.random.default_rng(0)


def random_sparse(shape, count):
    flat = np.sort(RNG.choice(np.prod(shape), count, replace=False))
    places = np.stack(np.unravel_index(flat, shape), -1)
    values = RNG.normal(size=count).astype(np.float32)
    dense = np.zeros(shape, np.float32)
    dense[tuple(places.T)] = values
    return (Tensor(places), Tensor(values), Tensor(shape, ms.int64)), dense


def dense_of(indices, values, shape):
    dense = np.zeros(tuple(np.asarray(shape)), np.float32)
    dense[tuple(indices.asnumpy().T)] = values.asnumpy()
    return dense


def test_sums_and_extremes():
    (a, dense_a), (b, dense_b) = random_sparse((3, 4), 5), random_sparse((3, 4), 6)
    out = so.SparseAdd()(*a, *b, Tensor(0.0, ms.float32))
    np.testing.assert_allclose(dense_of(*out[:2], (3, 4)), dense_a + dense_b, rtol=1e-6)
    some = so.SparseAdd()(*a, *b, Tensor(0.7, ms.float32))[1].asnumpy()
    assert (np.abs(some) >= 0.7).all() and len(some) == (np.abs(dense_a + dense_b) >= 0.7).sum()
    indices, values = so.SparseSparseMaximum()(*a, *b)
    np.testing.assert_allclose(dense_of(indices, values, (3, 4)), np.maximum(dense_a, dense_b))
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    places = tuple(a[0].asnumpy().T)
    np.testing.assert_allclose(so.SparseDenseCwiseMul()(*a, Tensor(x)).asnumpy(), (dense_a * x)[places])
    np.testing.assert_allclose(so.SparseDenseCwiseAdd()(*a, Tensor(x[0])).asnumpy(), (dense_a + x[0])[places])


def test_in_a_compiled_network():
    class Net(nn.Cell):
        def construct(self, *parts):
            return so.SparseAdd()(*parts)

    ms.set_context(mode=ms.GRAPH_MODE)
    (a, dense_a), (b, dense_b) = random_sparse((2, 3), 3), random_sparse((2, 3), 3)
    with pytest.warns(UserWarning, match="plain Python"):
        out = Net()(*a, *b, Tensor(0.0, ms.float32))
    np.testing.assert_allclose(dense_of(*out[:2], (2, 3)), dense_a + dense_b, rtol=1e-6)
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_products_and_gradients():
    a, dense = random_sparse((3, 4), 5)
    x, y = RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))
    found = so.SparseAddmm()(*a, Tensor(x, ms.float32), Tensor(y, ms.float32), Tensor([2.0]), Tensor([0.5]))
    np.testing.assert_allclose(found.asnumpy(), 2 * dense @ x + 0.5 * y, rtol=1e-5)
    half = Tensor(np.array([0.5]))
    check_gradients(
        lambda v, m: so.SparseAddmm()(a[0], v, a[2], m, Tensor(y), half, half), a[1].asnumpy().astype(np.float64), x
    )
    check_gradients(lambda v: so.SparseSoftmax()(a[0], v, a[2]), a[1].asnumpy().astype(np.float64))


def test_shapes_change():
    a, dense = random_sparse((3, 4), 6)
    indices, shape = so.SparseReshape()(a[0], a[2], Tensor([2, -1]))
    np.testing.assert_array_equal(dense_of(indices, a[1], shape.asnumpy()), dense.reshape(2, 6))
    part = so.SparseSlice()(*a, Tensor([1, 1]), Tensor([2, 9]))
    np.testing.assert_array_equal(dense_of(*part[:2], part[2].asnumpy()), dense[1:3, 1:])
    pieces = so.SparseSplit(2)(Tensor(1), *a)
    halves = [dense_of(i, v, s.asnumpy()) for i, v, s in zip(*pieces)]
    np.testing.assert_array_equal(np.concatenate(halves, 1), dense)
    b, other = random_sparse((3, 2), 3)
    joined = so.SparseConcat(1)(*zip(a, b))
    np.testing.assert_array_equal(dense_of(*joined[:2], joined[2].asnumpy()), np.concatenate([dense, other], 1))
    order = RNG.permutation(6)
    mixed = Tensor(a[0].asnumpy()[order]), Tensor(a[1].asnumpy()[order])
    sorted_parts = so.SparseReorder()(*mixed, a[2])
    np.testing.assert_array_equal(sorted_parts[0].asnumpy(), a[0].asnumpy())
    np.testing.assert_array_equal(sorted_parts[1].asnumpy(), a[1].asnumpy())
    np.testing.assert_array_equal(
        so.SparseToDenseV2()(a[0], a[2], a[1], Tensor(7.0)).asnumpy(), np.where(dense != 0, dense, 7)
    )


def test_empty_rows_are_filled():
    indices, values = Tensor([[1, 2], [3, 0]]), Tensor([5.0, 6.0])
    out = so.SparseFillEmptyRows()(indices, values, Tensor([4, 3]), Tensor(9.0))
    assert out[0].asnumpy().tolist() == [[0, 0], [1, 2], [2, 0], [3, 0]]
    assert out[1].asnumpy().tolist() == [9, 5, 9, 6] and out[2].asnumpy().tolist() == [True, False, True, False]
    assert out[3].asnumpy().tolist() == [1, 3]


@pytest.mark.parametrize("name,power", [("Sum", 0), ("SqrtN", 0.5), ("Mean", 1)])
def test_segments(name, power):
    x, rows, ids = RNG.normal(size=(4, 2)).astype(np.float32), np.array([0, 2, 2, 3]), np.array([0, 0, 2, 2])
    op = getattr(so, f"SparseSegment{name}WithNumSegments")()
    out = op(Tensor(x), Tensor(rows), Tensor(ids), Tensor(4)).asnumpy()
    for s in range(4):
        mine = x[rows[ids == s]]
        np.testing.assert_allclose(out[s], mine.sum(0) / max(len(mine), 1) ** power, rtol=1e-6)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_compressed_rows(shape):
    a, dense = random_sparse(shape, 7)
    csr = so.SparseTensorToCSRSparseMatrix()(*a)
    np.testing.assert_array_equal(so.CSRSparseMatrixToDense()(*csr).asnumpy(), dense)
    np.testing.assert_array_equal(so.CSRSparseMatrixToSparseTensor()(*csr)[0].asnumpy(), a[0].asnumpy())
    swapped = so.SparseMatrixTranspose()(*csr)
    np.testing.assert_array_equal(so.CSRSparseMatrixToDense()(*swapped).asnumpy(), np.swapaxes(dense, -1, -2))
    x = RNG.normal(size=(*shape[:-2], 4, 2)).astype(np.float32)
    np.testing.assert_allclose(so.SparseMatrixMatMul()(*csr, Tensor(x)).asnumpy(), dense @ x, rtol=1e-5, atol=1e-6)
    square = so.SparseMatrixSparseMatMul(transpose_b=True)(*csr, *csr)
    expected = dense @ np.swapaxes(dense, -1, -2)
    np.testing.assert_allclose(so.CSRSparseMatrixToDense()(*square).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    double = so.SparseMatrixAdd()(*csr, *csr, Tensor(1.0), Tensor(1.0))
    np.testing.assert_allclose(so.CSRSparseMatrixToDense()(*double).asnumpy(), 2 * dense)
    soft = so.CSRSparseMatrixToDense()(*so.SparseMatrixSoftmax(ms.float32)(*csr)).asnumpy()
    expected = np.where(dense != 0, sp.softmax(np.where(dense != 0, dense, -1e9), -1), 0)
    np.testing.assert_allclose(soft, expected, rtol=1e-5)
    count = so.SparseMatrixNNZ()(*csr).asnumpy()
    assert count.sum() == 7 and ops.DenseToCSRSparseMatrix()(Tensor(dense), a[0])[4].shape == (7,)


def test_what_is_stored_stays_stored():
    shape, starts = Tensor([2, 3], ms.int32), Tensor([0, 3], ms.int32)
    a = (shape, starts, Tensor([0, 2, 3], ms.int32), Tensor([0, 2, 1], ms.int32), Tensor([1.0, 0.0, 3.0]))
    total = so.SparseMatrixAdd()(*a, *a, Tensor(1.0), Tensor(-1.0))
    assert [t.asnumpy().tolist() for t in total[2:]] == [[0, 2, 3], [0, 2, 1], [0, 0, 0]]
    turned = so.SparseMatrixTranspose()(*a)
    assert [t.asnumpy().tolist() for t in turned[2:]] == [[0, 1, 2, 3], [0, 1, 0], [1, 3, 0]]


@pytest.mark.parametrize("compiled", [True, False])
def test_places_have_no_gradient(compiled):
    def coordinates(indices, values):
        sparse = ms.COOTensor(indices, values, (3, 4))
        return sparse.to_tuple()[:2] + (sparse.abs(),)

    def rows(indptr, indices, values):
        sparse = ms.CSRTensor(indptr, indices, values, (2, 4))
        return sparse.indptr, sparse.indices, sparse.values

    grad = lambda f: ops.GradOperation(get_all=True)(ms.jit(f) if compiled else f)
    found = grad(coordinates)(Tensor([[0, 1], [1, 2]], ms.int32), Tensor([-1.0, 2.0]))
    assert [g.asnumpy().tolist() for g in found] == [[[0, 0], [0, 0]], [0, 2]]
    found = grad(rows)(Tensor([0, 1, 2], ms.int32), Tensor([0, 1], ms.int32), Tensor([-1.0, 2.0]))
    assert [g.asnumpy().tolist() for g in found] == [[0, 0, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_what_coo_concat_cannot_join(mode):
    def entry(shape, kind=ms.float32):
        return COOTensor(Tensor([[0, 1], [0, 2]], ms.int64), Tensor([1.0, 2.0], kind), shape)

    x = entry((3, 4))
    with ms.context.local_context(mode=mode):
        assert ops.coo_concat((x, entry((3, 6))), 1).shape == (3, 10)
        for inputs, axis, kind in (
            ((x,), 1, ValueError),
            ((x, x), 2, IndexError),
            ((x, x), -3, IndexError),
            ((x, x), 1.0, TypeError),
            ((x, entry((4, 6))), 1, RuntimeError),
            ((x, entry((3, 4), ms.int32)), 1, TypeError),
        ):
            with pytest.raises(kind, match="For 'coo_concat'"):
                ops.coo_concat(inputs, axis)
