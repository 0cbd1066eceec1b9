"""Multi-head attention of the 1.x transformer, with its memory of past keys and values for incremental prediction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.dropout import Dropout
from mindspore.nn.transformer.layers import _Linear
from mindspore.nn.transformer.op_parallel_config import default_dpmp_config

#: added to the scores of masked places
_MASKED = -10000.0


class MultiHeadAttention(Cell):
    """Attention of (batch, length, size) or (batch · length, size) inputs; masks are 1 where a key may be attended to.

    Gives the output and (keys (batch, heads, depth, length), values (batch, heads, length, depth)). With `use_past` the
    first call (`add_flags_recursive(is_first_iteration=True)`) takes the whole prompt, later ones one token each, whose
    key and value are put behind those that `key_past` and `value_past` hold.
    """

    def __init__(
        self, batch_size: Any, src_seq_length: int, tgt_seq_length: int, hidden_size: int, num_heads: int,
        hidden_dropout_rate: float = 0.1, attention_dropout_rate: float = 0.1, compute_dtype: Any = mstype.float16,
        softmax_compute_type: Any = mstype.float32, param_init_type: Any = mstype.float32, use_past: bool = False,
        parallel_config: Any = default_dpmp_config,
    ):  # fmt: skip
        super().__init__()
        if hidden_size % num_heads:
            raise ValueError(
                f"For 'MultiHeadAttention', 'hidden_size' must be a multiple of 'num_heads', "
                f"but got {hidden_size} and {num_heads}."
            )
        self.src_seq_length, self.tgt_seq_length = src_seq_length, tgt_seq_length
        self.hidden_size, self.n_head, self.size_per_head = hidden_size, num_heads, hidden_size // num_heads
        self.dtype, self.softmax_dtype = compute_dtype, softmax_compute_type
        self.use_past, self.is_first_iteration = use_past, True

        def linear(transpose_b: bool = True) -> _Linear:
            return _Linear(
                hidden_size, hidden_size, transpose_b=transpose_b, compute_dtype=compute_dtype,
                param_init_type=param_init_type,
            )  # fmt: skip

        self.projection = linear(False)
        self.dense1, self.dense2, self.dense3 = linear(), linear(), linear()
        self.dropout = Dropout(p=hidden_dropout_rate)
        self.prob_dropout = Dropout(p=attention_dropout_rate)
        self.range = Tensor(np.arange(tgt_seq_length), mstype.int32)

    def construct(
        self, query_tensor: Tensor, key_tensor: Any, value_tensor: Any, attention_mask: Any, key_past: Any = None,
        value_past: Any = None, batch_valid_length: Any = None,
    ) -> Any:  # fmt: skip
        step = self.use_past and not self.is_first_iteration
        length = 1 if step else self.src_seq_length
        batch = query_tensor.shape[0] if step or query_tensor.ndim == 3 else query_tensor.shape[0] // length
        query = self._heads(self.dense1(ops.cast(query_tensor, self.dtype)), batch)
        key = ops.swapaxes(self._heads(self.dense2(ops.cast(key_tensor, self.dtype)), batch), 2, 3)
        value = self._heads(self.dense3(ops.cast(value_tensor, self.dtype)), batch)
        if attention_mask is not None and attention_mask.ndim == 3:
            attention_mask = ops.expand_dims(attention_mask, 1)
        present = (key, value)
        if step:
            key, value, attention_mask = self._append(key, value, key_past, value_past)
            present = (key, value)
        elif self.use_past:
            alive = ops.cast(ops.less(self.range, ops.reshape(batch_valid_length, (-1, 1, 1, 1))), self.dtype)
            present = (key * alive, value * ops.swapaxes(alive, 2, 3))
        merged = self._attend(query, key, value, attention_mask)
        out = self.dropout(self.projection(merged))
        return ops.cast(ops.reshape(out, query_tensor.shape), query_tensor.dtype), present

    def _heads(self, x: Any, batch: Any) -> Any:
        """(batch, heads, length, depth)."""
        return ops.transpose(ops.reshape(x, (batch, -1, self.n_head, self.size_per_head)), (0, 2, 1, 3))

    def _append(self, key: Any, value: Any, key_past: Any, value_past: Any) -> Any:
        """The past with one token more, and the mask of what is there."""
        used = ops.ReduceSum()(ops.cast(ops.not_equal(key_past[:, 0, 0, :], 0.0), mstype.int32), 1)
        used = ops.reshape(used, (-1, 1, 1, 1))
        here = ops.cast(ops.equal(self.range, used), key.dtype)
        key = key_past + key * here
        value = value_past + value * ops.swapaxes(here, 2, 3)
        return key, value, ops.cast(ops.less_equal(self.range, used), mstype.float32)

    def _attend(self, query: Any, key: Any, value: Any, mask: Any) -> Any:
        """softmax(q k / √depth + mask) v, heads side by side."""
        scores = ops.cast(ops.matmul(query / math.sqrt(self.size_per_head), key), self.softmax_dtype)
        if mask is not None:
            scores = scores + (1.0 - ops.cast(mask, scores.dtype)) * _MASKED
        shares = ops.cast(ops.softmax(scores, -1), value.dtype)
        out = ops.matmul(self.prob_dropout(shares), value)
        return ops.reshape(ops.transpose(out, (0, 2, 1, 3)), (-1, self.hidden_size))
