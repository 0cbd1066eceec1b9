"""Functions whose `mint` form differs from the `ops` form: argument names, defaults or results follow PyTorch's."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops import function as F
from mindspore.ops.function._common import (
    as_tensor,
    cast,
    normal_axis,
    require_rank,
    require_tensor,
    static_ints,
    to_float,
)
from mindspore.ops.function.gather_scatter import added_along, scatter_along
from mindspore.ops.function.sorting import unique_sorted
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims import values
from mindspore.prims.reduction import ReduceMax, ReduceMin, Reshape


# -- shapes ---------------------------------------------------------------------------------------------------------
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> mint.cat((Tensor([1]), Tensor([2])), dim=0).tolist()
        [1, 2]
    """
    return F.cat(tensors, dim)


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Join tensors along a new dimension.

    Examples:
        >>> print(mint.stack((Tensor([1, 2]), Tensor([3, 4])), dim=1))
        [[1 3]
         [2 4]]
    """
    return F.stack(tensors, dim)


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut into pieces of one size or of given sizes.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> [t.tolist() for t in mint.split(Tensor([1, 2, 3, 4]), 2)]
        [[1, 2], [3, 4]]
    """
    return F.split(tensor, split_size_or_sections, dim)


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut into at most `chunks` pieces of equal size.

    Examples:
        >>> [part.tolist() for part in mint.chunk(Tensor([1, 2, 3, 4, 5]), 2)]
        [[1, 2, 3], [4, 5]]
    """
    return F.chunk(input, chunks, dim)


def permute(input: Any, dims: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> mint.permute(mint.ones((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    return F.transpose(input, dims)


def transpose(input: Any, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions.

    Examples:
        >>> print(mint.transpose(Tensor([[1, 2], [3, 4]]), 0, 1))
        [[1 3]
         [2 4]]
    """
    return F.swapaxes(input, dim0, dim1)


