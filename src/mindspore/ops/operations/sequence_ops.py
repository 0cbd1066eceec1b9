"""Recurrent and attention operations as classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ops import attention as att
from mindspore.ops import experts, kv_cache
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, refuse_given
from mindspore.ops.composition import REQUIRED, composition, plain
from mindspore.ops.gather_scatter import gather
from mindspore.ops.product import dense, matmul
from mindspore.prims import elementwise as ew
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Concat, GetItem, Stack, Transpose
from mindspore.prims.attention import cuts_dimension
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.mesh import constrained
from mindspore.prims.primitive import Primitive
from mindspore.prims.reduction import ReduceSum
from mindspore.prims.rnn import RecurrentSequence
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = [
    "ApplyRotaryPosEmb", "BasicLSTMCell", "DynamicGRUV2", "DynamicRNN", "FlashAttentionScore", "FusedAddTopKDiv",
    "FFNExt", "FusedInferAttentionScore", "GroupTopk", "GroupedMatmul", "GroupedMatmulV4", "IncreFlashAttention", "LSTM",
    "MoeComputeExpertTokens", "MoeFinalizeRouting",
    "MoeGatingTopKSoftmax", "MoeInitRouting", "MoeInitRoutingV2", "MoeTokenPermute", "MoeTokenUnpermute",
    "PagedAttention", "PagedAttentionMask", "PromptFlashAttention", "ReshapeAndCache",
]  # fmt: skip


# -- attention --------------------------------------------------------------------------------------------------------
class FlashAttentionScore(Primitive):
    """Attention without keeping the scores; the results are (…, …, …, attention), the first three for training.

    Examples:
        >>> x = ops.ones((1, 4, 8), ms.float16)
        >>> ops.FlashAttentionScore(head_num=2)(x, x, x, None, None, None, None)[3].shape
        (1, 4, 8)
    """

    def __init__(
        self, head_num: int, keep_prob: float = 1.0, scale_value: float = 1.0, pre_tokens: int = 2147483647,
        next_tokens: int = 2147483647, inner_precise: int = 0, input_layout: str = "BSH", sparse_mode: int = 0,
        enable_alibi: bool = False,
    ):  # fmt: skip
        refuse_given("FlashAttentionScore", enable_alibi=enable_alibi)
        super().__init__(
            "FlashAttentionScore", head_num=head_num, keep_prob=keep_prob, scale_value=scale_value,
            pre_tokens=pre_tokens, next_tokens=next_tokens, inner_precise=inner_precise, input_layout=input_layout,
            sparse_mode=sparse_mode,
        )  # fmt: skip

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, real_shift: Any = None, drop_mask: Any = None,
        padding_mask: Any = None,
        attn_mask: Any = None, prefix: Any = None, actual_seq_qlen: Any = None, actual_seq_kvlen: Any = None,
    ) -> tuple:  # fmt: skip
        refuse_given("FlashAttentionScore", padding_mask=padding_mask, prefix=prefix)
        strategy = self.attrs.get("in_strategy")
        if strategy is not None and ACTIVE.builder is not None:
            query, key, value = constrained(self.name, (query, key, value), strategy[:3])[0]
        out = att.flash_attention(
            query, key, value, self.head_num, real_shift, drop_mask, attn_mask, actual_seq_qlen, actual_seq_kvlen,
            self.keep_prob, self.scale_value, self.pre_tokens, self.next_tokens, self.input_layout, self.sparse_mode,
            ring=self._is_ring(),
        )  # fmt: skip
        empty = from_array(np.zeros((1,), np.float32))
        return empty, empty, empty, out

    def _is_ring(self) -> bool:
        """Whether keys and values, cut along the sequence as the queries are, go from device to device."""
        strategy, length = self.attrs.get("in_strategy"), self.input_layout.find("S")
        cut = strategy is not None and len(strategy) > 1 and length >= 0 and cuts_dimension(strategy[1], length)
        return bool(self.attrs.get("enable_ring_attention")) or cut


def _prompt_attention(
    p: Primitive, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, *rest: Any
) -> Any:
    names = ("num_heads", "scale_value", "pre_tokens", "next_tokens", "input_layout", "num_key_value_heads", "sparse_mode")
    return att.prompt_flash_attention(query, key, value, attn_mask, *rest, **{name: getattr(p, name) for name in names})


PromptFlashAttention = composition(
    "PromptFlashAttention", _prompt_attention, """Attention over a whole prompt.

    Examples:
        >>> x = ops.ones((1, 4, 16), ms.float16)
        >>> ops.PromptFlashAttention(2)(x, x, x).shape
        (1, 4, 16)
    """, num_heads=REQUIRED, scale_value=1.0,
    pre_tokens=2147483547, next_tokens=0, input_layout="BSH", num_key_value_heads=0, sparse_mode=0, inner_precise=1,
)  # fmt: skip


def _apply_rotary(
    p: Any, query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, position_ids: Tensor | None = None
) -> tuple:
    return tuple(att.rotary_position_embedding(x, cos, sin) for x in (query, key))


def apply_rotary_pos_emb_(
    query: Tensor, key: Any, cos: Any, sin: Any, position_ids: Any = None, cos_format: int = 0
) -> tuple:
    """Rotary positions of queries and keys."""
    return _apply_rotary(None, query, key, cos, sin, position_ids)


ApplyRotaryPosEmb = composition(
    "ApplyRotaryPosEmb", _apply_rotary, """Rotary positions of queries and keys.

    Examples:
        >>> query = key = ops.ones((1, 1, 4), ms.float16)
        >>> cos, sin = ops.zeros((1, 4), ms.float16), ops.ones((1, 4), ms.float16)
        >>> turned, _ = ops.ApplyRotaryPosEmb()(query, key, cos, sin, Tensor([0], ms.int32))
        >>> print(turned)
        [[[-1. -1.  1.  1.]]]
    """, cos_format=0
)


def _paged(
    p: Any, query: Tensor, key_cache: Any, value_cache: Any, block_tables: Any, context_lens: Any, *rest: Any
) -> Any:
    names = ("antiquant_scale", "antiquant_offset", "attn_mask", "q_seq_lens", "alibi_mask")
    given = {name: value for name, value in zip(names, rest) if value is not None}
    if set(given) - {"attn_mask", "alibi_mask"}:
        raise ValueError(f"For 'PagedAttention', {sorted(given)} are not supported.")
    bias = None
    for name, value in given.items():
        added = att.additive_mask(value, query.dtype, True) if name == "attn_mask" else value
        bias = added if bias is None else bias + added
    return kv_cache.paged_attention(
        query, key_cache, value_cache, block_tables, context_lens, p.head_num, p.scale_value, p.kv_head_num, bias
    )


PagedAttention = composition(
    "PagedAttention", _paged, """Attention of one token per sequence to a cache kept in blocks.

    Examples:
        >>> query, cache = ops.ones((1, 8), ms.float16), ops.ones((2, 4, 1, 8), ms.float16)
        >>> blocks, length = Tensor([[0, 1]], ms.int32), Tensor([5], ms.int32)
        >>> ops.PagedAttention(1, 0.35, 1)(query, cache, cache, blocks, length).shape
        (1, 8)
    """, head_num=REQUIRED,
    scale_value=REQUIRED, kv_head_num=REQUIRED, kv_cache_quant_mode="DEFAULT", mask_mode="MASK_DEFAULT", mla_v_dim=0,
)  # fmt: skip


def _paged_mask(p: Any, query: Tensor, key_cache: Any, value_cache: Any, tables: Any, lens: Any, *rest: Any) -> Any:
    scale, offset, alibi = (*rest, None, None, None)[:3]
    return _paged(p, query, key_cache, value_cache, tables, lens, scale, offset, None, None, alibi)


PagedAttentionMask = composition(
    "PagedAttentionMask", _paged_mask, """As PagedAttention, with numbers added to the scores.

    Examples:
        >>> query, cache = ops.ones((1, 8), ms.float16), ops.ones((2, 4, 1, 8), ms.float16)
        >>> blocks, length = Tensor([[0, 1]], ms.int32), Tensor([5], ms.int32)
        >>> mask = ops.zeros((1, 1, 1, 8), ms.float16)
        >>> ops.PagedAttentionMask(1, 0.35, 1)(query, cache, cache, blocks, length, None, None, mask).shape
        (1, 8)
    """, head_num=REQUIRED,
    scale_value=REQUIRED, kv_head_num=REQUIRED, kv_cache_quant_mode="DEFAULT",
)  # fmt: skip
ReshapeAndCache = plain("ReshapeAndCache", kv_cache.reshape_and_cache)


ReshapeAndCache.cuts = "bsh,bsh,..h.,..h.,."
def _incre_attention(
    p: Any, query: Tensor, key: Any, value: Any, attn_mask: Any = None, lengths: Any = None, *rest: Any
) -> Any:
    shift, block_table = (*rest, *[None] * 9)[0], (*rest, *[None] * 9)[8]
    return kv_cache.incre_flash_attention(
        query, key, value, attn_mask, lengths, shift, block_table=block_table, num_heads=p.num_heads,
        input_layout=p.input_layout, scale_value=p.scale_value, num_key_value_heads=p.num_key_value_heads,
        block_size=p.block_size, inner_precise=p.inner_precise,
    )  # fmt: skip


IncreFlashAttention = composition(
    "IncreFlashAttention", _incre_attention, """Attention of one new token per sequence.

    Examples:
        >>> query, past = ops.ones((1, 1, 8), ms.float16), ops.ones((1, 5, 8), ms.float16)
        >>> ops.IncreFlashAttention(num_heads=2)(query, [past], [past]).shape
        (1, 1, 8)
    """, num_heads=1,
    input_layout="BSH", scale_value=1.0, num_key_value_heads=0, block_size=0, inner_precise=1,
)  # fmt: skip


_INFERENCE_INPUTS = (
    "pse_shift", "atten_mask", "actual_seq_lengths", "actual_seq_lengths_kv", "dequant_scale1", "quant_scale1", "dequant_scale2",
    "quant_scale2", "quant_offset2", "antiquant_scale", "antiquant_offset", "block_table", "query_padding_size", "kv_padding_size",
)  # fmt: skip


def _infer_attention(p: Any, query: Tensor, key: Any, value: Any, *others: Any) -> tuple:
    return kv_cache.fused_infer_attention_score(
        query, key, value, num_heads=p.num_heads, scale=p.scale_value, pre_tokens=p.pre_tokens, next_tokens=p.next_tokens,
        input_layout=p.input_layout, num_key_value_heads=p.num_key_value_heads, sparse_mode=p.sparse_mode,
        inner_precise=p.inner_precise, block_size=p.block_size, softmax_lse_flag=p.softmax_lse_flag,
        **dict(zip(_INFERENCE_INPUTS, others)),
    )  # fmt: skip


FusedInferAttentionScore = composition(
    "FusedInferAttentionScore", _infer_attention, """Attention for inference: of a whole prompt, or of one new token per sequence.

    Examples:
        >>> x = ops.ones((1, 2, 4, 8), ms.float16)
        >>> ops.FusedInferAttentionScore(2, input_layout="BNSD")(x, [x], [x])[0].shape
        (1, 2, 4, 8)
    """, num_heads=REQUIRED, scale_value=1.0, pre_tokens=2147483647, next_tokens=2147483647, input_layout="BSH",
    num_key_value_heads=0, sparse_mode=0, inner_precise=1, block_size=0, antiquant_mode=0, softmax_lse_flag=False,
    key_antiquant_mode=0, value_antiquant_mode=0,
)  # fmt: skip


# What goes with all heads or samples, such as lengths and masks, may be whole where these are cut.
for _attention in (ApplyRotaryPosEmb, PromptFlashAttention, IncreFlashAttention, FusedInferAttentionScore):
    _attention.may_be_whole = True


# -- experts ----------------------------------------------------------------------------------------------------------
_ACTIVATIONS: dict[str, Any] = {
    "relu": F.relu, "gelu": F.gelu, "fastgelu": F.fast_gelu, "silu": F.silu, "sigmoid": F.sigmoid, "tanh": F.tanh,
}  # fmt: skip


def _ffn(p: Any, x: Tensor, w1: Tensor, w2: Tensor, tokens: Any = None, b1: Any = None, b2: Any = None, *rest: Any) -> Any:
    if any(value is not None for value in rest):
        raise ValueError("For 'FFNExt', weights kept as integers are not supported: give x, weights, expert_tokens and biases.")
    if p.activation not in _ACTIVATIONS:
        raise ValueError(f"For 'FFNExt', 'activation' must be one of {list(_ACTIVATIONS)}, but got {p.activation!r}.")
    act = _ACTIVATIONS[p.activation]
    if w1.ndim == 2:
        hidden = F.matmul(x, w1) if b1 is None else F.matmul(x, w1) + b1
        return F.matmul(act(hidden), w2) if b2 is None else F.matmul(act(hidden), w2) + b2
    rows = F.reshape(x, (-1, x.shape[-1]))
    if tokens is None:
        raise ValueError("For 'FFNExt', weights of several experts need 'expert_tokens': how many rows each of them takes.")
    ends = F.cumsum(F.cast(tokens, mstype.int32), 0)
    place = F.expand_dims(F.arange(rows.shape[0], dtype=mstype.int32), 0)
    mine = F.cast(F.logical_and(place < F.expand_dims(ends, -1), place >= F.expand_dims(ends - tokens, -1)), x.dtype)
    mine = F.expand_dims(mine, -1)  # (experts, rows, 1): an expert sees its own rows, and zeros
    hidden = BatchMatMul()(mine * F.expand_dims(rows, 0), w1)
    hidden = act(hidden if b1 is None else hidden + F.expand_dims(b1, 1))
    out = BatchMatMul()(hidden, w2)
    out = ReduceSum()((out if b2 is None else out + F.expand_dims(b2, 1)) * mine, 0)
    return F.reshape(out, (*x.shape[:-1], w2.shape[-1]))


FFNExt = composition(
    "FFNExt", _ffn, """Two linear layers with an activation between them; of several experts, each takes the next rows.

    Examples:
        >>> x, up, down = ops.ones((4, 2)), ops.ones((2, 8)), ops.ones((8, 2))
        >>> ops.FFNExt("relu", 1)(x, up, down).shape
        (4, 2)
    """, activation=REQUIRED, inner_precise=0,
)  # fmt: skip


def _grouped(p: Any, *args: Any) -> tuple:
    settings = {"split_item": p.split_item, "transpose_a": p.transpose_a, "transpose_b": p.transpose_b}
    return experts.grouped_matmul(*args[:8], **settings)


GroupedMatmul = composition(
    "GroupedMatmul", _grouped, """Products of groups of rows.

    Examples:
        >>> outs = ops.GroupedMatmul(split_item=0)([ops.ones((2, 3))], [ops.ones((3, 5))])
        >>> outs[0].shape
        (2, 5)
    """, split_item=0, group_type=-1, transpose_a=False,
    transpose_b=False,
)  # fmt: skip
GroupedMatmulV4 = plain("GroupedMatmulV4", experts.grouped_matmul_v4)
MoeTokenPermute = plain("MoeTokenPermute", experts.moe_token_permute)
MoeTokenUnpermute = plain("MoeTokenUnpermute", experts.moe_token_unpermute)
MoeInitRouting = plain("MoeInitRouting", experts.moe_init_routing)
MoeInitRoutingV2 = plain("MoeInitRoutingV2", experts.moe_init_routing_v2)
MoeFinalizeRouting = plain("MoeFinalizeRouting", experts.moe_finalize_routing)
MoeComputeExpertTokens = plain("MoeComputeExpertTokens", experts.moe_compute_expert_tokens)
MoeGatingTopKSoftmax = plain("MoeGatingTopKSoftmax", experts.moe_gating_top_k_softmax)
GroupTopk = plain("GroupTopk", experts.group_topk)
FusedAddTopKDiv = plain("FusedAddTopKDiv", experts.fused_add_topk_div)


# -- recurrent --------------------------------------------------------------------------------------------------------
class LSTM(Primitive):
    """A stack of LSTM layers whose weights are one flat vector (w_ih, w_hh per layer and direction, then biases).

    Examples:
        >>> lstm = ops.LSTM(input_size=2, hidden_size=3, num_layers=1, has_bias=False, bidirectional=False, dropout=0.0)
        >>> x, h, c = ops.ones((4, 1, 2)), ops.zeros((1, 1, 3)), ops.zeros((1, 1, 3))
        >>> out, h, c = lstm(x, h, c, ops.ones((60, 1, 1)))[:3]
        >>> out.shape, h.shape
        ((4, 1, 3), (1, 1, 3))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, has_bias: bool, bidirectional: bool, dropout: float,
        proj_size: int = 0,
    ):  # fmt: skip
        if proj_size:
            raise ValueError(f"For 'LSTM', 'proj_size' must be 0, but got {proj_size}.")
        super().__init__(
            "LSTM", input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, has_bias=has_bias,
            bidirectional=bidirectional, dropout=dropout,
        )  # fmt: skip

    def _weights(self, flat: Any) -> list[list[Any]]:
        """Cut the vector into matrices and biases, one list per layer and direction."""
        h, directions, start = self.hidden_size, 2 if self.bidirectional else 1, 0
        sets: list[list[Any]] = []
        for layer in range(self.num_layers):
            below = self.input_size if layer == 0 else h * directions
            for _ in range(directions):
                parts = []
                for shape in ((4 * h, below), (4 * h, h)):
                    size = shape[0] * shape[1]
                    parts.append(Reshape()(GetItem((slice(start, start + size),))(flat), shape))
                    start += size
                sets.append(parts)
        for parts in sets:
            for _ in range(2 if self.has_bias else 0):
                parts.append(GetItem((slice(start, start + 4 * h),))(flat))
                start += 4 * h
        return sets

    def __call__(self, x: Any, h: Any, c: Any, w: Any) -> tuple:
        sets = self._weights(Reshape()(w, (-1,)))
        directions, last_h, last_c = 2 if self.bidirectional else 1, [], []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                i = layer * directions + direction
                w_ih, w_hh, *biases = sets[i]
                b_ih, b_hh = biases if biases else (None, None)
                state = GetItem((i,))(h), GetItem((i,))(c)
                out = RecurrentSequence("lstm", direction == 1)(dense(x, w_ih, b_ih), *state, w_hh, b_hh, None)
                outputs.append(out[0])
                last_h.append(out[1])
                last_c.append(out[2])
            x = outputs[0] if directions == 1 else Concat(2)(outputs)
        empty = from_array(np.zeros((1,), np.float32))
        return x, Stack(0)(last_h), Stack(0)(last_c), empty, empty


