"""Attention, boxes, sampling of images, recurrent cells and CTC."""

import direct
import numpy as np
from scipy import special
from table import FLOAT, Fixed, plus, real, row, unit

import mindspore as ms
from mindspore import Tensor, ops

ZERO = Fixed(np.float32(0))  # for operations that take no tensor


def made(*args, **kwargs):
    """Call without tensors."""
    return lambda f, x: f(*args, **kwargs)


FREE = {"grad": 0, "vmap": False, "dtypes": "f", "keeps": False}

# -- attention --------------------------------------------------------------------------------------------------------
Q, K, V = real(2, 2, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 4)


def attention(q, k, v, scale=0.5, bias=0.0):
    return special.softmax(q @ np.swapaxes(k, -1, -2) * scale + bias, -1) @ v


CAUSAL = np.where(np.tril(np.ones((3, 3))) > 0, 0, -1e30)
row("scaled_dot_product_attention", attention, Q, K, V, tolerance=8)
row(
    "scaled_dot_product_attention",
    lambda q, k, v: attention(q, k, v, 0.5, CAUSAL),
    Q,
    K[:, :, :3],
    V[:, :, :3],
    call=lambda f, q, k, v: f(q, k, v, is_causal=True),
    dtypes="e f d",
    tolerance=8,
)
row(
    "scaled_dot_product_attention",
    lambda q, k, v, m: attention(q, k, v, 0.3, m),
    Q,
    K,
    V,
    real(3, 5),
    call=lambda f, q, k, v, m: f(q, k, v, m, scale=0.3),
    dtypes="f d",
    tolerance=8,
)
row(
    "Attention(0.5)",
    attention,
    Q,
    K,
    V,
    call=lambda f, q, k, v: f(q, k, v, None),
    dtypes="f d",
    tolerance=8,
)
row(
    "flash_attention_score",
    attention,
    Q,
    K,
    V,
    call=lambda f, q, k, v: f(q, k, v, 2, scalar_value=0.5, input_layout="BNSD"),
    dtypes="e f d",
    tolerance=8,
)
row(
    "speed_fusion_attention",
    attention,
    Q,
    K,
    V,
    call=lambda f, q, k, v: f(q, k, v, 2, "BNSD", scale=0.5)[0],
    dtypes="f d",
    tolerance=8,
)
row(
    "FlashAttentionScore(2,scale_value=0.5,input_layout='BNSD')",
    attention,
    Q,
    K,
    V,
    call=lambda f, q, k, v: f(q, k, v, None, None, None, None)[3],
    dtypes="f d",
    tolerance=8,
)
row(
    "prompt_flash_attention PromptFlashAttention(2,0.5,2147483647,2147483647,'BNSD')",
    attention,
    Q,
    K,
    V,
    dtypes="f d",
    tolerance=8,
    call=lambda f, q, k, v: (
        f(q, k, v)
        if hasattr(f, "attrs")
        else f(q, k, v, num_heads=2, scale_value=0.5, next_tokens=2147483647, input_layout="BNSD")
    ),
)
COS, SIN = unit(1, 1, 3, 4), unit(1, 1, 3, 4)
row(
    "rotary_position_embedding",
    lambda x, c, s: x * c + np.concatenate([-x[..., 2:], x[..., :2]], -1) * s,
    Q,
    COS,
    SIN,
    dtypes=FLOAT,
    tolerance=2,
)
row(
    "ApplyRotaryPosEmb()",
    lambda q, k, c, s: tuple(x * c + np.concatenate([-x[..., 2:], x[..., :2]], -1) * s for x in (q, k)),
    Q,
    real(2, 2, 3, 4),
    COS,
    SIN,
    dtypes="e f",
    call=lambda f, q, k, c, s: f(q, k, c, s, Tensor([0], ms.int64)),
    tolerance=2,
)

# -- boxes ------------------------------------------------------------------------------------------------------------
BOXES, OTHERS = np.array([[0.0, 0, 4, 4], [2, 2, 8, 6]]), np.array([[1.0, 1, 5, 4], [2, 2, 8, 6], [20, 20, 22, 23]])


def overlap(a, b):
    left, right = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    inner = np.prod(np.clip(right - left + 1, 0, None), -1)
    area = lambda x: np.prod(x[:, 2:] - x[:, :2] + 1, -1)
    return inner, area(a)[:, None] + area(b)[None] - inner


