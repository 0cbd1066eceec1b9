"""Reductions, running reductions, positions of extremes, and sorting."""

import numpy as np
import scipy.special
import scipy.stats
from table import COMPLEX, FLOAT, NUMBER, REAL, Fixed, ints, positive, real, row, spread

X, P, U = real(2, 3, 4), positive(2, 3, 4), spread(0.5, 1.5, 2, 3, 4)
SMALL = "f d"


def over(*args, **kwargs):
    """Call with further arguments."""
    return lambda f, x: f(x, *args, **kwargs)


# -- sums and the like ------------------------------------------------------------------------------------------------
row("sum mint.sum Tensor.sum reduce_sum ReduceSum()", np.sum, X, dtypes=NUMBER, empty=True)
row("sum Tensor.sum mint.sum reduce_sum ReduceSum()", lambda x: x.sum(-1), X, call=over(-1), dtypes=NUMBER, empty=True)
row("sum Tensor.sum mint.sum", lambda x: x.sum((0, -1), keepdims=True), X, call=over((0, -1), keepdim=True), empty=True)
row("ReduceSum(True) ReduceSum(keep_dims=True)", lambda x: x.sum((0, 2), keepdims=True), X, call=over((0, 2)))
row("mean Tensor.mean mint.mean reduce_mean ReduceMean()", np.mean, X, dtypes=FLOAT + " F D")
row("mean Tensor.mean mint.mean reduce_mean ReduceMean()", lambda x: x.mean(-2), X, call=over(-2))
row("mean", lambda x: x.mean((0, 1), keepdims=True), X, call=over(axis=(0, 1), keep_dims=True))
row("ReduceMean(True)", lambda x: x.mean(1, keepdims=True), X, call=over(1))
row("prod Tensor.prod mint.prod ReduceProd()", np.prod, U, dtypes=FLOAT + " F D", tolerance=4)
row("prod Tensor.prod mint.prod ReduceProd()", lambda x: x.prod(1), U, call=over(1), dtypes=FLOAT, tolerance=4)
row(
    "amax max ReduceMax() Tensor.amax mint.amax reduce_max",
    lambda x: x.max(),
    X,
    dtypes=REAL,
    call=lambda f, x: f(x)[0] if f.__class__.__name__ == "function" and f.__name__ == "max" else f(x),
)
row(
    "amin min ReduceMin() Tensor.amin mint.amin reduce_min",
    lambda x: x.min(),
    X,
    dtypes=REAL,
    call=lambda f, x: f(x)[0] if f.__class__.__name__ == "function" and f.__name__ == "min" else f(x),
)
row("amax Tensor.amax mint.amax ReduceMax() reduce_max", lambda x: x.max(-1), X, call=over(-1), dtypes=REAL)
row("amin Tensor.amin mint.amin ReduceMin() reduce_min", lambda x: x.min((0, 1)), X, call=over((0, 1)), dtypes=REAL)
row("max", lambda x: (x.max(1), x.argmax(1)), X, call=over(1))
row("min", lambda x: (x.min(1), x.argmin(1)), X, call=over(1))
row("mint.max", lambda x: (x.max(1), x.argmax(1)), X, call=over(1))
row("mint.min", lambda x: (x.min(1), x.argmin(1)), X, call=over(1))
row("mint.max Tensor.max", np.max, X, dtypes=REAL)
row("mint.min Tensor.min", np.min, X, dtypes=REAL)
row(
    "argmax_with_value ArgMaxWithValue(1)",
    lambda x: (x.argmax(1), x.max(1)),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 1),
)
row(
    "argmin_with_value ArgMinWithValue(1)",
    lambda x: (x.argmin(1), x.min(1)),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 1),
)
row("aminmax", lambda x: (x.min(1), x.max(1)), X, call=over(axis=1))
row(
    "argmax Argmax(1) Tensor.argmax mint.argmax",
    lambda x: x.argmax(1),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 1),
    dtypes=FLOAT + " i",
    grad=0,
)
row(
    "argmin Argmin(-1) Tensor.argmin mint.argmin",
    lambda x: x.argmin(-1),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, -1),
    dtypes=FLOAT + " i",
    grad=0,
)
row(
    "argmax argmin mint.argmax",
    lambda x: np.int64(3),
    np.array([3.0, 0, 4, 9, 1]),
    call=lambda f, x: f(x) if "max" in f.__name__ else f(-x),
    grad=0,
)
row("std Tensor.std", lambda x: x.std(1), X, call=over(1), tolerance=2)
row("std", lambda x: x.std((0, 2), ddof=1, keepdims=True), X, call=over((0, 2), 1, True), tolerance=2)
row("mint.std", lambda x: x.std(1, ddof=1), X, call=over(1), tolerance=2)
row("mint.var", lambda x: x.var(1, ddof=1), X, call=over(1), tolerance=2)
row("var Tensor.var", lambda x: x.var(-1), X, call=over(-1), tolerance=2)
row("std_mean", lambda x: (x.std(1, ddof=1), x.mean(1)), X, call=over(1, ddof=1), tolerance=2)
row("mint.std_mean", lambda x: (x.std(1, ddof=1), x.mean(1)), X, call=over(1), tolerance=2)
row("var_mean", lambda x: (x.var(1, ddof=1), x.mean(1)), X, call=over(1, ddof=1), tolerance=2)
row("mint.var_mean", lambda x: (x.var(1, ddof=1), x.mean(1)), X, call=over(1), tolerance=2)
row("ReduceStd(axis=(1,))", lambda x: (x.std(1, ddof=1), x.mean(1)), X, tolerance=2)
row("ReduceStd(axis=0)", lambda x: (x.std(0, ddof=1), x.mean(0)), X, tolerance=2)
row("logsumexp Tensor.logsumexp mint.logsumexp", lambda x: scipy.special.logsumexp(x, 1), X, call=over(1))
row("logsumexp", lambda x: scipy.special.logsumexp(x, (0, 2), keepdims=True), X, call=over((0, 2), True))
row("EuclideanNorm()", lambda x: np.sqrt((x**2).sum(1)), X, call=over((1,)), dtypes="f d")
row("LpNorm((1,),3)", lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3), P, dtypes="e f d", tolerance=4)
row("L2Loss()", lambda x: (x**2).sum() / 2, X, tolerance=2)
row("SquareSumAll()", lambda a, b: ((a**2).sum(), (b**2).sum()), X, P, dtypes="f d")
row(
    "all ReduceAll() Tensor.all mint.all",
    lambda x: (x > -1.5).all(1),
    X,
    call=lambda f, x: f(x > -1.5, 1),
    grad=0,
    empty=True,
)
row(
    "any ReduceAny() Tensor.any mint.any",
    lambda x: (x > 1.5).any(-1),
    X,
    call=lambda f, x: f(x > 1.5, -1),
    grad=0,
    empty=True,
)
row("all any mint.all mint.any", lambda x: True, X, call=lambda f, x: f(x < 9), grad=0)
row(
    "count_nonzero CountNonZero() Tensor.count_nonzero mint.count_nonzero",
    np.count_nonzero,
    ints(0, 2, 3, 4),
    dtypes="i l",
    grad=0,
)
row(
    "count_nonzero mint.count_nonzero CountNonZero((1,))",
    lambda x: np.count_nonzero(x, 1),
    ints(0, 2, 3, 4),
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 1),
    dtypes="i l",
    grad=0,
)
NAN = X.copy()
NAN[0, 1, 2] = NAN[1, 0, 0] = np.nan
row("nansum Tensor.nansum mint.nansum", lambda x: np.nansum(x, 1), NAN, call=over(1), dtypes=FLOAT, grad=0)
row("nanmean", lambda x: np.nanmean(x, 1), NAN, call=over(1), grad=0)
row("nansum", lambda x: np.nansum(x, 1), X, call=over(1))
row("nanmean", lambda x: np.nanmean(x, 1), X, call=over(1))
row(
    "median Median(False,1) Tensor.median mint.median",
    lambda x: np.sort(x, 1)[:, 1],
    X,
    call=lambda f, x: (f(x) if hasattr(f, "attrs") else f(x, 1))[0],
    dtypes="f d",
)
row(
    "median mint.median Median(True)",
    lambda x: np.sort(x, None)[11],
    X,
    call=lambda f, x: f(x)[0] if hasattr(f, "attrs") else f(x.reshape(-1), 0)[0],
    dtypes="f d",
)
row("nanmedian", lambda x: np.sort(x, 1)[:, 1], X, call=lambda f, x: f(x, 1)[0], dtypes="f d")
row(
    "quantile Quantile(1)",
    lambda x: np.quantile(x, 0.4, 1),
    X,
    call=lambda f, x: f(x, 0.4) if hasattr(f, "attrs") else f(x, 0.4, 1),
    dtypes="f d",
)
row("nanquantile", lambda x: np.nanquantile(x, 0.4, axis=1), NAN, call=over(0.4, 1), dtypes="f d", grad=0)
row("cov Tensor.cov", np.cov, real(3, 8), dtypes="f d", tolerance=4)
row("trapz", lambda y: np.trapezoid(y, dx=0.5), X, call=over(dx=0.5), dtypes="f d")
row("norm Tensor.norm mint.norm", lambda x: np.sqrt((x**2).sum()), X, dtypes="f d")
row("norm mint.norm", lambda x: np.abs(x).sum(1), X, call=over(1, 1), dtypes="f d")
row(
    "vector_norm mint.linalg.vector_norm",
    lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3),
    P,
    call=over(3, 1),
    dtypes="f d",
    tolerance=2,
)
row("dist", lambda a, b: np.sqrt(((a - b) ** 2).sum()), X, P, dtypes="f d")

