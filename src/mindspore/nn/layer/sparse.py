"""Layers that take sparse tensors."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.sparse import COOTensor
from mindspore.nn.cell import Cell
from mindspore.prims.setting_types import setting_types

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]


class SparseToDense(Cell):
    """The dense tensor of a COOTensor.

    Examples:
        >>> from mindspore import COOTensor, Tensor, nn
        >>> nn.SparseToDense()(COOTensor(Tensor([[0, 1]]), Tensor([5.0]), (1, 3))).tolist()
        [[0.0, 5.0, 0.0]]
    """

    def construct(self, sparse_tensor: Any) -> Any:
        if not isinstance(sparse_tensor, COOTensor):
            raise TypeError(f"For 'SparseToDense', a COOTensor is needed, but got {type(sparse_tensor).__name__}.")
        return sparse_tensor.to_dense()


class SparseTensorDenseMatmul(Cell):
    """The product of a sparse matrix, given by its parts, with a dense one; either may be transposed.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.SparseTensorDenseMatmul()(Tensor([[0, 1]]), Tensor([5.0]), (2, 2), Tensor([[1.0], [10.0]])).tolist()
        [[50.0], [0.0]]
    """

    @setting_types(adjoint_st=bool, adjoint_dt=bool)
    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False):
        super().__init__()
        self.adj_st, self.adj_dt = adjoint_st, adjoint_dt

    def construct(self, indices: Any, values: Any, sparse_shape: Any, dense: Any) -> Any:
        return ops.sparse_tensor_dense_matmul(indices, values, sparse_shape, dense, self.adj_st, self.adj_dt)
