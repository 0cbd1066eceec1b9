"""Methods that reduce: sums, extrema and where they stand, spreads, running sums, softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast
from mindspore.ops.reduction import mean_cast
from mindspore.ops.sorting import cumsum_flat
from mindspore.ops.tensor_methods.adapters import SYNONYMS, extreme, reduction, spread
from mindspore.prims.broadcasting import Reshape


def _sum(self: Tensor, axis: Any = None, keepdims: bool = False, dtype: Any = None, initial: Any = None) -> Tensor:
    total = F.sum(self, axis, keepdims, dtype=dtype)
    return total if initial is None else total + initial


_sum.__name__, _sum.__doc__ = "sum", F.sum.__doc__


def _argmax_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the largest elements along `axis`.

    Examples:
        >>> values, indices = Tensor([[3.0, 8.0], [6.0, 5.0]]).argmax_with_value(axis=1)
        >>> print(values, indices)
        [8. 6.] [1 0]
    """
    return F.max(self, axis, keep_dims)


def _argmin_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the smallest elements along `axis`.

    Examples:
        >>> values, indices = Tensor([[3.0, 8.0], [6.0, 5.0]]).argmin_with_value(axis=1)
        >>> print(values, indices)
        [3. 5.] [0 1]
    """
    return F.min(self, axis, keep_dims)


def _median(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The lower median: of all elements without arguments, else (values, indices) along a dimension.

    Examples:
        >>> print(Tensor([3.0, 1.0, 2.0]).median())
        2.0
    """
    if not args and not kwargs:
        return F.median(Reshape()(self, (-1,)), 0)[0]
    settings = {SYNONYMS.get(k, k): v for k, v in kwargs.items()}
    return F.median(self, *args, **settings)


def _count_nonzero(self: Tensor, axis: Any = (), keep_dims: bool = False, dtype: Any = None, dim: Any = None) -> Tensor:
    """The number of elements that are not 0.

    Examples:
        >>> print(Tensor([[0, 3], [5, 7]]).count_nonzero(axis=1))
        [1 2]
    """
    return F.count_nonzero(self, dim if dim is not None else axis, keep_dims, dtype or mstype.int32)


def _ptp(self: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Maximum minus minimum.

    Examples:
        >>> print(Tensor([3.0, 8.0, 5.0]).ptp())
        5.0
    """
    return F.amax(self, axis, keepdims) - F.amin(self, axis, keepdims)


def _trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    Examples:
        >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).trace())
        5.0
    """
    return F.sum(F.diagonal(self, offset, axis1, axis2), -1, dtype=dtype or self.dtype)


def _softmax(self: Tensor, axis: Any = -1, dtype: Any = None, dim: Any = None) -> Tensor:
    """Exponentials that add up to 1 along an axis.

    Examples:
        >>> print(Tensor([0.0, 0.0]).softmax())
        [0.5 0.5]
    """
    return F.softmax(cast(self, dtype), axis if dim is None else dim)


METHODS: dict[str, Callable] = {
    "sum": reduction(_sum, "axis", "dtype", "keepdims", "initial"),
    "mean": reduction(mean_cast, "axis", "keepdims"),
    "prod": reduction(F.prod, "axis", "keepdims", "dtype", keepdims="keep_dims"),
    "all": reduction(F.all, "axis", "keepdims", keepdims="keep_dims"),
    "any": reduction(F.any, "axis", "keepdims", keepdims="keep_dims"),
    "argmax": reduction(F.argmax, "axis", "keepdims", axis="dim", keepdims="keepdim"),
    "argmin": reduction(F.argmin, "axis", "keepdims"),
    "cumsum": reduction(cumsum_flat, "axis", "dtype"),
    "cumprod": reduction(F.cumprod, "axis", "dtype", axis="dim"),
    "nansum": reduction(F.nansum, "axis", "keepdims", "dtype"),
    "max": extreme(F.amax, F.max),
    "min": extreme(F.amin, F.min),
    "std": spread(F.std),
    "var": spread(F.var),
    "median": _median,
    "count_nonzero": _count_nonzero,
    "ptp": _ptp,
    "trace": _trace,
    "argmax_with_value": _argmax_with_value,
    "argmin_with_value": _argmin_with_value,
    "softmax": _softmax,
    "log_softmax": F.log_softmax,
}