def squeeze(input: Any, dim: Any = None) -> Tensor:
    """Drop dimensions of size 1: all of them, or those named.

    Examples:
        >>> mint.squeeze(mint.ones((1, 3, 1))).shape
        (3,)
    """
    return F.squeeze(input, dim)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge dimensions: all of them by default.

    Examples:
        >>> print(mint.flatten(Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return F.flatten(input, start_dim=start_dim, end_dim=end_dim)


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Repeat each element along `dim` (of the flattened tensor when None).

    Examples:
        >>> print(mint.repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    return F.repeat_interleave(input, repeats, dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinate grids from 1-D tensors, by rows ('ij') unless told otherwise.

    Examples:
        >>> x, y = mint.meshgrid(Tensor([1, 2]), Tensor([7, 8]))
        >>> print(x.tolist(), y.tolist())
        [[1, 1], [2, 2]] [[7, 8], [7, 8]]
    """
    return F.meshgrid(*tensors, indexing=indexing or "ij")


def narrow(input: Any, dim: int, start: int, length: int) -> Tensor:
    """The part [start, start + length) of a dimension.

    Examples:
        >>> print(mint.narrow(Tensor([10, 20, 30, 40]), 0, 1, 2))
        [20 30]
    """
    return F.narrow(input, dim, start, length)


def select(input: Any, dim: int, index: int) -> Tensor:
    """One slice along a dimension, which disappears.

    Examples:
        >>> print(mint.select(Tensor([[1, 2], [3, 4]]), 1, 0))
        [1 3]
    """
    require_rank("select", "input", input, 1)
    return input[(slice(None),) * normal_axis("select", dim, input.ndim, "dim") + (index,)]


def clone(input: Any) -> Tensor:
    """A tensor with its own data.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> y = mint.clone(x)
        >>> y[0] = 7.0
        >>> print(x, y)
        [1. 2.] [7. 2.]
    """
    return input.copy()


def diag(input: Any, diagonal: int = 0) -> Tensor:
    """A matrix with the input on a diagonal, or the diagonal of a matrix.

    Examples:
        >>> print(mint.diag(Tensor([5, 6])))
        [[5 0]
         [0 6]]
    """
    return F.diag_embed(input, diagonal) if input.ndim == 1 else F.diagonal(input, diagonal)


# -- reductions -----------------------------------------------------------------------------------------------------
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum over `dim` (all dimensions when None); integers give int64.

    Examples:
        >>> print(mint.sum(Tensor([[1, 2], [3, 4]]), dim=0))
        [4 6]
    """
    return F.sum(input, dim, keepdim, dtype=dtype)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean over `dim` (all dimensions when None).

    Examples:
        >>> print(mint.mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1))
        [1.5 3.5]
    """
    return F.mean(cast(input, dtype), dim, keepdim)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product over `dim`.

    Examples:
        >>> print(mint.prod(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1))
        [ 2. 12.]
    """
    return F.prod(input, dim, keepdim, dtype)


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements hold.

    Examples:
        >>> print(mint.all(Tensor([[True, False], [True, True]]), dim=1))
        [False  True]
    """
    return F.all(input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element holds.

    Examples:
        >>> print(mint.any(Tensor([[True, False], [False, False]]), dim=1))
        [ True False]
    """
    return F.any(input, dim, keepdim)


def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The maximum over dimensions.

    Examples:
        >>> print(mint.amax(Tensor([[1.0, 7.0], [4.0, 2.0]]), dim=1))
        [7. 4.]
    """
    return F.amax(input, dim, keepdim)


def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The minimum over dimensions.

    Examples:
        >>> print(mint.amin(Tensor([[1.0, 7.0], [4.0, 2.0]]), dim=0))
        [1. 2.]
    """
    return F.amin(input, dim, keepdim)


def _extreme(name: str, pairwise: Any, whole: Any, along: Any) -> Any:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        settings = {**dict(zip(("dim", "keepdim"), args)), **kwargs}
        other = settings.pop("other", None)
        if other is None and isinstance(settings.get("dim"), Tensor):
            other = settings["dim"]
        if other is not None:
            return pairwise(input, other)
        if settings.get("dim") is None:
            return whole()(require_tensor(name, "input", input), ())
        return along(input, settings["dim"], settings.get("keepdim", False))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{name}(input): the {name}imum of all elements; {name}(input, dim, keepdim=False): values and indices along a "
        f"dimension; {name}(input, other): the {name}imum of each pair."
    )
    return function


max = _extreme("max", F.maximum, ReduceMax, F.max)
min = _extreme("min", F.minimum, ReduceMin, F.min)


def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the largest element stands.

    Examples:
        >>> print(mint.argmax(Tensor([[3.0, 8.0], [6.0, 5.0]]), dim=1))
        [1 0]
    """
    return F.argmax(input, dim, keepdim)


def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the smallest element stands.

    Examples:
        >>> print(mint.argmin(Tensor([[3.0, 8.0], [6.0, 5.0]]), dim=1))
        [0 1]
    """
    return cast(F.argmin(input, dim, keepdim), mstype.int64)


def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower median: of all elements when `dim` is None, else (values, indices).

    Examples:
        >>> print(mint.median(Tensor([3.0, 1.0, 2.0])))
        2.0
    """
    return _median_of_all(input) if dim is None else F.median(input, dim, keepdim)


def _median_of_all(input: Any) -> Tensor:
    """The median of all elements; equal elements share the gradient."""
    flat = Reshape()(require_tensor("median", "input", input), (-1,))
    value = ew.StopGradient()(F.median(flat, 0)[0])
    if not flat.size or flat.dtype.kind != "f":
        return value
    hits = cast(ew.LogicalOr()(flat == value, ew.IsNan()(flat)), flat.dtype)
    share = ew.StopGradient()(hits / hits.sum())
    still = ew.Select()(hits > 0, flat - ew.StopGradient()(flat), ew.zeros_like(flat))  # 0, but with a gradient
    return value + (still * share).sum()


def std(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The standard deviation, with N - correction in the variance.

    Examples:
        >>> print(mint.std(Tensor([1.0, 3.0, 5.0, 7.0])))
        2.5819888
    """
    return F.std(input, dim, correction, keepdim)


def var(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The variance, divided by N - correction.

    Examples:
        >>> print(mint.var(Tensor([1.0, 3.0, 5.0, 7.0])))
        6.6666665
    """
    return F.var(input, dim, correction, keepdim)


def std_mean(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean.

    Examples:
        >>> deviation, mean = mint.std_mean(Tensor([1.0, 3.0]), correction=0)
        >>> print(deviation, mean)
        1.0 2.0
    """
    return F.std_mean(input, dim, correction, keepdim)


def var_mean(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean.

    Examples:
        >>> variance, mean = mint.var_mean(Tensor([1.0, 3.0]), correction=0)
        >>> print(variance, mean)
        1.0 2.0
    """
    return F.var_mean(input, dim, correction, keepdim)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over dimensions; 'fro' is the 2-norm of all elements.

    Examples:
        >>> print(mint.norm(Tensor([3.0, 4.0])))
        5.0
    """
    if p == "nuc":
        return F.matrix_norm(input, "nuc", dim or (-2, -1), keepdim, dtype=dtype)
    return F.vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def count_nonzero(input: Any, dim: Any = None) -> Tensor:
    """The number of elements that are not 0.

    Examples:
        >>> print(mint.count_nonzero(Tensor([[0, 3], [5, 7]]), dim=1))
        [1 2]
    """
    return F.count_nonzero(input, () if dim is None else dim, dtype=mstype.int64)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum that counts NaN as 0.

    Examples:
        >>> print(mint.nansum(Tensor([1.0, float("nan"), 3.0])))
        4.0
    """
    return F.nansum(input, dim, keepdim, dtype=dtype)


def cumsum(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The running sum; integers give int64.

    Examples:
        >>> print(mint.cumsum(Tensor([[1, 2], [3, 4]]), dim=0))
        [[1 2]
         [4 6]]
    """
    wide = mstype.int64 if dtype is None and input.dtype.kind in "bui" else dtype
    return F.cumsum(cast(input, wide), dim)


def cumprod(input: Any, dim: int, dtype: Any = None) -> Tensor:
    """The running product.

    Examples:
        >>> print(mint.cumprod(Tensor([1.0, 2.0, 3.0]), 0))
        [1. 2. 6.]
    """
    return F.cumprod(cast(input, dtype), dim)


def cummax(input: Any, dim: int) -> tuple[Tensor, Tensor]:
    """The running maximum and where it stands.

    Examples:
        >>> value, index = mint.cummax(Tensor([1.0, 3.0, 2.0, 5.0]), 0)
        >>> print(value, index)
        [1. 3. 3. 5.] [0 1 1 3]
    """
    return F.cummax(input, dim)


def cummin(input: Any, dim: int) -> tuple[Tensor, Tensor]:
    """The running minimum and where it stands.

    Examples:
        >>> value, index = mint.cummin(Tensor([4.0, 3.0, 5.0, 1.0]), 0)
        >>> print(value, index)
        [4. 3. 3. 1.] [0 1 1 3]
    """
    return F.cummin(input, dim)


def sort(input: Any, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """(sorted values, int64 indices).

    Examples:
        >>> value, index = mint.sort(Tensor([30.0, 10.0, 20.0]))
        >>> print(value, index)
        [10. 20. 30.] [1 2 0]
    """
    found, index = F.sort(input, dim, descending)
    return found, cast(index, mstype.int64)


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The int64 indices that sort.

    Examples:
        >>> print(mint.argsort(Tensor([30, 10, 20]), descending=True))
        [0 2 1]
    """
    return cast(F.argsort(input, dim, descending), mstype.int64)


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """(values, int64 indices) of the k largest or smallest elements.

    Examples:
        >>> value, index = mint.topk(Tensor([30.0, 10.0, 20.0]), 2)
        >>> print(value, index)
        [30. 20.] [0 2]
    """
    found, index = F.topk(input, k, dim, largest, sorted)
    return found, cast(index, mstype.int64)


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The distinct elements in rising order, perhaps with inverse indices and counts.

    Examples:
        >>> print(mint.unique(Tensor([5, 3, 5, 7])))
        [3 5 7]
    """
    return unique_sorted(input, sorted, return_inverse, return_counts, dim)


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours, n times over.

    Examples:
        >>> print(mint.diff(Tensor([1, 4, 9, 16])))
        [3 5 7]
    """
    return F.diff(input, n, dim, prepend, append)


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often (int64), or with what total weight, each of 0, 1, 2 … occurs.

    Examples:
        >>> print(mint.bincount(Tensor([0, 2, 2, 3])))
        [1 0 2 1]
    """
    counts = F.bincount(input, weights, minlength)
    return cast(counts, mstype.int64) if weights is None else counts


# -- picking --------------------------------------------------------------------------------------------------------
def gather(input: Any, dim: int, index: Any) -> Tensor:
    """One position along `dim` per place of `index`.

    Examples:
        >>> print(mint.gather(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])))
        [[2]
         [3]]
    """
    return F.gather_elements(input, dim, index)


def index_select(input: Any, dim: int, index: Any) -> Tensor:
    """Slices along `dim`, picked by a 1-D index tensor.

    Examples:
        >>> print(mint.index_select(Tensor([[1, 2, 3], [4, 5, 6]]), 1, Tensor([2, 0])))
        [[3 1]
         [6 4]]
    """
    return F.index_select(input, dim, index)


def scatter(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """A copy with `src` written at one position along `dim` per place of `index`.

    Examples:
        >>> print(mint.scatter(mint.zeros((2, 3)), 1, Tensor([[2], [0]]), Tensor([[5.0], [6.0]])))
        [[0. 0. 5.]
         [6. 0. 0.]]
    """
    return F.scatter(input, dim, index, src)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Tensor:
    """A copy with `src` added at one position along `dim` per place of `index`.

    Examples:
        >>> print(mint.scatter_add(mint.ones(3), 0, Tensor([0, 0]), Tensor([5.0, 6.0])))
        [12.  1.  1.]
    """
    return scatter_along(input, dim, index, src, "add")


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """A copy with slices added along `dim`.

    Examples:
        >>> print(mint.index_add(mint.zeros(3), 0, Tensor([0, 2]), Tensor([5.0, 6.0])))
        [5. 0. 6.]
    """
    return added_along(input, index, source * alpha, dim)


def equal(input: Any, other: Any) -> Any:
    """Whether both have the same shape and elements.

    Examples:
        >>> mint.equal(Tensor([1, 2]), Tensor([1, 2]))
        True
    """
    if input.shape != other.shape:
        return False
    same = F.all(ew.Equal()(input, other))
    return same if values.is_symbolic(same) else bool(same)


def isnan(tensor: Any) -> Tensor:
    """Where an element is NaN.

    Examples:
        >>> print(mint.isnan(Tensor([1.0, float("nan")])))
        [False  True]
    """
    return ew.IsNan()(tensor)


# -- arithmetic -----------------------------------------------------------------------------------------------------
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha * other.

    Examples:
        >>> print(mint.add(Tensor([1.0, 2.0]), Tensor([10.0, 20.0]), alpha=0.5))
        [ 6. 12.]
    """
    return ew.Add()(input, other if values.is_number(alpha) and alpha == 1 else ew.Mul()(other, alpha))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other.

    Examples:
        >>> print(mint.sub(Tensor([5.0, 7.0]), Tensor([1.0, 2.0]), alpha=3))
        [2. 1.]
    """
    return F.subtract(input, other, alpha=alpha)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2.

    Examples:
        >>> print(mint.addcdiv(Tensor([1.0, 1.0]), Tensor([6.0, 9.0]), Tensor([2.0, 3.0]), value=0.5))
        [2.5 2.5]
    """
    return F.addcdiv(input, tensor1, tensor2, value)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2.

    Examples:
        >>> print(mint.addcmul(Tensor([1.0, 1.0]), Tensor([2.0, 3.0]), Tensor([4.0, 5.0]), value=0.5))
        [5.  8.5]
    """
    return F.addcmul(input, tensor1, tensor2, value)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2).

    Examples:
        >>> mint.baddbmm(mint.ones((1, 1, 1)), Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]]), beta=10).tolist()
        [[[21.0]]]
    """
    return F.baddbmm(input, batch1, batch2, beta, alpha)


def bmm(input: Any, mat2: Any) -> Tensor:
    """Products of batches of matrices.

    Examples:
        >>> mint.bmm(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]])).tolist()
        [[[11.0]]]
    """
    return F.bmm(input, mat2)


def mv(input: Any, vec: Any) -> Tensor:
    """A matrix times a vector.

    Examples:
        >>> print(mint.mv(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0])))
        [21. 43.]
    """
    return F.mv(input, vec)


def vdot(input: Any, other: Any) -> Tensor:
    """The sum of conj(input) * other.

    Examples:
        >>> print(mint.vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    return F.vecdot(input, other)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distances between all rows of x1 and all rows of x2.

    Examples:
        >>> print(mint.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])))
        [[5. 1.]]
    """
    return F.cdist(x1, x2, p)


def sqrt(input: Any) -> Tensor:
    """The square root.

    Examples:
        >>> print(mint.sqrt(Tensor([9.0, 2.25])))
        [3.  1.5]
    """
    return F.sqrt(input)


def bitwise_not(input: Any) -> Tensor:
    """Every bit flipped; bools negated.

    Examples:
        >>> print(mint.bitwise_not(Tensor([0, 5])))
        [-1 -6]
    """
    return F.logical_not(input) if input.dtype.kind == "b" else F.invert(input)


def fix(input: Any) -> Tensor:
    """The integer part.

    Examples:
        >>> print(mint.fix(Tensor([1.7, -1.7])))
        [ 1. -1.]
    """
    return ew.Trunc()(input)


def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Replace NaN and infinities.

    Examples:
        >>> print(mint.nan_to_num(Tensor([float("nan"), float("inf"), 1.0]), nan=0.0, posinf=99.0))
        [ 0. 99.  1.]
    """
    return F.nan_to_num(input, nan, posinf, neginf)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Tensor:
    """Exponentials that add up to 1 along `dim`.

    Examples:
        >>> print(mint.softmax(Tensor([0.0, 0.0]), dim=0))
        [0.5 0.5]
    """
    from mindspore.ops.nn_activation import softmax as apply

    return apply(cast(input, dtype), dim)


