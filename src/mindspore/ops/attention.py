"""Attention as functions: scaled dot-product, flash-attention interfaces, multi-head attention, rotary positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    cast,
    refuse_given,
    require_float,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.ops.dropouts import dropout
from mindspore.ops.mask_bits import unpacked
from mindspore.ops.product import dense
from mindspore.prims import elementwise as _ew
from mindspore.prims.activation import Softmax
from mindspore.prims.arrays import Concat, ExpandDims, GetItem, Transpose
from mindspore.prims.attention import MASKED, Attention, causal_bias
from mindspore.prims.attention_dropout import DropoutAttention
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.reduction import ReduceMean
from mindspore.prims.values import TensorBase, from_array

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "flash_attention_score", "multi_head_attention_forward", "prompt_flash_attention", "ring_attention_update",
    "rotary_position_embedding",
    "scaled_dot_product_attention", "speed_fusion_attention",
]  # fmt: skip


#: from this many queries on, attention with dropout keeps no scores for its backward pass
LONG = 512


def additive_mask(mask: Tensor, dtype: DType | None, masked_where_true: bool) -> Any:
    """A mask as numbers to add to scores: float masks as they are, others by which elements are left out."""
    if mask.dtype.kind == "f":
        return mask
    chosen = mask if mask.dtype is mstype.bool_ else _ew.NotEqual()(mask, 0)
    out = chosen if masked_where_true else _ew.LogicalNot()(chosen)
    return cast(out, dtype) * float(np.finfo(np.float16).min if dtype is mstype.float16 else MASKED)


def attend(q: Tensor, k: Tensor, v: Any, bias: Tensor | None, scale: float, causal: bool, p: float = 0.0, ring: bool = False) -> Any:
    """softmax(scale q kᵀ + bias) v; with dropout of the probabilities if p > 0.

    `ring`: over devices that share a sequence, keys and values travel from one to the next.
    """
    if not p:
        return Attention(scale, causal, ring)(q, k, v, bias)
    if q.shape[-2] > LONG and p < 1:
        return DropoutAttention(scale, causal, 1 - p)(q, k, v, bias, next_key())
    scores = BatchMatMul(False, True)(q * scale, k)
    scores = scores if bias is None else scores + bias
    if causal:
        scores = scores + from_array(causal_bias(q.shape[-2], k.shape[-2], scores.dtype.np))
    return BatchMatMul()(dropout(Softmax(-1)(scores), p), v)


def repeat_heads(x: Tensor, times: int) -> Any:
    """(B, N, S, D) to (B, N times, S, D): each key-value head serves several query heads."""
    if times == 1:
        return x
    b, n, s, d = x.shape
    return Reshape()(BroadcastTo((b, n, times, s, d))(ExpandDims()(x, 2)), (b, n * times, s, d))


def attend_by_groups(
    q: Any, k: Any, v: Any, bias: Any, scale: float, causal: bool, p: float = 0.0, ring: bool = False
) -> Any:
    """`attend` of (B, N, S, D), where each head of keys and values may serve several heads of queries.

    With one query, those of a group are rows of one product, and keys and values are read once. With more, they are repeated.
    """
    b, heads, queries, depth = q.shape
    groups = k.shape[1]
    times = heads // groups
    if times == 1 or queries > 1 or causal or p:
        return attend(q, repeat_heads(k, times), repeat_heads(v, times), bias, scale, causal, p, ring)
    if bias is not None and bias.ndim == 4 and bias.shape[1] == heads:
        bias = Reshape()(bias, (bias.shape[0], groups, times, bias.shape[3]))
    mixed = attend(Reshape()(q, (b, groups, times, depth)), k, v, bias, scale, False)
    return Reshape()(mixed, (b, heads, queries, v.shape[-1]))


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Any, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(scale q kᵀ + mask) v for (…, heads, length, size).

    A bool mask is true where a key may be attended to; a float mask is added to the scores.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> q = ms.Tensor(np.ones((1, 2, 3, 4), np.float32))
        >>> ms.ops.scaled_dot_product_attention(q, q, q, is_causal=True).shape
        (1, 2, 3, 4)
    """
    require_rank("scaled_dot_product_attention", "value", value, 2)
    require_rank("scaled_dot_product_attention", "key", key, 2)
    require_rank("scaled_dot_product_attention", "query", query, 2)
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        require_float("scaled_dot_product_attention", name, tensor)
    if attn_mask is not None and is_causal:
        raise ValueError("For 'scaled_dot_product_attention', 'attn_mask' must be None when 'is_causal' is True.")
    bias = None if attn_mask is None else additive_mask(attn_mask, query.dtype, False)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if is_causal and query.shape[-2] != key.shape[-2]:
        late = np.arange(key.shape[-2])[None, :] > np.arange(query.shape[-2])[:, None]
        bias, is_causal = cast(from_array(np.where(late, MASKED, 0.0).astype(np.float32)), query.dtype), False
    how = attend_by_groups if enable_gqa and query.ndim == 4 else attend
    return how(query, key, value, bias, factor, is_causal, dropout_p)


