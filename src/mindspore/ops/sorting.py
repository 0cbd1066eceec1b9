"""Sorting, the largest elements, search, running extrema, and the sets of values that occur."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    concrete,
    from_values,
    measured,
    normal_axis,
    require_numbers,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
)
from mindspore.ops.reshaping import swapaxes
from mindspore.prims import checks, scan, values
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.creation import Range
from mindspore.prims.gather_scatter import TENSOR_SCATTERS, Gather, GatherD
from mindspore.prims.reduction import ReduceAny
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import SearchSorted, Sort, TopK

__all__ = [
    "argsort", "argwhere", "bincount", "bucketize", "cartesian_prod", "combinations", "cummax", "cummin", "cumprod",
    "cumsum", "diff", "histc", "histogram_fixed_width", "intopk", "isin", "logcumsumexp", "msort", "nonzero",
    "population_count", "searchsorted", "sort", "static_int", "top_k", "topk", "unique", "unique_consecutive",
    "unique_with_pad",
]  # fmt: skip


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """(sorted values, their indices) along `axis`; stable.

    Examples:
        >>> value, index = ops.sort(Tensor([30.0, 10.0, 20.0]))
        >>> print(value, index)
        [10. 20. 30.] [1 2 0]
    """
    return Sort(values.static_number(axis), descending)(require_tensor("sort", "input_x", input_x))


def argsort(input: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """The indices that sort along `axis`.

    Examples:
        >>> print(ops.argsort(Tensor([30, 10, 20])))
        [1 2 0]
    """
    return Sort(axis, descending)(require_tensor("argsort", "input", input))[1]


def sort_stable(input: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """(sorted values, their indices) along `axis`, equal elements in their order.

    Examples:
        >>> value, index = Tensor([30.0, 10.0, 20.0]).sort()
        >>> print(value, index)
        [10. 20. 30.] [1 2 0]
    """
    return sort(input, axis, descending)


def argsort_stable(input: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort along `axis`, equal elements in their order.

    Examples:
        >>> print(Tensor([30, 10, 20]).argsort(descending=True))
        [0 2 1]
    """
    return argsort(input, axis, descending)


def msort(input: Tensor) -> Tensor:
    """Sorted along the first dimension.

    Examples:
        >>> print(ops.msort(Tensor([[3, 1], [2, 9]])))
        [[2 1]
         [3 9]]
    """
    return Sort(0)(input)[0]


@setting_types(largest=bool)
def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """(values, indices) of the k largest (or smallest) elements along `dim`, the last dimension when None.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> values, indices = ops.topk(Tensor([1.0, 3.0, 2.0]), 2)
        >>> values.tolist(), indices.tolist()
        ([3.0, 2.0], [1, 2])
    """
    require_tensor("topk", "input", input)
    at = input.ndim - 1 if dim is None else normal_axis("topk", dim, input.ndim, "dim")
    last = at in (input.ndim - 1, -1) or input.ndim == 0
    x = input if last else swapaxes(input, at, -1)
    k = checks.integer("topk", "k", values.static_number(k), 0)
    if largest:
        found, index = TopK(sorted)(x, k)
    elif x.dtype.kind == "f":
        # NaN is the largest there is; as -x it would be among the smallest
        _, index = TopK(sorted)(ew.Select()(ew.IsNan()(x), float("-inf"), -x), k)
        found = GatherD()(x, -1, index) if x.ndim else x
    else:
        if k > x.shape[-1]:
            raise ValueError(f"For 'topk', 'k' must be at most {x.shape[-1]}, but got {k}.")
        found, index = (part[..., :k] for part in Sort(-1)(x))
    return (found, index) if last else (swapaxes(found, at, -1), swapaxes(index, at, -1))


def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """(values, indices) of the k largest elements of the last dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> [t.tolist() for t in ops.top_k(Tensor([1.0, 5.0, 3.0]), 2)]
        [[5.0, 3.0], [1, 2]]
    """
    return TopK(sorted)(input_x, k)