def _dynamic_rnn(
    p: Any, x: Tensor, w: Tensor, b: Any, seq_length: Any = None, init_h: Any = None, init_c: Any = None
) -> tuple:
    """Weights (input + hidden, 4 hidden), gates in the order i, j (candidate), f, o; `forget_bias` is added to f."""
    hidden = w.shape[1] // 4
    order = np.concatenate([np.arange(hidden) + k * hidden for k in (0, 2, 1, 3)])  # to i, f, g, o
    w = gather(w, from_array(order), 1)
    b = gather(b, from_array(order), 0)
    _only(p, cell_type="LSTM", cell_depth=1, use_peephole=False, num_proj=0, time_major=True, activation="tanh")
    w_x, w_h = GetItem((slice(0, x.shape[2]),))(w), GetItem((slice(x.shape[2], None),))(w)
    extra = np.zeros(4 * hidden, np.float32)
    extra[hidden : 2 * hidden] = p.forget_bias
    gates = matmul(x, w_x) + b + cast(from_array(extra), x.dtype)
    zeros = from_array(np.zeros((x.shape[1], hidden), x.dtype.np))
    h0 = zeros if init_h is None else Reshape()(init_h, zeros.shape)
    c0 = zeros if init_c is None else Reshape()(init_c, zeros.shape)
    prim = RecurrentSequence("lstm", p.direction == "REDIRECTIONAL")
    out, _, _, saved = prim(gates, h0, c0, Transpose()(w_h, (1, 0)), None, seq_length)
    i, f, g, o, c = (GetItem((..., slice(k * hidden, (k + 1) * hidden)))(saved) for k in range(5))
    return out, out, c, i, g, f, o, ew.Tanh()(c)


