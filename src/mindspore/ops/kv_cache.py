"""Attention over cached keys and values, for generating token by token: paged caches and one-token queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, refuse_given
from mindspore.ops.attention import (
    additive_mask,
    attend_by_groups,
    from_heads,
    keys_behind,
    prompt_flash_attention,
    to_heads,
)
from mindspore.ops.gather_scatter import gather
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Concat, ExpandDims, GetItem, Transpose
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.gather_scatter import TensorScatterUpdate
from mindspore.prims.inplace import update
from mindspore.prims.values import from_array

__all__ = ["fused_infer_attention_score", "incre_flash_attention", "paged_attention", "reshape_and_cache"]


def _store(rows: Tensor, cache: Tensor, slots: Tensor) -> None:
    """Write rows into a cache (blocks, block size, …) at their slots; negative slots are passed over."""
    places = cache.shape[0] * cache.shape[1]
    width = math.prod(cache.shape[2:])
    flat = Reshape()(cache, (places, width))
    spare = from_array(np.zeros((1, width), cache.dtype.np))  # what has no slot goes here
    slots = cast(Reshape()(slots, (-1,)), mstype.int64)
    target = ew.Select()(ew.Less()(slots, 0), ew.OnesLike()(slots) * places, slots)
    values = cast(Reshape()(rows, (-1, width)), cache.dtype)
    stored = TensorScatterUpdate()(Concat(0)((flat, spare)), ExpandDims()(target, -1), values)
    update(cache, Reshape()(GetItem((slice(0, places),))(stored), cache.shape))


def reshape_and_cache(
    key: Tensor,
    value: Any = None,
    key_cache: Tensor | None = None,
    value_cache: Tensor | None = None,
    slot_mapping: Tensor | None = None,
) -> Tensor:
    """Write the keys and values of tokens into block-wise caches in place, each at its slot; gives the keys.

    Examples:
        >>> key = ops.ones((1, 1, 2), ms.float16)
        >>> cache = Parameter(ops.zeros((2, 4, 1, 2), ms.float16), name="keys")
        >>> _ = ops.reshape_and_cache(key, None, cache, None, Tensor([5], ms.int32))
        >>> print(cache.asnumpy()[1, 1])
        [[1. 1.]]
    """
    if key_cache is None or slot_mapping is None:
        raise TypeError("For 'reshape_and_cache', 'key_cache' and 'slot_mapping' must be given.")
    _store(key, key_cache, slot_mapping)
    if value is not None and value_cache is not None:
        _store(value, value_cache, slot_mapping)
    return key


def _pages(cache: Tensor, block_tables: Tensor, heads: int) -> Any:
    """The blocks of each sequence, one after the other: (batch, heads, length, size)."""
    batch, blocks = block_tables.shape
    rows = gather(cache, ew.Maximum()(block_tables, 0), 0)
    rows = Reshape()(rows, (batch, blocks * cache.shape[1], heads, -1))
    return Transpose()(rows, (0, 2, 1, 3))


def paged_attention(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, block_tables: Tensor, context_lens: Tensor, head_num: int,
    scale_value: float = 1.0, kv_head_num: int = 1, bias: Any = None,
) -> Tensor:  # fmt: skip
    """Attention of one token per sequence to the first `context_lens` keys in its blocks of the cache.

    `bias` is added to the scores: (batch, length) or (batch, heads, 1, length).

    Examples:
        >>> query = ops.ones((1, 8), ms.float16)
        >>> cache = ops.ones((2, 4, 1, 8), ms.float16)
        >>> print(ops.paged_attention(query, cache, cache, Tensor([[0, 1]], ms.int32), Tensor([5], ms.int32), 1))
        [[1. 1. 1. 1. 1. 1. 1. 1.]]
    """
    batch = block_tables.shape[0]
    q = Reshape()(query, (batch, head_num, 1, -1))
    k, v = (_pages(cache, block_tables, kv_head_num) for cache in (key_cache, value_cache))
    length = k.shape[2]
    alive = ew.Less()(from_array(np.arange(length)), Reshape()(cast(context_lens, mstype.int64), (-1, 1)))
    added = ExpandDims()(ExpandDims()(additive_mask(alive, q.dtype, False), 1), 1)
    if bias is not None:
        if bias.ndim == 2:
            bias = ExpandDims()(ExpandDims()(bias, 1), 1)
        added = added + cast(bias, q.dtype)
    out = attend_by_groups(q, k, v, added, scale_value, False)
    return Reshape()(out, query.shape)


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, (tuple, list)) else value


def incre_flash_attention(
    query: Tensor, key: Any, value: Any, attn_mask: Any = None, actual_seq_lengths: Any = None, pse_shift: Any = None,
    dequant_scale1: Any = None, quant_scale1: Any = None, dequant_scale2: Any = None, quant_scale2: Any = None,
    quant_offset2: Any = None, antiquant_scale: Any = None, antiquant_offset: Any = None, block_table: Any = None,
    num_heads: int = 1, input_layout: str = "BSH", scale_value: float = 1.0, num_key_value_heads: int = 0,
    block_size: int = 0, inner_precise: int = 1, kv_padding_size: Any = None,
) -> Tensor:  # fmt: skip
    """Attention of one new token per sequence to the keys so far; masks are true where a key must not be attended to.

    Examples:
        >>> query, past = ops.ones((1, 1, 8), ms.float16), ops.ones((1, 5, 8), ms.float16)
        >>> ops.incre_flash_attention(query, [past], [past], num_heads=2).shape
        (1, 1, 8)
    """
    refuse_given("incre_flash_attention", kv_padding_size=kv_padding_size)
    quantised = (dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale)
    if any(v is not None for v in (*quantised, antiquant_offset)):
        raise ValueError("For 'incre_flash_attention', quantised inputs are not supported.")
    kv_heads, k, v = num_key_value_heads or num_heads, _single(key), _single(value)
    if block_table is not None:
        return paged_attention(query, k, v, block_table, actual_seq_lengths, num_heads, scale_value, kv_heads)
    q = to_heads(query, input_layout, num_heads)
    k, v = (to_heads(x, input_layout, kv_heads) for x in (k, v))
    bias = None if pse_shift is None else pse_shift * scale_value
    if attn_mask is not None:
        mask = Reshape()(additive_mask(attn_mask, q.dtype, True), (attn_mask.shape[0], 1, 1, -1))
        bias = mask if bias is None else bias + mask
    if actual_seq_lengths is not None:
        cut = keys_behind(actual_seq_lengths, k.shape[2], q.dtype)
        bias = cut if bias is None else bias + cut
    out = attend_by_groups(q, k, v, bias, scale_value, False)
    return from_heads(out, input_layout)


def fused_infer_attention_score(
    query: Tensor, key: Any, value: Any, *, pse_shift: Any = None, atten_mask: Any = None,
    actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None, block_table: Any = None, num_heads: int = 1, scale: float = 1.0,
    pre_tokens: int = 2147483647, next_tokens: int = 2147483647, input_layout: str = "BSH",
    num_key_value_heads: int = 0, sparse_mode: int = 0, inner_precise: int = 1, block_size: int = 0,
    softmax_lse_flag: bool = False, **others: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Attention for inference: of a whole prompt, or of one new token per sequence; the first result is the attention.

    Examples:
        >>> x = ops.ones((1, 2, 4, 8), ms.float16)
        >>> out, _ = ops.fused_infer_attention_score(x, x, x, num_heads=2, scale=0.35, input_layout="BNSD")
        >>> out.shape
        (1, 2, 4, 8)
    """
    given = sorted(name for name, v in others.items() if v is not None and not isinstance(v, int))
    if given or softmax_lse_flag:
        raise ValueError(f"For 'fused_infer_attention_score', {given or 'softmax_lse_flag'} is not supported.")
    keys, values = _single(key), _single(value)
    axis = {"BSH": 1, "BNSD": 2, "BSND": 1}.get(input_layout, 1)
    if query.shape[axis] == 1 or block_table is not None:
        out = incre_flash_attention(
            query, keys, values, atten_mask, actual_seq_lengths_kv, pse_shift, block_table=block_table,
            num_heads=num_heads, input_layout=input_layout, scale_value=scale,
            num_key_value_heads=num_key_value_heads,
        )  # fmt: skip
    else:
        out = prompt_flash_attention(
            query, keys, values, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, pse_shift, num_heads=num_heads,
            scale_value=scale, pre_tokens=pre_tokens, next_tokens=next_tokens, input_layout=input_layout, sparse_mode=sparse_mode,
        )  # fmt: skip
    return out, from_array(np.zeros(1, np.float32))
