"""Reductions, running results, order and sets with PyTorch's arguments, where those of `ops` differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import (
    cast,
    require_tensor,
)
from mindspore.ops.sorting import unique_sorted
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.reduction import ReduceMax, ReduceMin

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "bincount", "count_nonzero", "cummax", "cummin",
    "cumprod", "cumsum", "diff", "max", "mean", "median", "min", "nansum", "norm", "prod", "sort", "std", "std_mean",
    "sum", "topk", "unique", "var", "var_mean",
]  # fmt: skip


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum over `dim` (all dimensions when None); integers give int64.

    Examples:
        >>> print(mint.sum(Tensor([[1, 2], [3, 4]]), dim=0))
        [4 6]
    """
    return F.sum(input, dim, keepdim, dtype=dtype)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean over `dim` (all dimensions when None).

    Examples:
        >>> print(mint.mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1))
        [1.5 3.5]
    """
    return F.mean(cast(input, dtype), dim, keepdim)


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product over `dim`.

    Examples:
        >>> print(mint.prod(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1))
        [ 2. 12.]
    """
    return F.prod(input, dim, keepdim, dtype)


def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements hold.

    Examples:
        >>> print(mint.all(Tensor([[True, False], [True, True]]), dim=1))
        [False  True]
    """
    return F.all(input, dim, keepdim)


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element holds.

    Examples:
        >>> print(mint.any(Tensor([[True, False], [False, False]]), dim=1))
        [ True False]
    """
    return F.any(input, dim, keepdim)


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The maximum over dimensions.

    Examples:
        >>> print(mint.amax(Tensor([[1.0, 7.0], [4.0, 2.0]]), dim=1))
        [7. 4.]
    """
    return F.amax(input, dim, keepdim)


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The minimum over dimensions.

    Examples:
        >>> print(mint.amin(Tensor([[1.0, 7.0], [4.0, 2.0]]), dim=0))
        [1. 2.]
    """
    return F.amin(input, dim, keepdim)


def _extreme(name: str, pairwise: Callable, whole: Any, along: Callable) -> Any:
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Any:
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
        f"dimension; {name}(input, other): the {name}imum of each pair.\n\n    Examples:\n"
        f"        >>> value, index = mint.{name}(Tensor([[3.0, 5.0], [5.0, 3.0]]), 1)\n"
        f"        >>> print(value, index)\n        {'[5. 5.] [1 0]' if name == 'max' else '[3. 3.] [0 1]'}\n    "
    )
    return function


max = _extreme("max", F.maximum, ReduceMax, F.max)
min = _extreme("min", F.minimum, ReduceMin, F.min)


def argmax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the largest element stands.

    Examples:
        >>> print(mint.argmax(Tensor([[3.0, 8.0], [6.0, 5.0]]), dim=1))
        [1 0]
    """
    return F.argmax(input, dim, keepdim)


def argmin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the smallest element stands.

    Examples:
        >>> print(mint.argmin(Tensor([[3.0, 8.0], [6.0, 5.0]]), dim=1))
        [0 1]
    """
    return cast(F.argmin(input, dim, keepdim), mstype.int64)