def _only(p: Any, **settings: Any) -> None:
    """Settings that other devices' kernels have, of which one value is possible here."""
    for name, value in settings.items():
        if getattr(p, name) != value:
            raise ValueError(f"For '{p.name}', '{name}' must be {value!r}, but got {getattr(p, name)!r}.")


DynamicRNN = composition(
    "DynamicRNN", _dynamic_rnn, """An LSTM layer: (y, h, c, i, j, f, o, tanh c).

    Examples:
        >>> x, state = ops.zeros((3, 1, 2)), ops.zeros((1, 1, 4))
        >>> outs = ops.DynamicRNN()(x, ops.ones((6, 16)), ops.zeros(16), None, state, state)
        >>> outs[0].shape
        (3, 1, 4)
    """, cell_type="LSTM",
    direction="UNIDIRECTIONAL", cell_depth=1, use_peephole=False, keep_prob=1.0, cell_clip=-1.0, num_proj=0,
    time_major=True, activation="tanh", forget_bias=0.0, is_training=True,
)  # fmt: skip


def _dynamic_gru(
    p: Any,
    x: Tensor,
    w_in: Any,
    w_hid: Tensor,
    b_in: Any = None,
    b_hid: Any = None,
    seq_length: Any = None,
    init_h: Any = None,
) -> tuple:
    """Weights (input, 3 hidden) and (hidden, 3 hidden), gates in the order `gate_order` ('rzh' or 'zrh')."""
    _only(p, direction="UNIDIRECTIONAL", cell_depth=1, num_proj=0, time_major=True, activation="tanh")
    hidden = w_hid.shape[0]
    if p.gate_order == "zrh":
        order = np.concatenate([np.arange(hidden) + k * hidden for k in (1, 0, 2)])
        pick = from_array(order)
        w_in, w_hid = gather(w_in, pick, 1), gather(w_hid, pick, 1)
        b_in, b_hid = (None if v is None else gather(v, pick, 0) for v in (b_in, b_hid))
    gates = matmul(x, w_in)
    gates = gates if b_in is None else gates + b_in
    h0 = Reshape()(init_h, (x.shape[1], hidden))
    prim = RecurrentSequence("gru", False)
    out, _, _, saved = prim(gates, h0, h0, Transpose()(w_hid, (1, 0)), b_hid, seq_length)
    r, z, n, hn = (GetItem((..., slice(k * hidden, (k + 1) * hidden)))(saved) for k in range(4))
    return out, out, z, r, n, hn


