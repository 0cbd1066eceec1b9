"""Embedding layers: rows of a table by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import Normal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = ["Embedding", "EmbeddingExt", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


def _table(init: Any, rows: int, columns: int, dtype: DType, padding_idx: int | None) -> Tensor:
    """Initial values, with the padding row at zero."""
    table = initializer(init, [rows, columns], dtype)
    if padding_idx is not None:
        data = np.array(table.asnumpy())
        data[padding_idx] = 0
        table = Tensor(data)
    return table


class Embedding(Cell):
    """The rows of a (vocab_size, embedding_size) table that the input names.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.nn.Embedding(10, 4)(ms.Tensor(np.array([[1, 2, 3]]), ms.int32)).shape
        (1, 3, 4)
    """

    @setting_types(use_one_hot=bool)
    def __init__(
        self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal",
        dtype: Any = mstype.float32, padding_idx: int | None = None,
    ):  # fmt: skip
        super().__init__()
        self.vocab_size = checks.positive_int("Embedding", "vocab_size", vocab_size)
        self.embedding_size = checks.positive_int("Embedding", "embedding_size", embedding_size)
        self.use_one_hot, self.dtype, self.padding_idx = use_one_hot, dtype, padding_idx
        if padding_idx is not None and not 0 <= padding_idx < vocab_size:
            raise ValueError(
                f"For 'Embedding', 'padding_idx' must be in range [0, {vocab_size}), but got {padding_idx}."
            )
        table = _table(embedding_table, vocab_size, embedding_size, dtype, padding_idx)
        self.embedding_table = Parameter(table, name="embedding_table")
        # under the names by which strategies are given; indices come flattened to one dimension
        self.gather, self.array_mul, self.expand = ops.Gather(), ops.MatMul(), ops.ExpandDims()
        self.reshape_flat, self.reshape = ops.Reshape(), ops.Reshape()

    def construct(self, ids: Tensor) -> Any:
        flat = self.reshape_flat(ids, (-1,))
        if self.use_one_hot:
            hot = ops.one_hot(flat, self.vocab_size, 1, 0)
            rows = self.array_mul(ops.cast(hot, self.embedding_table.dtype), self.embedding_table)
        else:
            rows = self.gather(self.embedding_table, flat, 0)
        return self.reshape(rows, (*ids.shape, self.embedding_size))

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


class EmbeddingExt(Cell):
    """An embedding table with the arguments of `mint`: the padding row gets no gradient, rows may be renormalised.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> mint.nn.Embedding(10, 4)(Tensor([1, 2])).shape
        (2, 4)
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        self.num_embeddings = checks.positive_int("EmbeddingExt", "num_embeddings", num_embeddings)
        self.embedding_dim = checks.positive_int("EmbeddingExt", "embedding_dim", embedding_dim)
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"'padding_idx' must be in range [{-num_embeddings}, {num_embeddings}), but got {padding_idx}."
            )
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        init = Normal(1.0, 0.0) if _weight is None else _weight
        kind = dtype or (mstype.float32 if _weight is None else _weight.dtype)
        table = _table(init, num_embeddings, embedding_dim, kind, padding_idx if _weight is None else None)
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input: Tensor) -> Any:
        return ops.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class EmbeddingLookup(Cell):
    """The rows of a table that the input names; `max_norm` bounds their length.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.EmbeddingLookup(10, 4)(Tensor([1, 2])).shape
        (2, 4)
    """

    # how several devices may share the table
    BATCH_SLICE, FIELD_SLICE = "batch_slice", "field_slice"
    TABLE_ROW_SLICE, TABLE_COLUMN_SLICE = "table_row_slice", "table_column_slice"

    @setting_types(max_norm=float | None, sparse=bool)
    def __init__(
        self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", manual_shapes: Any = None, max_norm: float | None = None, sparse: bool = True,
        vocab_cache_size: int = 0, dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.vocab_size = checks.positive_int(owner, "vocab_size", vocab_size)
        self.embedding_size = checks.positive_int(owner, "embedding_size", embedding_size)
        if target not in ("CPU", "DEVICE"):
            raise ValueError(f"For '{owner}', 'target' must be 'CPU' or 'DEVICE', but got {target!r}.")
        self.target, self.max_norm = target, max_norm
        if max_norm is not None:
            checks.positive(owner, "max_norm", max_norm)
        table = initializer(param_init, [vocab_size, embedding_size], dtype)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.gatherv2 = ops.Gather()
        self.embeddinglookup = self.gatherv2  # both names are in use; there is one place that holds the table

    def construct(self, indices: Any) -> Any:
        rows = self.gatherv2(self.embedding_table, indices, 0)
        if self.max_norm is not None:
            size = ops.sqrt(ops.ReduceSum(True)(ops.square(rows), -1))
            rows = rows * ops.minimum(self.max_norm / ops.maximum(size, 1e-12), 1.0)
        return rows


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """Rows times their values, combined per field: 'SUM', 'MEAN' or 'MAX'.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> layer = nn.MultiFieldEmbeddingLookup(10, 2, field_size=2)
        >>> layer(Tensor([[2, 4, 6]], ms.int32), Tensor([[1.0, 1.0, 1.0]]), Tensor([[0, 1, 1]], ms.int32)).shape
        (1, 2, 2)
    """

    def __init__(
        self, vocab_size: int, embedding_size: int, field_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", feature_num_list: Any = None, max_norm: float | None = None,
        sparse: bool = True, operator: str = "SUM", dtype: Any = mstype.float32,
    ):  # fmt: skip
        super().__init__(
            vocab_size, embedding_size, param_init, target, slice_mode, feature_num_list, max_norm, sparse, 0, dtype
        )
        self.field_size = checks.positive_int("MultiFieldEmbeddingLookup", "field_size", field_size)
        if operator not in ("SUM", "MEAN", "MAX"):
            raise ValueError(
                f"For 'MultiFieldEmbeddingLookup', 'operator' must be SUM, MEAN or MAX, but got {operator!r}."
            )
        self.operator = operator

    def construct(self, input_indices: Any, input_values: Any, field_ids: Any) -> Any:  # type: ignore[override]
        rows = super().construct(input_indices) * ops.expand_dims(input_values, -1)
        fields = Tensor(np.arange(self.field_size), mstype.int32)
        member = ops.equal(ops.expand_dims(ops.cast(field_ids, mstype.int32), 1), ops.reshape(fields, (1, -1, 1)))
        if self.operator == "MAX":
            spread = ops.expand_dims(rows, 1)
            return ops.ReduceMax()(ops.select(ops.expand_dims(member, -1), spread, ops.zeros_like(spread)), 2)
        weights = ops.cast(member, rows.dtype)
        total = ops.matmul(weights, rows)
        if self.operator == "SUM":
            return total
        counts = ops.ReduceSum(True)(ops.matmul(weights, ops.expand_dims(ops.cast(input_values, rows.dtype), -1)), -1)
        return total / ops.maximum(counts, 1e-12)
