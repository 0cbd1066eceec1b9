"""Mixtures of experts as functions: choosing experts, sorting tokens by expert and back, products per expert."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import at_least_single, cast, refuse_given, require_rank, require_tensor
from mindspore.ops.gather_scatter import gather, gather_elements
from mindspore.ops.product import matmul
from mindspore.ops.sorting import argsort_stable, topk
from mindspore.prims import elementwise as ew
from mindspore.prims.activation import Softmax
from mindspore.prims.arrays import Concat, ExpandDims, GetItem, Transpose
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.gather_scatter import TensorScatterAdd
from mindspore.prims.grouped import GroupedMatMulRows
from mindspore.prims.inplace import update
from mindspore.prims.scan import CumSum
from mindspore.prims.values import from_array

__all__ = [
    "fused_add_topk_div", "group_topk", "grouped_matmul", "grouped_matmul_v4", "moe_compute_expert_tokens", "moe_finalize_routing",
    "moe_distribute_combine", "moe_distribute_dispatch",
    "moe_gating_top_k_softmax", "moe_init_routing", "moe_init_routing_v2", "moe_token_permute", "moe_token_unpermute",
]  # fmt: skip


def _counts(groups: Tensor, experts: int) -> Any:
    """How often each of 0 … experts - 1 occurs."""
    same = ew.Equal()(ExpandDims()(Reshape()(groups, (-1,)), 1), from_array(np.arange(experts)))
    return ReduceSum()(cast(same, mstype.int32), 0)


def _order(groups: Tensor) -> tuple[Any, Any]:
    """The stable order that sorts the entries, and where each entry goes."""
    order = argsort_stable(groups, 0)
    return order, argsort_stable(order, 0)


def moe_token_permute(
    tokens: Tensor, indices: Tensor, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """Rows of `tokens`, once per chosen expert, sorted by expert; and where each (token, choice) went.

    Examples:
        >>> import mindspore as ms
        >>> tokens = ms.Tensor([[1.0], [2.0]])
        >>> rows, places = ms.ops.moe_token_permute(tokens, ms.Tensor([[1, 0], [0, 2]]))
        >>> rows.asnumpy().ravel().tolist(), places.asnumpy().tolist()
        ([1.0, 2.0, 1.0, 2.0], [2, 0, 1, 3])
    """
    require_tensor("moe_token_permute", "tokens", tokens)
    require_tensor("moe_token_permute", "indices", indices)
    if padded_mode:
        raise ValueError("For 'moe_token_permute', 'padded_mode' must be False.")
    if tokens.ndim != 2 or indices.ndim not in (1, 2) or tokens.shape[0] != indices.shape[0]:
        raise ValueError(
            f"For 'moe_token_permute', 'tokens' must be (tokens, size) and 'indices' (tokens,) or (tokens, choices), "
            f"but got {tokens.shape} and {indices.shape}."
        )
    choices = indices.shape[1] if indices.ndim == 2 else 1
    order, places = _order(Reshape()(indices, (-1,)))
    rows = gather(tokens, ew.FloorDiv()(order, choices), 0)
    if num_out_tokens:
        rows = GetItem((slice(0, num_out_tokens),))(rows)
    return rows, cast(places, mstype.int32)


def moe_token_unpermute(
    permuted_tokens: Tensor,
    sorted_indices: Tensor,
    probs: Any = None,
    padded_mode: bool = False,
    restore_shape: Any = None,
) -> Tensor:
    """The inverse of `moe_token_permute`: the choices of each token, weighted by `probs`, added up.

    Examples:
        >>> tokens, order = ops.moe_token_permute(Tensor([[1.0], [2.0]]), Tensor([1, 0], ms.int32))
        >>> print(ops.moe_token_unpermute(tokens, order))
        [[1.]
         [2.]]
    """
    if padded_mode:
        raise ValueError("For 'moe_token_unpermute', 'padded_mode' must be False.")
    wanted, given = sorted_indices.shape[0], permuted_tokens.shape[0]
    if given < wanted:  # rows beyond the capacity were dropped: they count as zeros
        zeros = from_array(np.zeros((wanted - given, permuted_tokens.shape[1]), permuted_tokens.dtype.np))
        permuted_tokens = Concat(0)((permuted_tokens, zeros))
    rows = gather(permuted_tokens, sorted_indices, 0)
    choices = 1 if probs is None else probs.shape[1]
    rows = Reshape()(rows, (-1, choices, rows.shape[1]))
    if probs is not None:
        rows = rows * ExpandDims()(cast(probs, rows.dtype), -1)
    return ReduceSum()(rows, 1)


def moe_gating_top_k_softmax(x: Tensor, finished: Any = None, k: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    """The k largest probabilities per token, their experts, and the number of each (choice, token).

    Examples:
        >>> weight, expert, row = ops.moe_gating_top_k_softmax(Tensor([[1.0, 3.0, 2.0]]), None, k=2)
        >>> print(expert)
        [[1 2]]
    """
    weights, experts = topk(Softmax(-1)(x), k, -1)
    if finished is not None:
        stop = ExpandDims()(finished, -1)
        experts = ew.Select()(stop, ew.OnesLike()(experts) * x.shape[-1], experts)
    rows = np.arange(k)[None, :] * x.shape[0] + np.arange(x.shape[0])[:, None]
    return weights, cast(experts, mstype.int32), from_array(rows.astype(np.int32))


def moe_init_routing(x: Tensor, row_idx: Any, expert_idx: Tensor, active_num: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of x sorted by expert, where each (choice, token) went, and the sorted experts.

    Examples:
        >>> rows = Tensor([[1.0], [2.0]])
        >>> row, expert = Tensor([[0], [1]], ms.int32), Tensor([[1], [0]], ms.int32)
        >>> sorted_rows, place, expert = ops.moe_init_routing(rows, row, expert, 2)
        >>> print(sorted_rows.tolist(), expert)
        [[2.0], [1.0]] [0 1]
    """
    tokens, choices = expert_idx.shape
    flat = Reshape()(expert_idx, (-1,))
    order, _ = _order(flat)
    source = gather(Reshape()(row_idx, (-1,)), order, 0)
    rows = gather(x, ew.FloorMod()(source, tokens), 0)
    rows = GetItem((slice(0, min(tokens, active_num) * choices),))(rows)
    return rows, cast(argsort_stable(source, 0), mstype.int32), gather(flat, order, 0)