row(
    "iou IOU()",
    lambda a, b: (overlap(a, b)[0] / overlap(a, b)[1]).T,
    BOXES,
    OTHERS,
    dtypes="f",
    grad=0,
    tolerance=400,
)
row(
    "check_valid CheckValid()",
    lambda b, m: np.array([True, True, False]),
    OTHERS,
    Fixed(np.array([10.0, 10.0, 1.0], np.float32)),
    dtypes="f",
    grad=0,
)
row(
    "nms_with_mask NMSWithMask(0.5)",
    lambda b: np.array([True, False, True]),
    np.array([[0.0, 0, 10, 10, 0.9], [1, 1, 10, 10, 0.8], [20, 20, 30, 30, 0.7]]),
    call=lambda f, b: f(b)[2] if hasattr(f, "attrs") else f(b, 0.5)[2],
    dtypes="f",
    grad=0,
)


def encoded(a, g):
    wh, gwh = a[:, 2:] - a[:, :2] + 1, g[:, 2:] - g[:, :2] + 1
    return np.concatenate([((g[:, :2] + g[:, 2:]) - (a[:, :2] + a[:, 2:])) / 2 / wh, np.log(gwh / wh)], 1)


row("bounding_box_encode BoundingBoxEncode()", encoded, BOXES, OTHERS[:2], dtypes="f", grad=0, tolerance=4)
row(
    "bounding_box_decode BoundingBoxDecode((50,50))",
    lambda a, g: g,
    BOXES,
    OTHERS[:2],
    dtypes="f",
    grad=0,
    tolerance=8,
    call=lambda f, a, g: plus((50, 50))(f, a, ops.bounding_box_encode(a, g)),
)
PICTURE = real(1, 2, 5, 5)
row(
    "crop_and_resize CropAndResize()",
    lambda x: x[:, 1:4, 2:5],
    real(1, 5, 5, 2),
    dtypes="f",
    grad=0,
    call=lambda f, x: f(x, Tensor([[0.25, 0.5, 0.75, 1.0]], ms.float32), Tensor([0], ms.int32), (3, 3)),
)
row(
    "affine_grid AffineGrid()",
    lambda t: np.stack(np.meshgrid([-0.5, 0.5], [-2 / 3, 0, 2 / 3]), -1)[None],
    np.array([[[1.0, 0, 0], [0, 1, 0]]]),
    dtypes="f d",
    tolerance=2,
    call=lambda f, t: f(t, (1, 2, 3, 2)),
)


def sampled(x, grid):
    """Bilinear samples of x (N, C, spatial …) at the points of a grid that lies inside, corners at -1 and 1."""
    rank = grid.shape[-1]
    out = 0
    at = [(grid[0, ..., rank - 1 - i] + 1) / 2 * (x.shape[2 + i] - 1) for i in range(rank)]
    for corner in np.ndindex(*(2,) * rank):
        low = [np.floor(a).astype(int) for a in at]
        weight = np.prod([np.where(c, a - lo, 1 - a + lo) for c, a, lo in zip(corner, at, low)], 0)
        out = (
            out
            + weight * x[0][(slice(None), *(np.minimum(lo + c, n - 1) for lo, c, n in zip(low, corner, x.shape[2:])))]
        )
    return out[None]


GRID2, GRID3 = unit(1, 3, 4, 2), unit(1, 2, 2, 2, 3)
row(
    "grid_sample GridSampler2D(align_corners=True)",
    sampled,
    PICTURE,
    GRID2,
    call=plus(align_corners=True),
    dtypes="f d",
    tolerance=40,
)
row(
    "grid_sample GridSampler3D(align_corners=True)",
    sampled,
    real(1, 2, 3, 4, 3),
    GRID3,
    call=plus(align_corners=True),
    dtypes="f d",
    tolerance=40,
)
SAMPLES = np.array([[0, 1, 2, 1, 0], [0, 0, 0, 1, 3]]) / 4  # means of bilinear samples at 1.5, 2.5 and 3.5, 4.5
row(
    "roi_align ROIAlign(2,2,1.0)",
    lambda x: SAMPLES @ x @ SAMPLES.T,
    PICTURE,
    dtypes="f",
    tolerance=4,
    call=lambda f, x: (
        f(x, Tensor([[0, 1, 1, 4, 4]], ms.float32))
        if hasattr(f, "attrs")
        else f(x, Tensor([[0, 1, 1, 4, 4]], ms.float32), 2, 2, 1.0)
    ),
)

X = real(3, 4)

# -- recurrent cells and sequences ------------------------------------------------------------------------------------
STEP, HIDDEN, CELL = real(2, 3), unit(2, 4), unit(2, 4)
GATES = real(16, 7) / 4


def lstm_cell(x, h, c, w, b):
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ w.T + b, 4, 1)  # this primitive's order of gates
    c = direct.sigmoid(f + 1.0) * c + direct.sigmoid(i) * np.tanh(j)
    return c, direct.sigmoid(o) * np.tanh(c)


