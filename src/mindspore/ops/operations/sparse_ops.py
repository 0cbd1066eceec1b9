"""Classes of operations on sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.ops import functional as F
from mindspore.ops import sparse
from mindspore.ops import sparse_structure as structure
from mindspore.ops.composition import REQUIRED, composition, of_tensors, plain

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor
    from mindspore.prims.primitive import Primitive

SparseTensorDenseMatmul = composition(
    "SparseTensorDenseMatmul",
    lambda self, indices, values, shape, dense: sparse.sparse_tensor_dense_matmul(
        indices, values, shape, dense, self.adjoint_st, self.adjoint_dt
    ),
    """The product of a sparse and a dense matrix.

    Examples:
        >>> where, value = Tensor([[0, 1]]), Tensor([5.0])
        >>> print(ops.SparseTensorDenseMatmul()(where, value, (2, 2), Tensor([[1.0], [10.0]])))
        [[50.]
         [ 0.]]
    """, adjoint_st=False, adjoint_dt=False,
)  # fmt: skip
SparseTensorDenseAdd = composition(
    "SparseTensorDenseAdd",
    of_tensors("indices values dense", lambda self, indices, values, shape, dense: F.tensor_scatter_add(dense, indices, values)),
    """The sum of a sparse and a dense tensor.

    Examples:
        >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
        >>> print(ops.SparseTensorDenseAdd()(where, value, shape, ops.ones((2, 2))))
        [[1. 6.]
         [1. 1.]]
    """,
)  # fmt: skip
SparseToDense = composition(
    "SparseToDense", lambda self, indices, values, shape: F.scatter_nd(indices, values, shape), """The dense tensor.

    Examples:
        >>> print(ops.SparseToDense()(Tensor([[0, 1]]), Tensor([5.0]), (2, 2)))
        [[0. 5.]
         [0. 0.]]
    """,
)  # fmt: skip
Coalesce = plain("Coalesce", sparse.coalesce)

# -- coordinates --------------------------------------------------------------------------------------------------------
SparseAdd = plain("SparseAdd", structure.sparse_add,
    """The sum of two sparse tensors, without results smaller than `thresh`: (indices, values, shape).

    Examples:
        >>> where, value, shape = Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2])
        >>> indices, total, _ = ops.SparseAdd()(where, value, shape, where, value, shape, Tensor(0.0))
        >>> print(total)
        [10. 12.]
    """)
SparseAddmm = plain("SparseAddmm", structure.sparse_addmm, """alpha * (sparse @ x2_dense) + beta * x3_dense.

    Examples:
        >>> where, value, shape = Tensor([[0, 1]], ms.int32), Tensor([5.0]), Tensor([2, 2], ms.int32)
        >>> x, y, alpha, beta = Tensor([[1.0], [10.0]]), Tensor([[1.0], [1.0]]), Tensor([1.0]), Tensor([100.0])
        >>> print(ops.SparseAddmm()(where, value, shape, x, y, alpha, beta))
        [[150.]
         [100.]]
    """)
SparseConcat = composition(
    "SparseConcat", lambda self, *parts: structure.sparse_concat(parts, self.concat_dim),
    """Sparse tensors one behind the other.

    Examples:
        >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([1, 2])
        >>> indices, values, total = ops.SparseConcat(concat_dim=1)((where, where), (value, value), (shape, shape))
        >>> print(indices.tolist(), total)
        [[0, 1], [0, 3]] [1 4]
    """, concat_dim=0,
)  # fmt: skip
SparseDenseCwiseAdd = plain("SparseDenseCwiseAdd", structure.sparse_dense_add,
    """The stored values of a sparse tensor plus a dense one, which broadcasts.

    Examples:
        >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
        >>> print(ops.SparseDenseCwiseAdd()(where, value, shape, Tensor([[1.0, 10.0]])))
        [15.]
    """)
SparseDenseCwiseMul = plain("SparseDenseCwiseMul", structure.sparse_dense_mul,
    """The stored values of a sparse tensor times a dense one, which broadcasts.

    Examples:
        >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
        >>> print(ops.SparseDenseCwiseMul()(where, value, shape, Tensor([[1.0, 10.0]])))
        [50.]
    """)
SparseDenseCwiseDiv = plain("SparseDenseCwiseDiv", structure.sparse_dense_div,
    """The stored values of a sparse tensor over a dense one, which broadcasts.

    Examples:
        >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
        >>> print(ops.SparseDenseCwiseDiv()(where, value, shape, Tensor([[1.0, 10.0]])))
        [0.5]
    """)
SparseFillEmptyRows = plain("SparseFillEmptyRows", structure.sparse_fill_empty_rows,
    """Every empty row gets `default_value` in column 0: (indices, values, which were empty, where each value went).

    Examples:
        >>> where, value, shape = Tensor([[0, 1]]), Tensor([5.0]), Tensor([2, 2])
        >>> out = ops.SparseFillEmptyRows()(where, value, shape, Tensor(9.0))
        >>> print(out[1], out[2])
        [5. 9.] [False  True]
    """)
SparseReorder = plain("SparseReorder", structure.sparse_reorder, """Indices in the order of rows, and their values.

    Examples:
        >>> where, value = ops.SparseReorder()(Tensor([[1, 0], [0, 1]]), Tensor([6.0, 5.0]), Tensor([2, 2]))
        >>> print(where.tolist(), value)
        [[0, 1], [1, 0]] [5. 6.]
    """)
SparseReshape = plain("SparseReshape", structure.sparse_reshape,
    """Indices for another shape of as many elements, and that shape (one -1 is worked out).

    Examples:
        >>> where, shape = ops.SparseReshape()(Tensor([[0, 1], [1, 0]]), Tensor([2, 2]), Tensor([4]))
        >>> print(where.tolist(), shape)
        [[1], [2]] [4]
    """)
SparseSlice = plain("SparseSlice", structure.sparse_slice,
    """The part of a sparse tensor that starts at `start` and is `size` large: (indices, values, shape).

    Examples:
        >>> where, value, shape = Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2])
        >>> out = ops.SparseSlice()(where, value, shape, Tensor([1, 0]), Tensor([1, 2]))
        >>> print(out[0], out[1])
        [[0 0]] [6.]
    """)
SparseSoftmax = plain("SparseSoftmax", structure.sparse_softmax,
    """The softmax of the stored values of each row of the last dimension.

    Examples:
        >>> print(ops.SparseSoftmax()(Tensor([[0, 0], [0, 1]]), Tensor([5.0, 5.0]), Tensor([1, 2])))
        [0.5 0.5]
    """)
SparseSparseMaximum = plain("SparseSparseMaximum", structure.sparse_maximum,
    """The larger of each pair of two sparse tensors, in which what is not stored is 0.

    Examples:
        >>> where, shape = Tensor([[0, 1]]), Tensor([2, 2])
        >>> where, value = ops.SparseSparseMaximum()(where, Tensor([5.0]), shape, where, Tensor([7.0]), shape)
        >>> print(where, value)
        [[0 1]] [7.]
    """)
SparseSparseMinimum = plain("SparseSparseMinimum", structure.sparse_minimum,
    """The smaller of each pair of two sparse tensors, in which what is not stored is 0.

    Examples:
        >>> where, shape = Tensor([[0, 1]]), Tensor([2, 2])
        >>> where, value = ops.SparseSparseMinimum()(where, Tensor([5.0]), shape, where, Tensor([7.0]), shape)
        >>> print(where, value)
        [[0 1]] [5.]
    """)
SparseSplit = composition(
    "SparseSplit",
    lambda self, split_dim, indices, values, shape: structure.sparse_split(
        split_dim, indices, values, shape, self.num_split
    ),
    """Parts of a sparse tensor.

    Examples:
        >>> where, value, shape = Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2])
        >>> places, values, shapes = ops.SparseSplit(num_split=2)(Tensor(0), where, value, shape)
        >>> [v.tolist() for v in values]
        [[5.0], [6.0]]
    """, num_split=1,
)  # fmt: skip
SparseToDenseV2 = composition(
    "SparseToDenseV2", lambda self, *parts: structure.sparse_to_dense(*parts), """The dense tensor.

    Examples:
        >>> print(ops.SparseToDenseV2()(Tensor([[0, 1]]), Tensor([2, 2]), Tensor([5.0]), Tensor(-1.0)))
        [[-1.  5.]
         [-1. -1.]]
    """, validate_indices=True,
)  # fmt: skip


# -- segments -----------------------------------------------------------------------------------------------------------
def _segment(name: str, power: float, counted: bool, doc: str) -> Any:
    def function(
        self: Primitive, x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor | None = None
    ) -> Any:
        return structure.sparse_segment(name, x, indices, segment_ids, num_segments if counted else None, power)

    return composition(name, function, doc)


SparseSegmentSum = _segment("SparseSegmentSum", 0, False, doc="""The sums of chosen rows by (sorted) segment.

    Examples:
        >>> ops.SparseSegmentSum()(Tensor([[1.0], [3.0], [8.0]]), Tensor([0, 1, 2]), Tensor([0, 0, 1])).tolist()
        [[4.0], [8.0]]
    """)
SparseSegmentSumWithNumSegments = _segment("SparseSegmentSumWithNumSegments", 0, True,
    doc="""The sums of chosen rows by (sorted) segment, with a given number of segments.

    Examples:
        >>> x, rows, segments = Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, 0])
        >>> ops.SparseSegmentSumWithNumSegments()(x, rows, segments, Tensor([2])).tolist()
        [[4.0], [0.0]]
    """)
SparseSegmentSqrtN = _segment("SparseSegmentSqrtN", 0.5, False,
    doc="""The sums of chosen rows by (sorted) segment, over the square root of their number.

    Examples:
        >>> print(ops.SparseSegmentSqrtN()(Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, 0])))
        [[2.828427]]
    """)
SparseSegmentSqrtNWithNumSegments = _segment("SparseSegmentSqrtNWithNumSegments", 0.5, True,
    doc="""As `SparseSegmentSqrtN`, with a given number of segments.

    Examples:
        >>> x, rows, segments = Tensor([[1.0], [3.0]]), Tensor([0, 1]), Tensor([0, 1])
        >>> ops.SparseSegmentSqrtNWithNumSegments()(x, rows, segments, Tensor([3])).tolist()
        [[1.0], [3.0], [0.0]]
    """)
SparseSegmentMeanWithNumSegments = _segment("SparseSegmentMeanWithNumSegments", 1, True,
    doc="""The means of chosen rows by (sorted) segment, with a given number of segments.

    Examples:
        >>> x = Tensor([[1.0], [3.0], [8.0]])
        >>> ops.SparseSegmentMeanWithNumSegments()(x, Tensor([0, 1, 2]), Tensor([0, 0, 1]), Tensor([3])).tolist()
        [[2.0], [8.0], [0.0]]
    """)

# -- matrices by compressed rows ----------------------------------------------------------------------------------------
CSRSparseMatrixToDense = plain("CSRSparseMatrixToDense", structure.csr_to_dense, """CSR parts as a dense matrix.

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> rows, columns = Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32)
        >>> print(ops.CSRSparseMatrixToDense()(shape, batches, rows, columns, Tensor([5.0, 6.0])))
        [[0. 5.]
         [6. 0.]]
    """)
CSRSparseMatrixToSparseTensor = plain("CSRSparseMatrixToSparseTensor", structure.csr_to_sparse_tensor,
    """CSR parts as (indices, values, shape).

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> rows, columns = Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32)
        >>> print(ops.CSRSparseMatrixToSparseTensor()(shape, batches, rows, columns, Tensor([5.0, 6.0]))[0])
        [[0 1]
         [1 0]]
    """)
DenseToCSRSparseMatrix = plain("DenseToCSRSparseMatrix", structure.dense_to_csr,
    """The elements of a dense matrix at the given places, as CSR parts.

    Examples:
        >>> parts = ops.DenseToCSRSparseMatrix()(Tensor([[0.0, 5.0], [6.0, 0.0]]), Tensor([[0, 1], [1, 0]], ms.int32))
        >>> print(parts[3], parts[4])
        [1 0] [5. 6.]
    """)
SparseTensorToCSRSparseMatrix = plain("SparseTensorToCSRSparseMatrix", structure.sparse_tensor_to_csr,
    """A sparse matrix (or batch of them) by coordinates, as CSR parts.

    Examples:
        >>> parts = ops.SparseTensorToCSRSparseMatrix()(Tensor([[0, 1], [1, 0]]), Tensor([5.0, 6.0]), Tensor([2, 2]))
        >>> print(parts[2], parts[3])
        [0 1 2] [1 0]
    """)
SparseMatrixNNZ = plain("SparseMatrixNNZ", structure.csr_nnz, """The number of stored values of each matrix.

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
        >>> print(ops.SparseMatrixNNZ()(*matrix))
        [2]
    """)
SparseMatrixTranspose = composition(
    "SparseMatrixTranspose", lambda self, *csr: structure.csr_transpose(csr, self.conjugate),
    """The transposed matrix.

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
        >>> print(ops.SparseMatrixTranspose()(*matrix)[-1])
        [6. 5.]
    """,
    conjugate=False,
)  # fmt: skip
SparseMatrixSoftmax = composition(
    "SparseMatrixSoftmax", lambda self, *csr: structure.csr_softmax(csr), """The softmax of each row's values.

    Examples:
        >>> shape, batches = Tensor([1, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> matrix = (shape, batches, Tensor([0, 2], ms.int32), Tensor([0, 1], ms.int32), Tensor([5.0, 5.0]))
        >>> print(ops.SparseMatrixSoftmax(ms.float32)(*matrix)[-1])
        [0.5 0.5]
    """,
    dtype=REQUIRED,
)  # fmt: skip
SparseMatrixAdd = composition(
    "SparseMatrixAdd", lambda self, *args: structure.csr_add(args[:5], args[5:10], *args[10:]), """alpha a + beta b.

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
        >>> out = ops.SparseMatrixAdd()(*matrix, *matrix, Tensor(1.0), Tensor(10.0))
        >>> print(out[-1])
        [55. 66.]
    """,
)  # fmt: skip
SparseMatrixMatMul = composition(
    "SparseMatrixMatMul",
    lambda self, *args: structure.csr_matmul(
        args[:5], args[5], ((self.transpose_x1, self.adjoint_x1), (self.transpose_x2, self.adjoint_x2)), False
    ),
    """The product with a dense matrix.

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
        >>> print(ops.SparseMatrixMatMul()(*matrix, Tensor([[1.0], [10.0]])))
        [[50.]
         [ 6.]]
    """, transpose_x1=False, transpose_x2=False, adjoint_x1=False, adjoint_x2=False,
    transpose_output=False, conjugate_output=False,
)  # fmt: skip
SparseMatrixSparseMatMul = composition(
    "SparseMatrixSparseMatMul",
    lambda self, *args: structure.csr_matmul(
        args[:5], args[5:], ((self.transpose_a, self.adjoint_a), (self.transpose_b, self.adjoint_b)), True
    ),
    """The product of two sparse matrices.

    Examples:
        >>> shape, batches = Tensor([2, 2], ms.int32), Tensor([0, 2], ms.int32)
        >>> matrix = (shape, batches, Tensor([0, 1, 2], ms.int32), Tensor([1, 0], ms.int32), Tensor([5.0, 6.0]))
        >>> print(ops.SparseMatrixSparseMatMul()(*matrix, *matrix)[-1])
        [30. 30.]
    """, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False,
)  # fmt: skip

__all__ = [
    "CSRSparseMatrixToDense", "CSRSparseMatrixToSparseTensor", "Coalesce", "DenseToCSRSparseMatrix", "SparseAdd",
    "SparseAddmm", "SparseConcat", "SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul",
    "SparseFillEmptyRows", "SparseMatrixAdd", "SparseMatrixMatMul", "SparseMatrixNNZ", "SparseMatrixSoftmax",
    "SparseMatrixSparseMatMul", "SparseMatrixTranspose", "SparseReorder", "SparseReshape", "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSum", "SparseSegmentSumWithNumSegments",
    "SparseSlice", "SparseSoftmax", "SparseSparseMaximum", "SparseSparseMinimum", "SparseSplit", "SparseTensorDenseAdd",
    "SparseTensorDenseMatmul", "SparseTensorToCSRSparseMatrix", "SparseToDense", "SparseToDenseV2",
]  # fmt: skip