def moe_init_routing_v2(
    x: Tensor, expert_idx: Tensor, active_num: int, expert_capacity: int, expert_num: int, drop_pad_mode: int,
    expert_tokens_count_or_cumsum_flag: int, expert_tokens_before_capacity_flag: bool,
) -> tuple:  # fmt: skip
    """Rows of x by expert, dropless (mode 0) or in `expert_capacity` places per expert (mode 1), and where each went.

    Then, as the flags ask: the (running) number of tokens per expert, and their number before the capacity applies.

    Examples:
        >>> rows = Tensor([[1.0], [2.0]])
        >>> out = ops.moe_init_routing_v2(rows, Tensor([[1], [0]], ms.int32), 2, 0, 2, 0, 0, False)
        >>> print(out[0].tolist())
        [[2.0], [1.0]]
    """
    tokens, choices = expert_idx.shape
    flat = Reshape()(expert_idx, (-1,))
    order, places = _order(flat)
    results: tuple = ()
    if expert_tokens_count_or_cumsum_flag or expert_tokens_before_capacity_flag:
        counts = _counts(flat, expert_num)
        results = (CumSum()(counts, 0) if expert_tokens_count_or_cumsum_flag == 1 else counts,)
    if drop_pad_mode == 0:
        rows = gather(x, ew.FloorDiv()(order, choices), 0)
        rows = GetItem((slice(0, min(active_num, tokens * choices)),))(rows) if active_num else rows
        return rows, cast(places, mstype.int32), *results
    starts = cast(CumSum(exclusive=True)(_counts(flat, expert_num), 0), mstype.int64)
    within = cast(places, mstype.int64) - gather(starts, flat, 0)
    fits = ew.Less()(within, expert_capacity)
    slots = cast(flat, mstype.int64) * expert_capacity + within
    total = expert_num * expert_capacity
    target = ew.Select()(fits, slots, ew.OnesLike()(slots) * total)  # those that do not fit share one place behind
    rows = gather(x, from_array(np.repeat(np.arange(tokens), choices)), 0)
    empty = from_array(np.zeros((total + 1, x.shape[1]), x.dtype.np))
    placed = TensorScatterAdd()(empty, ExpandDims()(target, -1), rows)
    padded = Reshape()(GetItem((slice(0, total),))(placed), (expert_num, expert_capacity, x.shape[1]))
    return padded, cast(ew.Select()(fits, slots, -ew.OnesLike()(slots)), mstype.int32), *results