# -- running reductions -----------------------------------------------------------------------------------------------
row(
    "cumsum Tensor.cumsum mint.cumsum CumSum()",
    lambda x: x.cumsum(1),
    X,
    call=over(1),
    dtypes=FLOAT + " i l",
    empty=True,
)
row("CumSum(True)", lambda x: np.cumsum(x, -1) - x, X, call=over(-1))
row("CumSum(False,True)", lambda x: np.cumsum(x[..., ::-1], -1)[..., ::-1], X, call=over(-1))
row(
    "cumprod Tensor.cumprod mint.cumprod CumProd()",
    lambda x: x.cumprod(1),
    U,
    call=over(1),
    dtypes=FLOAT + " F D",
    tolerance=2,
)
row(
    "CumProd(True,True)",
    lambda x: np.concatenate([np.cumprod(x[..., :0:-1], -1)[..., ::-1], np.ones((2, 3, 1))], -1),
    U,
    call=over(2),
    tolerance=2,
)
row(
    "cummax mint.cummax Tensor.cummax Cummax(1)",
    lambda x: np.maximum.accumulate(x, 1),
    X,
    call=lambda f, x: (f(x) if hasattr(f, "attrs") else f(x, 1))[0],
)
row(
    "cummin mint.cummin Tensor.cummin Cummin(-1)",
    lambda x: np.minimum.accumulate(x, -1),
    X,
    call=lambda f, x: (f(x) if hasattr(f, "attrs") else f(x, -1))[0],
)
row("logcumsumexp CumulativeLogsumexp()", lambda x: np.logaddexp.accumulate(x, 1), X, call=over(1))
row("diff diff_ext Tensor.diff mint.diff", lambda x: np.diff(x, 2, 1), X, call=over(2, 1))