def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """(x, A) with A x = b for triangular A.

    Examples:
        >>> x, _ = mint.triangular_solve(Tensor([[2.0], [8.0]]), Tensor([[1.0, 0.0], [0.0, 4.0]]))
        >>> print(x)
        [[2.]
         [2.]]
    """
    return F.solve_triangular(A, b, 1 if transpose else 0, not upper, unitriangular), A


# -- new tensors ----------------------------------------------------------------------------------------------------
def zeros(size: Any, *more: int, dtype: Any = None) -> Tensor:
    """Zeros of the given shape, a tuple or separate ints.

    Examples:
        >>> from mindspore import mint
        >>> mint.zeros((2, 2)).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    return F.zeros(_size((size, *more), "zeros"), dtype)


def ones(size: Any, *more: int, dtype: Any = None) -> Tensor:
    """Ones of the given shape, a tuple or separate ints.

    Examples:
        >>> from mindspore import mint
        >>> mint.ones(2, 2).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return F.ones(_size((size, *more), "ones"), dtype)


def _size(size: tuple, op: str) -> tuple[int, ...]:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return static_ints(op, "size", shape)


def _leading(size: tuple) -> tuple:
    """A whole shape as the first argument counts alone, whatever follows it."""
    return size[:1] if size and isinstance(size[0], (tuple, list)) else size