def moe_finalize_routing(
    expanded_x: Any, x1: Any, x2: Any = None, bias: Any = None, scales: Any = None, expanded_row_idx: Any = None,
    expanded_expert_idx: Any = None,
) -> Tensor:  # fmt: skip
    """x1 + x2 + the experts' results of each token, with their biases and scales, added up.

    Examples:
        >>> x = Tensor([[10.0], [20.0]])
        >>> zero, place, expert = ops.zeros((2, 1)), Tensor([1, 0], ms.int32), Tensor([[0], [1]], ms.int32)
        >>> print(ops.moe_finalize_routing(x, zero, None, zero, ops.ones((2, 1)), place, expert))
        [[20.]
         [10.]]
    """
    tokens, choices = expanded_expert_idx.shape
    out = x1 if x2 is None else x1 + x2
    places = Transpose()(Reshape()(expanded_row_idx, (choices, tokens)), (1, 0))
    rows = gather(expanded_x, places, 0)
    if bias is not None:
        rows = rows + gather(bias, expanded_expert_idx, 0)
    if scales is not None:
        rows = rows * ExpandDims()(scales, -1)
    return out + ReduceSum()(rows, 1)


def moe_compute_expert_tokens(sorted_experts: Tensor, num_expert: int = 1) -> Tensor:
    """The running number of tokens per expert.

    Examples:
        >>> print(ops.moe_compute_expert_tokens(Tensor([0, 0, 1, 2, 2], ms.int32), 3))
        [2 3 5]
    """
    return CumSum()(_counts(sorted_experts, num_expert), 0)