@setting_types(k=int)
def intopk(x1: Any, x2: Any, k: int) -> Tensor:
    """Whether each target class is among the k largest entries of its row.

    Examples:
        >>> print(ops.intopk(Tensor([[0.1, 0.9, 0.5], [0.7, 0.2, 0.1]]), Tensor([2, 2], ms.int32), 2))
        [ True False]
    """
    targets = Reshape()(x2, (-1, 1))
    own = GatherD()(x1, 1, cast(targets, mstype.int64))
    above = cast(ew.Greater()(x1, own), mstype.int32)
    from mindspore.prims.broadcasting import ReduceSum

    finite = Reshape()(ew.IsFinite()(own), (-1,))
    return ew.LogicalAnd()(ew.Less()(ReduceSum()(above, 1), k), finite)


@setting_types(out_int32=bool, right=bool)
def searchsorted(
    sorted_sequence: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Any = None,
) -> Tensor:  # fmt: skip
    """Where each value would be inserted to keep the rows of `sorted_sequence` sorted.

    Examples:
        >>> print(ops.searchsorted(Tensor([1.0, 3.0, 5.0]), Tensor([0.0, 3.0, 9.0])))
        [0 1 3]
    """
    require_operands("searchsorted", values=values)
    checks.one_of("searchsorted", "side", side, (None, "left", "right"))
    if side == "left" and right:
        raise ValueError("For 'searchsorted', side 'left' contradicts right=True.")
    if sorter is not None:
        sorted_sequence = GatherD()(sorted_sequence, -1, sorter)
    dtype = mstype.int32 if out_int32 else mstype.int64
    return SearchSorted(dtype, bool(right or side == "right"))(sorted_sequence, as_tensor(values))


def bucketize(input: Tensor, boundaries: Any, *, right: bool = False) -> Tensor:
    """The bucket between sorted boundaries that each element falls into; with `right`, intervals are [a, b).

    Examples:
        >>> print(ops.bucketize(Tensor([1, 4, 9]), [2, 4, 8]))
        [0 1 3]
    """
    require_tensors("bucketize", input=input)
    bounds = from_values(boundaries)
    if bounds.ndim != 1:
        raise ValueError(f"For 'bucketize', 'boundaries' must be 1-D, but got shape {bounds.shape}.")
    return SearchSorted(mstype.int32, right)(cast(bounds, mstype.float32), cast(input, mstype.float32))


# -- running values -------------------------------------------------------------------------------------------------
def cumsum(x: Tensor, axis: int, dtype: Any = None) -> Tensor:
    """The running sum along `axis`.

    Examples:
        >>> print(ops.cumsum(Tensor([[1, 2], [3, 4]]), axis=0))
        [[1 2]
         [4 6]]
    """
    require_tensor("cumsum", "x", x)
    x = cast(x, dtype)
    return scan.CumSum()(cast(x, mstype.int64) if x.dtype is mstype.bool_ else x, axis)


def cumsum_flat(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along `axis`, or of the flattened tensor when None; ints of 8 and 16 bits and bools are summed as int32.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).cumsum(axis=1))
        [[1 3]
         [3 7]]
    """
    x = require_tensor("cumsum", "input", x)
    x = cast(x, mstype.int32) if dtype is None and x.dtype.kind in "bui" and x.dtype.np.itemsize < 4 else x
    return cumsum(Reshape()(x, (-1,)), 0, dtype) if axis is None else cumsum(x, axis, dtype)


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The running product along `dim`.

    Examples:
        >>> print(ops.cumprod(Tensor([1.0, 2.0, 3.0, 4.0]), dim=0))
        [ 1.  2.  6. 24.]
    """
    wide = mstype.int64 if require_tensor("cumprod", "input", input).dtype.kind in "bui" else None  # as `prod`
    return cast(scan.CumProd()(cast(input, wide), dim), dtype)


def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The running maximum along `axis` and where it stands.

    Examples:
        >>> value, index = ops.cummax(Tensor([1.0, 3.0, 2.0, 5.0]), axis=0)
        >>> print(value, index)
        [1. 3. 3. 5.] [0 1 1 3]
    """
    return scan.Cummax(axis)(input)


def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The running minimum along `axis` and where it stands.

    Examples:
        >>> value, index = ops.cummin(Tensor([4.0, 3.0, 5.0, 1.0]), axis=0)
        >>> print(value, index)
        [4. 3. 3. 1.] [0 1 1 3]
    """
    value, index = scan.Cummin(axis)(input)
    return value, cast(index, mstype.int32)