def empty(*size: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """A tensor of the given shape; its elements are 0.

    Examples:
        >>> mint.empty(2, 3).shape
        (2, 3)
    """
    return F.zeros(_size(size, "empty"), dtype)


def empty_like(input: Any, *, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """A tensor in the shape of the input; its elements are 0.

    Examples:
        >>> mint.empty_like(Tensor([[1.0, 2.0]])).shape
        (1, 2)
    """
    return F.zeros(input.shape, dtype or input.dtype)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers, both ends included.

    Examples:
        >>> print(mint.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    return cast(F.linspace(start, end, steps), dtype)


# -- random ---------------------------------------------------------------------------------------------------------
def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform numbers in [0, 1).

    Examples:
        >>> mint.rand(2, 3).shape
        (2, 3)
    """
    return rnd.RandomUniform()(next_key(None, generator), _size(_leading(size), "rand"), dtype or mstype.float32)


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal numbers.

    Examples:
        >>> mint.randn(2, 3).shape
        (2, 3)
    """
    return rnd.RandomNormal()(next_key(None, generator), _size(_leading(size), "randn"), dtype or mstype.float32)


def rand_like(input: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform numbers in the shape of the input.

    Examples:
        >>> mint.rand_like(mint.ones((2, 3))).shape
        (2, 3)
    """
    return rand(input.shape, dtype=dtype or input.dtype)


def randn_like(input: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal numbers in the shape of the input.

    Examples:
        >>> mint.randn_like(mint.ones((2, 3))).shape
        (2, 3)
    """
    return randn(input.shape, dtype=dtype or input.dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None, **kwargs: Any) -> Tensor:
    """randint(low=0, high, size): uniform integers in [low, high).

    Examples:
        >>> x = mint.randint(5, 8, (4,))
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """
    low, high, size = _randint_arguments(args, kwargs)
    key = next_key(None, generator)
    return rnd.RandomInteger()(key, _size((size,), "randint"), dtype or mstype.int64, as_tensor(low), as_tensor(high))


def _randint_arguments(args: tuple, kwargs: dict) -> tuple:
    bounds = list(args)
    size = kwargs["size"] if "size" in kwargs else bounds.pop()
    if "high" in kwargs:
        return kwargs.get("low", bounds[0] if bounds else 0), kwargs["high"], size
    low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
    return kwargs.get("low", low), high, size


def randint_like(input: Any, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform integers in [low, high) in the shape of the input.

    Examples:
        >>> x = mint.randint_like(mint.ones(4), 5, 8)
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """
    low, high = (0, args[0]) if len(args) == 1 else args
    return cast(randint(low, high, input.shape), dtype or input.dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = mstype.int64) -> Tensor:
    """A random order of 0 … n - 1.

    Examples:
        >>> print(mint.sort(mint.randperm(4))[0])
        [0 1 2 3]
    """
    return rnd.RandomPermutation()(next_key(None, generator), n, mstype.to_dtype(dtype))


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Normal numbers; the shape is `size` or that of the (broadcast) mean and standard deviation.

    Examples:
        >>> mint.normal(0.0, 1.0, (2, 3)).shape
        (2, 3)
    """
    centre, spread = to_float(as_tensor(mean)), to_float(as_tensor(std))
    shape = F.broadcast_shapes(centre.shape, spread.shape) if size is None else _size((size,), "normal")
    return rnd.RandomNormal()(next_key(None, generator), shape, mstype.float32) * spread + centre


def bernoulli(input: Any, *, generator: Any = None) -> Tensor:
    """1 with the probability each element gives, else 0.

    Examples:
        >>> print(mint.bernoulli(Tensor([0.0, 1.0])))
        [0. 1.]
    """
    u = rnd.RandomUniform()(next_key(None, generator), input.shape, mstype.float32)
    return cast(ew.Less()(u, input), input.dtype)


def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with probabilities proportional to each row.

    Examples:
        >>> print(mint.multinomial(Tensor([0.0, 1.0, 0.0]), 3, True))
        [1 1 1]
    """
    return F.multinomial(input, num_samples, replacement)
