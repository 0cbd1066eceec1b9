"""Classes of mathematical operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, static_ints
from mindspore.ops.composition import REQUIRED, Typed, composition, of_tensors, plain
from mindspore.prims import checks
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.elementwise import (
    Abs,
    ACos,
    Acosh,
    Add,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    Ceil,
    Complex,
    Conj,
    Cos,
    Cosh,
    Div,
    DivNoNan,
    Equal,
    Erf,
    Erfc,
    Erfinv,
    Exp,
    Expm1,
    Floor,
    FloorDiv,
    FloorMod,
    Gcd,
    Greater,
    GreaterEqual,
    Hypot,
    Imag,
    Inv,
    Invert,
    IsFinite,
    IsInf,
    IsNan,
    Lcm,
    LeftShift,
    Less,
    LessEqual,
    Log,
    Log1p,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Maximum,
    Minimum,
    Mod,
    Mul,
    Neg,
    NextAfter,
    NotEqual,
    Pow,
    Real,
    RealDiv,
    Reciprocal,
    RightShift,
    Rint,
    Rsqrt,
    Sigmoid,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Square,
    SquaredDifference,
    Sub,
    Tan,
    Tanh,
    Trunc,
    TruncateDiv,
    TruncateMod,
    Xdivy,
    Xlogy,
)
from mindspore.prims.linalg import BatchMatMul, MatMul
from mindspore.prims.reduction import ReduceAll, ReduceAny, ReduceMax, ReduceMean, ReduceMin, ReduceProd
from mindspore.prims.scan import Cummax, Cummin, CumProd, CumSum, CumulativeLogsumexp
from mindspore.prims.sorting import Argmin

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

TensorAdd = Add
Round = composition("Round", of_tensors("x", lambda self, x, decimals=0: F.round(x, decimals=decimals)), """Round to the nearest.

    Examples:
        >>> print(ops.Round()(Tensor([0.5, 1.5, 2.7])))
        [0. 2. 3.]
    """)
AddN = plain("AddN", F.addn)
AccumulateNV2 = plain("AccumulateNV2", F.accumulate_n)
Addcmul = plain("Addcmul", F.addcmul)
Addcdiv = plain("Addcdiv", F.addcdiv)
Lerp = plain("Lerp", F.lerp)
LerpScalar = plain("LerpScalar", F.lerp)
def _bias_add(self: Primitive, x: Tensor, bias: Tensor) -> Tensor:
    last = checks.one_of("BiasAdd", "data_format", self.data_format, ("NCHW", "NHWC", "NCDHW")) == "NHWC"
    return x + bias if last else F.bias_add(x, bias)


BiasAdd = composition(
    "BiasAdd", _bias_add,
    """Add a bias along the channels.

    Examples:
        >>> ops.BiasAdd()(Tensor([[1.0, 2.0]]), Tensor([10.0, 20.0])).tolist()
        [[11.0, 22.0]]
    """, data_format=Typed(str, "NCHW"),
)  # fmt: skip
MulNoNan = composition(
    "MulNoNan", lambda self, x, y: ew.Select()(ew.Equal()(y, 0), ew.zeros_like(x * y), x * y),
    """x * y, 0 where y is 0.

    Examples:
        >>> print(ops.MulNoNan()(Tensor([float("inf"), 3.0]), Tensor([0.0, 2.0])))
        [0. 6.]
    """,
)  # fmt: skip
Fmax = plain("Fmax", F.fmax)
Fmin = plain("Fmin", F.fmin)
Heaviside = plain("Heaviside", F.heaviside)
Sinc = plain("Sinc", F.sinc)
Logit = composition("Logit", of_tensors("x", lambda self, x: F.logit(x, self.eps if self.eps >= 0 else None)),
    """log(x / (1 - x)); `eps` above 0 first keeps x within [eps, 1 - eps].

    Examples:
        >>> print(ops.Logit()(Tensor([0.5, 0.75])))
        [0.        1.0986123]
    """, eps=-1.0)
NanToNum = composition(
    "NanToNum", lambda self, x: F.nan_to_num(x, self.nan, self.posinf, self.neginf),
    """Replace NaN, infinity and minus infinity by numbers: 0 and the type's extreme values unless told otherwise.

    Examples:
        >>> print(ops.NanToNum(nan=-1.0)(Tensor([float("nan"), 2.0])))
        [-1.  2.]
    """, nan=None, posinf=None, neginf=None,
)  # fmt: skip
Eps = plain("Eps", F.eps)
Polar = plain("Polar", F.polar)
Angle = plain("Angle", F.angle)
ComplexAbs = plain("ComplexAbs", F.abs, """The magnitude.

    Examples:
        >>> print(ops.ComplexAbs()(Tensor([3 + 4j])))
        [5.]
    """)
PopulationCount = plain("PopulationCount", F.population_count)
ApproximateEqual = composition(
    "ApproximateEqual", lambda self, x, y: F.approximate_equal(x, y, self.tolerance),
    """Where |x - y| < `tolerance`, element by element.

    Examples:
        >>> print(ops.ApproximateEqual(tolerance=0.1)(Tensor([1.0, 2.0]), Tensor([1.05, 2.5])))
        [ True False]
    """, tolerance=Typed(float, 1e-05),
)  # fmt: skip
IsClose = composition(
    "IsClose", lambda self, x, y: F.isclose(x, y, self.rtol, self.atol, self.equal_nan),
    """Where |x - y| <= atol + rtol * |y|.

    Examples:
        >>> print(ops.IsClose(atol=0.1)(Tensor([1.0, 2.0]), Tensor([1.05, 2.5])))
        [ True False]
    """, rtol=1e-05, atol=1e-08,
    equal_nan=Typed(bool, False),
)  # fmt: skip
EqualCount = composition(
    "EqualCount", of_tensors("x y", lambda self, x, y: Reshape()(ReduceSum()(cast(ew.Equal()(x, y), x.dtype), ()), (1,))),
    """How many elements are equal.

    Examples:
        >>> print(ops.EqualCount()(Tensor([1, 2, 3]), Tensor([1, 5, 3])))
        [2]
    """,
)  # fmt: skip

# -- products and norms ---------------------------------------------------------------------------------------------
Einsum = composition("Einsum", lambda self, xs: F.einsum(self.equation, *xs),
    """The sum of products that `equation` describes, of a tuple of tensors.

    Examples:
        >>> print(ops.Einsum("ij,j->i")((Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0]))))
        [21. 43.]
    """, equation=REQUIRED)
Dense = plain("Dense", F.dense)
Ger = plain("Ger", F.ger)
Cross = composition("Cross", lambda self, x, y: F.cross(x, y, self.dim), """The vector product along `dim`, of size 3.

    Examples:
        >>> print(ops.Cross(dim=0)(Tensor([1.0, 0.0, 0.0]), Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """, dim=-65530)
Cdist = composition("Cdist", lambda self, x, y: F.cdist(x, y, self.p),
    """The p-norm distances between all rows of two (batches of) matrices.

    Examples:
        >>> print(ops.Cdist(p=2.0)(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])))
        [[5.]]
    """, p=2.0)
Pdist = composition("Pdist", lambda self, x: F.pdist(x, self.p), """The p-norm distances between all pairs of rows.

    Examples:
        >>> print(ops.Pdist()(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])))
        [5.        1.        4.2426405]
    """, p=Typed(float, 2.0))
Renorm = composition(
    "Renorm", lambda self, x: F.renorm(x, self.p, self.dim, self.maxnorm),
    """Scale each slice along `dim` down so that its p-norm is at most `maxnorm`.

    Examples:
        >>> print(ops.Renorm(2, 0, 1.0)(Tensor([[3.0, 4.0], [0.3, 0.4]])).round(decimals=4))
        [[0.6 0.8]
         [0.3 0.4]]
    """, p=REQUIRED, dim=REQUIRED, maxnorm=Typed(float),
)  # fmt: skip
EuclideanNorm = composition(
    "EuclideanNorm", lambda self, x, axes: F.vector_norm(x, 2, static_ints("EuclideanNorm", "axes", axes), self.keep_dims),
    """The square root of the sum of squares over axes.

    Examples:
        >>> print(ops.EuclideanNorm()(Tensor([[3.0, 4.0]]), [1]))
        [5.]
    """,
    keep_dims=False,
)  # fmt: skip
NuclearNorm = composition(
    "NuclearNorm", lambda self, x: F.matrix_norm(x, "nuc", self.dim or (-2, -1), self.keepdim),
    """The sum of the singular values of matrices over two dimensions.

    Examples:
        >>> print(ops.NuclearNorm()(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        7.0
    """, dim=None, keepdim=False,
)  # fmt: skip
SquareSumAll = composition(
    "SquareSumAll", of_tensors("x y", lambda self, x, y: (ReduceSum()(ew.Square()(x), ()), ReduceSum()(ew.Square()(y), ()))),
    """The sums of squares of both inputs.

    Examples:
        >>> print(*ops.SquareSumAll()(Tensor([3.0, 4.0]), Tensor([1.0, 2.0])))
        25.0 5.0
    """,
)  # fmt: skip
L2Loss = composition("L2Loss", of_tensors("x", lambda self, x: ReduceSum()(ew.Square()(x), ()) * 0.5), """Half the sum of squares.

    Examples:
        >>> print(ops.L2Loss()(Tensor([3.0, 4.0])))
        12.5
    """)
L2Normalize = composition(
    "L2Normalize",
    of_tensors("x", lambda self, x: x * ew.Rsqrt()(ew.Maximum()(ReduceSum(True)(ew.Square()(x), self.axis), self.epsilon))),
    """Scale to unit length along an axis.

    Examples:
        >>> ops.L2Normalize(axis=0)(Tensor([3.0, 4.0])).shape
        (2,)
    """, axis=Typed(int | tuple, 0), epsilon=Typed(int | float, 0.0001),
)  # fmt: skip


def _lp_norm(self: Primitive, x: Tensor) -> Tensor:
    """(sum |x|^p)^(1/p) over axes, at least epsilon."""
    return ew.Maximum()(F.vector_norm(x, self.p, self.axis, self.keep_dims), self.epsilon)


LpNorm = composition("LpNorm", _lp_norm, """The p-norm over axes.

    Examples:
        >>> print(ops.LpNorm(axis=[0], p=1)(Tensor([3.0, -4.0])))
        7.0
    """, axis=Typed(int | tuple), p=Typed(int, 2), keep_dims=False, epsilon=Typed(float, 1e-12))

# -- statistics -----------------------------------------------------------------------------------------------------
ReduceStd = composition(
    "ReduceStd", lambda self, x: F.std_mean(
        x, None if self.axis in ([], ()) else self.axis, int(self.unbiased), self.keep_dims
    ),
    """Standard deviation and mean.

    Examples:
        >>> deviation, mean = ops.ReduceStd(axis=[1], unbiased=False)(Tensor([[1.0, 3.0]]))
        >>> print(deviation, mean)
        [1.] [2.]
    """, axis=[], unbiased=Typed(bool, True), keep_dims=False,
)  # fmt: skip
CountNonZero = composition(
    "CountNonZero", lambda self, x: F.count_nonzero(x, self.dims if self.dims is not None else (), dtype=mstype.int64),
    """The number of elements over `dims` that are not 0.

    Examples:
        >>> print(ops.CountNonZero(dims=[1])(Tensor([[0, 3], [5, 7]])))
        [1 2]
    """,
    dims=None,
)  # fmt: skip
Bincount = composition("Bincount", of_tensors("x size weights", lambda self, x, size, weights: F.bincount(x, weights, F.static_int(size))),
    """How often, or with what total weight, each of 0 … size - 1 occurs in an int32 tensor.

    Examples:
        >>> print(ops.Bincount()(Tensor([0, 2, 2], ms.int32), Tensor(4, ms.int32), Tensor([1.0, 0.5, 0.25])))
        [1.   0.   0.75 0.  ]
    """)
Histogram = composition(
    "Histogram", lambda self, x: cast(F.histc(x, self.bins, self.min, self.max), mstype.int32),
    """Counts in `bins` equal intervals of [min, max]; the data's own range when both are 0.

    Examples:
        >>> print(ops.Histogram(bins=3, min=1.0, max=4.0)(Tensor([1.0, 2.0, 2.5, 4.0])))
        [1 2 1]
    """, bins=100, min=0.0,
    max=0.0,
)  # fmt: skip
HistogramFixedWidth = composition(
    "HistogramFixedWidth", lambda self, x, bounds: F.histogram_fixed_width(x, bounds, self.nbins),
    """Counts in `nbins` equal intervals between two bounds; elements outside count in the outermost ones.

    Examples:
        >>> print(ops.HistogramFixedWidth(2)(Tensor([-1.0, 0.5, 2.0, 9.0]), Tensor([0.0, 4.0])))
        [2 2]
    """, nbins=REQUIRED,
    dtype="int32",
)  # fmt: skip
Bucketize = composition(
    "Bucketize", lambda self, x: F.bucketize(x, list(self.boundaries), right=True),
    """The bucket between the sorted `boundaries` that each element falls into.

    Examples:
        >>> print(ops.Bucketize([2.0, 4.0, 8.0])(Tensor([1.0, 4.0, 9.0])))
        [0 2 3]
    """, boundaries=REQUIRED,
)  # fmt: skip
Trace = plain("Trace", F.trace)


def _median(self: Primitive, x: Tensor) -> tuple:
    if self.global_median:
        flat = Reshape()(x, (-1,))
        value, _ = (F.nanmedian if self.ignore_nan else F.median)(flat, 0)
        return value, Tensor(0, mstype.int64)  # a position along an axis has no meaning here
    return (F.nanmedian if self.ignore_nan else F.median)(x, self.axis, self.keep_dims)


Median = composition(
    "Median", _median, """The lower median and its index.

    Examples:
        >>> value, index = ops.Median(axis=0)(Tensor([3.0, 1.0, 2.0]))
        >>> print(value, index)
        2.0 2
    """, global_median=Typed(bool, False), axis=0, keep_dims=Typed(bool, False), ignore_nan=Typed(bool, False),
)  # fmt: skip
Quantile = composition(
    "Quantile",
    lambda self, x, q: (F.nanquantile if self.ignore_nan else F.quantile)(x, q, self.dim, self.keep_dims),
    """The q-quantiles along `dim`, by linear interpolation.

    Examples:
        >>> print(ops.Quantile(dim=0)(Tensor([0.0, 10.0, 20.0]), Tensor(0.25)))
        5.0
    """,
    dim=None, keep_dims=False, ignore_nan=False,
)  # fmt: skip


def _nth_element(self: Primitive, x: Tensor, n: Any) -> Tensor:
    from mindspore.prims.sorting import Sort

    return Sort(-1, self.reverse)(x)[0][..., F.static_int(n)]


NthElement = composition("NthElement", _nth_element, """The n-th smallest (or largest) of each row.

    Examples:
        >>> print(ops.NthElement()(Tensor([[30, 10, 20]]), 1))
        [20]
    """, reverse=False)
InTopK = composition("InTopK", lambda self, x, targets: F.intopk(x, targets, self.k),
    """Whether each target class is among the k largest entries of its row.

    Examples:
        >>> print(ops.InTopK(2)(Tensor([[0.1, 0.9, 0.5], [0.7, 0.2, 0.1]]), Tensor([2, 2], ms.int32)))
        [ True False]
    """, k=Typed(int))


def _float_status(self: Any, x: Tensor) -> Tensor:
    finite = ReduceAll()(ew.IsFinite()(x), ())
    return Reshape()(cast(ew.LogicalNot()(finite), mstype.float32), (1,))


FloatStatus = composition("FloatStatus", _float_status, """1 if any element is infinite or NaN, else 0.

    Examples:
        >>> ops.FloatStatus()(Tensor([1.0, float('inf')])).tolist()
        [1.0]
    """)
NPUAllocFloatStatus = composition("NPUAllocFloatStatus", lambda self: F.zeros((8,)),
    """No overflow seen: eight zeros.

    Examples:
        >>> ops.NPUAllocFloatStatus()().shape
        (8,)
    """)
NPUGetFloatStatus = composition("NPUGetFloatStatus", lambda self, x: ew.zeros_like(x), """No overflow seen.

    Examples:
        >>> ops.NPUGetFloatStatus()(ops.NPUAllocFloatStatus()()).shape
        (8,)
    """)
NPUClearFloatStatus = composition("NPUClearFloatStatus", lambda self, x: ew.zeros_like(x), """Forget overflows.

    Examples:
        >>> ops.NPUClearFloatStatus()(ops.NPUAllocFloatStatus()()).shape
        (8,)
    """)
CheckNumerics = composition("CheckNumerics", lambda self, x: F.check_numerics(x), """x, refused if not finite.

    Examples:
        >>> print(ops.CheckNumerics()(Tensor([1.0, 2.0])))
        [1. 2.]
    """)


def _segment(name: str, reduce: Callable, empty: Any, doc: str) -> Any:
    """A class that combines rows by sorted segment ids; segments without rows hold `empty`."""

    def compose(self: Primitive, x: Tensor, ids: Tensor) -> Tensor:
        from mindspore.ops.arguments import largest

        count = largest(name, ids, -1) + 1
        out = reduce(x, ids, count)
        if empty is None:
            return out
        filled = F.unsorted_segment_sum(ew.ones_like(cast(ids, mstype.int32)), ids, count)
        mask = Reshape()(ew.Greater()(filled, 0), (count,) + (1,) * (out.ndim - 1))
        return ew.Select()(mask, out, cast(ew.zeros_like(out) + empty, out.dtype))

    return composition(name, compose, doc)


def _segment_mean(x: Tensor, ids: Tensor, count: int) -> Tensor:
    total = F.unsorted_segment_sum(x, ids, count)
    rows = F.unsorted_segment_sum(ew.ones_like(cast(ids, total.dtype)), ids, count)
    return total / Reshape()(ew.Maximum()(rows, 1), (count,) + (1,) * (total.ndim - 1))


SegmentSum = _segment("SegmentSum", F.unsorted_segment_sum, None, doc="""The sum of the rows of each (sorted) segment.

    Examples:
        >>> print(ops.SegmentSum()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
        [6. 2.]
    """)
SegmentProd = _segment("SegmentProd", F.unsorted_segment_prod, None,
    doc="""The product of the rows of each (sorted) segment.

    Examples:
        >>> print(ops.SegmentProd()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
        [5. 2.]
    """)
SegmentMax = _segment("SegmentMax", F.unsorted_segment_max, 0, doc="""The maximum of the rows of each (sorted) segment.

    Examples:
        >>> print(ops.SegmentMax()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
        [5. 2.]
    """)
SegmentMin = _segment("SegmentMin", F.unsorted_segment_min, 0, doc="""The minimum of the rows of each (sorted) segment.

    Examples:
        >>> print(ops.SegmentMin()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
        [1. 2.]
    """)
SegmentMean = _segment("SegmentMean", _segment_mean, None, doc="""The mean of the rows of each (sorted) segment.

    Examples:
        >>> print(ops.SegmentMean()(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1])))
        [3. 2.]
    """)


# -- second versions, finiteness ------------------------------------------------------------------------------------------
AddV2 = composition("AddV2", lambda self, x, y: ew.Add()(x, y), """x + y.

    Examples:
        >>> print(ops.AddV2()(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        [4. 6.]
    """)
ReLUV3 = composition("ReLUV3", lambda self, x: ew.ReLU()(x), """max(x, 0).

    Examples:
        >>> print(ops.ReLUV3()(Tensor([-1.0, 2.0])))
        [0. 2.]
    """)
ArgminV2 = composition(
    "ArgminV2", lambda self, x, axis: Argmin(static_ints("ArgminV2", "axis", axis)[0])(x),
    """The place of the least.

    Examples:
        >>> print(ops.ArgminV2()(Tensor([[3.0, 8.0], [6.0, 5.0]]), 0))
        [0 1]
    """
)


def _all_finite(self: Primitive, tensors: Any) -> Any:
    given = tensors if isinstance(tensors, (tuple, list)) else (tensors,)
    flags = [ReduceAll()(ew.IsFinite()(t), ()) for t in given]
    out = flags[0]
    for flag in flags[1:]:
        out = ew.LogicalAnd()(out, flag)
    return ew.LogicalNot()(Reshape()(out, (1,)))


AllFinite = composition("AllFinite", _all_finite, """Whether any element is infinite or not a number.

    Examples:
        >>> bool(ops.AllFinite()([Tensor([1.0, float("inf")])]))
        True
    """)

__all__ = [
    "ACos", "Abs", "AccumulateNV2", "Acosh", "Add", "AddN", "AddV2", "Addcdiv", "Addcmul", "AllFinite", "Angle",
    "ApproximateEqual", "ArgminV2", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "BatchMatMul", "BiasAdd", "Bincount",
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Bucketize", "Cdist", "Ceil", "CheckNumerics", "Complex", "ComplexAbs",
    "Conj", "Cos", "Cosh", "CountNonZero", "Cross", "CumProd", "CumSum", "Cummax", "Cummin", "CumulativeLogsumexp",
    "Dense", "Div", "DivNoNan", "Einsum", "Eps", "Equal", "EqualCount", "Erf", "Erfc", "Erfinv", "EuclideanNorm",
    "Exp", "Expm1", "FloatStatus", "Floor", "FloorDiv", "FloorMod", "Fmax", "Fmin", "Gcd", "Ger", "Greater",
    "GreaterEqual", "Heaviside", "Histogram", "HistogramFixedWidth", "Hypot", "Imag", "InTopK", "Inv", "Invert",
    "IsClose", "IsFinite", "IsInf", "IsNan", "L2Loss", "L2Normalize", "Lcm", "LeftShift", "Lerp", "LerpScalar",
    "Less", "LessEqual", "Log", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "Logit", "LpNorm",
    "MatMul", "Maximum", "Median", "Minimum", "Mod", "Mul", "MulNoNan", "NPUAllocFloatStatus",
    "NPUClearFloatStatus", "NPUGetFloatStatus", "NanToNum", "Neg", "NextAfter", "NotEqual", "NthElement",
    "NuclearNorm", "Pdist", "Polar", "PopulationCount", "Pow", "Quantile", "ReLUV3", "Real", "RealDiv",
    "Reciprocal", "ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceStd",
    "ReduceSum", "Renorm", "RightShift", "Rint", "Round", "Rsqrt", "SegmentMax", "SegmentMean", "SegmentMin",
    "SegmentProd", "SegmentSum", "Sigmoid", "Sign", "Sin", "Sinc", "Sinh", "Sqrt", "Square", "SquareSumAll",
    "SquaredDifference", "Sub", "Tan", "Tanh", "TensorAdd", "Trace", "Trunc", "TruncateDiv", "TruncateMod", "Xdivy",
    "Xlogy",
]  # fmt: skip
