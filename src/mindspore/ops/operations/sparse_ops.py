"""Classes of operations on sparse matrices."""

from __future__ import annotations

from mindspore.ops import function as F
from mindspore.ops.composition import composition, plain
from mindspore.ops.function import sparse

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

__all__ = ["Coalesce", "SparseTensorDenseAdd", "SparseTensorDenseMatmul", "SparseToDense"]