DynamicGRUV2 = composition(
    "DynamicGRUV2", _dynamic_gru, """A GRU layer: (y, h, update, reset, new, hidden_new).

    Examples:
        >>> x, h = ops.zeros((3, 1, 2)), ops.zeros((1, 4))
        >>> outs = ops.DynamicGRUV2()(x, ops.ones((2, 12)), ops.ones((4, 12)), ops.zeros(12), ops.zeros(12), None, h)
        >>> outs[0].shape
        (3, 1, 4)
    """, direction="UNIDIRECTIONAL",
    cell_depth=1, keep_prob=1.0, cell_clip=-1.0, num_proj=0, time_major=True, activation="tanh", gate_order="rzh",
    reset_after=True, is_training=True,
)  # fmt: skip


def _basic_lstm(p: Primitive, x: Tensor, h: Tensor, c: Tensor, w: Tensor, b: Tensor) -> tuple:
    hidden = h.shape[1]
    total = matmul(Concat(1)((x, h)), Transpose()(w, (1, 0)) if w.shape[0] == 4 * hidden else w) + Reshape()(b, (-1,))
    i, j, f, o = (GetItem((slice(None), slice(k * hidden, (k + 1) * hidden)))(total) for k in range(4))
    i, j, f, o = ew.Sigmoid()(i), ew.Tanh()(j), ew.Sigmoid()(f + p.forget_bias), ew.Sigmoid()(o)
    new_c = c * f + i * j
    squashed = ew.Tanh()(new_c)
    return new_c, squashed * o, i, j, f, o, squashed


BasicLSTMCell = composition(
    "BasicLSTMCell", _basic_lstm, """One LSTM step.

    Examples:
        >>> x, h, c = ops.ones((1, 2)), ops.zeros((1, 3)), ops.zeros((1, 3))
        >>> step = ops.BasicLSTMCell()(x, h, c, ops.zeros((5, 12)), ops.zeros(12))
        >>> step[1].shape
        (1, 3)
    """, keep_prob=1.0, forget_bias=1.0, state_is_tuple=True,
    activation="tanh",
)  # fmt: skip
