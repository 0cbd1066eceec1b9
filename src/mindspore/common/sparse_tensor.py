"""The older home of the sparse tensors."""

from mindspore.common.sparse import COOTensor, CSRTensor, RowTensor, RowTensorInner, SparseTensor

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "RowTensorInner", "SparseTensor"]
