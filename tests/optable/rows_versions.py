"""Versions of operations that older programs and other devices name: segments of chosen rows, experts, caches."""

import direct
import numpy as np
from scipy import special
from table import FLOAT, Fixed, plus, positive, real, row

import mindspore as ms
from mindspore import Tensor, ops

X, Y = real(4, 3), real(4, 3)
PLAIN = {"dtypes": "f d", "vmap": False}

row("AddV2()", np.add, X, Y, dtypes=FLOAT + " i")
row("ReLUV3()", lambda x: np.maximum(x, 0), X)
row(
    "AllFinite()",
    lambda x: np.array([True]),
    np.array([1.0, np.inf]),
    call=lambda f, x: f([x]),
    grad=0,
    **PLAIN,
    graph=False,
)
row("AllFinite()", lambda x: np.array([False]), X, call=lambda f, x: f([x]), grad=0, **PLAIN, graph=False)
row("ArgminV2()", lambda x: x.argmin(1), X, call=lambda f, x: f(x, Tensor(1, ms.int32)), grad=0, **PLAIN, graph=False)
IMAGE = real(2, 3, 6, 4)
row("MaxPoolV1(2,2)", lambda x: direct.pool(x, (2, 2), (2, 2), [(0, 0)] * 2, "max"), IMAGE, **PLAIN)
row("AvgPoolV1(2,2)", lambda x: direct.pool(x, (2, 2), (2, 2), [(0, 0)] * 2, "mean"), IMAGE, **PLAIN)
row(
    "AdjustContrastv2()",
    lambda x: (x - x.mean((-3, -2), keepdims=True)) * 0.5 + x.mean((-3, -2), keepdims=True),
    real(2, 4, 5, 3),
    call=lambda f, x: f(x, Tensor(0.5)),
    dtypes="f",
    grad=0,
    vmap=False,
    tolerance=2,
)
row("Load()", lambda x: x, X, call=lambda f, x: f(ms.Parameter(x)), grad=0, **PLAIN, graph=False)

# -- segments of chosen rows ------------------------------------------------------------------------------------------
PICK, SEGMENT = Fixed(np.array([3, 0, 1], np.int32)), Fixed(np.array([0, 0, 1], np.int32))


def combined(power, segments=2):
    def oracle(x, pick, ids):
        parts = [x[pick[ids == s]] for s in range(segments)]
        return np.stack([p.sum(0) / max(len(p), 1) ** power for p in parts])

    return oracle


FREE = {"dtypes": "f d", "vmap": False, "graph": False}
row("SparseSegmentSum()", combined(0), X, PICK, SEGMENT, **FREE)
row("SparseSegmentSqrtN()", combined(0.5), X, PICK, SEGMENT, **FREE)
for name, power in (("Sum", 0), ("SqrtN", 0.5), ("Mean", 1)):
    row(
        f"SparseSegment{name}WithNumSegments()",
        combined(power, 3),
        X,
        PICK,
        SEGMENT,
        call=lambda f, x, i, s: f(x, i, s, Tensor([3], ms.int32)),
        **FREE,
    )

# -- sparse tensors by their parts ------------------------------------------------------------------------------------
PLACES = Tensor([[0, 1], [1, 0]], ms.int64)
row(
    "SparseDenseCwiseDiv()",
    lambda v, d: v / d[[0, 1], [1, 0]],
    positive(2),
    positive(2, 3),
    call=lambda f, v, d: f(PLACES, v, Tensor([2, 3]), d),
    **FREE,
)
row(
    "SparseSparseMinimum()",
    np.minimum,
    real(2),
    real(2),
    call=lambda f, a, b: f(PLACES, a, Tensor([2, 3]), PLACES, b, Tensor([2, 3]))[1],
    grad=0,
    **FREE,
)