row(
    "BasicLSTMCell()",
    lstm_cell,
    STEP,
    HIDDEN,
    CELL,
    GATES,
    unit(16),
    dtypes="f d",
    tolerance=8,
    call=lambda f, x, h, c, w, b: f(x, h, c, w, b)[:2],
)
LOGITS = real(5, 2, 4)
row(
    "ctc_greedy_decoder CTCGreedyDecoder()",
    lambda x, n: greedy(x, n),
    LOGITS,
    Fixed(np.array([5, 4], np.int32)),
    dtypes="f d",
    grad=0,
    graph=False,
    call=lambda f, x, n: f(x, n)[1],
)


def greedy(x, lengths):
    """The most likely class at each time, repeats merged, the last class left out."""
    out = []
    for b, n in enumerate(lengths):
        best = x[:n, b].argmax(-1)
        out += [c for i, c in enumerate(best) if c != x.shape[-1] - 1 and (i == 0 or c != best[i - 1])]
    return np.array(out)


def ctc(logp, targets, lengths, target_lengths):
    """Minus the log of the summed probability of every path, by enumeration."""
    import itertools

    out = []
    for b, (n, m) in enumerate(zip(lengths, target_lengths)):
        total = 0.0
        for path in itertools.product(range(logp.shape[-1]), repeat=int(n)):
            merged = [c for c, _ in itertools.groupby(path) if c != 0]
            if merged == targets[b, :m].tolist():
                total += np.exp(sum(logp[t, b, c] for t, c in enumerate(path)))
        out.append(-np.log(total))
    return np.array(out)


TARGETS = Fixed(np.array([[1, 3], [2, 2]], np.int32))
LENGTHS, SHORT = Fixed(np.array([5, 4], np.int32)), Fixed(np.array([2, 2], np.int32))
LOGP = special.log_softmax(LOGITS, -1)
row(
    "ctc_loss",
    lambda *a: ctc(*a),
    LOGP,
    TARGETS,
    LENGTHS,
    SHORT,
    dtypes="f d",
    tolerance=8,
    grad=1,
    call=lambda f, *xs: f(*xs, reduction="none")[0],
)
row(
    "CTCLossV2()",
    lambda *a: ctc(*a),
    LOGP,
    TARGETS,
    LENGTHS,
    SHORT,
    dtypes="f d",
    tolerance=8,
    grad=0,
    call=lambda f, *xs: f(*xs)[0],
)
row(
    "CTC()",
    lambda *a: ctc(*a),
    LOGP,
    TARGETS,
    LENGTHS,
    SHORT,
    dtypes="f d",
    tolerance=8,
    grad=1,
    call=lambda f, *xs: f(*xs)[0],
)
row(
    "CTCLoss()",
    lambda x, n: ctc(special.log_softmax(x, -1)[..., [3, 0, 1, 2]], np.array([[1, 3], [2, 2]]), n, [2, 2]),
    LOGITS,
    LENGTHS,
    dtypes="f d",
    tolerance=8,
    grad=0,
    graph=False,
    call=lambda f, x, n: f(x, Tensor([[0, 0], [0, 1], [1, 0], [1, 1]], ms.int64), Tensor([0, 2, 1, 1], ms.int32), n)[0],
)
row(
    "EqualCount()", lambda a, b: np.array([2]), np.array([1, 2, 3]), np.array([1, 5, 3]), dtypes="i", grad=0, vmap=False
)
row(
    "CopyWithSlice()",
    lambda a, b: b,
    X,
    real(3, 4),
    dtypes="f",
    grad=0,
    graph=False,
    call=lambda f, a, b: f(ms.Parameter(a), b),
)
row(
    "LerpScalar()",
    lambda a, b: a + 0.25 * (b - a),
    X,
    real(3, 4),
    call=lambda f, a, b: f(a, b, 0.25),
    dtypes="f d",
    graph=False,
    tolerance=2,
)
row(
    "multi_head_attention_forward",
    lambda x, w, b, o, c: mha(x, w, b, o, c),
    real(3, 2, 4),
    real(12, 4),
    real(12),
    real(4, 4),
    real(4),
    dtypes="f",
    tolerance=40,
    grad=0,
    call=lambda f, x, w, b, o, c: f(x, x, x, 4, 2, w, b, None, None, False, 0.0, o, c, training=False)[0],
)


def mha(x, w, b, o, c):
    q, k, v = (np.moveaxis((x @ p.T + r).reshape(3, 2, 2, 2), 0, 2) for p, r in zip(np.split(w, 3), np.split(b, 3)))
    out = attention(q, k, v, 1 / np.sqrt(2))  # (batch, heads, length, size)
    return np.moveaxis(out, 2, 0).reshape(3, 2, 4) @ o.T + c
