"""Gathering, scattering, segments, in-place updates by index."""

import numpy as np
from table import FLOAT, NUMBER, Fixed, ints, plus, positive, real, row, spread

import mindspore as ms
from mindspore import Tensor, ops

X, U = real(4, 3), positive(2, 3)
V = real(5)
SPARSE = Fixed([3, 1])  # no index twice: updates commute
TWICE = Fixed([1, 1])
NUM = NUMBER.replace(" D", "")


def updated(change):
    """x with `change(old, new)` stored at the rows an index names, one after the other."""

    def oracle(x, index, updates):
        out = x.copy()
        for place, new in zip(np.reshape(index, (-1,)), updates.reshape(-1, *x.shape[1:])):
            out[place] = change(out[place], new)
        return out

    return oracle


CHANGES = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum,
    "update": lambda old, new: new,
}  # fmt: skip


# -- gathering --------------------------------------------------------------------------------------------------------
ROWS = Fixed([[3, 0], [1, 1]])
row(
    "gather Gather() GatherV2() SparseGatherV2()",
    lambda x, i: x[i],
    X,
    ROWS,
    call=lambda f, x, i: f(x, i, 0),
    dtypes=NUM,
)
row("gather Gather()", lambda x, i: np.take(x, i, 1), X, Fixed([2, -1]), call=lambda f, x, i: f(x, i, -1))
row(
    "gather Gather(1)",
    lambda x, i: np.stack([x[b][i[b]] for b in range(4)]),
    real(4, 3, 2),
    Fixed(ints(0, 3, 4, 2)),
    call=lambda f, x, i: f(x, i, 1) if hasattr(f, "attrs") else f(x, i, 1, 1),
)
row(
    "index_select Tensor.index_select mint.index_select",
    lambda x, i: np.take(x, i, 1),
    X,
    Fixed([2, 0, 2]),
    call=lambda f, x, i: f(x, 1, i),
    dtypes=NUM,
)
row("take Tensor.take", lambda x, i: np.take(x, i), X, Fixed([7, 0, 3]), call=lambda f, x, i: f(x, i))
row(
    "gather_d GatherD() gather_elements Tensor.gather_elements mint.gather",
    lambda x, i: np.take_along_axis(x, i, 1),
    X,
    Fixed(ints(0, 3, 4, 2)),
    call=lambda f, x, i: f(x, 1, i),
    dtypes=NUM,
)
row("gather_d", lambda x, i: np.take_along_axis(x, i, 0), X, Fixed(ints(0, 4, 2, 3)), call=lambda f, x, i: f(x, -2, i))
row("gather_nd GatherNd() Tensor.gather_nd", lambda x, i: x[i[:, 0], i[:, 1]], X, Fixed([[0, 2], [3, 1]]), dtypes=NUM)
row("gather_nd", lambda x, i: x[i[..., 0]], X, Fixed([[[2]], [[0]]]))
row(
    "embedding_lookup EmbeddingLookup()",
    lambda x, i: np.where((i[..., None] < 2) | (i[..., None] >= 6), 0, x[np.clip(i - 2, 0, 3)]),
    X,
    Fixed([[5, 2], [0, 3]]),
    call=lambda f, x, i: f(x, i, 2),
)
row("ms.ops.embedding mint.nn.functional.embedding", lambda i, w: w[i], ROWS, X)
row(
    "Tensor.__getitem__",
    lambda x: x[1:, ::2],
    X,
    call=lambda f, x: f(x, (slice(1, None), slice(None, None, 2))),
    dtypes=NUM,
)
row("Tensor.__getitem__", lambda x, i: x[i, :2], X, Fixed([2, 0]), call=lambda f, x, i: f(x, (i, slice(None, 2))))
row(
    "unravel_index UnravelIndex()",
    lambda i, d: np.stack(np.unravel_index(i, d)),
    np.array([7, 0, 3]),
    np.array([4, 3]),
    dtypes="i l",
    grad=0,
    graph=False,
)
row(
    "one_hot OneHot() OneHotExt()",
    lambda i: np.eye(4)[i],
    Fixed(ints(0, 4, 2, 3)),
    call=lambda f, i: f(i, 4, Tensor(1.0), Tensor(0.0)),
    dtypes="f",
    grad=0,
    keeps=False,
)
row(
    "one_hot OneHot(0)",
    lambda i: np.moveaxis(np.where(np.eye(4)[i] > 0, 2.0, -1.0), -1, 0),
    Fixed(ints(0, 4, 2, 3)),
    dtypes="f",
    grad=0,
    keeps=False,
    call=lambda f, i: (
        f(i, 4, Tensor(2.0), Tensor(-1.0)) if hasattr(f, "attrs") else f(i, 4, Tensor(2.0), Tensor(-1.0), 0)
    ),
)
row(
    "mint.nn.functional.one_hot",
    lambda i: np.eye(4)[i],
    Fixed(ints(0, 4, 2, 3)),
    call=lambda f, i: f(i, 4),
    dtypes="l",
    grad=0,
    keeps=False,
)

