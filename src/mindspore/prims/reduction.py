"""Reductions over axes: means, extrema, products, and whether all or any hold. Sums are in broadcasting.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import ReduceSum, Reduction, Reshape
from mindspore.prims.elementwise import Cast, Equal, conj
from mindspore.prims.precision import is_half
from mindspore.prims.scan import exclusive_products

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    n = 1
    for a in axes:
        n *= shape[a]
    return n


class ReduceMean(Reduction):
    """Mean over axes.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.ReduceMean()(Tensor([1.0, 3.0])).item()
        2.0
    """

    spreads = True

    combined = "avg"
    kinds = "uifc"

    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        wide = np.float32 if is_half(x.dtype) else None
        with np.errstate(all="ignore"):
            return xp.sum(x, axis=axes, keepdims=self.keep_dims, dtype=wide) / _count(x.shape, axes)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return self.spread(dout / _count(x.shape, checks.axes(self.name, axis, x.ndim)), x, axis), None


class _Extremum(Reduction):
    kinds = "buif"

    def check_nonempty(self, x: AbstractTensor, axes: tuple[int, ...]) -> None:
        if _count(x.shape, axes) == 0:
            raise ValueError(
                f"For '{self.name}', an axis of size 0 has no extreme value; the shape of 'x' is {x.shape}."
            )

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        """Shared equally among the positions that attain the extremum."""
        hit = Cast()(Equal()(x, self.unsqueeze(out, x, axis)), dout.dtype)
        share = self.unsqueeze(dout, x, axis) / ReduceSum(True)(hit, axis)
        return hit * share, None


class ReduceMax(_Extremum):
    """Maximum over axes.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.ReduceMax()(Tensor([1.0, 5.0])).item()
        5.0
    """

    combined = "max"
    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        return xp.max(x, axis=axes, keepdims=self.keep_dims)


class ReduceMin(_Extremum):
    """Minimum over axes.

    Examples:
        >>> print(ops.ReduceMin()(Tensor([[1.0, 7.0], [4.0, 2.0]]), 1))
        [1. 2.]
    """

    combined = "min"
    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        return xp.min(x, axis=axes, keepdims=self.keep_dims)


class ReduceProd(Reduction):
    """Product over axes.

    Examples:
        >>> print(ops.ReduceProd(keep_dims=True)(Tensor([[1.0, 7.0], [4.0, 2.0]]), 1))
        [[7.]
         [8.]]
    """

    combined = "prod"
    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return mstype.int64 if dtype is mstype.bool_ else dtype

    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        return xp.prod(x, axis=axes, keepdims=self.keep_dims, dtype=None if x.dtype.kind in "bfc" else x.dtype)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        """Exact also where the input has zeros: the product of all the others, by exclusive products from both ends."""
        axes = checks.axes(self.name, axis, x.ndim)
        kept = tuple(i for i in range(x.ndim) if i not in axes)
        order = kept + axes
        inverse = tuple(int(i) for i in np.argsort(order))
        moved = Transpose()(x, order)
        flat = Reshape()(moved, tuple(x.shape[i] for i in kept) + (_count(x.shape, axes),))
        others = Transpose()(Reshape()(exclusive_products(flat), moved.shape), inverse)
        return self.unsqueeze(dout, x, axis) * conj(others), None


class _Logical(Reduction):
    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return mstype.bool_


class ReduceAll(_Logical):
    """Whether all elements hold.

    Examples:
        >>> print(ops.ReduceAll()(Tensor([[True, False], [True, True]]), 1))
        [False  True]
    """

    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        return xp.all(x, axis=axes, keepdims=self.keep_dims)


class ReduceAny(_Logical):
    """Whether any element holds.

    Examples:
        >>> print(ops.ReduceAny()(Tensor([[True, False], [False, False]]), 1))
        [ True False]
    """

    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        return xp.any(x, axis=axes, keepdims=self.keep_dims)