# -- sorting and searching --------------------------------------------------------------------------------------------
row("sort Sort() Tensor.sort mint.sort", lambda x: (np.sort(x, -1), np.argsort(x, -1)), X, dtypes=FLOAT)
row(
    "sort Tensor.sort Sort(1,True)",
    lambda x: np.sort(x, 1)[:, ::-1],
    X,
    call=lambda f, x: (f(x) if hasattr(f, "attrs") else f(x, 1, True))[0],
    dtypes=REAL,
)
row("mint.sort", lambda x: np.sort(x, 1)[:, ::-1], X, call=lambda f, x: f(x, dim=1, descending=True)[0], dtypes=REAL)
row("argsort Tensor.argsort mint.argsort", lambda x: np.argsort(x, 1), X, call=over(1), grad=0)
row("msort Tensor.msort", lambda x: np.sort(x, 0), X)
row(
    "topk top_k TopK() Tensor.topk mint.topk",
    lambda x: (-np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2]),
    X,
    call=over(2),
)
row(
    "topk Tensor.topk mint.topk",
    lambda x: (np.sort(x, 1)[:, :2], np.argsort(x, 1)[:, :2]),
    X,
    call=over(2, 1, False),
    dtypes="f d",
)
row(
    "kthvalue Tensor.kthvalue mint.kthvalue",
    lambda x: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]),
    X,
    call=over(2, 1),
    dtypes="f d",
)
row("NthElement()", lambda x: np.sort(x, -1)[..., 1], X, call=lambda f, x: f(x, 1), dtypes="f d", grad=1)
SORTED = np.sort(real(7))
row(
    "searchsorted mint.searchsorted SearchSorted()",
    np.searchsorted,
    SORTED,
    real(2, 4),
    dtypes="f d i",
    grad=0,
)
row(
    "searchsorted mint.searchsorted",
    lambda s, v: np.searchsorted(s, v, "right"),
    SORTED,
    real(2, 4),
    call=lambda f, s, v: f(s, v, right=True),
    grad=0,
)
row("LowerBound()", lambda s, v: np.searchsorted(s[0], v[0])[None], SORTED[None], real(1, 4), grad=0)
row(
    "UpperBound()",
    lambda s, v: np.searchsorted(s[0], v[0], "right")[None],
    SORTED[None],
    real(1, 4),
    grad=0,
)
row(
    "bucketize Bucketize([-1.0,0.5])",
    lambda x: np.searchsorted([-1.0, 0.5], x),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, [-1.0, 0.5]),
    grad=0,
)
row(
    "intopk InTopK(2)",
    lambda x, t: np.array([t[i] in np.argsort(-x[i])[:2] for i in range(3)]),
    real(3, 5),
    Fixed([1, 4, 2]),
    call=lambda f, x, t: f(x, t) if hasattr(f, "attrs") else f(x, t, 2),
    dtypes="f",
    grad=0,
)
COUNTS = np.array([3, 1, 3, 2, 1, 0])
row("bincount Tensor.bincount mint.bincount", np.bincount, COUNTS, dtypes="i l", grad=0, graph=False)
row(
    "bincount",
    lambda x, w: np.bincount(x, w, 6),
    Fixed(COUNTS),
    positive(6),
    call=lambda f, x, w: f(x, w, 6),
    dtypes="f d",
    grad=0,
    graph=False,
)
row(
    "Bincount()",
    lambda x, w: np.bincount(x, w, 5),
    Fixed(COUNTS.astype(np.int32)),
    positive(6),
    dtypes="f",
    grad=0,
    call=lambda f, x, w: f(x, __import__("mindspore").Tensor(5, __import__("mindspore").int32), w),
    graph=False,
)
row(
    "histc Histogram(4,-2.0,2.0) Tensor.histc mint.histc",
    lambda x: np.histogram(x, 4, (-2, 2))[0],
    X,
    dtypes="f",
    grad=0,
    keeps=False,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 4, -2.0, 2.0),
)
row(
    "histogram_fixed_width HistogramFixedWidth(4)",
    lambda x, r: np.histogram(np.clip(x, -1, 0.999), 4, (-1, 1))[0],
    X,
    np.array([-1.0, 1.0]),
    call=lambda f, x, r: f(x, r) if hasattr(f, "attrs") else f(x, r, 4),
    dtypes="f",
    grad=0,
    graph=False,
)
row(
    "unique Unique()",
    lambda x: (np.array([3, 1, 2, 0]), np.array([0, 1, 0, 2, 1, 3])),
    COUNTS,
    dtypes="i l",
    grad=0,
    graph=False,
)
row(
    "unique_consecutive mint.unique_consecutive Tensor.unique_consecutive UniqueConsecutive()",
    lambda x: np.array([1, 2, 1]),
    np.array([1, 1, 2, 2, 1]),
    call=lambda f, x: f(x)[0] if isinstance(f(x), tuple) else f(x),
    dtypes="i l",
    grad=0,
    graph=False,
)
row(
    "unique_with_pad UniqueWithPad()",
    lambda x: (np.array([3, 1, 2, 0, 9, 9]), np.array([0, 1, 0, 2, 1, 3])),
    COUNTS,
    call=lambda f, x: f(x, 9),
    dtypes="i l",
    grad=0,
    graph=False,
)
row("isin", np.isin, ints(0, 9, 2, 3), ints(0, 9, 4), dtypes="i l", grad=0)
row(
    "NonZero() nonzero Tensor.nonzero mint.nonzero argwhere Tensor.argwhere",
    np.argwhere,
    ints(0, 2, 3, 4),
    dtypes="i l",
    grad=0,
    graph=False,
)
row("allclose Tensor.allclose mint.allclose", np.allclose, X, X + 1e-9, dtypes="f d", grad=0, graph=False)
row(
    "renorm Renorm(2,0,1.0) Tensor.renorm",
    lambda x: x * np.minimum(1, 1 / (1e-7 + np.sqrt((x**2).sum((1, 2), keepdims=True)))),
    X,
    call=lambda f, x: f(x) if hasattr(f, "attrs") else f(x, 2, 0, 1.0),
    dtypes="f d",
    tolerance=4,
)
row(
    "mean sum",
    lambda x: x.sum() / 24,
    X,
    call=lambda f, x: f(x) if f.__name__ == "mean" else f(x) / 24,
    dtypes=COMPLEX,
    grad=0,
)
