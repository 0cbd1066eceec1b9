"""Reductions over axes: sums, means, extrema, norms, quantiles and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    from_values,
    normal_axes,
    normal_axis,
    require_numbers,
    require_tensor,
    to_float,
)
from mindspore.ops.older_calls import renamed
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims import reduction as red
from mindspore.prims.arrays import ExpandDims, Transpose
from mindspore.prims.broadcasting import ReduceSum, Reshape, reduced_shape
from mindspore.prims.gather_scatter import GatherD
from mindspore.prims.requirements import demand_between
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import Argmax, Argmin, Sort

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmax_with_value", "argmin", "argmin_with_value",
    "count_nonzero", "cov", "kthvalue", "logsumexp", "max", "mean", "median", "min", "nanmean", "nanmedian",
    "nanquantile", "nansum", "prod", "quantile", "reduce_max", "reduce_mean", "reduce_min", "reduce_sum", "std",
    "std_mean", "sum", "trapz", "var", "var_mean",
]  # fmt: skip


def _axis(axis: Any) -> Any:
    axis = values.static_value(axis)
    return () if axis is None else tuple(axis) if isinstance(axis, list) else axis


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The sum over `dim` (all dimensions when None).

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0).tolist()
        [4.0, 6.0]
    """
    x = _accumulation_type(require_tensor("sum", "input", input), dtype)
    return ReduceSum(checks.boolean("sum", "keepdim", keepdim))(x, _axis(dim))


def _accumulation_type(x: Tensor, dtype: DType | None) -> Any:
    """Sums and products of integers are int64 unless told otherwise."""
    return cast(x, mstype.int64 if dtype is None and x.dtype.kind in "bui" else dtype)


