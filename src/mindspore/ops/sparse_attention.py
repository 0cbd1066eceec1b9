"""Attention to a chosen few keys: native sparse attention (Yuan et al. 2025) and DeepSeek's indexed attention (2025).

Sequences of different lengths stand one after the other, (tokens, heads, features), with the places where they end; each is
computed by itself. What official kernels require of sizes (multiples of 16, one head of keys) is not required here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import at_least_single, cast, refuse_given, require_rank, require_tensors, static_ints
from mindspore.ops.joining import concat, stack
from mindspore.ops.sorting import topk
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.gather_scatter import Gather, GatherD
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.values import from_array

__all__ = [
    "lightning_indexer", "nsa_compress", "nsa_compress_attention", "nsa_select_attention", "sparse_flash_attention",
]  # fmt: skip

_UNBOUNDED = 2**63 - 1  # tokens that may be seen before and after one
_MODES = (0, 2)  # without and with features that carry positions: what is given tells
_MASKED = -1e30  # stands for minus infinity where differences are taken


# -- sequences ----------------------------------------------------------------------------------------------------------
def _segments(op: str, name: str, ends: Any, total: int) -> list[tuple[int, int]]:
    """Where sequences begin and end, from the places where they end."""
    stops = static_ints(op, name, ends)
    if not stops or stops[-1] != total or any(a > b for a, b in zip((0, *stops), stops)):
        raise ValueError(f"For '{op}', '{name}' must rise to {total}, the number of tokens, but got {list(stops)}.")
    return list(zip((0, *stops[:-1]), stops))


def _pairs(op: str, *named: tuple[str, Any, int]) -> Iterator[tuple]:
    """The segments of several tensors, sequence by sequence."""
    split = [_segments(op, name, ends, total) for name, ends, total in named]
    if len({len(s) for s in split}) != 1:
        names = ", ".join(name for name, *_ in named)
        raise ValueError(f"For '{op}', {names} must name equally many sequences, but got {[len(s) for s in split]}.")
    return zip(*split)


def _check_heads(op: str, query: Tensor, key: Tensor, head_num: int | None = None) -> int:
    """The number of query heads per key head."""
    heads, keys = query.shape[-2], key.shape[-2]
    if head_num is not None and head_num != heads:
        raise ValueError(f"For '{op}', 'head_num' must be {heads} as in 'query', but got {head_num}.")
    if heads % keys or query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"For '{op}', 'query' must have the features of 'key' and a multiple of its heads, but got {query.shape} and "
            f"{key.shape}."
        )
    return heads // keys


def _scores(query: Tensor, key: Tensor, group: int) -> Any:
    """(S1, N1, D) and (S2, N2, D) to products (N2, group, S1, S2), in float32."""
    s1, n1, d = query.shape
    q = Reshape()(Transpose()(at_least_single(query), (1, 0, 2)), (n1 // group, group * s1, d))
    k = Transpose()(at_least_single(key), (1, 0, 2))
    return Reshape()(BatchMatMul(False, True)(q, k), (n1 // group, group, s1, key.shape[0]))


def _softmax(scores: Tensor, allowed: Tensor | None) -> tuple[Any, Any, Any]:
    """Weights along the last axis, the largest score and the sum of exponentials; nothing allowed gives zeros."""
    if allowed is not None:
        scores = ew.Select()(BroadcastTo(scores.shape)(allowed), scores, ew.zeros_like(scores) + _MASKED)
    top = ReduceMax(True)(scores, -1)
    powers = ew.Exp()(scores - top)
    if allowed is not None:
        powers = powers * cast(allowed, mstype.float32)
    total = ReduceSum(True)(powers, -1)
    return powers / ew.Maximum()(total, 1e-30), top, total


def _eight(x: Tensor, group: int) -> Any:
    """(N2, group, S1, 1) to (S1, N1, 8): what softmax leaves for its gradient, eight times."""
    n2, _, s1, _ = x.shape
    rows = Reshape()(Transpose()(Reshape()(x, (n2 * group, s1)), (1, 0)), (s1, n2 * group, 1))
    return BroadcastTo((s1, n2 * group, 8))(rows)


# -- native sparse attention --------------------------------------------------------------------------------------------
def nsa_compress(
    input: Tensor, weight: Tensor, compress_block_size: int, compress_stride: int, *, actual_seq_len: Any
) -> Tensor:
    """Weighted sums of windows of tokens: (T, N, D) and weights (window, N) to (T', N, D).

    Windows of `compress_block_size` tokens begin every `compress_stride` tokens of each sequence and stay within it.

    Examples:
        >>> x, weight = ops.ones((6, 1, 2)), ops.ones((2, 1))
        >>> print(ops.nsa_compress(x, weight, 2, 2, actual_seq_len=(2, 6)).shape)
        (3, 1, 2)
    """
    op = "nsa_compress"
    require_tensors(op, input=input, weight=weight)
    require_rank(op, "input", input, 3, 3)
    if weight.shape != (compress_block_size, input.shape[1]):
        wanted = (compress_block_size, input.shape[1])
        raise ValueError(f"For '{op}', 'weight' must have the shape {wanted}, but got {weight.shape}.")
    if not 1 <= compress_stride <= compress_block_size:
        raise ValueError(
            f"For '{op}', 'compress_stride' must be from 1 to {compress_block_size}, but got {compress_stride}."
        )
    ends = _segments(op, "actual_seq_len", actual_seq_len, input.shape[0])
    starts = [s for a, b in ends for s in range(a, b - compress_block_size + 1, compress_stride)]
    places = np.array(starts, np.int64).reshape(-1, 1) + np.arange(compress_block_size)
    windows = Gather()(at_least_single(input), from_array(places), 0)
    weights = Reshape()(at_least_single(weight), (1, compress_block_size, -1, 1))
    return cast(ReduceSum()(windows * weights, 1), input.dtype)


def nsa_compress_attention(
    query: Tensor, key: Tensor, value: Any, scale_value: float, head_num: int, compress_block_size: int,
    compress_stride: int,
    select_block_size: int, select_block_count: int, *, topk_mask: Any = None, atten_mask: Any = None,
    actual_seq_qlen: Any, actual_cmp_seq_kvlen: Any, actual_sel_seq_kvlen: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Attention to compressed keys, and the blocks of plain keys that mattered most.

    The weight of a block of plain keys is the sum of those of the compressed keys that cover it, over the query heads
    that share a head of keys. Masks are True where a key or a block must not be seen.

    Returns:
        The attention (T1, N1, D2), the chosen blocks (T1, N2, select_block_count), and softmax's maxima and sums
        (T1, N1, 8).

    Examples:
        >>> q, k = ops.ones((4, 2, 8)), ops.ones((6, 1, 8))
        >>> out = ops.nsa_compress_attention(q, k, k, 0.5, 2, 2, 1, 2, 2, actual_seq_qlen=(4,),
        ...                                  actual_cmp_seq_kvlen=(6,), actual_sel_seq_kvlen=(3,))
        >>> [x.shape for x in out]
        [(4, 2, 8), (4, 1, 2), (4, 2, 8), (4, 2, 8)]
    """
    op = "nsa_compress_attention"
    require_tensors(op, query=query, key=key, value=value)
    group = _check_heads(op, query, key, head_num)
    blocks = static_ints(op, "actual_sel_seq_kvlen", actual_sel_seq_kvlen)
    counts = np.diff((0, *blocks))
    spread = _coverage(compress_block_size // compress_stride, select_block_size // compress_stride)
    parts: list[tuple] = []
    lengths = (
        ("actual_seq_qlen", actual_seq_qlen, query.shape[0]),
        ("actual_cmp_seq_kvlen", actual_cmp_seq_kvlen, key.shape[0]),
        ("actual_sel_seq_kvlen", blocks, blocks[-1]),
    )
    for (a, b), (c, d), _ in _pairs(op, *lengths):
        count = int(counts[len(parts)])
        if count < select_block_count:
            raise ValueError(
                f"For '{op}', 'select_block_count' must be at most {count}, the number of blocks, but got "
                f"{select_block_count}."
            )
        allowed = None if atten_mask is None else ew.LogicalNot()(cast(atten_mask[: b - a, : d - c], mstype.bool_))
        weights, top, total = _softmax(_scores(query[a:b], key[c:d], group) * scale_value, allowed)
        covered = np.zeros((d - c, count), np.float32)
        for j in range(count):
            for place, times in spread(j):
                if 0 <= place < d - c:
                    covered[place, j] += times
        chances = ReduceSum()(weights, 1)  # (N2, S1, S2)
        chances = BatchMatMul()(chances, BroadcastTo((chances.shape[0], *covered.shape))(from_array(covered)))
        if topk_mask is not None:
            hidden = cast(topk_mask[: b - a, :count], mstype.float32)
            chances = chances + hidden * _MASKED
        chosen = cast(topk(chances, select_block_count)[1], mstype.int32)
        parts.append(
            (_weighted(weights, value[c:d]), Transpose()(chosen, (1, 0, 2)), _eight(top, group), _eight(total, group))
        )
    out, chosen, top, total = (concat(p, 0) for p in zip(*parts))
    return cast(out, query.dtype), chosen, top, total


def _coverage(per_window: int, per_block: int) -> Any:
    """Which compressed keys count for block j, and how often: per_block * j - m - n for all m and n."""
    times = np.convolve(np.ones(per_block), np.ones(per_window))
    return lambda j: [(per_block * j - i, t) for i, t in enumerate(times)]


def _weighted(weights: Tensor, value: Tensor) -> Any:
    """Weights (N2, group, S1, S2) times values (S2, N2, D): (S1, N1, D)."""
    n2, group, s1, s2 = weights.shape
    v = Transpose()(at_least_single(value), (1, 0, 2))
    out = BatchMatMul()(Reshape()(weights, (n2, group * s1, s2)), v)
    out = Transpose()(Reshape()(out, (n2 * group, s1, value.shape[-1])), (1, 0, 2))
    return out


def nsa_select_attention(
    query: Tensor, key: Tensor, value: Any, topk_indices: Tensor, scale_value: float, head_num: int,
    select_block_size: int,
    select_block_count: int, *, atten_mask: Any = None, actual_seq_qlen: Any, actual_seq_kvlen: Any,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Attention of every query to the blocks of keys that `topk_indices` (T1, N2, blocks) names.

    Returns:
        The attention (T1, N1, D2) and softmax's maxima and sums (T1, N1, 8).

    Examples:
        >>> q, k = ops.ones((2, 2, 8)), ops.ones((6, 1, 8))
        >>> chosen = Tensor([[[0, 2]], [[1, 0]]])
        >>> out = ops.nsa_select_attention(q, k, k, chosen, 0.5, 2, 2, 2, actual_seq_qlen=(2,), actual_seq_kvlen=(6,))
        >>> [x.shape for x in out]
        [(2, 2, 8), (2, 2, 8), (2, 2, 8)]
    """
    op = "nsa_select_attention"
    require_tensors(op, query=query, key=key, value=value, topk_indices=topk_indices)
    if atten_mask is not None:
        raise ValueError(f"For '{op}', 'atten_mask' is not supported: the indices say what is seen.")
    _check_heads(op, query, key, head_num)
    if topk_indices.shape != (query.shape[0], key.shape[1], select_block_count):
        wanted = (query.shape[0], key.shape[1], select_block_count)
        raise ValueError(f"For '{op}', 'topk_indices' must have the shape {wanted}, but got {topk_indices.shape}.")
    parts: list[tuple] = []
    lengths = (
        ("actual_seq_qlen", actual_seq_qlen, query.shape[0]),
        ("actual_seq_kvlen", actual_seq_kvlen, key.shape[0]),
    )
    for (a, b), (c, d) in _pairs(op, *lengths):
        places, valid = _token_places(topk_indices[a:b], select_block_size, d - c)
        weights, top, total = _chosen_softmax(_chosen_scores(query[a:b], key[c:d], places) * scale_value, valid)
        out = _chosen_values(weights, value[c:d], places)
        parts.append(
            (out, *(BroadcastTo((b - a, head_num, 8))(Reshape()(x, (b - a, head_num, 1))) for x in (top, total)))
        )
    out, top, total = (concat(p, 0) for p in zip(*parts))
    return cast(out, query.dtype), top, total


# -- every query has keys of its own: (S1, N2, P) places ------------------------------------------------------------------
def _token_places(blocks: Tensor, size: int, length: Any) -> tuple[Any, Any]:
    """The tokens of chosen blocks (S1, N2, K), and which of them exist."""
    s1, n2, count = blocks.shape
    first = Reshape()(cast(blocks, mstype.int64) * size, (s1, n2, count, 1))
    places = Reshape()(first + from_array(np.arange(size)), (s1, n2, count * size))
    valid = ew.LogicalAnd()(places >= 0, places < length)
    return ew.Maximum()(ew.Select()(valid, places, ew.zeros_like(places)), 0), valid


def _picked(x: Tensor, places: Tensor) -> Any:
    """(S2, N2, D) at (S1, N2, P): (N2, S1, P, D)."""
    s1, n2, count = places.shape
    rows = Reshape()(Transpose()(places, (1, 0, 2)), (n2, s1 * count, 1))
    index = BroadcastTo((n2, s1 * count, x.shape[-1]))(rows)
    found = GatherD()(Transpose()(at_least_single(x), (1, 0, 2)), 1, index)
    return Reshape()(found, (n2, s1, count, x.shape[-1]))


def _grouped(query: Tensor, heads: int) -> Any:
    """(S1, N1, D) to (N2, S1, group, D)."""
    s1, n1, d = query.shape
    return Transpose()(Reshape()(at_least_single(query), (s1, heads, n1 // heads, d)), (1, 0, 2, 3))


def _chosen_scores(query: Tensor, key: Tensor, places: Tensor) -> Any:
    """Products of each query with its own keys: (S1, N2, group, P)."""
    products = BatchMatMul(False, True)(_grouped(query, places.shape[1]), _picked(key, places))
    return Transpose()(products, (1, 0, 2, 3))


def _chosen_softmax(scores: Tensor, valid: Tensor) -> tuple[Any, Any, Any]:
    s1, n2, count = valid.shape
    return _softmax(scores, Reshape()(valid, (s1, n2, 1, count)))


def _chosen_values(weights: Tensor, value: Tensor, places: Tensor) -> Any:
    """Weights (S1, N2, group, P) times each query's own values: (S1, N1, D)."""
    s1, n2, group, _ = weights.shape
    out = BatchMatMul()(Transpose()(weights, (1, 0, 2, 3)), _picked(value, places))
    return Reshape()(Transpose()(out, (1, 0, 2, 3)), (s1, n2 * group, value.shape[-1]))


# -- indexed attention ---------------------------------------------------------------------------------------------------
class _Layout:
    """Sequences of queries with their keys, whatever the layout; lengths may be known only at run time."""

    def __init__(
        self, op: str, query: Tensor, layout_query: str, layout_key: str, q_lengths: Any, k_lengths: Any, table: Any
    ):
        if layout_query not in ("BSND", "TND"):
            raise ValueError(f"For '{op}', 'layout_query' must be 'BSND' or 'TND', but got {layout_query!r}.")
        if layout_key not in ("BSND", "TND", "PA_BSND"):
            raise ValueError(
                f"For '{op}', the layout of keys must be 'BSND', 'TND' or 'PA_BSND', but got {layout_key!r}."
            )
        if layout_key != "PA_BSND" and layout_key != layout_query:
            raise ValueError(f"For '{op}', keys must have the layout of queries, {layout_query}, but got {layout_key}.")
        if layout_key == "PA_BSND" and (table is None or k_lengths is None):
            raise ValueError(f"For '{op}', the layout 'PA_BSND' needs 'block_table' and the lengths of keys.")
        self.op, self.packed, self.paged, self.table, self.k_lengths = (
            op,
            layout_query == "TND",
            layout_key == "PA_BSND",
            table,
            k_lengths,
        )
        if self.packed:
            self.queries = _segments(op, "actual_seq_lengths_query", q_lengths, query.shape[0])
        self.count = len(self.queries) if self.packed else query.shape[0]

    def query(self, x: Tensor, i: int) -> Any:
        return x[slice(*self.queries[i])] if self.packed else x[i]

    def key(self, x: Any, i: int) -> Any:
        if self.paged:
            blocks = Gather()(x, ew.Maximum()(self.table[i], 0), 0)
            return Reshape()(blocks, (-1, *x.shape[2:]))
        return x[slice(*_segments(self.op, "lengths of keys", self.k_lengths, x.shape[0])[i])] if self.packed else x[i]

    def length(self, keys: Tensor, i: int) -> Any:
        """How many of the keys count."""
        known = self.k_lengths is None or (self.packed and not self.paged)
        return keys.shape[0] if known else cast(self.k_lengths[i], mstype.int64)

    def join(self, parts: list) -> Any:
        return concat(parts, 0) if self.packed else stack(parts, 0)


def _last_seen(count: int, length: Any, sparse_mode: int, op: str) -> Any:
    """For each query the number of keys it may see: all (0), or up to its own place from the end (3)."""
    if sparse_mode not in (0, 3):
        raise ValueError(f"For '{op}', 'sparse_mode' must be 0 or 3, but got {sparse_mode}.")
    short_of_the_end = np.arange(1 - count, 1) if sparse_mode == 3 else np.zeros(count, np.int64)
    return from_array(short_of_the_end) + length


def lightning_indexer(
    query: Tensor, key: Tensor, weights: Tensor, *, actual_seq_lengths_query: Any = None,
    actual_seq_lengths_key: Any = None,
    block_table: Any = None, layout_query: str = "BSND", layout_key: str = "BSND", sparse_count: int = 2048,
    sparse_mode: int = 3, pre_tokens: int = _UNBOUNDED, next_tokens: int = _UNBOUNDED, return_value: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The keys that matter most to each query: the highest sums over heads of weight · relu(query · key).

    Returns:
        Places (…, N2, sparse_count), -1 where there are fewer keys to see, and their sums (zeros unless
        `return_value`).

    Examples:
        >>> q, k = ops.ones((1, 1, 2, 4)), Tensor([[[[1.0] * 4], [[3.0] * 4], [[2.0] * 4]]])
        >>> places, _ = ops.lightning_indexer(q, k, ops.ones((1, 1, 2)), sparse_count=2)
        >>> print(places)
        [[[[1 2]]]]
    """
    op = "lightning_indexer"
    refuse_given(op, pre_tokens=_UNBOUNDED - pre_tokens, next_tokens=_UNBOUNDED - next_tokens)
    require_tensors(op, query=query, key=key, weights=weights)
    layout = _Layout(op, query, layout_query, layout_key, actual_seq_lengths_query, actual_seq_lengths_key, block_table)
    places, sums = [], []
    for i in range(layout.count):
        q, k, w = layout.query(query, i), layout.key(key, i), layout.query(weights, i)
        group = _check_heads(op, q, k)
        scores = ew.ReLU()(_scores(q, k, group))  # (N2, group, S1, S2)
        shares = Transpose()(Reshape()(at_least_single(w), (q.shape[0], -1, group, 1)), (1, 2, 0, 3))
        totals = Transpose()(ReduceSum()(scores * shares, 1), (1, 0, 2))
        seen = Reshape()(_last_seen(q.shape[0], layout.length(k, i), sparse_mode, op), (-1, 1, 1))
        visible = from_array(np.arange(k.shape[0])) < seen
        totals = ew.Select()(BroadcastTo(totals.shape)(visible), totals, ew.zeros_like(totals) + _MASKED)
        best, where = topk(totals, min(sparse_count, k.shape[0]))
        real = best > _MASKED / 2
        places.append(
            _padded(
                ew.Select()(real, cast(where, mstype.int32), ew.zeros_like(cast(where, mstype.int32)) - 1),
                sparse_count,
                -1,
            )
        )
        sums.append(_padded(ew.Select()(real, best, ew.zeros_like(best)), sparse_count, 0))
    values = layout.join(sums)
    return layout.join(places), cast(values if return_value else ew.zeros_like(values), query.dtype)


def _padded(x: Tensor, count: int, value: int) -> Any:
    """The last axis lengthened to `count`."""
    missing = count - x.shape[-1]
    return x if not missing else concat((x, from_array(np.full((*x.shape[:-1], missing), value, x.dtype.np))), -1)


def sparse_flash_attention(
    query: Tensor, key: Tensor, value: Any, sparse_indices: Tensor, scale_value: float, *, block_table: Any = None,
    actual_seq_lengths_query: Any = None, actual_seq_lengths_kv: Any = None, query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    sparse_block_size: int = 1, layout_query: str = "BSND", layout_kv: str = "BSND", sparse_mode: int = 3,
    pre_tokens: int = _UNBOUNDED, next_tokens: int = _UNBOUNDED, attention_mode: int = 0, return_softmax_lse: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Attention of every query to the keys (or blocks of keys) that `sparse_indices` names; negative ones name none.

    `query_rope` and `key_rope` are further features of queries and keys that carry positions.

    Returns:
        The attention, like `query`, and softmax's maxima and sums (B, N2, S1, N1 / N2) or (N2, T1, N1 / N2).

    Examples:
        >>> q, k = ops.ones((1, 2, 2, 4)), ops.ones((1, 3, 1, 4))
        >>> out, top, total = ops.sparse_flash_attention(q, k, k, Tensor([[[[0, 1]], [[2, -1]]]]), 0.5)
        >>> out.shape, total.tolist()
        ((1, 2, 2, 4), [[[[2.0, 2.0], [1.0, 1.0]]]])
    """
    op = "sparse_flash_attention"
    refuse_given(
        op, pre_tokens=_UNBOUNDED - pre_tokens, next_tokens=_UNBOUNDED - next_tokens,
        attention_mode=attention_mode not in _MODES,
        return_softmax_lse=return_softmax_lse,
    )  # fmt: skip
    require_tensors(op, query=query, key=key, value=value, sparse_indices=sparse_indices)
    if sparse_block_size < 1:
        raise ValueError(f"For '{op}', 'sparse_block_size' must be at least 1, but got {sparse_block_size}.")
    if (query_rope is None) != (key_rope is None):
        raise ValueError(f"For '{op}', 'query_rope' and 'key_rope' are given together or not at all.")
    layout = _Layout(op, query, layout_query, layout_kv, actual_seq_lengths_query, actual_seq_lengths_kv, block_table)
    parts: tuple[list, list, list] = ([], [], [])
    for i in range(layout.count):
        q, k = layout.query(query, i), layout.key(key, i)
        _check_heads(op, q, k)
        length = layout.length(k, i)
        places, valid = _token_places(layout.query(sparse_indices, i), sparse_block_size, length)
        seen = Reshape()(_last_seen(q.shape[0], length, sparse_mode, op), (-1, 1, 1))
        valid = ew.LogicalAnd()(valid, places < seen)
        scores = _chosen_scores(q, k, places)
        if query_rope is not None:
            scores = scores + _chosen_scores(layout.query(query_rope, i), layout.key(key_rope, i), places)
        weights, top, total = _chosen_softmax(scores * scale_value, valid)
        parts[0].append(_chosen_values(weights, layout.key(value, i), places))
        for kept, x in ((parts[1], top), (parts[2], total)):
            kept.append(Transpose()(Reshape()(x, x.shape[:-1]), (1, 0, 2)))
    top, total = (concat(p, 1) if layout.packed else stack(p, 0) for p in parts[1:])
    return cast(layout.join(parts[0]), query.dtype), top, total
