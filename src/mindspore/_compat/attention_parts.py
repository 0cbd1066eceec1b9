"""Pieces of multi-head attention and of resizing that other libraries import from `ops.function.nn_func`.

They have the official names because programs call them by these; `_compat/operators.py` finds them.
"""

from __future__ import annotations

import math
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.dropouts import dropout
from mindspore.ops.functional import linear


def _inner_dropout(x: Any, p: float, training: bool) -> Tensor:
    """Dropout in training, else the input."""
    return dropout(x, p, training) if training and p > 0 else x


def _scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, is_training: bool, dtype: Any
) -> tuple[Tensor, Tensor]:
    """softmax(q kᵀ / √d + mask) v, and the weights themselves; with `is_causal` a query sees what came before it."""
    scores = F.matmul(query, F.swapaxes(key, -2, -1)) / math.sqrt(query.shape[-1])
    if is_causal:
        scores = F.where(F.tril(F.ones(scores.shape[-2:], mstype.bool_)), scores, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = _inner_dropout(F.softmax(scores, -1), dropout_p, is_training)
    return F.matmul(weights, value), weights


def _inner_pad(x: Any, padding: Any, value: Any = None) -> Tensor:
    """`ops.pad`, also of truth values."""
    if x.dtype is not mstype.bool_:
        return F.pad(x, padding, value=value)
    return F.cast(F.pad(F.cast(x, mstype.int32), padding, value=value), mstype.bool_)


def _innner_log_softmax(inputs: Any, axis: int) -> Tensor:
    """Logarithms of softmax along an axis."""
    return inputs - F.logsumexp(inputs, axis, True)


def _in_projection(
    q: Any, k: Any, v: Any, w_q: Any, w_k: Any, w_v: Any, b_q: Any = None, b_k: Any = None, b_v: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, each by a matrix of its own."""
    width = q.shape[-1]
    parts = (("query", q, w_q, b_q), ("key", k, w_k, b_k), ("value", v, w_v, b_v))
    for name, x, weight, bias in parts:
        if weight.shape != (width, x.shape[-1]):
            raise ValueError(f"The {name} weight must have the shape {(width, x.shape[-1])}, but got {weight.shape}.")
        if bias is not None and bias.shape != (width,):
            raise ValueError(f"The {name} bias must have the shape {(width,)}, but got {bias.shape}.")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q: Any, k: Any, v: Any, w: Any, b: Any, k_is_v: bool, q_is_k: bool) -> tuple[Tensor, ...]:
    """Queries, keys and values by the three thirds of one matrix; fewer products where the inputs are the same."""
    width = q.shape[-1]
    if k_is_v and q_is_k:
        return tuple(F.chunk(linear(q, w, b), 3, -1))
    if k_is_v:
        rest = linear(k, w[width:], None if b is None else b[width:])
        return (linear(q, w[:width], None if b is None else b[:width]), *F.chunk(rest, 2, -1))
    biases = (None,) * 3 if b is None else F.chunk(b, 3)
    return tuple(linear(x, part, bias) for x, part, bias in zip((q, k, v), F.chunk(w, 3), biases))


def _check_qkv_shape(query_ndim: int, key_ndim: int, value_ndim: int) -> bool:
    """Whether the inputs of attention are batches: all three have 3 dimensions, or all have 2."""
    if query_ndim not in (2, 3):
        raise ValueError(f"The 'query' must have 2 or 3 dimensions, but got {query_ndim}.")
    if key_ndim != query_ndim or value_ndim != query_ndim:
        raise ValueError(
            f"The 'key' and 'value' must have {query_ndim} dimensions as the 'query' has, but got {key_ndim} and "
            f"{value_ndim}."
        )
    return query_ndim == 3


def _check_kpm_shape(query_ndim: int, kmp_ndim: int) -> None:
    """The padding mask of keys has one dimension less than the query."""
    if kmp_ndim != query_ndim - 1:
        raise ValueError(f"The 'key_padding_mask' must have {query_ndim - 1} dimensions, but got {kmp_ndim}.")


def _check_attn_mask_shape(
    query_ndim: int, query_shape: tuple, key_shape: tuple, attn_mask_ndim: int, attn_mask_shape: tuple, num_heads: int
) -> None:
    """An attention mask has 2 dimensions, or 3; without a batch the 3 are (heads, queries, keys)."""
    if attn_mask_ndim not in (2, 3):
        raise ValueError(f"The 'attn_mask' must have 2 or 3 dimensions, but got {attn_mask_ndim}.")
    if query_ndim == 2 and attn_mask_ndim == 3:
        wanted = (num_heads, query_shape[0], key_shape[0])
        if tuple(attn_mask_shape) != wanted:
            raise ValueError(f"The 'attn_mask' must have the shape {wanted}, but got {tuple(attn_mask_shape)}.")


def _interploate_ext_make_tuple(input: Any, value: Any) -> Any:
    """One number per spatial dimension."""
    return value if isinstance(value, (list, tuple)) else (value,) * (input.ndim - 2)


def _interpolate_ext_scale_factor_convert_size(input: Any, scale_factor: Any) -> tuple[int, ...]:
    """The sizes that scale factors lead to."""
    return tuple(math.floor(n * factor) for n, factor in zip(input.shape[2:], scale_factor))


__all__ = [
    "_check_attn_mask_shape", "_check_kpm_shape", "_check_qkv_shape", "_in_projection", "_in_projection_packed",
    "_inner_dropout", "_inner_pad", "_innner_log_softmax", "_interploate_ext_make_tuple",
    "_interpolate_ext_scale_factor_convert_size",
]  # fmt: skip