def mean(x: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """The mean over `axis` (all dimensions when None).

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.mean(Tensor([1.0, 3.0])).item()
        2.0
    """
    require_tensor("mean", "x", x)
    return red.ReduceMean(checks.boolean("mean", "keep_dims", keep_dims))(x, _axis(axis))


def mean_cast(input: Tensor, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The mean over `axis`, computed in `dtype` if given.

    Examples:
        >>> Tensor([1.0, 3.0]).mean().item()
        2.0
    """
    return mean(cast(input, dtype), axis, keepdims)


def prod(input: Tensor, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """The product over `axis` (all dimensions when None).

    Examples:
        >>> print(ops.prod(Tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1))
        [ 2. 12.]
    """
    x = _accumulation_type(require_tensor("prod", "input", input), dtype)
    return red.ReduceProd(keep_dims)(x, _axis(axis))


def all(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether all elements hold.

    Examples:
        >>> print(ops.all(Tensor([[True, False], [True, True]]), axis=1))
        [False  True]
    """
    return red.ReduceAll(keep_dims)(require_tensor("all", "input", input), _axis(axis))


def any(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Whether any element holds.

    Examples:
        >>> print(ops.any(Tensor([[True, False], [False, False]]), axis=1))
        [ True False]
    """
    return red.ReduceAny(keep_dims)(require_tensor("any", "input", input), _axis(axis))


def reduce_sum(x: Tensor, axis: Any = ()) -> Tensor:
    """The sum over `axis`.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.reduce_sum(Tensor([[1.0, 2.0]]), 1).tolist()
        [3.0]
    """
    return ReduceSum()(x, _axis(axis))


def reduce_mean(x: Tensor, axis: Any = ()) -> Tensor:
    """The mean over `axis`.

    Examples:
        >>> print(ops.reduce_mean(Tensor([[1.0, 7.0], [4.0, 2.0]]), 1))
        [4. 3.]
    """
    return red.ReduceMean()(x, _axis(axis))


def reduce_max(x: Tensor, axis: Any = ()) -> Tensor:
    """The maximum over `axis`.

    Examples:
        >>> print(ops.reduce_max(Tensor([[1.0, 7.0], [4.0, 2.0]]), 1))
        [7. 4.]
    """
    return red.ReduceMax()(x, _axis(axis))


def reduce_min(x: Tensor, axis: Any = ()) -> Tensor:
    """The minimum over `axis`.

    Examples:
        >>> print(ops.reduce_min(Tensor([[1.0, 7.0], [4.0, 2.0]]), 1))
        [1. 2.]
    """
    return red.ReduceMin()(x, _axis(axis))


def count_nonzero(x: Tensor, axis: Any = (), keep_dims: bool = False, dtype: DType = mstype.int32) -> Tensor:
    """The number of elements that are not 0.

    Examples:
        >>> print(ops.count_nonzero(Tensor([[0, 3], [5, 7]]), axis=1))
        [1 2]
    """
    require_tensor("count_nonzero", "x", x)
    return ReduceSum(keep_dims)(cast(ew.NotEqual()(x, 0), dtype), _axis(axis))


# -- extrema --------------------------------------------------------------------------------------------------------
def _masked(x: Tensor, initial: Any, where: Any, extreme: Any) -> Any:
    """Apply numpy's `initial` and `where` before an extremum."""
    if where is not None and where is not True:
        if initial is None:
            raise ValueError("For a reduction with 'where', 'initial' must be given too.")
        x = ew.Select()(as_tensor(where), x, initial)
    return x if initial is None else extreme()(x, initial)


def amax(input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The maximum over `axis` (all dimensions when None).

    Examples:
        >>> print(ops.amax(Tensor([[1.0, 7.0], [4.0, 2.0]]), axis=1))
        [7. 4.]
    """
    require_tensor("amax", "input", input)
    return red.ReduceMax(keepdims)(_masked(input, initial, where, ew.Maximum), _axis(axis))


def amin(input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The minimum over `axis` (all dimensions when None).

    Examples:
        >>> print(ops.amin(Tensor([[1.0, 7.0], [4.0, 2.0]]), axis=0))
        [1. 2.]
    """
    require_tensor("amin", "input", input)
    return red.ReduceMin(keepdims)(_masked(input, initial, where, ew.Minimum), _axis(axis))


def aminmax(input: Tensor, *, axis: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The minimum and the maximum over `axis`, of what is a number: NaN are left out.

    Examples:
        >>> low, high = ops.aminmax(Tensor([[1.0, 7.0], [4.0, float("nan")]]), axis=1)
        >>> print(low, high)
        [1. 4.] [7. 4.]
    """
    low = high = require_tensor("aminmax", "input", input)
    if input.is_floating_point():
        low, high = (ew.Select()(ew.IsNan()(input), end, input) for end in (math.inf, -math.inf))
    return amin(low, axis, keepdims), amax(high, axis, keepdims)


def extreme_along(prim: Any, x: Tensor, axis: int, keepdims: bool, index_dtype: Any = mstype.int64) -> tuple[Any, Any]:
    """(values, indices) of the extreme elements; the gradient goes to the indexed elements."""
    index = prim(axis, index_dtype)(x)
    if x.ndim == 0:
        return x, index
    at = normal_axis(prim.__name__, axis, x.ndim)
    kept = ExpandDims()(index, at)
    value = GatherD()(x, at, kept)
    return (value, kept) if keepdims else (Reshape()(value, index.shape), index)


def max(
    input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """(values, indices) of the largest elements along `axis`; over everything, with index 0, when `axis` is None.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> values, indices = ops.max(Tensor([[1.0, 5.0], [3.0, 2.0]]), axis=1)
        >>> values.tolist(), indices.tolist()
        ([5.0, 3.0], [1, 0])
    """
    require_tensor("max", "input", input)
    if axis is None:
        return red.ReduceMax(False)(_masked(input, initial, where, ew.Maximum), ()), Tensor(0, mstype.int64)
    return extreme_along(Argmax, _masked(input, initial, where, ew.Maximum), axis, keepdims)


def min(
    input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """(values, indices) of the smallest elements along `axis`; over everything, with index 0, when `axis` is None.

    Examples:
        >>> value, index = ops.min(Tensor([[3.0, 8.0], [6.0, 5.0]]), axis=1)
        >>> print(value, index)
        [3. 5.] [0 1]
    """
    require_tensor("min", "input", input)
    if axis is None:
        return red.ReduceMin(False)(_masked(input, initial, where, ew.Minimum), ()), Tensor(0, mstype.int64)
    return extreme_along(Argmin, _masked(input, initial, where, ew.Minimum), axis, keepdims)


def _arg(prim: Any, name: str, input: Tensor, axis: Any, keepdims: bool) -> Tensor:
    require_tensor(name, "input", input)
    if input.dtype is mstype.bool_:
        input = cast(input, mstype.int32)
    if axis is None:
        index = prim(0, mstype.int64)(Reshape()(input, (-1,)))
        return Reshape()(index, (1,) * input.ndim) if keepdims else index
    index = prim(axis, mstype.int64)(input)
    return ExpandDims()(index, normal_axis(name, axis, input.ndim)) if keepdims and input.ndim else index


@setting_types(keepdim=bool)
def argmax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the largest element stands; in the flattened tensor when `dim` is None.

    Examples:
        >>> print(ops.argmax(Tensor([[3.0, 8.0], [6.0, 5.0]]), dim=1))
        [1 0]
    """
    return _arg(Argmax, "argmax", input, dim, keepdim)


def argmin(input: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element stands (int32); in the flattened tensor when `axis` is None.

    Examples:
        >>> print(ops.argmin(Tensor([[3.0, 8.0], [6.0, 5.0]]), axis=0))
        [0 1]
    """
    return cast(_arg(Argmin, "argmin", input, axis, keepdims), mstype.int32)


def argmax_with_value(input: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(indices, values) of the largest elements along `axis`.

    Examples:
        >>> index, value = ops.argmax_with_value(Tensor([[3.0, 8.0], [6.0, 5.0]]), axis=1)
        >>> print(index, value)
        [1 0] [8. 6.]
    """
    value, index = extreme_along(Argmax, require_tensor("argmax_with_value", "input", input), axis, keep_dims)
    return index, value


def argmin_with_value(input: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(indices, values) of the smallest elements along `axis`.

    Examples:
        >>> index, value = ops.argmin_with_value(Tensor([[3.0, 8.0], [6.0, 5.0]]), axis=1)
        >>> print(index, value)
        [0 1] [3. 5.]
    """
    value, index = extreme_along(Argmin, require_tensor("argmin_with_value", "input", input), axis, keep_dims)
    return index, value


# -- spread ---------------------------------------------------------------------------------------------------------
def var(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance over `axis`, divided by N - ddof.

    Examples:
        >>> print(ops.var(Tensor([1.0, 3.0, 5.0, 7.0]), ddof=1))
        6.6666665
    """
    return var_mean(input, axis, ddof, keepdims)[0]


def std(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over `axis`, with N - ddof in the variance.

    Examples:
        >>> print(ops.std(Tensor([1.0, 3.0, 5.0, 7.0]), ddof=1))
        2.5819888
    """
    return ew.Sqrt()(var(input, axis, ddof, keepdims))


def var_mean(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean over `axis`.

    Examples:
        >>> variance, mean = ops.var_mean(Tensor([1.0, 3.0]))
        >>> print(variance, mean)
        1.0 2.0
    """
    ddof = checks.integer("var_mean", "ddof", int(ddof) if isinstance(ddof, bool) else ddof)
    x = to_float(require_tensor("var", "input", input))
    axes = normal_axes("var", _axis(axis), x.ndim)
    count = math.prod(x.shape[a] for a in axes)
    centre = red.ReduceMean(True)(x, axes if x.ndim else ())
    spread = x - centre
    square = ew.Real()(spread * ew.conj(spread)) if x.dtype.kind == "c" else spread * spread
    total = ReduceSum(keepdims)(square, axes if x.ndim else ())
    variance = total / float(count - int(ddof))
    return variance, centre if keepdims else Reshape()(centre, total.shape)


def std_mean(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over `axis`.

    Examples:
        >>> deviation, mean = ops.std_mean(Tensor([1.0, 3.0]))
        >>> print(deviation, mean)
        1.0 2.0
    """
    variance, centre = var_mean(input, axis, ddof, keepdims)
    return ew.Sqrt()(variance), centre


@renamed(input_x="input", x="input", axis="dim", keep_dims="keepdim")
@setting_types(keepdim=bool)
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))) over `dim` without overflow.

    Examples:
        >>> print(ops.logsumexp(Tensor([[0.0, 0.0], [1.0, 1.0]]), 1))
        [0.6931472 1.6931472]
    """
    x = to_float(require_tensor("logsumexp", "input", input))
    axes = _axis(dim)
    if x.size == 0:
        return ew.Log()(ReduceSum(keepdim)(ew.Exp()(x), axes))
    peak = ew.StopGradient()(red.ReduceMax(True)(x, axes))
    peak = ew.Select()(ew.IsFinite()(peak), peak, ew.zeros_like(peak))
    total = ew.Log()(ReduceSum(True)(ew.Exp()(x - peak), axes)) + peak
    return (
        total
        if keepdim
        else Reshape()(total, reduced_shape(x.shape, normal_axes("logsumexp", axes, x.ndim), False))
    )


# -- NaN aware ------------------------------------------------------------------------------------------------------
def nansum(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum that counts NaN as 0.

    Examples:
        >>> print(ops.nansum(Tensor([1.0, float("nan"), 3.0])))
        4.0
    """
    x = require_tensor("nansum", "input", input)
    if x.dtype.kind == "f":
        x = ew.Select()(ew.IsNan()(x), ew.zeros_like(x), x)
    return ReduceSum(keepdims)(cast(x, dtype), _axis(axis))


def nanmean(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not NaN.

    Examples:
        >>> print(ops.nanmean(Tensor([[1.0, float("nan")], [3.0, 5.0]]), axis=1))
        [1. 4.]
    """
    x = to_float(require_tensor("nanmean", "input", input))
    count = ReduceSum(keepdims)(cast(ew.LogicalNot()(ew.IsNan()(x)), x.dtype), _axis(axis))
    return cast(nansum(x, axis, keepdims) / count, dtype)


# -- order statistics -----------------------------------------------------------------------------------------------
def _rows(x: Tensor, axis: Any) -> tuple[Any, int]:
    """The tensor to work on and its axis: flattened when `axis` is None."""
    if axis is None:
        return Reshape()(x, (-1,)), 0
    return x, normal_axis("median", axis, x.ndim)


@setting_types(keepdims=bool)
def median(input: Tensor, axis: Any = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the lower median along `axis`; NaN wins.

    Examples:
        >>> value, index = ops.median(Tensor([[3.0, 1.0, 2.0]]))
        >>> print(value, index)
        [2.] [2]
    """
    return _order_statistic("median", input, axis, keepdims, lambda n: (n - 1) // 2)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the k-th smallest elements along `dim`; k counts from 1.

    Examples:
        >>> value, index = ops.kthvalue(Tensor([30.0, 10.0, 20.0]), 2)
        >>> print(value, index)
        20.0 2
    """
    return _order_statistic("kthvalue", input, dim, keepdim, lambda n: checks.integer("kthvalue", "k", k, 1) - 1)


def _order_statistic(op: str, input: Tensor, axis: Any, keepdims: bool, place: Callable) -> tuple[Tensor, Tensor]:
    require_tensor(op, "input", input)
    if input.ndim == 0:
        return input, Tensor(0, mstype.int64)
    at = normal_axis(op, axis, input.ndim)
    ordered, index = Sort(at)(input)
    k = place(input.shape[at])
    if k >= input.shape[at]:
        raise ValueError(f"For '{op}', there is no element {k + 1} along an axis of size {input.shape[at]}.")
    pick = (slice(None),) * at + ((slice(k, k + 1) if keepdims else k),)
    value, where = ordered[pick], cast(index[pick], mstype.int64)
    if op == "median" and input.dtype.kind == "f":
        bad = ew.IsNan()(input)
        any_bad, first_bad = red.ReduceAny(keepdims)(bad, at), Argmax(at, mstype.int64)(cast(bad, mstype.int32))
        first_bad = ExpandDims()(first_bad, at) if keepdims else first_bad
        return ew.Select()(any_bad, math.nan, value), ew.Select()(any_bad, first_bad, where)
    return value, where


@setting_types(keepdims=bool)
def nanmedian(input: Tensor, axis: Any = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the lower median of the elements that are not NaN.

    Examples:
        >>> value, index = ops.nanmedian(Tensor([float("nan"), 4.0, 1.0, 3.0]))
        >>> print(value, index)
        3.0 3
    """
    require_tensor("nanmedian", "input", input)
    if input.dtype.kind != "f" or input.ndim == 0:
        return median(input, axis, keepdims)
    at = normal_axis("nanmedian", axis, input.ndim)
    ordered, index = Sort(at)(input)  # NaN sorts last
    valid = ReduceSum(True)(cast(ew.LogicalNot()(ew.IsNan()(input)), mstype.int64), at)
    place = ew.Maximum()(valid - 1, 0) // 2
    value, where = GatherD()(ordered, at, place), cast(GatherD()(index, at, place), mstype.int64)
    if keepdims:
        return value, where
    shape = reduced_shape(input.shape, (at,), False)
    return Reshape()(value, shape), Reshape()(where, shape)


def quantile(input: Tensor, q: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The q-quantiles along `axis`, by linear interpolation; several q give a new first dimension. NaN wins.

    Examples:
        >>> print(ops.quantile(Tensor([0.0, 10.0, 20.0]), Tensor([0.25, 0.5])))
        [ 5. 10.]
    """
    return _quantile("quantile", input, q, axis, keepdims, False)


def nanquantile(input: Tensor, q: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """`quantile` of the elements that are not NaN.

    Examples:
        >>> print(ops.nanquantile(Tensor([float("nan"), 0.0, 10.0]), 0.25))
        2.5
    """
    return _quantile("nanquantile", input, q, axis, keepdims, True)


def _quantile(op: str, input: Tensor, q: Any, axis: Any, keepdims: bool, skip_nan: bool) -> Tensor:
    x, at = _rows(require_tensor(op, "input", input), axis)
    if x.dtype.kind != "f":
        raise TypeError(f"For '{op}', 'input' must be of a float type, but got {x.dtype}.")
    exact = x.dtype if x.dtype == mstype.float64 else mstype.float32  # places among many elements are no float16
    wanted = cast(q, exact) if isinstance(q, Tensor) else from_values(q, exact)
    if wanted.ndim > 1:
        raise ValueError(f"For '{op}', 'q' must be a number or 1-D, but its shape is {wanted.shape}.")
    if x.shape[at] == 0:
        raise ValueError(f"For '{op}', 'input' must have elements along axis {at}, but its shape is {x.shape}.")
    demand_between(op, "q", wanted, 0, 1)
    ordered, _ = Sort(at)(x)
    bad = ew.IsNan()(x)
    valid = ReduceSum(True)(cast(ew.LogicalNot()(bad), exact), at) if skip_nan else float(x.shape[at])
    along = Reshape()(wanted, (-1, *(1,) * (x.ndim - at - 1)))
    place = along * ew.Maximum()(valid - 1, 0.0) + cast(ew.zeros_like(ReduceSum(True)(ordered, at)), exact)
    low = ew.Floor()(place)
    index = cast(low, mstype.int64)
    above = ew.Minimum()(index + 1, x.shape[at] - 1)
    out = _between(GatherD()(ordered, at, index), GatherD()(ordered, at, above), cast(place - low, x.dtype))
    if not skip_nan:
        out = ew.Select()(red.ReduceAny(True)(bad, at), math.nan, out)
    out = Transpose()(out, (at, *(d for d in range(x.ndim) if d != at)))
    lead = () if wanted.ndim == 0 else (wanted.size,)
    if keepdims:
        return Reshape()(out, lead + ((1,) * input.ndim if axis is None else reduced_shape(input.shape, (at,), True)))
    return Reshape()(out, lead + (() if axis is None else reduced_shape(input.shape, (at,), False)))


def _between(first: Any, second: Any, part: Any) -> Any:
    """The number at `part` of the way from `first` to `second`, which may be infinite; at its beginning `second` does not count."""
    way = ew.Select()(ew.IsInf()(first), first + second, first + (second - first) * part)
    return ew.Select()(ew.LogicalOr()(ew.Equal()(part, 0), ew.Equal()(first, second)), first, way)


# -- shapes of distributions ----------------------------------------------------------------------------------------
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariance matrix of variables (rows) observed in columns, perhaps weighted.

    Examples:
        >>> print(ops.cov(Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    require_numbers("cov", correction=correction)
    x = to_float(require_tensor("cov", "input", input))
    if x.ndim > 2:
        raise ValueError(f"For 'cov', 'input' must have at most 2 dimensions, but its shape is {x.shape}.")
    x = Reshape()(x, (1, -1)) if x.ndim < 2 else x
    weights = None
    if fweights is not None:
        weights = cast(fweights, x.dtype)
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        total = float(x.shape[1])
        centre = red.ReduceMean(True)(x, 1)
        norm = total - correction
    else:
        total = ReduceSum()(weights, ())
        centre = ReduceSum(True)(x * weights, 1) / total
        if aweights is None or correction == 0:
            norm = total - correction
        else:
            norm = total - correction * ReduceSum()(weights * aweights, ()) / total
    spread = x - centre
    weighted = spread if weights is None else spread * weights
    from mindspore.prims.linalg import MatMul

    out = MatMul(False, True)(weighted, ew.conj(spread)) / norm
    return Reshape()(out, ()) if input.ndim < 2 else out


def cumulative_trapezoid_sum(y: Any, dx: Any, axis: int) -> Any:
    """The sum of trapezoids along an axis, `dx` apart."""
    lead = (slice(None),) * axis
    left, right = y[(*lead, slice(0, -1))], y[(*lead, slice(1, None))]
    return ReduceSum()((left + right) * dx * 0.5, axis)


@setting_types(dx=float)
def trapz(y: Tensor, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral of y over `dim` by the trapezoid rule, at points x or `dx` apart.

    Examples:
        >>> print(ops.trapz(Tensor([1.0, 2.0, 4.0]), dx=2.0))
        9.0
    """
    y = to_float(require_tensor("trapz", "y", y))
    at = normal_axis("trapz", dim, y.ndim, "dim")
    if x is None:
        return cumulative_trapezoid_sum(y, dx, at)
    if x.ndim == 1:
        x = Reshape()(x, (-1,) + (1,) * (y.ndim - at - 1))
        steps = x[1:] - x[:-1]
    else:
        at_x = at - y.ndim + x.ndim
        lead = (slice(None),) * at_x
        steps = x[(*lead, slice(1, None))] - x[(*lead, slice(0, -1))]
    return cumulative_trapezoid_sum(y, steps, at)
