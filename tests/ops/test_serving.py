"""Mixtures of experts and attention over caches against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Parameter, Tensor, ops
from mindspore.ops import auto_generate
from mindspore.prims.grouped import GroupedMatMulRows, GroupedOuter

RNG = np.random.default_rng(0)


def test_tokens_go_to_their_experts_and_back():
    tokens, experts = RNG.normal(size=(5, 3)).astype(np.float32), RNG.integers(0, 4, (5, 2))
    rows, places = ops.moe_token_permute(Tensor(tokens), Tensor(experts))
    order = np.argsort(experts.ravel(), kind="stable")
    np.testing.assert_array_equal(rows.asnumpy(), tokens[order // 2])
    probs = RNG.uniform(size=(5, 2)).astype(np.float32)
    back = ops.moe_token_unpermute(rows, places, Tensor(probs))
    np.testing.assert_allclose(back.asnumpy(), tokens * probs.sum(1, keepdims=True), rtol=1e-6)
    kept, places = ops.moe_token_permute(Tensor(tokens), Tensor(experts), num_out_tokens=6)
    dropped = ops.moe_token_unpermute(kept, places, Tensor(np.ones((5, 2), np.float32)))
    alive = (places.asnumpy() < 6).reshape(5, 2).sum(1, keepdims=True)
    np.testing.assert_allclose(dropped.asnumpy(), tokens * alive, rtol=1e-6)
    with pytest.raises(ValueError, match="padded_mode"):
        ops.moe_token_permute(Tensor(tokens), Tensor(experts), padded_mode=True)


def test_routing_with_a_capacity_is_the_documented_example():
    x = Tensor(np.array([[0.1, 0.2, 0.3], [0.2, 0.7, 0.8], [0.3, 0.3, 0.5]]), ms.float32)
    experts = Tensor(np.array([[0, 1, 1], [2, 1, 1], [0, 0, 0]]), ms.int32)
    padded, places = ops.moe_init_routing_v2(x, experts, 3, 2, 3, 1, 0, False)
    rows = x.asnumpy()
    np.testing.assert_array_equal(
        padded.asnumpy(), [[rows[0], rows[2]], [rows[0], rows[0]], [rows[1], np.zeros(3, np.float32)]]
    )
    assert places.asnumpy().tolist() == [0, 2, 3, 4, -1, -1, 1, -1, -1]
    _, _, ends = ops.moe_init_routing_v2(x, experts, 0, 0, 3, 0, 1, False)
    assert ends.asnumpy().tolist() == [4, 8, 9]


def test_routing_and_finalizing_are_a_weighted_sum():
    x, logits = RNG.normal(size=(4, 3)).astype(np.float32), RNG.normal(size=(4, 5)).astype(np.float32)
    weights, experts, rows = ops.moe_gating_top_k_softmax(Tensor(logits), None, 2)
    shares = sp.softmax(logits, -1)
    np.testing.assert_allclose(weights.asnumpy(), -np.sort(-shares, -1)[:, :2], rtol=1e-6)
    expanded, places, sorted_experts = ops.moe_init_routing(Tensor(x), rows, experts, 4)
    assert (np.diff(sorted_experts.asnumpy()) >= 0).all()
    scaled = expanded.asnumpy() * (1 + sorted_experts.asnumpy()[:, None])  # "experts" that multiply by 1 + their number
    out = ops.moe_finalize_routing(Tensor(scaled), Tensor(np.zeros_like(x)), None, None, weights, places, experts)
    factor = (weights.asnumpy() * (1 + experts.asnumpy())).sum(1, keepdims=True)
    np.testing.assert_allclose(out.asnumpy(), x * factor, rtol=1e-5)


def test_grouped_choice_of_experts():
    x, shift = RNG.normal(size=(3, 8)).astype(np.float32), RNG.normal(size=8).astype(np.float32)
    weights, experts = ops.fused_add_topk_div(Tensor(x), Tensor(shift), 4, 2, 2, 3)
    shares = sp.expit(x)
    choice = (shares + shift).reshape(3, 4, 2)
    for token in range(3):
        groups = np.argsort(-choice[token].sum(-1))[:2]
        allowed = np.full(8, -np.inf)
        for g in groups:
            allowed[2 * g : 2 * g + 2] = choice[token, g]
        best = np.argsort(-allowed)[:3]
        assert experts.asnumpy()[token].tolist() == best.tolist()
        own = shares[token][best]
        np.testing.assert_allclose(weights.asnumpy()[token], 2.5 * own / own.sum(), rtol=1e-5)


def test_only_the_best_groups_keep_their_scores():
    scores = RNG.uniform(0.1, 1, (3, 8)).astype(np.float32)
    token = Tensor(scores)
    assert ops.GroupTopk()(token, Tensor(np.arange(8)), 4, 2, 1) is token
    best = np.argsort(-scores.reshape(3, 4, 2).max(-1))[:, :2]
    expected = np.zeros((3, 4, 2), np.float32)
    for row, groups in enumerate(best):
        expected[row, groups] = scores.reshape(3, 4, 2)[row, groups]
    np.testing.assert_array_equal(token.asnumpy(), expected.reshape(3, 8))
    two = ops.group_topk(Tensor(scores), Tensor(np.arange(8)), 2, 1, 2).asnumpy()
    assert ((two == 0).sum(1) == 4).all()


def test_grouped_products():
    x, w = RNG.normal(size=(6, 4)), RNG.normal(size=(3, 4, 2))
    counts = np.array([1, 0, 3])  # two rows belong to no group
    expected = np.concatenate([x[:1] @ w[0], x[1:4] @ w[2], np.zeros((2, 2))])
    np.testing.assert_allclose(GroupedMatMulRows().eval(np, x, w, counts), expected)
    jnp = pytest.importorskip("jax.numpy")
    found = GroupedMatMulRows().eval(jnp, *(jnp.asarray(v, np.float32) for v in (x, w)), jnp.asarray(counts))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    outer = GroupedOuter().eval(jnp, *(jnp.asarray(v, np.float32) for v in (x, expected)), jnp.asarray(counts))
    np.testing.assert_allclose(outer, GroupedOuter().eval(np, x, expected, counts), atol=1e-4)
    check_gradients(lambda a, b: GroupedMatMulRows()(a, b, Tensor(counts)), x, w)
    rows = [Tensor(np.arange(6)[:, None] * np.ones(4), ms.float32)]
    bias = [Tensor(np.arange(4)[:, None] * np.ones(2), ms.float32)]
    weights = [Tensor(np.ones((4, 4, 2)), ms.float32)]
    grouped = auto_generate.GroupedMatmul(3, 0)
    out = grouped(rows, weights, bias, None, None, None, None, Tensor([1, 3, 4, 6], ms.int64))[0]
    np.testing.assert_array_equal(out.asnumpy()[:, 0], 4 * np.arange(6) + np.array([0, 1, 1, 2, 3, 3]))


def test_paged_attention_reads_what_was_cached():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    heads, kv_heads, size, block = 4, 2, 3, 2
    lengths = np.array([3, 5])
    tables = np.array([[4, 1, -1], [0, 2, 3]])
    keys, values = RNG.normal(size=(2, 2, 5, kv_heads, size)).astype(np.float32)
    caches = [Parameter(Tensor(np.zeros((5, block, kv_heads, size)), ms.float32), name=n) for n in "kv"]
    for sequence in range(2):
        slots = [tables[sequence, t // block] * block + t % block if t < lengths[sequence] else -1 for t in range(5)]
        ops.ReshapeAndCache()(Tensor(keys[sequence]), Tensor(values[sequence]), *caches, Tensor(slots, ms.int32))
    query = RNG.normal(size=(2, heads * size)).astype(np.float32)
    attention = ops.PagedAttention(heads, 0.5, kv_heads)
    out = attention(Tensor(query), *caches, Tensor(tables, ms.int32), Tensor(lengths, ms.int32)).asnumpy()
    for sequence in range(2):
        n = lengths[sequence]
        for head in range(heads):
            q = query[sequence].reshape(heads, size)[head]
            k, v = keys[sequence, :n, head // 2], values[sequence, :n, head // 2]
            expected = sp.softmax(0.5 * k @ q) @ v
            np.testing.assert_allclose(out[sequence].reshape(heads, size)[head], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
@pytest.mark.parametrize("jit", [False, True])
def test_prompts_of_several_lengths(layout, jit):
    batch = heads = 2
    q, k, v = (RNG.normal(size=(batch, heads, 5, 4)).astype(np.float32) for _ in range(3))
    row, column = np.arange(5)[:, None], np.arange(5)[None]
    mask = (RNG.uniform(size=(batch, 5, 5)) < 0.3) & (column > 0)
    queries, keys = np.array([3, 5]), np.array([4, 2])

    def expected(hidden):
        return sp.softmax(np.where(hidden, -np.inf, 0.5 * q @ k.swapaxes(-1, -2)), -1) @ v

    def laid(x):
        if layout == "BNSD":
            return x
        x = x.transpose(0, 2, 1, 3)
        x = x if layout == "BSND" else x.reshape(batch, 5, -1)
        return np.ascontiguousarray(x.swapaxes(0, 1) if layout == "SBH" else x)

    options = {"num_heads": heads, "scale_value": 0.5, "input_layout": layout}
    arrays = [Tensor(laid(x)) for x in (q, k, v)]
    run = ms.jit if jit else (lambda function: function)
    got = run(lambda *a: ops.prompt_flash_attention(*a, **options))(*arrays, Tensor(mask), Tensor(queries), Tensor(keys))
    late = column >= keys[:, None, None, None]
    want = np.where(row < queries[:, None, None, None], expected(mask[:, None] | late), 0)
    np.testing.assert_allclose(got.asnumpy(), laid(want), rtol=1e-4, atol=1e-6)
    band = run(lambda *a: ops.prompt_flash_attention(*a, pre_tokens=1, next_tokens=2, sparse_mode=4, **options))
    want = expected((column > row + 2) | (column < row - 1))
    np.testing.assert_allclose(band(*arrays, Tensor(mask)).asnumpy(), laid(want), rtol=1e-4, atol=1e-6)


def test_one_token_attention():
    q, k, v = (RNG.normal(size=s).astype(np.float32) for s in ((2, 1, 8), (2, 6, 4), (2, 6, 4)))
    out = ops.incre_flash_attention(
        Tensor(q), [Tensor(k)], [Tensor(v)], actual_seq_lengths=[6, 2], num_heads=2, num_key_value_heads=1,
        scale_value=0.7,
    ).asnumpy()  # fmt: skip
    for b, n in ((0, 6), (1, 2)):
        for head in range(2):
            shares = sp.softmax(0.7 * k[b, :n] @ q[b, 0, 4 * head : 4 * head + 4])
            np.testing.assert_allclose(out[b, 0, 4 * head : 4 * head + 4], shares @ v[b, :n], rtol=1e-4, atol=1e-5)
    again, _ = ops.fused_infer_attention_score(
        Tensor(q), [Tensor(k)], [Tensor(v)], actual_seq_lengths_kv=[6, 2], num_heads=2, num_key_value_heads=1, scale=0.7
    )
    np.testing.assert_array_equal(again.asnumpy(), out)