def _best_groups(scores: Tensor, groups: int, inner: int, kept: int) -> tuple[Any, Any]:
    """Scores (tokens, groups, experts of a group), and whether each belongs to one of the `kept` best groups.

    A group is as good as the sum of its `inner` best.
    """
    grouped = Reshape()(scores, (scores.shape[0], groups, scores.shape[1] // groups))
    strength = ReduceSum()(topk(grouped, inner, -1)[0], -1)
    best = topk(strength, kept, -1)[1]
    chosen = ew.Equal()(ExpandDims()(best, -1), from_array(np.arange(groups)))
    opened = ew.Greater()(ReduceSum()(cast(chosen, mstype.float32), 1), 0.0)
    return grouped, BroadcastTo(grouped.shape)(ExpandDims()(opened, -1))


def group_topk(token: Tensor, idx_arr: Any, group_num: int, k: int, k_inner: int = 1) -> Tensor:
    """Set the scores (tokens, experts) of all but the k best groups to 0, in place.

    Examples:
        >>> scores = Tensor([[0.1, 0.2, 0.9, 0.3]], ms.float16)
        >>> _ = ops.group_topk(scores, ops.arange(4), group_num=2, k=1)
        >>> print(scores[0, :2])
        [0. 0.]
    """
    grouped, opened = _best_groups(token, group_num, k_inner, k)
    return update(token, Reshape()(ew.Select()(opened, grouped, ew.ZerosLike()(grouped)), token.shape))


def fused_add_topk_div(
    x: Tensor, add_num: Tensor, group_num: int, group_topk: int, n: int, k: int, activate_type: int = 0,
    is_norm: bool = True,
    scale: float = 2.5, mapping_num: Any = None, mapping_table: Any = None, enable_expert_mapping: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Experts of grouped routing (DeepSeek-AI 2024): the best groups by the sum of their n best, then the k best experts.

    `add_num` shifts the choice, not the weights, which are sigmoid(x), made to sum to `scale` if `is_norm`.

    Examples:
        >>> scores = Tensor([[0.0, 0.0, 2.0, 3.0]])
        >>> groups = {"group_num": 2, "group_topk": 1}
        >>> weights, experts = ops.fused_add_topk_div(scores, ops.zeros(4), **groups, n=1, k=2, scale=1.0)
        >>> print(experts)
        [[3 2]]
    """
    if enable_expert_mapping:
        raise ValueError("For 'fused_add_topk_div', 'enable_expert_mapping' must be False.")
    refuse_given("fused_add_topk_div", activate_type=activate_type, mapping_num=mapping_num, mapping_table=mapping_table)
    tokens, experts = x.shape
    shares = ew.Sigmoid()(cast(x, mstype.float32))
    choice = shares + cast(add_num, mstype.float32)
    grouped, open_groups = _best_groups(choice, group_num, n, group_topk)
    kept = ew.Select()(open_groups, grouped, ew.ZerosLike()(grouped) - np.float32(np.inf))
    indices = topk(Reshape()(kept, (tokens, experts)), k, -1)[1]
    weights = gather_elements(shares, 1, indices)
    if is_norm:
        weights = weights / (ReduceSum(True)(weights, -1) + 1e-20)
    return weights * scale, cast(indices, mstype.int32)


def grouped_matmul(
    x: Any, weight: Any, bias: Any = None, scale: Any = None, offset: Any = None, antiquant_scale: Any = None,
    antiquant_offset: Any = None, group_list: Tensor | None = None, split_item: int = 0, group_type: int = -1,
    transpose_a: bool = False, transpose_b: bool = False,
) -> tuple:  # fmt: skip
    """Products of lists of matrices (`split_item` 0), or of groups of rows with the matrices of a stack (3).

    `group_list` holds the running ends of the groups.

    Examples:
        >>> outs = ops.grouped_matmul([ops.ones((2, 3)), ops.ones((1, 4))], [ops.ones((3, 5)), ops.ones((4, 5))])
        >>> [out.shape for out in outs]
        [(2, 5), (1, 5)]
    """
    if any(v is not None for v in (scale, offset, antiquant_scale, antiquant_offset)):
        raise ValueError("For 'grouped_matmul', quantised inputs are not supported.")
    return _grouped(x, weight, bias, group_list, split_item, True, transpose_a, transpose_b)


def grouped_matmul_v4(
    x: Any, weight: Any, bias: Any = None, scale: Any = None, offset: Any = None, antiquant_scale: Any = None,
    antiquant_offset: Any = None, pre_token_scale: Any = None, group_list: Tensor | None = None,
    activation_input: Any = None,
    activation_quant_scale: Any = None, activation_quant_offset: Any = None, split_item: int = 0, group_type: int = -1,
    group_list_type: int = 0, act_type: int = 0, output_dtype: Any = None,
) -> tuple:  # fmt: skip
    """As `grouped_matmul`; with `group_list_type` 1 the list holds the groups' sizes instead of their ends.

    Examples:
        >>> outs = ops.grouped_matmul_v4([ops.ones((2, 3))], [ops.ones((3, 5))])
        >>> outs[0].shape
        (2, 5)
    """
    if any(v is not None for v in (scale, offset, antiquant_scale, antiquant_offset, pre_token_scale)):
        raise ValueError("For 'grouped_matmul_v4', quantised inputs are not supported.")
    refuse_given(
        "grouped_matmul_v4", activation_input=activation_input, activation_quant_scale=activation_quant_scale,
        activation_quant_offset=activation_quant_offset, act_type=act_type, output_dtype=output_dtype,
    )  # fmt: skip
    return _grouped(x, weight, bias, group_list, split_item, group_list_type == 0, False, False)


def _grouped(
    x: Any,
    weight: Any,
    bias: Any,
    group_list: Tensor | None,
    split_item: int,
    ends: bool,
    transpose_a: bool,
    transpose_b: bool,
) -> tuple:
    if split_item not in (0, 3):
        raise TypeError(f"For 'GroupedMatmul', 'split_item' must be 0 or 3, but got {split_item!r}.")
    flip = lambda m, wanted: m.swapaxes(-1, -2) if wanted else m
    if split_item == 0:
        biases = [None] * len(weight) if bias is None else bias
        products = (matmul(flip(a, transpose_a), flip(w, transpose_b)) for a, w in zip(x, weight))
        return tuple(p if b is None else p + b for p, b in zip(products, biases))
    if group_list is None:
        raise TypeError("For 'GroupedMatmul', 'group_list' must be given when 'split_item' is 3.")
    rows, matrices = flip(x[0], transpose_a), flip(weight[0], transpose_b)
    groups = cast(group_list, mstype.int64)
    counts = groups
    if ends:
        zero = from_array(np.zeros(1, np.int64))
        counts = groups - Concat(0)((zero, GetItem((slice(0, -1),))(groups)))
    out = GroupedMatMulRows()(rows, matrices, counts)
    if bias is not None:
        last = groups if ends else CumSum()(groups, 0)
        behind = ew.GreaterEqual()(from_array(np.arange(rows.shape[0])[:, None]), last)
        group = ew.Minimum()(ReduceSum()(cast(behind, mstype.int64), 1), matrices.shape[0] - 1)
        out = out + gather(bias[0], group, 0)
    return (out,)


def _token_choices(op: str, tokens: Tensor, expert_ids: Tensor) -> None:
    require_rank(op, "x", tokens, 2, 2)
    require_rank(op, "expert_ids", expert_ids, 2, 2)


def _one_process(op: str, ep_world_size: int, tp_world_size: int) -> None:
    if ep_world_size != 1 or tp_world_size > 1:
        raise ValueError(
            f"For '{op}', the experts must be in one process ('ep_world_size' 1, 'tp_world_size' 0 or 1), but got "
            f"{ep_world_size} and {tp_world_size}: between processes use 'moe_init_routing_v2' and 'AlltoAllV'."
        )


def moe_distribute_dispatch(
    x: Tensor, expert_ids: Tensor, ep_world_size: int, ep_rank_id: int, moe_expert_num: int, expert_scales: Any = None,
    scales: Any = None, x_active_mask: Any = None, group_ep: str | None = None, group_tp: str | None = None,
    tp_world_size: int = 0, tp_rank_id: int = 0, expert_shard_type: int = 0, shared_expert_num: int = 0,
    shared_expert_rank_num: int = 0, quant_mode: int = 0, global_bs: int = 0, expert_token_nums_type: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Tokens (BS, H) sent to their experts `expert_ids` (BS, K), all of them in this process: rows sorted by expert.

    Returns:
        The rows (BS * K, H); scales of quantised rows (ones); the place of each (token, choice) among the rows of its
        expert; the number of rows per expert (type 1) or its running sum (type 0); the running sum again as counts of
        what was received; the same for tensor parallelism (zeros); and the rows' weights.

    Examples:
        >>> x, experts = Tensor([[1.0], [2.0]]), Tensor([[1, 0], [1, 2]], ms.int32)
        >>> rows, _, places, counts, *_ = ops.moe_distribute_dispatch(x, experts, 1, 0, 3, expert_token_nums_type=1)
        >>> print(rows.flatten(start_dim=0), places, counts)
        [1. 1. 2. 2.] [0 0 1 0] [1 2 1]
    """
    op = "moe_distribute_dispatch"
    _token_choices(op, x, expert_ids)
    _one_process(op, ep_world_size, tp_world_size)
    if quant_mode or shared_expert_num:
        raise ValueError(f"For '{op}', quantised rows and shared experts are not supported.")
    refuse_given(op, scales=scales, x_active_mask=x_active_mask)
    choices = expert_ids.shape[1]
    flat = Reshape()(expert_ids, (-1,))
    order, places = _order(flat)
    counts = _counts(flat, moe_expert_num)
    ends = CumSum()(counts, 0)
    within = places - gather(ends - counts, flat, 0)
    rows = gather(x, ew.FloorDiv()(order, choices), 0)
    ones = from_array(np.ones(rows.shape[0], np.float32))
    weights = ones if expert_scales is None else gather(Reshape()(expert_scales, (-1,)), order, 0)
    numbers = cast(ends if expert_token_nums_type == 0 else counts, mstype.int64)
    nothing = from_array(np.zeros(1, np.int32))
    return rows, ones, cast(within, mstype.int32), numbers, cast(ends, mstype.int32), nothing, weights


def moe_distribute_combine(
    expand_x: Tensor, expert_ids: Tensor, expand_idx: Tensor, ep_send_counts: Tensor, expert_scales: Tensor,
    ep_world_size: int,
    ep_rank_id: int, moe_expert_num: int, tp_send_counts: Any = None, x_active_mask: Any = None, activate_scale: Any = None,
    weight_scale: Any = None, group_list: Any = None, expand_scales: Any = None, group_ep: str | None = None,
    group_tp: str | None = None, tp_world_size: int = 0, tp_rank_id: int = 0, expert_shard_type: int = 0,
    shared_expert_num: int = 0, shared_export_rank_num: int = 0, global_bs: int = 0, out_dtype: int = 0,
    common_quant_mode: int = 0, group_list_type: int = 0,
) -> Tensor:  # fmt: skip
    """What the experts made of the rows of `moe_distribute_dispatch`, back at the tokens: sums weighted by `expert_scales`.

    Examples:
        >>> x, experts, share = Tensor([[1.0], [2.0]]), Tensor([[1, 0], [1, 2]], ms.int32), ops.ones((2, 2)) * 0.5
        >>> rows, _, places, _, counts, *_ = ops.moe_distribute_dispatch(x, experts, 1, 0, 3)
        >>> print(ops.moe_distribute_combine(rows, experts, places, counts, share, 1, 0, 3).flatten(start_dim=0))
        [1. 2.]
    """
    op = "moe_distribute_combine"
    refuse_given(
        op, x_active_mask=x_active_mask, activate_scale=activate_scale, weight_scale=weight_scale, group_list=group_list,
        shared_expert_num=shared_expert_num, out_dtype=out_dtype, common_quant_mode=common_quant_mode,
    )  # fmt: skip
    _token_choices(op, expand_x, expert_ids)
    if expert_scales.shape != expert_ids.shape:
        raise ValueError(
            f"For '{op}', 'expert_scales' must have the shape {expert_ids.shape} of 'expert_ids', but got "
            f"{expert_scales.shape}."
        )
    _one_process(op, ep_world_size, tp_world_size)
    flat = Reshape()(expert_ids, (-1,))
    starts = ep_send_counts - _counts(flat, moe_expert_num)
    rows = gather(expand_x, expand_idx + gather(starts, flat, 0), 0)
    rows = Reshape()(at_least_single(rows), (*expert_ids.shape, -1))
    share = Reshape()(at_least_single(expert_scales), (*expert_ids.shape, 1))
    return cast(ReduceSum()(rows * share, 1), expand_x.dtype)
