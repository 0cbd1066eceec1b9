"""Classes of operations on sparse matrices."""

from __future__ import annotations

from typing import Any

from mindspore.ops import functional as F
from mindspore.ops import sparse
from mindspore.ops import sparse_structure as structure
from mindspore.ops.composition import REQUIRED, composition, plain

SparseTensorDenseMatmul = composition(
    "SparseTensorDenseMatmul",
    lambda self, indices, values, shape, dense: sparse.sparse_tensor_dense_matmul(
        indices, values, shape, dense, self.adjoint_st, self.adjoint_dt
    ),
    "The product of a sparse and a dense matrix.", adjoint_st=False, adjoint_dt=False,
)  # fmt: skip
SparseTensorDenseAdd = composition(
    "SparseTensorDenseAdd", lambda self, indices, values, shape, dense: F.tensor_scatter_add(dense, indices, values),
    "The sum of a sparse and a dense tensor.",
)  # fmt: skip
SparseToDense = composition(
    "SparseToDense", lambda self, indices, values, shape: F.scatter_nd(indices, values, shape), "The dense tensor.",
)  # fmt: skip
Coalesce = plain("Coalesce", sparse.coalesce)

# -- coordinates --------------------------------------------------------------------------------------------------------
SparseAdd = plain("SparseAdd", structure.sparse_add)
SparseAddmm = plain("SparseAddmm", structure.sparse_addmm)
SparseConcat = composition(
    "SparseConcat", lambda self, *parts: structure.sparse_concat(parts, self.concat_dim),
    "Sparse tensors one behind the other.", concat_dim=0,
)  # fmt: skip
SparseDenseCwiseAdd = plain("SparseDenseCwiseAdd", structure.sparse_dense_add)
SparseDenseCwiseMul = plain("SparseDenseCwiseMul", structure.sparse_dense_mul)
SparseDenseCwiseDiv = plain("SparseDenseCwiseDiv", structure.sparse_dense_div)
SparseFillEmptyRows = plain("SparseFillEmptyRows", structure.sparse_fill_empty_rows)
SparseReorder = plain("SparseReorder", structure.sparse_reorder)
SparseReshape = plain("SparseReshape", structure.sparse_reshape)
SparseSlice = plain("SparseSlice", structure.sparse_slice)
SparseSoftmax = plain("SparseSoftmax", structure.sparse_softmax)
SparseSparseMaximum = plain("SparseSparseMaximum", structure.sparse_maximum)
SparseSparseMinimum = plain("SparseSparseMinimum", structure.sparse_minimum)
SparseSplit = composition(
    "SparseSplit",
    lambda self, split_dim, indices, values, shape: structure.sparse_split(
        split_dim, indices, values, shape, self.num_split
    ),
    "Parts of a sparse tensor.", num_split=1,
)  # fmt: skip
SparseToDenseV2 = composition(
    "SparseToDenseV2", lambda self, *parts: structure.sparse_to_dense(*parts), "The dense tensor.", validate_indices=True,
)  # fmt: skip


# -- segments -----------------------------------------------------------------------------------------------------------
def _segment(name: str, power: float, counted: bool) -> Any:
    def function(self: Any, x: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
        return structure.sparse_segment(name, x, indices, segment_ids, num_segments if counted else None, power)

    return composition(name, function, "Chosen rows combined by segment.")


SparseSegmentSum = _segment("SparseSegmentSum", 0, False)
SparseSegmentSumWithNumSegments = _segment("SparseSegmentSumWithNumSegments", 0, True)
SparseSegmentSqrtN = _segment("SparseSegmentSqrtN", 0.5, False)
SparseSegmentSqrtNWithNumSegments = _segment("SparseSegmentSqrtNWithNumSegments", 0.5, True)
SparseSegmentMeanWithNumSegments = _segment("SparseSegmentMeanWithNumSegments", 1, True)

# -- matrices by compressed rows ----------------------------------------------------------------------------------------
CSRSparseMatrixToDense = plain("CSRSparseMatrixToDense", structure.csr_to_dense)
CSRSparseMatrixToSparseTensor = plain("CSRSparseMatrixToSparseTensor", structure.csr_to_sparse_tensor)
DenseToCSRSparseMatrix = plain("DenseToCSRSparseMatrix", structure.dense_to_csr)
SparseTensorToCSRSparseMatrix = plain("SparseTensorToCSRSparseMatrix", structure.sparse_tensor_to_csr)
SparseMatrixNNZ = plain("SparseMatrixNNZ", structure.csr_nnz)
SparseMatrixTranspose = composition(
    "SparseMatrixTranspose", lambda self, *csr: structure.csr_transpose(csr, self.conjugate), "The transposed matrix.",
    conjugate=False,
)  # fmt: skip
SparseMatrixSoftmax = composition(
    "SparseMatrixSoftmax", lambda self, *csr: structure.csr_softmax(csr), "The softmax of each row's values.",
    dtype=REQUIRED,
)  # fmt: skip
SparseMatrixAdd = composition(
    "SparseMatrixAdd", lambda self, *args: structure.csr_add(args[:5], args[5:10], *args[10:]), "alpha a + beta b.",
)  # fmt: skip
SparseMatrixMatMul = composition(
    "SparseMatrixMatMul",
    lambda self, *args: structure.csr_matmul(
        args[:5], args[5], ((self.transpose_x1, self.adjoint_x1), (self.transpose_x2, self.adjoint_x2)), False
    ),
    "The product with a dense matrix.", transpose_x1=False, transpose_x2=False, adjoint_x1=False, adjoint_x2=False,
    transpose_output=False, conjugate_output=False,
)  # fmt: skip
SparseMatrixSparseMatMul = composition(
    "SparseMatrixSparseMatMul",
    lambda self, *args: structure.csr_matmul(
        args[:5], args[5:], ((self.transpose_a, self.adjoint_a), (self.transpose_b, self.adjoint_b)), True
    ),
    "The product of two sparse matrices.", transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False,
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