def median(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower median: of all elements when `dim` is None, else (values, indices).

    Examples:
        >>> print(mint.median(Tensor([3.0, 1.0, 2.0])))
        2.0
    """
    return _median_of_all(input) if dim is None else F.median(input, dim, keepdim)


def _median_of_all(input: Tensor) -> Tensor:
    """The median of all elements; equal elements share the gradient."""
    flat = Reshape()(require_tensor("median", "input", input), (-1,))
    value = ew.StopGradient()(F.median(flat, 0)[0])
    if not flat.size or flat.dtype.kind != "f":
        return value
    hits = cast(ew.LogicalOr()(flat == value, ew.IsNan()(flat)), flat.dtype)
    share = ew.StopGradient()(hits / hits.sum())
    still = ew.Select()(hits > 0, flat - ew.StopGradient()(flat), ew.zeros_like(flat))  # 0, but with a gradient
    return value + (still * share).sum()


def std(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The standard deviation, with N - correction in the variance.

    Examples:
        >>> print(mint.std(Tensor([1.0, 3.0, 5.0, 7.0])))
        2.5819888
    """
    return F.std(input, dim, correction, keepdim)


def var(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """The variance, divided by N - correction.

    Examples:
        >>> print(mint.var(Tensor([1.0, 3.0, 5.0, 7.0])))
        6.6666665
    """
    return F.var(input, dim, correction, keepdim)


def std_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean.

    Examples:
        >>> deviation, mean = mint.std_mean(Tensor([1.0, 3.0]), correction=0)
        >>> print(deviation, mean)
        1.0 2.0
    """
    return F.std_mean(input, dim, correction, keepdim)


def var_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean.

    Examples:
        >>> variance, mean = mint.var_mean(Tensor([1.0, 3.0]), correction=0)
        >>> print(variance, mean)
        1.0 2.0
    """
    return F.var_mean(input, dim, correction, keepdim)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over dimensions; 'fro' is the 2-norm of all elements.

    Examples:
        >>> print(mint.norm(Tensor([3.0, 4.0])))
        5.0
    """
    if p == "nuc":
        return F.matrix_norm(input, "nuc", dim or (-2, -1), keepdim, dtype=dtype)
    return F.vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not 0.

    Examples:
        >>> print(mint.count_nonzero(Tensor([[0, 3], [5, 7]]), dim=1))
        [1 2]
    """
    return F.count_nonzero(input, () if dim is None else dim, dtype=mstype.int64)


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum that counts NaN as 0.

    Examples:
        >>> print(mint.nansum(Tensor([1.0, float("nan"), 3.0])))
        4.0
    """
    return F.nansum(input, dim, keepdim, dtype=dtype)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The running sum; integers give int64.

    Examples:
        >>> print(mint.cumsum(Tensor([[1, 2], [3, 4]]), dim=0))
        [[1 2]
         [4 6]]
    """
    wide = mstype.int64 if dtype is None and input.dtype.kind in "bui" else dtype
    return F.cumsum(cast(input, wide), dim)


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The running product.

    Examples:
        >>> print(mint.cumprod(Tensor([1.0, 2.0, 3.0]), 0))
        [1. 2. 6.]
    """
    return F.cumprod(cast(input, dtype), dim)


def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The running maximum and where it stands.

    Examples:
        >>> value, index = mint.cummax(Tensor([1.0, 3.0, 2.0, 5.0]), 0)
        >>> print(value, index)
        [1. 3. 3. 5.] [0 1 1 3]
    """
    return F.cummax(input, dim)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The running minimum and where it stands.

    Examples:
        >>> value, index = mint.cummin(Tensor([4.0, 3.0, 5.0, 1.0]), 0)
        >>> print(value, index)
        [4. 3. 3. 1.] [0 1 1 3]
    """
    return F.cummin(input, dim)


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
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


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """(values, int64 indices) of the k largest or smallest elements.

    Examples:
        >>> value, index = mint.topk(Tensor([30.0, 10.0, 20.0]), 2)
        >>> print(value, index)
        [30. 20.] [0 2]
    """
    found, index = F.topk(input, k, dim, largest, sorted)
    return found, cast(index, mstype.int64)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements in rising order, perhaps with inverse indices and counts.

    Examples:
        >>> print(mint.unique(Tensor([5, 3, 5, 7])))
        [3 5 7]
    """
    return unique_sorted(input, sorted, return_inverse, return_counts, dim)


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours, n times over.

    Examples:
        >>> print(mint.diff(Tensor([1, 4, 9, 16])))
        [3 5 7]
    """
    return F.diff(input, n, dim, prepend, append)


def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often (int64), or with what total weight, each of 0, 1, 2 … occurs.

    Examples:
        >>> print(mint.bincount(Tensor([0, 2, 2, 3])))
        [1 0 2 1]
    """
    counts = F.bincount(input, weights, minlength)
    return cast(counts, mstype.int64) if weights is None else counts