# -- flash attention interfaces ---------------------------------------------------------------------------------------
_TO_HEADS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3)}


def to_heads(x: Tensor, layout: str, heads: int) -> Any:
    """(B, N, S, D) from any layout."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return Transpose()(x, (0, 2, 1, 3))
    if layout == "SBH":
        x = Transpose()(x, (1, 0, 2))
    b, s, width = x.shape
    return Transpose()(Reshape()(x, (b, s, heads, width // heads)), (0, 2, 1, 3))


def from_heads(x: Tensor, layout: str) -> Any:
    """Back from (B, N, S, D)."""
    if layout == "BNSD":
        return x
    x = Transpose()(x, (0, 2, 1, 3))
    if layout == "BSND":
        return x
    b, s, n, d = x.shape
    x = Reshape()(x, (b, s, n * d))
    return Transpose()(x, (1, 0, 2)) if layout == "SBH" else x


def _sparse_bias(mode: int, queries: int, keys: int, before: int, after: int) -> np.ndarray | None:
    """The mask that `sparse_mode` stands for, as numbers to add; None where the given mask is the whole truth."""
    row, column = np.arange(queries)[:, None], np.arange(keys)[None, :]
    shift = keys - queries
    if mode == 0:
        if before >= keys and after >= keys:
            return None
        outside = (column > row + after) | (column < row - before)
    elif mode == 2:
        outside = column > row
    elif mode == 3:
        outside = column > row + shift
    elif mode == 4:
        outside = (column > row + shift + after) | (column < row + shift - before)
    else:
        return None
    return np.where(outside, MASKED, 0.0).astype(np.float32)


def flash_attention_score(
    query: Tensor, key: Tensor, value: Any, head_num: int, real_shift: Any = None, drop_mask: Any = None,
    padding_mask: Any = None, attn_mask: Any = None, prefix: Any = None, actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None, keep_prob: float = 1.0, scalar_value: float = 1.0, pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647, inner_precise: int = 0, input_layout: str = "BSH", sparse_mode: int = 0,
) -> Tensor:  # fmt: skip
    """Attention without keeping the matrix of scores.

    Args:
        head_num: query heads; keys and values may have fewer, each shared by several query heads.
        real_shift: numbers added to the scores.
        attn_mask: 1 (or true) where a key must not be attended to.
        keep_prob: probability with which attention probabilities survive dropout.
        input_layout: BSH, SBH, BSND, BNSD, or TND (packed sequences, whose ends `actual_seq_*len` gives).
        sparse_mode: 0 mask as given, 1 whole mask, 2 causal from the left, 3 causal from the right, 4 band.

    Examples:
        >>> x = ops.ones((1, 2, 4, 8), ms.float16)
        >>> ops.flash_attention_score(x, x, x, head_num=2, input_layout="BNSD").shape
        (1, 2, 4, 8)
    """
    refuse_given("flash_attention_score", padding_mask=padding_mask, prefix=prefix)
    return flash_attention(
        query, key, value, head_num, real_shift, drop_mask, attn_mask, actual_seq_qlen, actual_seq_kvlen, keep_prob,
        scalar_value, pre_tokens, next_tokens, input_layout, sparse_mode,
    )  # fmt: skip


def flash_attention(
    query: Tensor, key: Tensor, value: Any, head_num: int, real_shift: Any, drop_mask: Any, attn_mask: Any,
    actual_seq_qlen: Any, actual_seq_kvlen: Any, keep_prob: float, scalar_value: float, pre_tokens: int, next_tokens: int,
    input_layout: str, sparse_mode: int, ring: bool = False, key_lengths: Any = None,
) -> Tensor:  # fmt: skip
    """`flash_attention_score`; `ring`: keys travel between devices that share a sequence; `key_lengths`: of each sample, the keys
    behind are left out.
    """
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        require_tensor("flash_attention_score", name, tensor)
    if input_layout not in ("BSH", "SBH", "BNSD", "BSND", "TND"):
        raise ValueError(
            f"For 'flash_attention_score', 'input_layout' {input_layout!r} is not one of BSH, SBH, BNSD, BSND, TND."
        )
    if not 0 < keep_prob <= 1:
        raise ValueError(f"For 'flash_attention_score', 'keep_prob' must be in range (0, 1], but got {keep_prob}.")
    options = (scalar_value, keep_prob, drop_mask, pre_tokens, next_tokens, sparse_mode, ring, key_lengths)
    if input_layout == "TND":
        ends = static_ints("flash_attention_score", "actual_seq_qlen", actual_seq_qlen)
        key_ends = static_ints("flash_attention_score", "actual_seq_kvlen", actual_seq_kvlen)
        return _packed(query, key, value, ends, key_ends, real_shift, attn_mask, options)
    if not input_layout.endswith("D") and (head_num < 1 or query.shape[-1] % head_num):
        raise ValueError(
            f"For 'flash_attention_score', 'head_num' must divide the last dimension of 'query', but got {head_num} and "
            f"shape {query.shape}."
        )
    depth = query.shape[-1] if input_layout.endswith("D") else query.shape[-1] // head_num
    kv_heads = key.shape[-1] // depth
    q = to_heads(query, input_layout, head_num)
    k, v = (to_heads(x, input_layout, kv_heads) for x in (key, value))
    return from_heads(_flash(q, k, v, real_shift, attn_mask, options), input_layout)


def _flash(q: Tensor, k: Tensor, v: Tensor, shift: Any, mask: Any, options: tuple) -> Any:
    """Attention of (B, N, S, D) with masks and dropout."""
    scale, keep_prob, drop_mask, before, after, mode, ring, key_lengths = options
    bias = None
    pattern = _sparse_bias(mode, q.shape[2], k.shape[2], before, after)
    if mask is not None and mode in (0, 1):
        bias = additive_mask(_four_dimensions(mask), q.dtype, True)
    if pattern is not None and not (mode == 0 and mask is not None):
        fixed = cast(from_array(pattern), q.dtype)
        bias = fixed if bias is None else bias + fixed
    if key_lengths is not None:
        behind = keys_behind(key_lengths, k.shape[2], q.dtype)
        bias = behind if bias is None else bias + behind
    if shift is not None:
        # The shift is added before scaling; the primitive adds after it.
        bias = shift * scale if bias is None else bias + shift * scale
    if keep_prob == 1:
        return attend_by_groups(q, k, v, bias, scale, False, ring=ring)
    if drop_mask is None:
        return attend_by_groups(q, k, v, bias, scale, False, 1 - keep_prob)
    times = q.shape[1] // k.shape[1]
    k, v = repeat_heads(k, times), repeat_heads(v, times)
    scores = BatchMatMul(False, True)(q * scale, k)
    p = Softmax(-1)(scores if bias is None else scores + bias)
    return BatchMatMul()(p * cast(unpacked(drop_mask, p.shape), p.dtype) * (1 / keep_prob), v)


def is_within(lengths: Any, count: int) -> Any:
    """Of each of `count` places, whether it is within the length of a sample: (batch, count)."""
    ends = lengths if isinstance(lengths, TensorBase) else from_array(np.asarray(lengths, np.int64))
    return _ew.Less()(from_array(np.arange(count)[None]), Reshape()(cast(ends, mstype.int64), (-1, 1)))


def keys_behind(lengths: Any, count: int, dtype: DType) -> Any:
    """Numbers to add to scores, so that keys behind the length of a sample are left out."""
    late = _ew.LogicalNot()(is_within(lengths, count))
    return Reshape()(additive_mask(late, dtype, True), (-1, 1, 1, count))


def _without_padding(out: Tensor, layout: str, lengths: Any) -> Any:
    """Zeros for the queries behind the length of a sample."""
    samples, places = (1, 0) if layout == "SBH" else (0, layout.index("S"))
    within = is_within(lengths, out.shape[places])
    shape = [1] * out.ndim
    shape[samples], shape[places] = -1, out.shape[places]
    within = Transpose()(within, (1, 0)) if samples else within
    return _ew.Select()(Reshape()(within, tuple(shape)), out, _ew.ZerosLike()(out))


def _four_dimensions(mask: Tensor) -> Any:
    """A mask of (batch, queries, keys) or (queries, keys), the same for all heads."""
    while mask.ndim < 4:
        mask = ExpandDims()(mask, 0 if mask.ndim == 2 else 1)
    return mask


def _packed(q: Any, k: Any, v: Any, ends: tuple, key_ends: tuple, shift: Any, mask: Any, options: tuple) -> Any:
    """Each of the sequences packed into (T, N, D) attends to itself."""
    parts = []
    for (a, b), (c, d) in zip(_spans(ends), _spans(key_ends)):
        own_q, own_k, own_v = (
            ExpandDims()(Transpose()(GetItem((slice(i, j),))(x), (1, 0, 2)), 0)
            for x, i, j in ((q, a, b), (k, c, d), (v, c, d))
        )
        own = None if mask is None or options[5] != 0 else GetItem((slice(a, b), slice(c, d)))(mask)
        parts.append(Transpose()(GetItem((0,))(_flash(own_q, own_k, own_v, shift, own, options)), (1, 0, 2)))
    return Concat(0)(parts)


def _spans(ends: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip((0, *ends[:-1]), ends))


def prompt_flash_attention(
    query: Tensor, key: Tensor, value: Any, attn_mask: Any = None, actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None, pse_shift: Any = None, deq_scale1: Any = None, quant_scale1: Any = None,
    deq_scale2: Any = None, quant_scale2: Any = None, quant_offset2: Any = None, num_heads: int = 1,
    scale_value: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 0, input_layout: str = "BSH",
    num_key_value_heads: int = 0, sparse_mode: int = 0, inner_precise: int = 1,
) -> Tensor:  # fmt: skip
    """Attention over a whole prompt, for inference. `actual_seq_lengths` and `actual_seq_lengths_kv` say how many queries and keys of
    each sample there are; what is behind is left out, and its results are zeros.

    Examples:
        >>> x = ops.ones((1, 4, 16), ms.float16)
        >>> ops.prompt_flash_attention(x, x, x, num_heads=2).shape
        (1, 4, 16)
    """
    if any(v is not None for v in (deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2)):
        raise ValueError("For 'prompt_flash_attention', quantised inputs are not supported.")
    out = flash_attention(
        query, key, value, num_heads, pse_shift, None, attn_mask, None, None, 1.0, scale_value, pre_tokens, next_tokens, input_layout,
        sparse_mode, key_lengths=actual_seq_lengths_kv,
    )  # fmt: skip
    return out if actual_seq_lengths is None else _without_padding(out, input_layout, actual_seq_lengths)


def speed_fusion_attention(
    query: Tensor, key: Tensor, value: Any, head_num: int, input_layout: str, *, pse: Any = None,
    padding_mask: Any = None,
    atten_mask: Any = None, scale: float = 1.0, keep_prob: float = 1.0, pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647, inner_precise: int = 0, prefix: Any = None, actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None, sparse_mode: int = 0, gen_mask_parallel: bool = True, sync: bool = False,
    pse_type: int = 1, q_start_idx: Any = None, kv_start_idx: Any = None,
) -> tuple:  # fmt: skip
    """`flash_attention_score` under the name and arguments of a fused kernel; the attention is the first result.

    Examples:
        >>> x = ops.ones((1, 4, 8), ms.float16)
        >>> ops.speed_fusion_attention(x, x, x, 2, "BSH")[0].shape
        (1, 4, 8)
    """
    refuse_given("speed_fusion_attention", pse_type=pse_type - 1, q_start_idx=q_start_idx, kv_start_idx=kv_start_idx)
    out = flash_attention_score(
        query, key, value, head_num, pse, None, padding_mask, atten_mask, prefix, actual_seq_qlen, actual_seq_kvlen,
        keep_prob, scale, pre_tokens, next_tokens, inner_precise, input_layout, sparse_mode,
    )  # fmt: skip
    empty = from_array(np.zeros((1,), np.float32))
    return out, empty, empty, empty, 0, 0, 0


def ring_attention_update(
    prev_attn_out: Tensor, prev_softmax_max: Any, prev_softmax_sum: Any, cur_attn_out: Any, cur_softmax_max: Any,
    cur_softmax_sum: Any, actual_seq_qlen: Any = None, layout: str = "SBH",
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Two partial attentions over different keys, joined: (attention, maximum, sum).

    Maxima and sums are (B, N, S, copies) for SBH attentions (S, B, H), (T, N, copies) for TND attentions (T, N, D).

    Examples:
        >>> out, high, total = ops.ones((1, 1, 4)), ops.zeros((1, 1, 1, 8)), ops.ones((1, 1, 1, 8))
        >>> out, high, total = ops.ring_attention_update(out, high, total, 3 * out, high, total)
        >>> print(out)
        [[[2. 2. 2. 2.]]]
    """
    if layout not in ("SBH", "TND"):
        raise ValueError(f"For 'ring_attention_update', 'layout' must be SBH or TND, but got {layout!r}.")
    top = _ew.Maximum()(prev_softmax_max, cur_softmax_max)
    before, now = (
        _ew.Exp()(prev_softmax_max - top) * prev_softmax_sum,
        _ew.Exp()(cur_softmax_max - top) * cur_softmax_sum,
    )
    total = before + now
    first, second = (GetItem((..., slice(0, 1)))(part / total) for part in (before, now))
    if layout == "SBH":
        first, second = (Transpose()(share, (2, 0, 1, 3)) for share in (first, second))
    shape = (*first.shape[:-1], -1)
    parts = [Reshape()(x, shape) * cast(w, x.dtype) for x, w in ((prev_attn_out, first), (cur_attn_out, second))]
    return Reshape()(parts[0] + parts[1], prev_attn_out.shape), top, total


