"""Classes of mathematical operations."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, static_ints
from mindspore.ops.composition import REQUIRED, composition, plain
from mindspore.prims import elementwise as ew
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
from mindspore.prims.reduction import (
    ReduceAll,
    ReduceAny,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reshape,
)
from mindspore.prims.scan import Cummax, Cummin, CumProd, CumSum, CumulativeLogsumexp
from mindspore.prims.sorting import Argmin

TensorAdd = Add
Round = composition("Round", lambda self, x, decimals=0: F.round(x, decimals=decimals), "Round to the nearest.")
AddN = plain("AddN", F.addn)
AccumulateNV2 = plain("AccumulateNV2", F.accumulate_n)
Addcmul = plain("Addcmul", F.addcmul)
Addcdiv = plain("Addcdiv", F.addcdiv)
Lerp = plain("Lerp", F.lerp)
LerpScalar = plain("LerpScalar", F.lerp)
BiasAdd = composition(
    "BiasAdd", lambda self, x, bias: x + bias if self.data_format == "NHWC" else F.bias_add(x, bias),
    "Add a bias along the channels.", data_format="NCHW",
)  # fmt: skip
MulNoNan = composition(
    "MulNoNan", lambda self, x, y: ew.Select()(ew.Equal()(y, 0), ew.zeros_like(x * y), x * y), "x * y, 0 where y is 0.",
)  # fmt: skip
Fmax = plain("Fmax", F.fmax)
Fmin = plain("Fmin", F.fmin)
Heaviside = plain("Heaviside", F.heaviside)
Sinc = plain("Sinc", F.sinc)
Logit = composition("Logit", lambda self, x: F.logit(x, self.eps if self.eps >= 0 else None), eps=-1.0)
NanToNum = composition(
    "NanToNum", lambda self, x: F.nan_to_num(x, self.nan, self.posinf, self.neginf), nan=None, posinf=None, neginf=None,
)  # fmt: skip
Eps = plain("Eps", F.eps)
Polar = plain("Polar", F.polar)
Angle = plain("Angle", F.angle)
ComplexAbs = plain("ComplexAbs", F.abs)
PopulationCount = plain("PopulationCount", F.population_count)
ApproximateEqual = composition(
    "ApproximateEqual", lambda self, x, y: F.approximate_equal(x, y, self.tolerance), tolerance=1e-05,
)  # fmt: skip
IsClose = composition(
    "IsClose", lambda self, x, y: F.isclose(x, y, self.rtol, self.atol, self.equal_nan), rtol=1e-05, atol=1e-08,
    equal_nan=False,
)  # fmt: skip
EqualCount = composition(
    "EqualCount", lambda self, x, y: Reshape()(ReduceSum()(cast(ew.Equal()(x, y), x.dtype), ()), (1,)),
    "How many elements are equal.",
)  # fmt: skip

# -- products and norms ---------------------------------------------------------------------------------------------
Einsum = composition("Einsum", lambda self, xs: F.einsum(self.equation, *xs), equation=REQUIRED)
Dense = plain("Dense", F.dense)
Ger = plain("Ger", F.ger)
Cross = composition("Cross", lambda self, x, y: F.cross(x, y, self.dim), dim=-65530)
Cdist = composition("Cdist", lambda self, x, y: F.cdist(x, y, self.p), p=2.0)
Pdist = composition("Pdist", lambda self, x: F.pdist(x, self.p), p=2.0)
Renorm = composition(
    "Renorm", lambda self, x: F.renorm(x, self.p, self.dim, self.maxnorm), p=REQUIRED, dim=REQUIRED, maxnorm=REQUIRED,
)  # fmt: skip
EuclideanNorm = composition(
    "EuclideanNorm", lambda self, x, axes: F.vector_norm(x, 2, static_ints("EuclideanNorm", "axes", axes), self.keep_dims),
    keep_dims=False,
)  # fmt: skip
NuclearNorm = composition(
    "NuclearNorm", lambda self, x: F.matrix_norm(x, "nuc", self.dim or (-2, -1), self.keepdim), dim=None, keepdim=False,
)  # fmt: skip
SquareSumAll = composition(
    "SquareSumAll", lambda self, x, y: (ReduceSum()(ew.Square()(x), ()), ReduceSum()(ew.Square()(y), ())),
    "The sums of squares of both inputs.",
)  # fmt: skip
L2Loss = composition("L2Loss", lambda self, x: ReduceSum()(ew.Square()(x), ()) * 0.5, "Half the sum of squares.")
L2Normalize = composition(
    "L2Normalize",
    lambda self, x: x * ew.Rsqrt()(ew.Maximum()(ReduceSum(True)(ew.Square()(x), self.axis), self.epsilon)),
    "Scale to unit length along an axis.", axis=0, epsilon=0.0001,
)  # fmt: skip


def _lp_norm(self: Any, x: Any) -> Tensor:
    """(sum |x|^p)^(1/p) over axes, at least epsilon."""
    return ew.Maximum()(F.vector_norm(x, self.p, self.axis, self.keep_dims), self.epsilon)


LpNorm = composition("LpNorm", _lp_norm, "The p-norm over axes.", axis=REQUIRED, p=2, keep_dims=False, epsilon=1e-12)

# -- statistics -----------------------------------------------------------------------------------------------------
ReduceStd = composition(
    "ReduceStd", lambda self, x: F.std_mean(x, self.axis or None, int(self.unbiased), self.keep_dims),
    "Standard deviation and mean.", axis=[], unbiased=True, keep_dims=False,
)  # fmt: skip
CountNonZero = composition(
    "CountNonZero", lambda self, x: F.count_nonzero(x, self.dims if self.dims is not None else (), dtype=mstype.int64),
    dims=None,
)  # fmt: skip
Bincount = composition("Bincount", lambda self, x, size, weights: F.bincount(x, weights, F.static_int(size)))
Histogram = composition(
    "Histogram", lambda self, x: cast(F.histc(x, self.bins, self.min, self.max), mstype.int32), bins=100, min=0.0,
    max=0.0,
)  # fmt: skip
HistogramFixedWidth = composition(
    "HistogramFixedWidth", lambda self, x, bounds: F.histogram_fixed_width(x, bounds, self.nbins), nbins=REQUIRED,
    dtype="int32",
)  # fmt: skip
Bucketize = composition(
    "Bucketize", lambda self, x: F.bucketize(x, list(self.boundaries), right=True), boundaries=REQUIRED,
)  # fmt: skip
Trace = plain("Trace", F.trace)


def _median(self: Any, x: Any) -> tuple:
    if self.global_median:
        flat = Reshape()(x, (-1,))
        value, _ = (F.nanmedian if self.ignore_nan else F.median)(flat, 0)
        return value, Tensor(0, mstype.int64)  # a position along an axis has no meaning here
    return (F.nanmedian if self.ignore_nan else F.median)(x, self.axis, self.keep_dims)


Median = composition(
    "Median", _median, "The lower median and its index.", global_median=False, axis=0, keep_dims=False, ignore_nan=False,
)  # fmt: skip
Quantile = composition(
    "Quantile",
    lambda self, x, q: (F.nanquantile if self.ignore_nan else F.quantile)(x, q, self.dim, self.keep_dims),
    dim=None, keep_dims=False, ignore_nan=False,
)  # fmt: skip


def _nth_element(self: Any, x: Any, n: Any) -> Tensor:
    from mindspore.prims.sorting import Sort

    return Sort(-1, self.reverse)(x)[0][..., F.static_int(n)]


NthElement = composition("NthElement", _nth_element, "The n-th smallest (or largest) of each row.", reverse=False)
InTopK = composition("InTopK", lambda self, x, targets: F.intopk(x, targets, self.k), k=REQUIRED)


def _float_status(self: Any, x: Any) -> Tensor:
    finite = ReduceAll()(ew.IsFinite()(x), ())
    return Reshape()(cast(ew.LogicalNot()(finite), mstype.float32), (1,))


FloatStatus = composition("FloatStatus", _float_status, "1 if any element is infinite or NaN, else 0.")
NPUAllocFloatStatus = composition("NPUAllocFloatStatus", lambda self: F.zeros((8,)), "No overflow seen: eight zeros.")
NPUGetFloatStatus = composition("NPUGetFloatStatus", lambda self, x: ew.zeros_like(x), "No overflow seen.")
NPUClearFloatStatus = composition("NPUClearFloatStatus", lambda self, x: ew.zeros_like(x), "Forget overflows.")
CheckNumerics = composition("CheckNumerics", lambda self, x: F.check_numerics(x), "x, refused if not finite.")


def _segment(name: str, reduce: Any, empty: Any) -> Any:
    """A class that combines rows by sorted segment ids; segments without rows hold `empty`."""

    def compose(self: Any, x: Any, ids: Any) -> Tensor:
        from mindspore.ops.arguments import largest

        count = largest(name, ids, -1) + 1
        out = reduce(x, ids, count)
        if empty is None:
            return out
        filled = F.unsorted_segment_sum(ew.ones_like(cast(ids, mstype.int32)), ids, count)
        mask = Reshape()(ew.Greater()(filled, 0), (count,) + (1,) * (out.ndim - 1))
        return ew.Select()(mask, out, cast(ew.zeros_like(out) + empty, out.dtype))

    return composition(name, compose, "Combine rows of equal (sorted) segment ids.")


def _segment_mean(x: Any, ids: Any, count: int) -> Tensor:
    total = F.unsorted_segment_sum(x, ids, count)
    rows = F.unsorted_segment_sum(ew.ones_like(cast(ids, total.dtype)), ids, count)
    return total / Reshape()(ew.Maximum()(rows, 1), (count,) + (1,) * (total.ndim - 1))


SegmentSum = _segment("SegmentSum", F.unsorted_segment_sum, None)
SegmentProd = _segment("SegmentProd", F.unsorted_segment_prod, None)
SegmentMax = _segment("SegmentMax", F.unsorted_segment_max, 0)
SegmentMin = _segment("SegmentMin", F.unsorted_segment_min, 0)
SegmentMean = _segment("SegmentMean", _segment_mean, None)


# -- second versions, finiteness ------------------------------------------------------------------------------------------
AddV2 = composition("AddV2", lambda self, x, y: ew.Add()(x, y), "x + y.")
ReLUV3 = composition("ReLUV3", lambda self, x: ew.ReLU()(x), "max(x, 0).")
ArgminV2 = composition(
    "ArgminV2", lambda self, x, axis: Argmin(static_ints("ArgminV2", "axis", axis)[0])(x), "The place of the least."
)


def _all_finite(self: Any, tensors: Any) -> Any:
    given = tensors if isinstance(tensors, (tuple, list)) else (tensors,)
    flags = [ReduceAll()(ew.IsFinite()(t), ()) for t in given]
    out = flags[0]
    for flag in flags[1:]:
        out = ew.LogicalAnd()(out, flag)
    return ew.LogicalNot()(Reshape()(out, (1,)))


AllFinite = composition("AllFinite", _all_finite, "Whether any element is infinite or not a number.")

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