# -- scattering: functions --------------------------------------------------------------------------------------------
for name, change in CHANGES.items():
    where = Fixed([[3], [1]])
    row(
        f"tensor_scatter_{name} TensorScatter{name.capitalize()}()",
        updated(change),
        X,
        where,
        U,
        dtypes=FLOAT + " i l" if name != "div" else FLOAT,
    )
row("tensor_scatter_add TensorScatterAdd()", updated(np.add), X, Fixed([[1], [1]]), U)
row(
    "scatter_nd ScatterNd()",
    lambda i, u: updated(np.add)(np.zeros((4, 3), u.dtype), i, u),
    Fixed([[3], [1]]),
    U,
    call=lambda f, i, u: f(i, u, (4, 3)),
    dtypes=FLOAT + " i l",
    keeps=False,
)


def along(x, index, updates, axis, change):
    out = x.copy()
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[axis] = index[place]
        out[tuple(target)] = change(out[tuple(target)], updates[place])
    return out


ALONG = Fixed([[2, 0, 1], [1, 3, 0]])
row(
    "scatter Tensor.scatter mint.scatter",
    lambda x, i, u: along(x, i, u, 0, lambda a, b: b),
    X,
    ALONG,
    U,
    call=lambda f, x, i, u: f(x, 0, i, u),
    dtypes=FLOAT + " i l",
)
row("mint.scatter_add", lambda x, i, u: along(x, i, u, 0, np.add), X, ALONG, U, call=lambda f, x, i, u: f(x, 0, i, u))
row("tensor_scatter_elements TensorScatterElements()", lambda x, i, u: along(x, i, u, 0, lambda a, b: b), X, ALONG, U)
row(
    "tensor_scatter_elements TensorScatterElements(1,'add')",
    lambda x, i, u: along(x, i, u, 1, np.add),
    X,
    Fixed([[2, 0], [1, 1]]),
    positive(2, 2),
    call=plus(1, "add"),
)
row(
    "ScatterAddWithAxis(1)",
    lambda x, i, u: along(x, i, u, 1, np.add),
    X,
    Fixed([[2, 0], [1, 2]]),
    positive(2, 2),
)
row(
    "index_add Tensor.index_add IndexAdd(0)",
    updated(np.add),
    X,
    SPARSE,
    U,
    call=lambda f, x, i, u: (
        f(x, i, u) if hasattr(f, "attrs") else (f(x, 0, i, u) if "Tensor" in f.__qualname__ else f(x, i, u, 0))
    ),
)
row("mint.index_add", updated(np.add), X, SPARSE, U, call=lambda f, x, i, u: f(x, 0, i, u))
row("index_copy", updated(lambda a, b: b), X, SPARSE, U, call=lambda f, x, i, u: f(x, 0, i, u))
row(
    "index_fill Tensor.index_fill",
    lambda x, i: updated(lambda a, b: b)(x, i, np.full((2, 3), 2.5)),
    X,
    SPARSE,
    call=lambda f, x, i: f(x, 0, i, 2.5),
)
row(
    "IndexFill()",
    lambda x, i: updated(lambda a, b: b)(x, i, np.full((2, 3), 2.5)),
    X,
    SPARSE,
    call=lambda f, x, i: f(x, 0, i, ops.cast(Tensor(2.5), x.dtype)),
)
row(
    "IndexPut(1)",
    lambda x, u: updated(np.add)(x, [1, 1], u),
    X,
    U,
    call=lambda f, x, u: f(x, u, (Tensor([1, 1]),)),
)
row("inplace_add InplaceAdd((3,1))", lambda x, u: updated(np.add)(x, [3, 1], u), X, U, call=plus((3, 1)))
row(
    "inplace_sub InplaceSub((3,1))",
    lambda x, u: updated(np.subtract)(x, [3, 1], u),
    X,
    U,
    call=plus((3, 1)),
)
row(
    "inplace_update InplaceUpdate((3,1)) InplaceUpdateV2()",
    lambda x, u: updated(lambda a, b: b)(x, [3, 1], u),
    X,
    U,
    call=lambda f, x, u: f(x, (3, 1), u) if type(f).__name__ == "InplaceUpdateV2" else plus((3, 1))(f, x, u),
)
row(
    "ScatterNonAliasingAdd()",
    lambda x, i, u: updated(np.add)(x, i, u),
    X,
    Fixed([[3], [1]]),
    U,
    grad=0,
    graph=False,
    call=lambda f, x, i, u: f(ms.Parameter(x), i, u),
    dtypes="f",
)