def rotary_position_embedding(x: Tensor, cos: Tensor, sin: Tensor, mode: int = 0) -> Tensor:
    """x cos + rotate(x) sin: mode 0 rotates the halves of the last dimension, mode 1 neighbouring pairs (Su et al. 2021).

    Examples:
        >>> x = Tensor([[[[1.0, 2.0]]]])
        >>> print(ops.rotary_position_embedding(x, ops.zeros((1, 1, 1, 2)), ops.ones((1, 1, 1, 2))))
        [[[[-2.  1.]]]]
    """
    require_rank("rotary_position_embedding", "x", x, 1)
    require_operands("rotary_position_embedding", cos=cos, sin=sin)
    require_tensors("rotary_position_embedding", x=x)
    half = x.shape[-1] // 2
    if mode == 0:
        turned = Concat(-1)((-GetItem((..., slice(half, None)))(x), GetItem((..., slice(0, half)))(x)))
    elif mode == 1:
        pairs = Reshape()(x, (*x.shape[:-1], half, 2))
        swapped = Concat(-1)((-GetItem((..., slice(1, 2)))(pairs), GetItem((..., slice(0, 1)))(pairs)))
        turned = Reshape()(swapped, x.shape)
    else:
        raise ValueError(f"For 'rotary_position_embedding', 'mode' must be 0 or 1, but got {mode!r}.")
    return x * cos + turned * sin