def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """log of the running sum of exponentials along `axis`.

    Examples:
        >>> print(ops.logcumsumexp(Tensor([0.0, 0.0, 0.0]), 0))
        [0.        0.6931472 1.0986123]
    """
    return scan.CumulativeLogsumexp()(input, axis)


def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along `axis`, n times over.

    Examples:
        >>> print(ops.diff(Tensor([1, 4, 9, 16])))
        [3 5 7]
    """
    require_tensors("diff", x=x)
    from mindspore.prims.arrays import Concat

    at = normal_axis("diff", axis, x.ndim)
    parts = [p for p in (prepend, x, append) if p is not None]
    x = Concat(at)(parts) if len(parts) > 1 else x
    lead = (slice(None),) * at
    for _ in range(min(checks.integer("diff", "n", n, 0), x.shape[at])):  # then none are left
        a, b = x[(*lead, slice(1, None))], x[(*lead, slice(0, -1))]
        x = ew.NotEqual()(a, b) if x.dtype is mstype.bool_ else a - b
    return x


# -- results whose size depends on values (known outside graphs only) -------------------------------------------------
@setting_types(as_tuple=bool)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The coordinates of the elements that are not 0: one row each, or one tensor per dimension.

    Examples:
        >>> print(ops.nonzero(Tensor([[0, 5], [7, 0]])))
        [[0 1]
         [1 0]]
    """
    if as_tuple:
        return measured("nonzero", lambda a: np.nonzero(np.atleast_1d(a)), input)
    return measured("nonzero", lambda a: (np.argwhere(np.atleast_1d(a)).astype(np.int64),), input)[0]


def argwhere(input: Tensor) -> Tensor:
    """The coordinates of the elements that are not 0, one row each.

    Examples:
        >>> print(ops.argwhere(Tensor([[0, 5], [7, 0]])))
        [[0 1]
         [1 0]]
    """
    return nonzero(input)


def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """The values that occur, in order of first appearance, and for each element the index of its value.

    Examples:
        >>> value, index = ops.unique(Tensor([5, 3, 5, 7]))
        >>> print(value, index)
        [5 3 7] [0 1 0 2]
    """
    return measured("unique", _unique, input)  # type: ignore[return-value]