# -- experts and caches -----------------------------------------------------------------------------------------------
row(
    "moe_compute_expert_tokens MoeComputeExpertTokens()",
    lambda e: np.array([2, 3, 3, 5]),
    np.array([0, 0, 1, 3, 3]),
    call=lambda f, e: f(e, 4),
    dtypes="i",
    grad=0,
    vmap=False,
)
row(
    "MoeGatingTopKSoftmax()",
    lambda x: -np.sort(-special.softmax(x, -1), -1)[:, :2],
    X,
    call=lambda f, x: f(x, None, 2)[0],
    dtypes="f",
    vmap=False,
    tolerance=4,
)
row(
    "FusedAddTopKDiv()",
    lambda x, s: ops.fused_add_topk_div(Tensor(x, ms.float32), Tensor(s, ms.float32), 4, 2, 2, 3)[0].asnumpy(),
    real(3, 8),
    real(8),
    call=lambda f, x, s: f(x, s, 4, 2, 2, 3)[0],
    dtypes="f",
    grad=0,
    vmap=False,
)
W = real(3, 3, 2)


def grouped(x, w):
    return np.concatenate([x[:1] @ w[0], x[1:3] @ w[1], x[3:] @ w[2]])


ENDS, SIZES = Tensor([1, 3, 4], ms.int64), Tensor([1, 2, 1], ms.int64)
row(
    "grouped_matmul",
    grouped,
    X,
    W,
    call=lambda f, x, w: f([x], [w], group_list=ENDS, split_item=3, group_type=0)[0],
    dtypes="f d",
    vmap=False,
    graph=False,
)
row(
    "grouped_matmul_v4 GroupedMatmulV4()",
    grouped,
    X,
    W,
    call=lambda f, x, w: f([x], [w], group_list=SIZES, split_item=3, group_type=0, group_list_type=1)[0],
    dtypes="f d",
    vmap=False,
    graph=False,
)
SLOTS = Fixed(np.array([2, 0], np.int32))
row(
    "reshape_and_cache",
    lambda k, s: np.array([k[1], np.zeros((1, 3)), k[0], np.zeros((1, 3))]).reshape(2, 2, 1, 3),
    real(2, 1, 3),
    SLOTS,
    call=lambda f, k, s: cached(f, k, s),
    dtypes="f",
    grad=0,
    vmap=False,
    graph=False,
)


def cached(f, keys, slots):
    key_cache, value_cache = (ms.Parameter(Tensor(np.zeros((2, 2, 1, 3)), keys.dtype), name=n) for n in "kv")
    f(keys, keys, key_cache, value_cache, slots)
    return key_cache


row(
    "paged_attention",
    lambda q, k, v: (special.softmax(0.5 * k.reshape(4, 3)[[2, 3, 0]] @ q[0]) @ v.reshape(4, 3)[[2, 3, 0]])[None],
    real(1, 3),
    real(2, 2, 1, 3),
    real(2, 2, 1, 3),
    call=lambda f, q, k, v: f(q, k, v, Tensor([[1, 0]], ms.int32), Tensor([3], ms.int32), 1, 0.5, 1),
    dtypes="f",
    grad=0,
    vmap=False,
    graph=False,
    tolerance=8,
)
SAMPLES = Tensor(np.full((1, 2, 3), 0.5), ms.float32)
VOLUME = real(1, 2, 4, 4, 4)
row(
    "fractional_max_pool3d",
    lambda x: direct.pool(x, (2,) * 3, (2,) * 3, [(0, 0)] * 3, "max"),
    VOLUME,
    call=plus(2, (2, 2, 2), None, False, SAMPLES),
    dtypes="f",
    grad=0,
    vmap=False,
    graph=False,
)
row(
    "FractionalMaxPool3DWithFixedKsize((2,2,2),(2,2,2))",
    lambda x: direct.pool(x, (2,) * 3, (2,) * 3, [(0, 0)] * 3, "max"),
    VOLUME,
    call=lambda f, x: f(x, SAMPLES)[0],
    dtypes="f",
    grad=0,
    vmap=False,
    graph=False,
)
