"""Attention to chosen keys, samples between pixels, transducers and other operations stated by loops."""

import numpy as np
from table import Fixed, real, row

import mindspore as ms
from mindspore import Tensor

PLAIN = {"dtypes": "f d", "vmap": False, "tolerance": 4}
F32 = {"dtypes": "f", "vmap": False, "tolerance": 4, "keeps": False}


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


# -- windows of keys --------------------------------------------------------------------------------------------------
def compressed(x, w):
    starts = [0, 2, 5, 7]  # sequences of 5 and 5 tokens, windows of 3 every 2
    return np.stack([(x[s : s + 3] * w[:, :, None]).sum(0) for s in starts])


row(
    "nsa_compress", compressed, real(10, 2, 4), real(3, 2),
    call=lambda f, x, w: f(x, w, 3, 2, actual_seq_len=(5, 10)), **PLAIN,
)  # fmt: skip


def compress_attention(q, k, v):
    out = np.zeros((q.shape[0], q.shape[1], v.shape[2]))
    for (a, b), (c, d) in (((0, 3), (0, 4)), ((3, 5), (4, 9))):
        for h in range(4):
            out[a:b, h] = softmax(0.5 * q[a:b, h] @ k[c:d, h // 2].T) @ v[c:d, h // 2]
    return out


row(
    "nsa_compress_attention", compress_attention, real(5, 4, 4), real(9, 2, 4), real(9, 2, 3),
    call=lambda f, q, k, v: f(
        q, k, v, 0.5, 4, 2, 1, 2, 2, actual_seq_qlen=(3, 5), actual_cmp_seq_kvlen=(4, 9), actual_sel_seq_kvlen=(2, 5)
    )[0],
    **PLAIN,
)  # fmt: skip

BLOCKS = np.array([[[0, 2], [1, 0]], [[1, 2], [2, 0]], [[0, 1], [1, 0]]], np.int32)  # (T1, N2, blocks)


def select_attention(q, k, v, blocks):
    out = np.zeros((3, 4, 3))
    for t in range(3):
        start, stop = (0, 5) if t < 2 else (5, 9)
        for h in range(4):
            seen = [start + 2 * b + i for b in blocks[t, h // 2] for i in range(2) if start + 2 * b + i < stop]
            out[t, h] = softmax(0.5 * k[seen, h // 2] @ q[t, h]) @ v[seen, h // 2]
    return out


row(
    "nsa_select_attention", select_attention, real(3, 4, 4), real(9, 2, 4), real(9, 2, 3), Fixed(BLOCKS),
    call=lambda f, q, k, v, blocks: f(
        q, k, v, blocks, 0.5, 4, 2, 2, actual_seq_qlen=(2, 3), actual_seq_kvlen=(5, 9)
    )[0],
    **PLAIN,
)  # fmt: skip

CHOSEN = np.array([[[[0, 1, -1]], [[3, 0, 2]]], [[[2, 1, 0]], [[1, 4, 3]]]], np.int32)  # (B, S1, N2, chosen)


def sparse_attention(q, k, v, chosen, q_rope, k_rope):
    out = np.zeros_like(q)
    for b in range(2):
        for s in range(2):
            seen = [i for i in chosen[b, s, 0] if 0 <= i <= s + 3]  # five keys, the last query sees them all
            scores = k[b, seen, 0] @ q[b, s].T + k_rope[b, seen, 0] @ q_rope[b, s].T
            out[b, s] = softmax(0.5 * scores, 0).T @ v[b, seen, 0]
    return out


row(
    "sparse_flash_attention", sparse_attention, real(2, 2, 3, 4), real(2, 5, 1, 4), real(2, 5, 1, 4), Fixed(CHOSEN),
    real(2, 2, 3, 2), real(2, 5, 1, 2),
    call=lambda f, q, k, v, chosen, a, b: f(q, k, v, chosen, 0.5, query_rope=a, key_rope=b, attention_mode=2)[0],
    **PLAIN,
)  # fmt: skip


def indexed(q, k, w):
    out = np.full((2, 2, 1, 3), -1)
    for b in range(2):
        for s in range(2):
            scores = (w[b, s][:, None] * np.maximum(q[b, s] @ k[b, :, 0].T, 0)).sum(0)[: s + 2]
            best = np.argsort(-scores, kind="stable")[:3]
            out[b, s, 0, : len(best)] = best
    return out


row(
    "lightning_indexer", indexed, np.abs(real(2, 2, 4, 8)), np.abs(real(2, 3, 1, 8)), np.abs(real(2, 2, 4)),
    call=lambda f, q, k, w: f(q, k, w, sparse_count=3)[0], grad=0, dtypes="f d", vmap=False, keeps=False,
)  # fmt: skip


# -- between pixels ---------------------------------------------------------------------------------------------------
def deformable(value, locations, weight):
    n, _, heads, width = value.shape
    out = np.zeros((n, locations.shape[1], heads * width))
    for b, q, h, level, p in np.ndindex(weight.shape):
        high, wide, start = ((3, 2, 0), (2, 4, 6))[level]
        plane = value[b, start : start + high * wide, h].reshape(high, wide, width)
        x, y = locations[b, q, h, level, p] * (wide, high) - 0.5
        for r in (int(np.floor(y)), int(np.floor(y)) + 1):
            for c in (int(np.floor(x)), int(np.floor(x)) + 1):
                if 0 <= r < high and 0 <= c < wide:
                    share = (1 - abs(y - r)) * (1 - abs(x - c)) * weight[b, q, h, level, p]
                    out[b, q, h * width : (h + 1) * width] += share * plane[r, c]
    return out


PLACES = np.random.default_rng(5).uniform(0.05, 0.95, (1, 2, 2, 2, 3, 2))
row(
    "multi_scale_deformable_attn_function", deformable, real(1, 14, 2, 4), PLACES, real(1, 2, 2, 2, 3),
    call=lambda f, v, at, w: f(v, Tensor([[3, 2], [2, 4]]), Tensor([0, 6]), at, w), **PLAIN,
)  # fmt: skip


def columns_added(x):
    out = np.zeros((2, 3, 3, 4))
    for window, (r, c) in enumerate((r, c) for r in range(2) for c in range(3)):
        out[:, :, r : r + 2, c : c + 2] += x[:, :, :, window].reshape(2, 3, 2, 2)
    return out


row(
    "col2im Tensor.col2im", columns_added, real(2, 3, 4, 6),
    call=lambda f, x: f(x, Tensor([3, 4], ms.int32), (2, 2), 1, 0, 1), dtypes="f d", vmap=False,
)  # fmt: skip


def glimpses(x, offsets):
    out = np.zeros((2, 3, 2, 1))
    for b in range(2):
        top, left = (int(o - n / 2) for o, n in zip(offsets[b], (3, 2)))
        for r in range(3):
            for c in range(2):
                if 0 <= top + r < 5 and 0 <= left + c < 6:
                    out[b, r, c] = x[b, top + r, left + c]
    return out


row(
    "ExtractGlimpse(False,False,False,'zero')", glimpses, real(2, 5, 6, 1), Fixed(np.array([[2.0, 3.4], [-0.6, 6.3]], np.float32)),
    call=lambda f, x, at: f(x, Tensor([3, 2], ms.int32), at), **PLAIN,
)  # fmt: skip


def moved_and_stretched(x):
    """By linear interpolation, in float64."""
    for axis, (scale, shift, wanted) in enumerate(((2.0, 0.25, 6), (1.5, -0.5, 5)), 1):
        size = x.shape[axis]
        at = (np.arange(wanted) + 0.5 - shift) / scale
        weights = np.maximum(1 - np.abs(np.arange(size) + 0.5 - at[:, None]), 0)
        weights = weights / weights.sum(1, keepdims=True) * ((at >= 0) & (at <= size))[:, None]
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
    return x


row(
    "ScaleAndTranslate('triangle')", moved_and_stretched, real(2, 4, 5, 2),
    call=lambda f, x: f(x, Tensor([6, 5], ms.int32), Tensor([2.0, 1.5]), Tensor([0.25, -0.5])), grad=0, **F32,
)  # fmt: skip

# -- transducers ------------------------------------------------------------------------------------------------------
LABELS = np.array([[1, 2], [3, 1]], np.int32)
LENGTHS, SIZES = np.array([4, 3], np.int32), np.array([2, 1], np.int32)


def transducer(acts, labels, lengths, sizes):
    log_p = np.log(softmax(acts))
    out = []
    for b in range(len(acts)):
        alpha = np.full((lengths[b], sizes[b] + 1), -np.inf)
        alpha[0, 0] = 0
        for t, u in np.ndindex(alpha.shape):
            if t:
                alpha[t, u] = np.logaddexp(alpha[t, u], alpha[t - 1, u] + log_p[b, t - 1, u, 0])
            if u:
                alpha[t, u] = np.logaddexp(alpha[t, u], alpha[t, u - 1] + log_p[b, t, u - 1, labels[b, u - 1]])
        out.append(-(alpha[-1, -1] + log_p[b, lengths[b] - 1, sizes[b], 0]))
    return np.array(out)


row(
    "RNNTLoss()", transducer, real(2, 4, 3, 5), Fixed(LABELS), Fixed(LENGTHS), Fixed(SIZES),
    call=lambda f, *args: f(*args)[0], **PLAIN,
)  # fmt: skip

# -- experts in one process -------------------------------------------------------------------------------------------
EXPERTS = np.array([[2, 0], [1, 2], [2, 1]], np.int32)


def sent(x, experts):
    return np.stack([x[t] for e in range(3) for t, k in np.ndindex(experts.shape) if experts[t, k] == e])


row("moe_distribute_dispatch", sent, real(3, 4), Fixed(EXPERTS), call=lambda f, x, e: f(x, e, 1, 0, 3)[0], **PLAIN)


def returned(rows, experts, share):
    order = [(t, k) for e in range(3) for t, k in np.ndindex(experts.shape) if experts[t, k] == e]
    out = np.zeros((3, rows.shape[1]))
    for i, (t, k) in enumerate(order):
        out[t] += share[t, k] * rows[i]
    return out


WITHIN, ENDS = Tensor([0, 0, 0, 1, 2, 1], ms.int32), Tensor([1, 3, 6], ms.int32)
row(
    "moe_distribute_combine", returned, real(6, 4), Fixed(EXPERTS), real(3, 2),
    call=lambda f, rows, experts, share: f(rows, experts, WITHIN, ENDS, share, 1, 0, 3), **PLAIN,
)  # fmt: skip

# -- rectangles: exact areas of squares turned by 45 degrees, moved ones, and disjoint ones ----------------------------
BOXES = np.array([[[0, 0, 2, 2, 0], [5, 5, 2, 4, 0]]], np.float64)
QUERIES = np.array([[[0, 0, 2, 2, 45], [1, 0, 2, 2, 0], [5, 5, 4, 2, 90], [9, 9, 1, 1, 10]]], np.float64)
EIGHT = 8 * (np.sqrt(2) - 1)
row(
    "rotated_iou", lambda a, b: np.array([[[EIGHT / (8 - EIGHT), 1 / 3, 0, 0], [0, 0, 1, 0]]]), BOXES, QUERIES, grad=0,
    dtypes="f d", vmap=False, tolerance=8,
)  # fmt: skip
row(
    "rotated_iou", lambda a, b: np.array([[[EIGHT / 4, 0.5, 0, 0], [0, 0, 1, 0]]]), BOXES, QUERIES,
    call=lambda f, a, b: f(a, b, mode=1), grad=0, dtypes="f d", vmap=False, tolerance=8,
)  # fmt: skip