# -- multi-head attention -----------------------------------------------------------------------------------------------
def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any,
    in_proj_bias: Tensor | None,
    bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Any,
    training: bool = True, key_padding_mask: Any = None, attn_mask: Any = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None, static_k: Any = None,
    static_v: Any = None, average_attn_weights: bool = True, k_is_v: bool = False, q_is_k: bool = False,
    need_weights: bool = True, dtype: DType = mstype.float32,
) -> tuple:  # fmt: skip
    """Multi-head attention of (length, batch, size): the output and, if needed, the attention weights.

    `key_padding_mask` and a bool `attn_mask` are true where a key must not be attended to.

    Examples:
        >>> x = ops.ones((3, 1, 4))
        >>> inward, outward = (ops.ones((12, 4)), ops.zeros(12)), (ops.ones((4, 4)), ops.zeros(4))
        >>> out, weight = ops.multi_head_attention_forward(x, x, x, 4, 2, *inward, None, None, False, 0.0, *outward)
        >>> out.shape, weight.shape
        ((3, 1, 4), (1, 3, 3))
    """
    require_rank("multi_head_attention_forward", "value", value, 3, 3)
    require_rank("multi_head_attention_forward", "key", key, 3, 3)
    require_rank("multi_head_attention_forward", "query", query, 3, 3)
    require_tensors(
        "multi_head_attention_forward",
        query=query,
        key=key,
        value=value,
        in_proj_weight=in_proj_weight,
        out_proj_weight=out_proj_weight,
    )
    _, batch, width = query.shape
    if width != embed_dim_to_check or width % num_heads:
        raise ValueError(
            f"For 'MultiheadAttention', the size of 'query' must be {embed_dim_to_check}, a multiple "
            f"of {num_heads} heads, "
            f"but its shape is {query.shape}."
        )
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else _thirds(in_proj_weight)
    biases = (None,) * 3 if in_proj_bias is None else _thirds(in_proj_bias)
    q, k, v = (dense(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
    if bias_k is not None:
        k, v = (Concat(0)((x, BroadcastTo((1, batch, x.shape[-1]))(b))) for x, b in ((k, bias_k), (v, bias_v)))
    q, k, v = (_split_heads(x, num_heads) for x in (q, k, v))
    k, v = (_static_heads(x, s, num_heads) for x, s in ((k, static_k), (v, static_v)))
    if add_zero_attn:
        zeros = [from_array(np.zeros((*x.shape[:2], 1, x.shape[-1]), x.dtype.np)) for x in (k, v)]
        k, v = (Concat(2)((x, z)) for x, z in zip((k, v), zeros))
    extra = (bias_k is not None) + bool(add_zero_attn)
    bias = _attention_bias(attn_mask, key_padding_mask, q, extra)
    scale = 1 / math.sqrt(width // num_heads)
    p = dropout_p if training else 0.0
    if not need_weights:
        return _join_heads(attend(q, k, v, bias, scale, False, p), out_proj_weight, out_proj_bias), None
    scores = BatchMatMul(False, True)(q * scale, k)
    shares = Softmax(-1)(scores if bias is None else scores + bias)
    out = BatchMatMul()(dropout(shares, p) if p else shares, v)
    shown = ReduceMean()(shares, 1) if average_attn_weights else shares
    return _join_heads(out, out_proj_weight, out_proj_bias), shown


def _thirds(x: Tensor) -> tuple:
    n = x.shape[0] // 3
    return tuple(GetItem((slice(i * n, (i + 1) * n),))(x) for i in range(3))


def _split_heads(x: Tensor, heads: int) -> Any:
    """(length, batch, size) to (batch, heads, length, size / heads)."""
    length, batch, width = x.shape
    return Transpose()(Reshape()(x, (length, batch, heads, width // heads)), (1, 2, 0, 3))


def _static_heads(x: Tensor, static: Any, heads: int) -> Any:
    """`static`, (batch * heads, length, size / heads), in the place of keys or values, where there is one."""
    if static is None:
        return x
    batch, _, _, depth = x.shape
    require_rank("multi_head_attention_forward", "static_k and static_v", static, 3, 3)
    if static.shape[0] != batch * heads or static.shape[2] != depth:
        raise ValueError(
            f"For 'multi_head_attention_forward', 'static_k' and 'static_v' must have the shape ({batch * heads}, length, "
            f"{depth}), but got {static.shape}."
        )
    return Reshape()(static, (batch, heads, static.shape[1], depth))


def _join_heads(x: Tensor, weight: Tensor, bias: Tensor) -> Any:
    """(batch, heads, length, depth) to (length, batch, size), projected."""
    batch, heads, length, depth = x.shape
    return dense(Reshape()(Transpose()(x, (2, 0, 1, 3)), (length, batch, heads * depth)), weight, bias)


def _attention_bias(attn_mask: Any, padding: Any, q: Tensor, extra: int) -> Any:
    """Both masks as one tensor to add to the scores (batch, heads, target, source)."""
    batch, heads = q.shape[:2]
    bias = None
    if attn_mask is not None:
        bias = additive_mask(attn_mask, q.dtype, True)
        if bias.ndim == 3:
            bias = Reshape()(bias, (batch, heads, *bias.shape[1:]))
    if padding is not None:
        row = Reshape()(additive_mask(padding, q.dtype, True), (batch, 1, 1, padding.shape[-1]))
        bias = row if bias is None else bias + row
    if bias is not None and extra:
        from mindspore.ops.joining import pad

        bias = pad(bias, (0, extra))
    return bias
