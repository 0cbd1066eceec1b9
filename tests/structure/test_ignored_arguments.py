"""No public function takes an argument and ignores it in silence.

An argument that nothing reads gives a result other than the one that was asked for. It acts, or is refused
(`ops.arguments.refuse_given`), or stands here with the reason why it cannot change a result.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "src" / "mindspore"
PLACES = ("ops", "mint", "nn", "numpy", "scipy", "common", "amp.py", "experimental")

#: names that say nothing about a result, wherever they stand
NO_RESULT = {
    "device": "there is one memory", "pin_memory": "there is one memory", "inplace": "the result is the same",
    "sync": "a kernel's schedule", "inner_precise": "a kernel's precision", "use_lock": "updates are atomic",
    "block_size": "read from the cache's shape", "group_ep": "one process", "group_tp": "one process", "tp_rank_id": "one process",
    "ep_rank_id": "one process", "global_bs": "one process", "parallel_config": "strategies are set on operations",
    "sparse": "gradients are the same, dense or not", "debug": "prints of a kernel", "offset": "of a random stream: any draws do",
    "stable": "sorting is always stable",
}  # fmt: skip
#: where an argument of a function or class is left alone, and why
KNOWN = {
    "prompt_flash_attention.num_key_value_heads": "read from the keys' shape",
    "speed_fusion_attention.gen_mask_parallel": "a kernel's schedule",
    "ring_attention_update.actual_seq_qlen": "rows are packed alike in all arguments",
    "multi_head_attention_forward.k_is_v": "a hint for speed", "multi_head_attention_forward.q_is_k": "a hint for speed",
    "multi_head_attention_forward.dtype": "that of the tensors",
    "_Grad.merge_forward": "one graph has both", "PyFunc.in_types": "read from the tensors", "PyFunc.in_shapes": "read from the tensors",
    "PyFunc.stateful": "every function is called each time", "moe_token_unpermute.restore_shape": "read from the indices",
    "group_topk.idx_arr": "positions are counted", "grouped_matmul.group_type": "one kind: rows",
    "grouped_matmul_v4.group_type": "one kind: rows",
    "moe_distribute_dispatch.expert_shard_type": "no shared experts", "moe_distribute_dispatch.shared_expert_rank_num": "no shared experts",
    "moe_distribute_combine.expert_shard_type": "no shared experts", "moe_distribute_combine.shared_export_rank_num": "no shared experts",
    "moe_distribute_combine.tp_send_counts": "one process", "moe_distribute_combine.expand_scales": "of quantised rows, which are refused",
    "moe_distribute_combine.group_list_type": "of a list that is refused", "index_add.check_index_bound": "always checked",
    "pinv.hermitian": "a hint for speed", "matrix_rank.hermitian": "a hint for speed",
    "add_layer_norm.additional_output": "the sum is there either way", "depend.expr": "what has effects keeps its order",
    "sparse_reorder.shape": "the order does not depend on it",
    "sparse_softmax.shape": "rows come from the indices", "csr_to_sparse_tensor.batch_pointers": "follows from the row pointers",
    "csr_to_dense.batch_pointers": "follows from the row pointers", "csr_nnz.shape": "the last pointer tells",
    "csr_nnz.row_pointers": "the batch pointers tell", "csr_nnz.col_indices": "the batch pointers tell",
    "csr_nnz.values": "the batch pointers tell", "repeat_interleave.output_size": "a hint for speed",
    "cdist.compute_mode": "a hint for speed",
    "batch_norm_elemt.eps": "it is in invstd already", "batch_norm_gather_stats_with_counts.input": "only its type counts",
    "Identity.args": "as torch.nn.Identity", "Identity.kwargs": "as torch.nn.Identity", "Dropout.dtype": "that of the tensor",
    "EmbeddingLookup.slice_mode": "strategies are set on operations", "EmbeddingLookup.manual_shapes": "strategies are set on operations",
    "EmbeddingLookup.vocab_cache_size": "a cache for speed", "FlashAttention.tiling_stgy_name": "a kernel's schedule",
    "FlashAttention.dp": "strategies are set on operations", "FlashAttention.mp": "strategies are set on operations",
    "FlashAttention.high_precision": "sums are float32", "FlashAttention.have_attention_mask_batch": "read from the mask's shape",
    "FlashAttention.alibi": "given with each call", "FlashAttention.use_mqa": "read from the keys' shape",
    "thor.split_indices": "groups of a communication", "DistributedGradReducer.parameters": "gradients are enough",
    "DistributedGradReducer.fusion_type": "buckets are cut by size or time", "PipelineGradReducer.parameters": "gradients are enough",
    "histogram_bin_edges.weights": "NumPy ignores them too",
}  # fmt: skip


def ignored(function: ast.FunctionDef):
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg)))]
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        return []
    read = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
    return [n for n in names if n not in read and n not in ("self", "cls") and not n.startswith("_") and "locals" not in read]


def public_functions(tree: ast.Module):
    listed = [n.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"]
    names = {c.value for value in listed for c in ast.walk(value) if isinstance(c, ast.Constant)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and node.name in names:
            yield from ((node.name, m) for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__")


def test_every_argument_acts_or_has_a_reason():
    found = set()
    for place in PLACES:
        for path in [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py")):
            for name, function in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
                found |= {f"{name}.{argument}" for argument in ignored(function) if argument not in NO_RESULT}
    assert found - set(KNOWN) == set(), "these arguments are taken and ignored: let them act, refuse them, or give a reason"
    assert set(KNOWN) - found == set(), "these act now: take them off the list"