def _unique(data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found, first, inverse = np.unique(data.reshape(-1), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    dtype = np.int64 if data.dtype == np.int64 else np.int32
    return found[order], place[inverse].reshape(data.shape).astype(dtype)


def unique_sorted(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements (or slices along `dim`) in rising order, perhaps with inverse indices and counts."""
    require_tensor("unique", "input", input)
    dim = dim if dim is None else normal_axis("unique", dim, input.ndim, "dim")

    def find(data: np.ndarray) -> tuple:
        found, inverse, counts = np.unique(data, return_inverse=True, return_counts=True, axis=dim)
        shape = data.shape if dim is None else (data.shape[dim],)
        return found, inverse.reshape(shape).astype(np.int64), counts.astype(np.int64)

    found, inverse, counts = measured("unique", find, input)
    result = [found, *([inverse] if return_inverse else ()), *([counts] if return_counts else ())]
    return tuple(result) if len(result) > 1 else result[0]


def unique_with_pad(x: Tensor, pad_num: Any) -> tuple[Tensor, Tensor]:
    """`unique` with the values padded by `pad_num` to the length of x.

    Examples:
        >>> value, index = ops.unique_with_pad(Tensor([5, 3, 5, 7]), -1)
        >>> print(value, index)
        [ 5  3  7 -1] [0 1 0 2]
    """
    found, index = unique(x)
    array = found.asnumpy()
    padded = np.full(x.size, np.asarray(values.static_value(pad_num)).reshape(()), array.dtype)
    padded[: array.size] = array
    return Tensor(padded), index


@setting_types(return_inverse=bool, return_counts=bool)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Drop elements equal to the one before; perhaps with each element's new index and the run lengths.

    Examples:
        >>> print(ops.unique_consecutive(Tensor([1, 1, 2, 2, 1])))
        [1 2 1]
    """
    require_tensor("unique_consecutive", "input", input)
    at = None if dim is None else normal_axis("unique_consecutive", dim, input.ndim)

    def find(data: np.ndarray) -> tuple:
        rows = data.reshape(-1) if at is None else np.moveaxis(data, at, 0)
        changed = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
        starts = np.concatenate([[True], changed]) if len(rows) else np.zeros(0, np.bool_)
        inverse = (np.cumsum(starts) - 1).astype(np.int64)
        kept = np.flatnonzero(starts)
        return kept, inverse.reshape(data.shape if at is None else -1), np.diff(np.append(kept, len(rows)))

    kept, inverse, counts = measured("unique_consecutive", find, input)
    flat = Reshape()(input, (-1,)) if at is None else input
    out = [Gather()(flat, kept, at or 0), *([inverse] if return_inverse else ()), *([counts] if return_counts else ())]
    return tuple(out) if len(out) > 1 else out[0]


def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often (or with what total weight) each of 0, 1, 2 … occurs.

    Examples:
        >>> print(ops.bincount(Tensor([0, 2, 2, 3])))
        [1. 0. 2. 1.]
    """
    require_tensor("bincount", "input", input)
    if input.ndim != 1 or input.dtype.kind not in "ui":
        raise ValueError(f"For 'bincount', 'input' must be a 1-D tensor of ints, but got {input.dtype} {input.shape}.")
    least = checks.integer("bincount", "minlength", minlength, 0)
    weight = Tensor(np.ones(input.shape, np.float32)) if weights is None else as_tensor(weights)
    dtype = weight.dtype.np

    def empty_bins(data: np.ndarray) -> tuple:
        if data.size and data.min() < 0:
            raise ValueError("For 'bincount', 'input' must not be negative.")
        return (np.zeros(max(int(data.max()) + 1 if data.size else 0, least), dtype),)

    (zero,) = measured("bincount", empty_bins, input)
    return TENSOR_SCATTERS["add"]()(zero, Reshape()(input, (-1, 1)), weight)


def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Counts in `bins` equal intervals of [min, max] (the data's own range when both are 0).

    Examples:
        >>> print(ops.histc(Tensor([1.0, 2.0, 2.5, 4.0]), bins=3, min=1.0, max=4.0))
        [1. 2. 1.]
    """
    require_numbers("histc", min=min, max=max)
    require_tensor("histc", "input", input)
    count = checks.integer("histc", "bins", bins, 1)
    flat = Reshape()(input, (-1,))
    if min > max:
        raise ValueError(f"For 'histc', 'min' must not exceed 'max', but got {min} and {max}.")
    if min == max == 0:
        data = concrete("histc", input)
        min, max = (float(data.min()), float(data.max())) if data.size else (0.0, 1.0)
    if min == max:
        min, max = min - 1, max + 1
    x = cast(flat, mstype.float32) if input.dtype.kind != "f" else flat
    place = cast(ew.Floor()((x - min) * (count / (max - min))), mstype.int64)
    place = ew.Select()(ew.Equal()(x, max), count - 1, place)
    inside = ew.LogicalAnd()(ew.GreaterEqual()(x, min), ew.LessEqual()(x, max))
    index = ew.Select()(inside, place, count)
    zero = Tensor(np.zeros(count + 1, np.int64))
    ones = cast(ew.ones_like(index), mstype.int64)
    total = TENSOR_SCATTERS["add"]()(zero, Reshape()(index, (-1, 1)), ones)[:count]
    kept = input.dtype.kind in "if" and input.dtype is not mstype.float16  # halves cannot count far
    return cast(total, input.dtype if kept else mstype.float32)


def isin(elements: Any, test_elements: Any) -> Tensor:
    """Whether each element occurs in `test_elements`.

    Examples:
        >>> print(ops.isin(Tensor([1, 2, 3]), Tensor([3, 1])))
        [ True False  True]
    """
    require_operands("isin", elements=elements, test_elements=test_elements)
    x, y = as_tensor(elements), as_tensor(test_elements)
    return ReduceAny()(ew.Equal()(Reshape()(x, (*x.shape, 1)), Reshape()(y, (-1,))), -1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r elements of a 1-D tensor, one row each.

    Examples:
        >>> print(ops.combinations(Tensor([1, 2, 3]), 2))
        [[1 2]
         [1 3]
         [2 3]]
    """
    import itertools

    if require_tensor("combinations", "input", input).ndim != 1:
        raise ValueError(f"For 'combinations', 'input' must be 1-D, but its shape is {input.shape}.")
    size, r = input.shape[0], checks.integer("combinations", "r", r, 0)
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    count = math.comb(max(size + r - 1, 0) if with_replacement else size, r)
    places = itertools.chain.from_iterable(pick(range(size), r)) if count else ()  # of r numbers even where there is no row
    return Gather()(input, Tensor(np.fromiter(places, np.int64, count * r).reshape(count, r)), 0)


def cartesian_prod(*inputs: Any) -> Tensor:
    """All tuples with one element of each 1-D tensor, one row each.

    Examples:
        >>> print(ops.cartesian_prod(Tensor([1, 2]), Tensor([7, 8])))
        [[1 7]
         [1 8]
         [2 7]
         [2 8]]
    """
    from mindspore.ops.joining import stack
    from mindspore.ops.reshaping import meshgrid

    if len(inputs) == 1:
        return inputs[0]
    return stack([Reshape()(g, (-1,)) for g in meshgrid(*inputs, indexing="ij")], 1)


def population_count(input_x: Tensor) -> Tensor:
    """The number of set bits of each integer.

    Examples:
        >>> print(ops.population_count(Tensor([0, 7, 8], ms.int16)))
        [0 3 1]
    """
    require_tensors("population_count", input_x=input_x)
    bits = input_x.dtype.bits
    steps = Range(dtype=input_x.dtype)(0, bits, 1)
    from mindspore.prims.broadcasting import ReduceSum

    shifted = ew.BitwiseAnd()(ew.RightShift()(Reshape()(input_x, (*input_x.shape, 1)), steps), 1)
    return cast(ReduceSum()(cast(shifted, mstype.int32), -1), mstype.uint8)


def histogram_fixed_width(x: Tensor, bounds: Tensor, nbins: int) -> Tensor:
    """Counts in `nbins` equal intervals of [bounds[0], bounds[1]]; elements outside count in the outermost ones.

    Examples:
        >>> print(ops.histogram_fixed_width(Tensor([-1.0, 0.5, 2.0, 9.0]), Tensor([0.0, 4.0]), 2))
        [2 2]
    """
    checks.integer("histogram_fixed_width", "nbins", nbins)
    require_rank("histogram_fixed_width", "bounds", bounds, 1, 1)
    for name, given in (("x", x), ("bounds", bounds)):
        if require_tensor("histogram_fixed_width", name, given).dtype.kind == "c":
            raise TypeError(f"For 'histogram_fixed_width', '{name}' must have real elements, but got {given.dtype}.")
    low, high = (float(v) for v in concrete("histogram_fixed_width", bounds))
    if not low < high:
        raise ValueError(
            f"For 'histogram_fixed_width', the first of 'bounds' must be below the second, but got {low} and {high}."
        )
    flat = cast(Reshape()(x, (-1,)), mstype.float32)
    place = cast(ew.Floor()((flat - low) * (nbins / (high - low))), mstype.int64)
    place = ew.Minimum()(ew.Maximum()(place, 0), nbins - 1)
    ones = cast(ew.ones_like(place), mstype.int32)
    return TENSOR_SCATTERS["add"]()(Tensor(np.zeros(nbins, np.int32)), Reshape()(place, (-1, 1)), ones)


def static_int(value: Any) -> int:
    """A number that must be known when the graph is compiled.

    Examples:
        >>> ops.static_int(Tensor(5))
        5
    """
    return int(np.asarray(values.static_value(value)).item())
