"""Attention in parts: joined, by chosen blocks, over keys in pages."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, ops

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("layout", ["SBH", "TND"])
def test_partial_attentions_join(layout):
    q, k, v = (
        RNG.normal(size=(3, 2, 4)),
        RNG.normal(size=(6, 2, 4)),
        RNG.normal(size=(6, 2, 4)),
    )  # (length, heads, size)

    def attention(keys, values):
        scores = np.einsum("snd,tnd->nst", q, keys)
        top = scores.max(-1)
        weights = np.exp(scores - top[..., None])
        return np.einsum("nst,tnd->snd", weights / weights.sum(-1, keepdims=True), values), top, weights.sum(-1)

    def given(out, top, total):
        if layout == "SBH":
            return out.reshape(3, 1, 8), *(np.repeat(x[None, :, :, None], 8, -1) for x in (top, total))
        return out, *(np.repeat(x.T[:, :, None], 8, -1) for x in (top, total))

    parts = [Tensor(a) for part in ((k[:4], v[:4]), (k[4:], v[4:])) for a in given(*attention(*part))]
    found = ops.ring_attention_update(*parts, layout=layout)
    for f, e in zip(found, given(*attention(k, v))):
        np.testing.assert_allclose(f.asnumpy(), e, rtol=1e-6)


def test_blocks_that_matter_most():
    q, k = RNG.normal(size=(3, 4, 8)).astype(np.float32), RNG.normal(size=(6, 2, 8)).astype(np.float32)
    hidden = np.zeros((3, 3), bool)
    hidden[:, 1] = True
    out = ops.nsa_compress_attention(
        Tensor(q), Tensor(k), Tensor(k), 0.5, 4, 2, 1, 2, 2, topk_mask=Tensor(hidden), actual_seq_qlen=(3,),
        actual_cmp_seq_kvlen=(6,), actual_sel_seq_kvlen=(3,),
    )  # fmt: skip
    for t in range(3):
        for n in range(2):
            scores = 0.5 * q[t, 2 * n : 2 * n + 2] @ k[:, n].T
            p = (np.exp(scores) / np.exp(scores).sum(1, keepdims=True)).sum(0)
            at = lambda i, p=p: p[i] if 0 <= i < 6 else 0.0
            blocks = [sum(at(2 * j - m - i) for m in range(2) for i in range(2)) for j in (0, 2)]
            assert out[1].asnumpy()[t, n].tolist() == ([0, 2] if blocks[0] > blocks[1] else [2, 0])
            np.testing.assert_allclose(out[2].asnumpy()[t, 2 * n, 0], scores[0].max(), rtol=1e-5)
            np.testing.assert_allclose(
                out[3].asnumpy()[t, 2 * n, 3], np.exp(scores[0] - scores[0].max()).sum(), rtol=1e-5
            )


def test_keys_in_pages():
    """Keys in blocks, found through a table, are the same as keys in a row."""
    q = Tensor(RNG.normal(size=(2, 2, 4, 8)).astype(np.float32))
    pages = RNG.normal(size=(6, 2, 1, 8)).astype(np.float32)
    table, lengths = np.array([[3, 0, 5], [1, 4, -1]], np.int32), np.array([5, 3], np.int32)
    w = Tensor(RNG.uniform(size=(2, 2, 4)).astype(np.float32))
    paged = {"block_table": Tensor(table), "layout_query": "BSND"}
    found, values = ops.lightning_indexer(
        q,
        Tensor(pages),
        w,
        actual_seq_lengths_key=Tensor(lengths),
        layout_key="PA_BSND",
        sparse_count=4,
        return_value=True,
        **paged,
    )
    chosen = Tensor(np.array([[[[0, 4]], [[2, 1]]], [[[1, 0]], [[2, -1]]]], np.int32))
    out, top, total = ops.sparse_flash_attention(
        q,
        Tensor(pages),
        Tensor(pages),
        chosen,
        0.5,
        actual_seq_lengths_kv=Tensor(lengths),
        layout_kv="PA_BSND",
        **paged,
    )
    for b in range(2):
        keys = pages[np.maximum(table[b], 0)].reshape(-1, 1, 8)[: lengths[b]]
        one, k = q[b : b + 1], Tensor(keys[None])
        alone, sums = ops.lightning_indexer(one, k, w[b : b + 1], sparse_count=4, return_value=True)
        np.testing.assert_array_equal(found.asnumpy()[b], alone.asnumpy()[0])
        np.testing.assert_allclose(values.asnumpy()[b], sums.asnumpy()[0], rtol=1e-5)
        for x, y in zip((out, top, total), ops.sparse_flash_attention(one, k, k, chosen[b : b + 1], 0.5)):
            np.testing.assert_allclose(x.asnumpy()[b], y.asnumpy()[0], rtol=1e-5, atol=1e-6)
    packed = ops.lightning_indexer(
        q.reshape((4, 4, 8)), Tensor(pages.reshape(12, 1, 8)), w.reshape((4, 4)), layout_query="TND", layout_key="TND",
        actual_seq_lengths_query=(2, 4), actual_seq_lengths_key=(6, 12), sparse_count=2,
    )[0]  # fmt: skip
    first = ops.lightning_indexer(q[:1], Tensor(pages.reshape(2, 6, 1, 8)[:1]), w[:1], sparse_count=2)[0]
    np.testing.assert_array_equal(packed.asnumpy()[:2], first.asnumpy()[0])
    with pytest.raises(ValueError, match="block_table"):
        ops.lightning_indexer(q, Tensor(pages), w, layout_key="PA_BSND")