# -- scattering into Parameters ---------------------------------------------------------------------------------------
for name, change in CHANGES.items():
    call = lambda f, x, i, u: f(ms.Parameter(x), i, u)
    row(
        f"scatter_{name} Scatter{name.capitalize()}()",
        updated(change),
        X,
        SPARSE,
        U,
        dtypes="f",
        grad=0,
        vmap=False,
        graph=False,
        call=call,
    )
    row(
        f"scatter_nd_{name} ScatterNd{name.capitalize()}()",
        updated(change),
        X,
        Fixed([[3], [1]]),
        U,
        dtypes="f",
        grad=0,
        vmap=False,
        graph=False,
        call=call,
    )
row(
    "scatter_add ScatterAdd()",
    updated(np.add),
    X,
    TWICE,
    U,
    dtypes="f d",
    grad=0,
    graph=False,
    call=lambda f, x, i, u: f(ms.Parameter(x), i, u),
)
row(
    "inplace_index_add InplaceIndexAdd(0)",
    updated(np.add),
    X,
    Fixed(np.array([3, 1], np.int32)),
    U,
    dtypes="f",
    grad=0,
    graph=False,
    call=lambda f, x, i, u: f(ms.Parameter(x), i, u) if hasattr(f, "attrs") else f(ms.Parameter(x), i, u, 0),
)
row(
    "assign Assign()",
    lambda x, y: y,
    X,
    positive(4, 3),
    dtypes="e f d i",
    grad=0,
    graph=False,
    call=lambda f, x, y: f(ms.Parameter(x), y),
)
row(
    "assign_add AssignAdd()",
    np.add,
    X,
    positive(4, 3),
    dtypes="e f d i",
    grad=0,
    graph=False,
    call=lambda f, x, y: f(ms.Parameter(x), y),
)
row(
    "assign_sub AssignSub()",
    np.subtract,
    X,
    positive(4, 3),
    dtypes="e f d i",
    grad=0,
    graph=False,
    call=lambda f, x, y: f(ms.Parameter(x), y),
)

# -- segments ---------------------------------------------------------------------------------------------------------
SEGMENTS = Fixed([0, 2, 0, 2])
SORTED = Fixed([0, 0, 2, 2])


def segments(reduce, nothing):
    def oracle(x, ids):
        return np.stack(
            [reduce(x[ids == s], 0) if (ids == s).any() else np.full(x.shape[1:], nothing) for s in range(3)]
        )

    return oracle


row(
    "unsorted_segment_sum UnsortedSegmentSum()",
    segments(np.sum, 0),
    X,
    SEGMENTS,
    call=lambda f, x, i: f(x, i, 3),
    dtypes=FLOAT + " i",
)
row(
    "unsorted_segment_prod UnsortedSegmentProd()",
    segments(np.prod, 1),
    spread(0.5, 1.5, 4, 3),
    SEGMENTS,
    call=lambda f, x, i: f(x, i, 3),
)
FULL = Fixed([0, 2, 1, 2])
row("unsorted_segment_max UnsortedSegmentMax()", segments(np.max, 0), X, FULL, call=lambda f, x, i: f(x, i, 3))
row("unsorted_segment_min UnsortedSegmentMin()", segments(np.min, 0), X, FULL, call=lambda f, x, i: f(x, i, 3))
row("SegmentSum()", segments(np.sum, 0), X, SORTED, graph=False)
row("SegmentMean()", segments(np.mean, 0), X, SORTED, graph=False)
row("SegmentProd()", segments(np.prod, 1), spread(0.5, 1.5, 4, 3), SORTED, graph=False)
row("SegmentMax()", segments(np.max, 0), X, SORTED, graph=False)
row("SegmentMin()", segments(np.min, 0), X, SORTED, graph=False)
row(
    "sparse_segment_mean",
    lambda x, i, s: np.stack([x[i[s == k]].mean(0) for k in range(2)]),
    X,
    Fixed([3, 0, 1]),
    Fixed([0, 0, 1]),
    dtypes="f d",
    graph=False,
)
row(
    "list_difference ListDiff()",
    lambda a, b: (np.array([1, 5]), np.array([0, 3])),
    np.array([1, 3, 4, 5]),
    np.array([4, 3, 9]),
    dtypes="i l",
    grad=0,
    graph=False,
)
