"""Operations on sparse tensors given by their parts, where the result's places depend on the indices' values.

The places are found from the indices on the host; values go through gathers and scatters, so gradients flow to them.
Indices are (n, rank); CSR matrices are (dense_shape, batch_pointers, row_pointers, col_indices, values), the pointers
running per batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, concrete, static_ints
from mindspore.ops.gather_scatter import gather
from mindspore.ops.product import matmul
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Concat, Transpose
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.gather_scatter import GatherNd, TensorScatterAdd, TensorScatterMax, TensorScatterUpdate
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.prims.primitive import Primitive


def _places(op: str, indices: Tensor) -> np.ndarray:
    return concrete(op, indices)


def _tensor(array: Any, like: Tensor) -> Tensor:
    return from_array(np.asarray(array).astype(like.dtype.np))


def _filled(shape: Any, dtype: DType, value: Any = 0) -> Tensor:
    return from_array(np.full(shape, value, dtype.np))


# -- coordinates ------------------------------------------------------------------------------------------------------
def sparse_add(
    x1_indices: Any, x1_values: Any, x1_shape: Any, x2_indices: Any, x2_values: Any, x2_shape: Any, thresh: Any
) -> tuple:
    """The sum of two sparse tensors, without results smaller than `thresh`: (indices, values, shape)."""
    _same_shape("SparseAdd", x1_shape, x2_shape)
    places, total = _merged("SparseAdd", x1_indices, x1_values, x2_indices, x2_values)
    keep = np.flatnonzero(np.abs(concrete("SparseAdd", total)) >= np.abs(concrete("SparseAdd", thresh)))
    kept = from_array(keep)
    return _tensor(places[keep], x1_indices), gather(total, kept, 0), x1_shape


def _same_shape(op: str, x1_shape: Any, x2_shape: Any) -> None:
    first, second = static_ints(op, "x1_shape", x1_shape), static_ints(op, "x2_shape", x2_shape)
    if first != second:
        raise ValueError(f"For '{op}', 'x1_shape' and 'x2_shape' must be the same, but got {first} and {second}.")


def _merged(op: str, x1_indices: Any, x1_values: Any, x2_indices: Any, x2_values: Any) -> tuple[np.ndarray, Any]:
    """All places of either, and the sums of the values there."""
    both = np.concatenate([_places(op, x1_indices), _places(op, x2_indices)])
    places, where = np.unique(both, axis=0, return_inverse=True)
    values = Concat(0)((x1_values, x2_values))
    zeros = _filled((len(places),), values.dtype)
    return places, TensorScatterAdd()(zeros, from_array(where.reshape(-1, 1)), values)


def _extreme(op: str, choose: Primitive) -> Callable:
    def function(
        x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor
    ) -> tuple:
        _same_shape(op, x1_shape, x2_shape)
        first, second = _places(op, x1_indices), _places(op, x2_indices)
        places, where = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)
        where = where.reshape(-1, 1)
        zeros = _filled((len(places),), x1_values.dtype)
        left = TensorScatterAdd()(zeros, from_array(where[: len(first)]), x1_values)
        right = TensorScatterAdd()(zeros, from_array(where[len(first) :]), x2_values)
        return _tensor(places, x1_indices), choose(left, right)

    return function


sparse_maximum = _extreme("SparseSparseMaximum", ew.Maximum())
sparse_minimum = _extreme("SparseSparseMinimum", ew.Minimum())


def sparse_addmm(indices: Any, values: Any, shape: Any, x2_dense: Any, x3_dense: Any, alpha: Any, beta: Any) -> Tensor:
    """alpha * (sparse @ x2_dense) + beta * x3_dense."""
    dense = sparse_to_dense(indices, shape, values)
    return alpha * matmul(dense, x2_dense) + beta * x3_dense


def sparse_to_dense(indices: Tensor, output_shape: Any, values: Tensor, default_value: Any = 0) -> Tensor:
    """The dense tensor, `default_value` where there is no value."""
    shape = static_ints("SparseToDense", "output_shape", output_shape)
    if not isinstance(default_value, Tensor):
        default_value = _filled((), values.dtype, default_value)
    base = BroadcastTo(shape)(cast(default_value, values.dtype))
    if indices.ndim < 2:
        indices = Reshape()(indices, (-1, len(shape)))
    count = indices.shape[0]
    values = values if values.ndim else BroadcastTo((count,))(values)
    return TensorScatterUpdate()(base, indices, values)


def _with_dense(op: str, operation: Primitive) -> Callable:
    def function(x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2: Tensor) -> Tensor:
        shape = static_ints(op, "x1_shape", x1_shape)
        return operation(x1_values, GatherNd()(BroadcastTo(shape)(x2), x1_indices))

    return function


sparse_dense_add = _with_dense("SparseDenseCwiseAdd", ew.Add())
sparse_dense_mul = _with_dense("SparseDenseCwiseMul", ew.Mul())
sparse_dense_div = _with_dense("SparseDenseCwiseDiv", ew.RealDiv())


def sparse_concat(sp_inputs: Any, concat_dim: int) -> tuple:
    """Sparse tensors, given as (all indices, all values, all shapes), one behind the other along a dimension."""
    indices, values, shapes = sp_inputs
    sizes = [np.asarray(static_ints("SparseConcat", "shapes", s)) for s in shapes]
    axis = concat_dim % len(sizes[0])
    offsets = np.cumsum([0, *(s[axis] for s in sizes)])
    moved = []
    for start, part in zip(offsets, indices):
        places = _places("SparseConcat", part).copy()
        places[:, axis] += start
        moved.append(places)
    joined = np.concatenate(moved)
    order = np.lexsort(joined.T[::-1])
    shape = sizes[0].copy()
    shape[axis] = offsets[-1]
    all_values = gather(Concat(0)(list(values)), from_array(order), 0)
    return _tensor(joined[order], indices[0]), all_values, from_array(shape.astype(np.int64))


def sparse_reorder(indices: Any, values: Any, shape: Any) -> tuple:
    """Indices in the order of rows, and their values."""
    places = _places("SparseReorder", indices)
    order = np.lexsort(places.T[::-1])
    return _tensor(places[order], indices), gather(values, from_array(order), 0)


def sparse_reshape(indices: Any, shape: Any, new_shape: Any) -> tuple:
    """Indices for another shape of as many elements, and that shape (one -1 is worked out)."""
    old = static_ints("SparseReshape", "shape", shape)
    new = list(static_ints("SparseReshape", "new_shape", new_shape))
    if -1 in new:
        new[new.index(-1)] = math.prod(old) // -math.prod(new)
    flat = np.ravel_multi_index(tuple(_places("SparseReshape", indices).T), old)
    moved = np.stack(np.unravel_index(flat, new), -1)
    return _tensor(moved, indices), from_array(np.asarray(new, np.int64))


def sparse_slice(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> tuple:
    """The part of a sparse tensor that starts at `start` and is `size` large: (indices, values, shape)."""
    begin, extent = (np.asarray(static_ints("SparseSlice", n, v)) for n, v in (("start", start), ("size", size)))
    whole = np.asarray(static_ints("SparseSlice", "shape", shape))
    end = np.minimum(begin + extent, whole)
    places = _places("SparseSlice", indices)
    inside = np.flatnonzero(((places >= begin) & (places < end)).all(1))
    return (
        _tensor(places[inside] - begin, indices), gather(values, from_array(inside), 0),
        from_array(np.maximum(end - begin, 0).astype(np.int64)),
    )  # fmt: skip


def sparse_split(split_dim: Any, indices: Any, values: Any, shape: Any, num_split: int) -> tuple:
    """Parts along a dimension: (all indices, all values, all shapes)."""
    whole = np.asarray(static_ints("SparseSplit", "shape", shape))
    axis = static_ints("SparseSplit", "split_dim", split_dim)[0] % len(whole)
    sizes = [len(part) for part in np.array_split(np.arange(whole[axis]), num_split)]
    parts = []
    for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes):
        begin, extent = np.zeros_like(whole), whole.copy()
        begin[axis], extent[axis] = start, size
        parts.append(sparse_slice(indices, values, shape, begin.tolist(), extent.tolist()))
    return tuple(tuple(p[i] for p in parts) for i in range(3))


def sparse_softmax(indices: Any, values: Tensor, shape: Any) -> Tensor:
    """The softmax of the stored values of each row of the last dimension."""
    places = _places("SparseSoftmax", indices)
    rows, where = np.unique(places[:, :-1], axis=0, return_inverse=True)
    row = from_array(where.reshape(-1, 1))
    lowest = _filled((len(rows),), values.dtype, -np.inf)
    top = gather(TensorScatterMax()(lowest, row, values), from_array(where.reshape(-1)), 0)
    weights = ew.Exp()(values - ew.StopGradient()(top))
    total = TensorScatterAdd()(_filled((len(rows),), values.dtype), row, weights)
    return weights / gather(total, from_array(where.reshape(-1)), 0)


def sparse_fill_empty_rows(indices: Any, values: Tensor, dense_shape: Any, default_value: Any) -> tuple:
    """Every empty row gets `default_value` in column 0: (indices, values, which were empty, where each value went)."""
    rows = static_ints("SparseFillEmptyRows", "dense_shape", dense_shape)[0]
    places = _places("SparseFillEmptyRows", indices)
    empty = np.setdiff1d(np.arange(rows), places[:, 0])
    added = np.stack([empty, np.zeros_like(empty)], -1).astype(places.dtype)
    joined = np.concatenate([places, added])
    order = np.argsort(joined[:, 0], kind="stable")
    fill = BroadcastTo((len(empty),))(Reshape()(cast(default_value, values.dtype), (1,)))
    merged = gather(Concat(0)((values, fill)) if len(empty) else values, from_array(order), 0)
    indicator = np.isin(np.arange(rows), empty)
    back = np.argsort(order)[: len(places)].astype(np.int64)
    return _tensor(joined[order], indices), merged, from_array(indicator), from_array(back)


# -- segments of gathered rows ------------------------------------------------------------------------------------------
def sparse_segment(
    op: str, x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor | None = None, power: float = 0.0
) -> Tensor:
    """Rows x[indices] added up by segment, over their number to the `power` (0 sum, 1/2 sqrt-n, 1 mean)."""
    if num_segments is None:
        ids = concrete(op, segment_ids)
        count = int(ids.max()) + 1 if ids.size else 0
    else:
        count = static_ints(op, "num_segments", num_segments)[0]
    rows = gather(x, indices, 0)
    segments = Reshape()(segment_ids, (-1, 1))
    total = TensorScatterAdd()(_filled((count, *x.shape[1:]), x.dtype), segments, rows)
    if not power:
        return total
    wide = mstype.float64 if x.dtype is mstype.float64 else mstype.float32
    ones = _filled((indices.shape[0],), wide, 1)
    sizes = TensorScatterAdd()(_filled((count,), wide), segments, ones)
    divisor = ew.Pow()(ew.Maximum()(sizes, 1.0), power)
    return total / cast(Reshape()(divisor, (count,) + (1,) * (x.ndim - 1)), x.dtype)


# -- matrices by compressed rows ----------------------------------------------------------------------------------------
def _csr_places(op: str, shape: Any, row_pointers: Any, col_indices: Any) -> np.ndarray:
    """(n, rank) indices of a CSR matrix or a batch of them."""
    size = static_ints(op, "dense_shape", shape)
    pointers = concrete(op, row_pointers).reshape(-1, size[-2] + 1)
    columns = concrete(op, col_indices)
    counts = np.diff(pointers, axis=1)
    rows = np.concatenate([np.repeat(np.arange(size[-2]), c) for c in counts])
    if len(size) == 2:
        return np.stack([rows, columns], -1)
    batches = np.repeat(np.arange(len(counts)), counts.sum(1))
    return np.stack([batches, rows, columns], -1)


def _to_csr(op: str, indices: Any, values: Any, shape: Any) -> tuple:
    size = static_ints(op, "dense_shape", shape)
    places = _places(op, indices).reshape(-1, len(size))
    batches = size[0] if len(size) == 3 else 1
    batch = places[:, 0] if len(size) == 3 else np.zeros(len(places), np.int64)
    counts = np.zeros((batches, size[-2]), np.int64)
    np.add.at(counts, (batch, places[:, -2]), 1)
    pointers = np.concatenate([np.zeros((batches, 1), np.int64), np.cumsum(counts, 1)], 1).reshape(-1)
    starts = np.concatenate([[0], np.cumsum(counts.sum(1))])
    return (
        _tensor(size, indices), _tensor(starts, indices), _tensor(pointers, indices), _tensor(places[:, -1], indices), values,
    )  # fmt: skip


def sparse_tensor_to_csr(indices: Any, values: Any, dense_shape: Any) -> tuple:
    """A sparse matrix (or batch of them) by coordinates, as CSR parts."""
    return _to_csr("SparseTensorToCSRSparseMatrix", indices, values, dense_shape)


def dense_to_csr(dense_input: Tensor, indices: Any) -> tuple:
    """The elements of a dense matrix at the given places, as CSR parts."""
    return _to_csr("DenseToCSRSparseMatrix", indices, GatherNd()(dense_input, indices), dense_input.shape)


def csr_to_sparse_tensor(shape: Any, batch_pointers: Any, row_pointers: Any, col_indices: Any, values: Any) -> tuple:
    """CSR parts as (indices, values, shape)."""
    places = _csr_places("CSRSparseMatrixToSparseTensor", shape, row_pointers, col_indices)
    return _tensor(places, col_indices), values, shape


def csr_to_dense(shape: Any, batch_pointers: Any, row_pointers: Any, col_indices: Any, values: Tensor) -> Tensor:
    """CSR parts as a dense matrix."""
    places = _csr_places("CSRSparseMatrixToDense", shape, row_pointers, col_indices)
    size = static_ints("CSRSparseMatrixToDense", "dense_shape", shape)
    return TensorScatterAdd()(_filled(size, values.dtype), from_array(places), values)


def _stored(op: str, csr: tuple) -> np.ndarray:
    """Which elements of a CSR matrix are stored, be they zero or not."""
    mask = np.zeros(static_ints(op, "dense_shape", csr[0]), bool)
    mask[tuple(_csr_places(op, csr[0], csr[2], csr[3]).T)] = True
    return mask


def _at(op: str, dense: Tensor, stored: np.ndarray, like: tuple) -> tuple:
    """Elements of a dense matrix as CSR parts of the types of `like`."""
    indices = _tensor(np.argwhere(stored), like[3])
    return _to_csr(op, indices, GatherNd()(dense, indices), dense.shape)


def _swapped(x: Tensor, conjugate: bool = False) -> Any:
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    x = Transpose()(x, order)
    return ew.Conj()(x) if conjugate and x.dtype.kind == "c" else x


def csr_transpose(csr: tuple, conjugate: bool) -> tuple:
    """The transposed matrix, as CSR parts."""
    op = "SparseMatrixTranspose"
    return _at(op, _swapped(csr_to_dense(*csr), conjugate), np.swapaxes(_stored(op, csr), -1, -2), csr)


def csr_add(first: tuple, second: tuple, alpha: Any, beta: Any) -> tuple:
    """alpha * first + beta * second, as CSR parts: what either stores is stored, also where the sum is zero."""
    op = "SparseMatrixAdd"
    total = alpha * csr_to_dense(*first) + beta * csr_to_dense(*second)
    return _at(op, total, _stored(op, first) | _stored(op, second), first)


def csr_softmax(csr: tuple) -> tuple:
    """The softmax of the stored values of each row, as CSR parts."""
    places = from_array(_csr_places("SparseMatrixSoftmax", csr[0], csr[2], csr[3]))
    return (*csr[:4], sparse_softmax(places, csr[4], csr[0]))


def csr_matmul(first: tuple, second: Any, flips: tuple, sparse_result: bool) -> Any:
    """A product with a dense matrix, or with another CSR matrix; flips: (transpose, adjoint) of each side."""
    left, right = csr_to_dense(*first), csr_to_dense(*second) if sparse_result else second
    left, right = (
        _swapped(m, adjoint) if transpose or adjoint else m
        for m, (transpose, adjoint) in ((left, flips[0]), (right, flips[1]))
    )
    product = matmul(left, right)
    if not sparse_result:
        return product
    op = "SparseMatrixSparseMatMul"
    stored = [
        np.swapaxes(mask, -1, -2) if any(flip) else mask
        for mask, flip in zip((_stored(op, first), _stored(op, second)), flips)
    ]
    return _at(op, product, np.matmul(stored[0], stored[1]), first)


def csr_nnz(shape: Any, batch_pointers: Any, row_pointers: Any, col_indices: Any, values: Any) -> Tensor:
    """The number of stored values of each matrix."""
    ends = concrete("SparseMatrixNNZ", batch_pointers)
    return from_array(np.diff(ends).astype(np.int32))


__all__ = [
    "csr_add", "csr_matmul", "csr_nnz", "csr_softmax", "csr_to_dense", "csr_to_sparse_tensor", "csr_transpose",
    "dense_to_csr", "sparse_add", "sparse_addmm", "sparse_concat", "sparse_dense_add", "sparse_dense_div",
    "sparse_dense_mul", "sparse_fill_empty_rows", "sparse_maximum", "sparse_minimum", "sparse_reorder",
    "sparse_reshape", "sparse_segment", "sparse_slice", "sparse_softmax", "sparse_split", "sparse_tensor_to_csr",
    "sparse_to_dense",
]  # fmt: skip
