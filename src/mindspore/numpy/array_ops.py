"""Shapes, joins, splits, selection and sets with NumPy's names and arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as onp

from mindspore.common.tensor import Tensor
from mindspore.numpy.arguments import operand, sequence, tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, concrete, normal_axis, static_ints
from mindspore.prims.broadcasting import Reshape

if TYPE_CHECKING:
    from mindspore.numpy.arguments import ArrayLike

__all__ = [
    "append", "apply_along_axis", "apply_over_axes", "argwhere", "array_split", "array_str", "atleast_1d",
    "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "choose", "column_stack", "concatenate",
    "dsplit", "dstack", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "in1d", "intersect1d",
    "isin", "moveaxis", "piecewise", "ravel", "ravel_multi_index", "repeat", "reshape", "roll", "rollaxis", "rot90",
    "select", "setdiff1d", "size", "split", "squeeze", "stack", "swapaxes", "take", "take_along_axis", "tile",
    "transpose", "unique", "unravel_index", "vsplit", "vstack", "where",
]  # fmt: skip


# -- shapes ---------------------------------------------------------------------------------------------------------
def reshape(x: ArrayLike, new_shape: Any) -> Tensor:
    """The same elements in another shape.

    Examples:
        >>> print(mnp.reshape(mnp.array([1, 2, 3, 4]), (2, 2)))
        [[1 2]
         [3 4]]
    """
    return Reshape()(tensor(x), new_shape)


def ravel(x: ArrayLike) -> Tensor:
    """All elements in one dimension.

    Examples:
        >>> print(mnp.ravel(mnp.array([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return Reshape()(tensor(x), (-1,))


def expand_dims(a: ArrayLike, axis: Any) -> Tensor:
    """Insert dimensions of size 1.

    Examples:
        >>> mnp.expand_dims(mnp.array([1, 2]), 0).shape
        (1, 2)
    """
    x = tensor(a)
    axes = static_ints("expand_dims", "axis", axis)
    rank = x.ndim + len(axes)
    places = {normal_axis("expand_dims", d, rank) for d in axes}
    sizes = iter(x.shape)
    return Reshape()(x, tuple(1 if d in places else next(sizes) for d in range(rank)))


def squeeze(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Drop dimensions of size 1.

    Examples:
        >>> mnp.squeeze(mnp.ones((1, 3, 1))).shape
        (3,)
    """
    from mindspore.prims.arrays import Squeeze

    return Squeeze(() if axis is None else axis)(tensor(a))


def transpose(a: ArrayLike, axes: int | tuple[int, ...] | None = None) -> Tensor:
    """Permute the dimensions (reversed when `axes` is None).

    Examples:
        >>> print(mnp.transpose(mnp.array([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    x = tensor(a)
    return F.transpose(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Tensor:
    """Exchange two dimensions.

    Examples:
        >>> mnp.swapaxes(mnp.ones((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    return F.swapaxes(tensor(x), axis1, axis2)


def moveaxis(a: ArrayLike, source: Any, destination: Any) -> Tensor:
    """Move dimensions to new places.

    Examples:
        >>> mnp.moveaxis(mnp.ones((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    return F.moveaxis(tensor(a), source, destination)


def rollaxis(x: ArrayLike, axis: int, start: int = 0) -> Tensor:
    """Move a dimension back until it lies before `start`.

    Examples:
        >>> mnp.rollaxis(mnp.ones((2, 3, 4)), 2).shape
        (4, 2, 3)
    """
    x = tensor(x)
    axis = normal_axis("rollaxis", axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    return F.moveaxis(x, axis, start - 1 if axis < start else start)


def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one dimension.

    Examples:
        >>> mnp.atleast_1d(mnp.array(3.0)).shape
        (1,)
    """
    return _each(F.atleast_1d, arys)


def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two dimensions.

    Examples:
        >>> mnp.atleast_2d(mnp.array([1.0, 2.0])).shape
        (1, 2)
    """
    return _each(F.atleast_2d, arys)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three dimensions.

    Examples:
        >>> mnp.atleast_3d(mnp.array([[1.0, 2.0]])).shape
        (1, 2, 1)
    """
    return _each(F.atleast_3d, arys)


def _each(function: Callable, arrays: tuple) -> Any:
    out = [function(tensor(a)) for a in arrays]
    return out[0] if len(out) == 1 else out


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """Repeat along new or size-1 dimensions.

    Examples:
        >>> print(mnp.broadcast_to(mnp.array([1, 2]), (2, 2)))
        [[1 2]
         [1 2]]
    """
    return F.broadcast_to(tensor(array), shape)


def broadcast_arrays(*args: Any) -> list[Tensor]:
    """All arrays in their common shape.

    Examples:
        >>> [part.tolist() for part in mnp.broadcast_arrays(mnp.array([1, 2]), mnp.array([[3], [4]]))]
        [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    arrays = [tensor(a) for a in args]
    shape = F.broadcast_shapes(*(a.shape for a in arrays))
    return [F.broadcast_to(a, shape) for a in arrays]


def tile(a: ArrayLike, reps: Any) -> Tensor:
    """Repeat the whole array.

    Examples:
        >>> print(mnp.tile(mnp.array([1, 2]), 2))
        [1 2 1 2]
    """
    return F.tile(tensor(a), reps)


def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element.

    Examples:
        >>> print(mnp.repeat(mnp.array([1, 2]), 2))
        [1 1 2 2]
    """
    return F.repeat_interleave(tensor(a), repeats, axis)


def flip(m: ArrayLike, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Reverse the order along axes (all when None).

    Examples:
        >>> print(mnp.flip(mnp.array([[1, 2], [3, 4]])))
        [[4 3]
         [2 1]]
    """
    return F.flip(tensor(m), axis)


def flipud(m: ArrayLike) -> Tensor:
    """Reverse the rows.

    Examples:
        >>> print(mnp.flipud(mnp.array([[1, 2], [3, 4]])))
        [[3 4]
         [1 2]]
    """
    return F.flipud(tensor(m))


def fliplr(m: ArrayLike) -> Tensor:
    """Reverse the columns.

    Examples:
        >>> print(mnp.fliplr(mnp.array([[1, 2], [3, 4]])))
        [[2 1]
         [4 3]]
    """
    return F.fliplr(tensor(m))


def rot90(a: ArrayLike, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Rotate in the plane of two axes.

    Examples:
        >>> print(mnp.rot90(mnp.array([[1, 2], [3, 4]])))
        [[2 4]
         [1 3]]
    """
    return F.rot90(tensor(a), k, axes)


def roll(a: ArrayLike, shift: Any, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Move elements around along axes.

    Examples:
        >>> print(mnp.roll(mnp.array([1, 2, 3]), 1))
        [3 1 2]
    """
    if axis is not None and isinstance(shift, int) and not isinstance(axis, int):
        shift = (shift,) * len(axis)
    return F.roll(tensor(a), shift, axis)


def size(a: ArrayLike, axis: int | None = None) -> int:
    """The number of elements, or the size of one dimension.

    Examples:
        >>> mnp.size(mnp.array([[1, 2], [3, 4]]))
        4
    """
    x = tensor(a)
    return x.size if axis is None else x.shape[normal_axis("size", axis, x.ndim)]


# -- joining and splitting ------------------------------------------------------------------------------------------
def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """Join arrays along an axis, or their flattened forms when None.

    Examples:
        >>> print(mnp.concatenate((mnp.array([1, 2]), mnp.array([3]))))
        [1 2 3]
    """
    parts = sequence(arrays)
    if axis is None:
        return F.concat([Reshape()(p, (-1,)) for p in parts], 0)
    return F.concat(parts, axis)


def append(arr: ArrayLike, values: Any, axis: int | None = None) -> Tensor:
    """Join two arrays.

    Examples:
        >>> print(mnp.append(mnp.array([1, 2]), mnp.array([3])))
        [1 2 3]
    """
    return concatenate((arr, values), axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Join arrays along a new axis.

    Examples:
        >>> print(mnp.stack((mnp.array([1, 2]), mnp.array([3, 4])), axis=1))
        [[1 3]
         [2 4]]
    """
    return F.stack(sequence(arrays), axis)


def hstack(tup: Any) -> Tensor:
    """Join along the second axis (the first for 1-D arrays).

    Examples:
        >>> print(mnp.hstack((mnp.array([1, 2]), mnp.array([3]))))
        [1 2 3]
    """
    return F.hstack(sequence(tup))


def vstack(tup: Any) -> Tensor:
    """Join rows.

    Examples:
        >>> print(mnp.vstack((mnp.array([1, 2]), mnp.array([3, 4]))))
        [[1 2]
         [3 4]]
    """
    return F.vstack(sequence(tup))


def dstack(tup: Any) -> Tensor:
    """Join along the third axis.

    Examples:
        >>> print(mnp.dstack((mnp.array([1, 2]), mnp.array([3, 4]))))
        [[[1 3]
          [2 4]]]
    """
    return F.dstack(sequence(tup))


def column_stack(tup: Any) -> Tensor:
    """Join columns.

    Examples:
        >>> print(mnp.column_stack((mnp.array([1, 2]), mnp.array([3, 4]))))
        [[1 3]
         [2 4]]
    """
    return F.column_stack(sequence(tup))


def split(x: ArrayLike, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut into equal sections, or at indices.

    Examples:
        >>> [part.tolist() for part in mnp.split(mnp.array([1, 2, 3, 4]), 2)]
        [[1, 2], [3, 4]]
    """
    x = tensor(x)
    if isinstance(indices_or_sections, int) and x.shape[axis] % indices_or_sections:
        raise ValueError(
            f"For 'split', a dimension of size {x.shape[axis]} cannot be cut into {indices_or_sections} equal sections."
        )
    parts = F.tensor_split(x, indices_or_sections, axis)
    return parts if isinstance(indices_or_sections, int) else list(parts)


def array_split(x: ArrayLike, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut into nearly equal sections, or at indices.

    Examples:
        >>> [part.tolist() for part in mnp.array_split(mnp.array([1, 2, 3, 4, 5]), 2)]
        [[1, 2, 3], [4, 5]]
    """
    return F.tensor_split(tensor(x), indices_or_sections, axis)


def hsplit(x: ArrayLike, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the second axis (the first for 1-D arrays).

    Examples:
        >>> [part.tolist() for part in mnp.hsplit(mnp.array([[1, 2, 3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
    """
    x = tensor(x)
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(x: ArrayLike, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the first axis.

    Examples:
        >>> [part.tolist() for part in mnp.vsplit(mnp.array([[1, 2], [3, 4]]), 2)]
        [[[1, 2]], [[3, 4]]]
    """
    return split(x, indices_or_sections, 0)


def dsplit(x: ArrayLike, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the third axis.

    Examples:
        >>> [part.shape for part in mnp.dsplit(mnp.ones((1, 2, 4)), 2)]
        [(1, 2, 2), (1, 2, 2)]
    """
    return split(x, indices_or_sections, 2)


# -- selection ------------------------------------------------------------------------------------------------------
def where(condition: Any, x: ArrayLike | None = None, y: ArrayLike | None = None) -> Any:
    """x where the condition holds, else y; without both, where it holds.

    Examples:
        >>> print(mnp.where(mnp.array([True, False]), mnp.array([1, 2]), mnp.array([10, 20])))
        [ 1 20]
    """
    condition = tensor(condition)
    if x is None and y is None:
        return F.nonzero(condition, as_tuple=True)
    numbers = all(isinstance(v, (bool, int, float)) for v in (x, y))
    return F.where(condition, tensor(x) if numbers else operand(x), tensor(y) if numbers else operand(y))


def take(a: ArrayLike, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Elements of the flattened array, or slices along an axis.

    Examples:
        >>> print(mnp.take(mnp.array([10, 20, 30]), mnp.array([2, 0])))
        [30 10]
    """
    return tensor(a).take(tensor(indices), axis, mode)


def take_along_axis(arr: ArrayLike, indices: Any, axis: int | None) -> Tensor:
    """One position along an axis per place.

    Examples:
        >>> print(mnp.take_along_axis(mnp.array([[10, 20], [30, 40]]), mnp.array([[1], [0]]), 1))
        [[20]
         [30]]
    """
    x, index = tensor(arr), tensor(indices)
    if axis is None:
        return F.gather_elements(Reshape()(x, (-1,)), 0, Reshape()(index, (-1,)))
    at = normal_axis("take_along_axis", axis, x.ndim)
    shape = F.broadcast_shapes(x.shape[:at] + (1,) + x.shape[at + 1 :], index.shape)
    wide = F.broadcast_to(x, shape[:at] + (x.shape[at],) + shape[at + 1 :])
    return F.gather_elements(wide, at, F.broadcast_to(index, shape))


def choose(a: ArrayLike, choices: Any, mode: str = "clip") -> Tensor:
    """At each place the element of the choice the array names.

    Examples:
        >>> print(mnp.choose(mnp.array([0, 1, 0]), [mnp.array([1, 2, 3]), mnp.array([10, 20, 30])]))
        [ 1 20  3]
    """
    return tensor(a).choose([tensor(c) for c in choices] if isinstance(choices, (list, tuple)) else choices, mode)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """At each place the choice of the first condition that holds.

    Examples:
        >>> conditions = [mnp.array([True, False]), mnp.array([True, True])]
        >>> print(mnp.select(conditions, [mnp.array([1, 2]), mnp.array([10, 20])]))
        [ 1 20]
    """
    conditions, choices = [tensor(c) for c in condlist], [tensor(c) for c in choicelist]
    if len(conditions) != len(choices) or not conditions:
        raise ValueError("For 'select', the lists of conditions and choices must be equally long and not empty.")
    out = F.where(conditions[-1], choices[-1], operand(default))
    for condition, choice in reversed(list(zip(conditions[:-1], choices[:-1]))):
        out = F.where(condition, choice, out)
    return out


def piecewise(x: ArrayLike, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """The function (or number) of the last condition that holds, at each place.

    Examples:
        >>> conditions = [mnp.array([True, False]), mnp.array([False, True])]
        >>> print(mnp.piecewise(mnp.array([-1.0, 2.0]), conditions, [-10, 10]))
        [-10.  10.]
    """
    x = tensor(x)
    conditions = sequence(condlist) if isinstance(condlist, (list, tuple)) else [tensor(condlist)]
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        out = _apply(functions[-1], x, args, kw)
    elif len(functions) == len(conditions):
        out = F.zeros_like(x)
    else:
        raise ValueError("For 'piecewise', there must be as many functions as conditions, or one more.")
    for condition, function in zip(conditions, functions):
        out = F.where(condition, _apply(function, x, args, kw), out)
    return out


def _apply(function: Any, x: Any, args: tuple, kw: dict) -> Any:
    return cast(function(x, *args, **kw), x.dtype) if callable(function) else F.full_like(x, function)


def argwhere(a: ArrayLike) -> Tensor:
    """The coordinates of the elements that are not 0.

    Examples:
        >>> print(mnp.argwhere(mnp.array([[0, 5], [7, 0]])))
        [[0 1]
         [1 0]]
    """
    return F.argwhere(tensor(a))


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Flat positions as coordinates; those outside are clipped.

    Examples:
        >>> [part.tolist() for part in mnp.unravel_index(mnp.array([5, 2]), (2, 3))]
        [[1, 0], [2, 2]]
    """
    dims = static_ints("unravel_index", "shape", shape)
    index, parts = F.clamp(tensor(indices), -math.prod(dims), math.prod(dims) - 1), []
    for n in reversed(dims) if order == "C" else dims:
        parts.append(F.remainder(index, n))
        index = F.floor_divide(index, n)
    return tuple(reversed(parts)) if order == "C" else tuple(parts)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Tensor:
    """Coordinates as flat positions; those outside are clipped or wrapped.

    Examples:
        >>> print(mnp.ravel_multi_index((mnp.array([0, 1]), mnp.array([1, 2])), (2, 3)))
        [1 5]
    """
    if mode not in ("clip", "wrap"):
        raise ValueError(f"For 'ravel_multi_index', 'mode' must be 'clip' or 'wrap', but got {mode!r}.")
    sizes = static_ints("ravel_multi_index", "dims", dims)
    columns = sequence(multi_index)
    pairs = list(zip(columns, sizes))
    out: Any = 0
    for column, n in pairs if order == "C" else reversed(pairs):
        place = F.clamp(column, 0, n - 1) if mode == "clip" else F.remainder(column, n)
        out = out * n + place
    return out


# -- functions along axes -------------------------------------------------------------------------------------------
def apply_along_axis(func1d: Callable, axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Tensor:
    """A function of 1-D arrays, applied along an axis.

    Examples:
        >>> print(mnp.apply_along_axis(lambda row: row.max(), 1, mnp.array([[1.0, 7.0], [4.0, 2.0]])))
        [7. 4.]
    """
    x = tensor(arr)
    at = normal_axis("apply_along_axis", axis, x.ndim)
    moved = F.moveaxis(x, at, -1)
    lead = moved.shape[:-1]
    rows = Reshape()(moved, (-1, moved.shape[-1]))
    out = F.stack([tensor(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])])
    out = Reshape()(out, lead + out.shape[1:])
    if out.ndim == len(lead):
        return out
    inner = tuple(range(len(lead), out.ndim))
    return F.transpose(out, tuple(range(at)) + inner + tuple(range(at, len(lead))))


def apply_over_axes(func: Callable, a: ArrayLike, axes: Any) -> Tensor:
    """A reducing function, applied over one axis after the other; dimensions are kept.

    Examples:
        >>> print(mnp.apply_over_axes(mnp.sum, mnp.array([[1.0, 7.0], [4.0, 2.0]]), (0, 1)))
        [[14.]]
    """
    x = tensor(a)
    for axis in static_ints("apply_over_axes", "axes", axes):
        out = func(x, axis)
        x = out if out.ndim == x.ndim else F.expand_dims(out, axis)
    return x


# -- sets -----------------------------------------------------------------------------------------------------------
def unique(x: ArrayLike, return_inverse: bool = False) -> Any:
    """The values that occur, in order of first appearance, perhaps with each element's index among them.

    Examples:
        >>> print(mnp.unique(mnp.array([5, 3, 5, 7])))
        [5 3 7]
    """
    found, index = F.unique(Reshape()(tensor(x), (-1,)))
    return (found, index) if return_inverse else found


def isin(element: ArrayLike, test_elements: Any, invert: bool = False) -> Tensor:
    """Whether each element occurs in another array.

    Examples:
        >>> print(mnp.isin(mnp.array([1, 2, 3]), mnp.array([3, 1])))
        [ True False  True]
    """
    out = F.isin(tensor(element), tensor(test_elements))
    return F.logical_not(out) if invert else out


def in1d(ar1: ArrayLike, ar2: ArrayLike, invert: bool = False) -> Tensor:
    """Whether each element of the flattened array occurs in another.

    Examples:
        >>> print(mnp.in1d(mnp.array([1, 2, 3]), mnp.array([3, 1])))
        [ True False  True]
    """
    return isin(Reshape()(tensor(ar1), (-1,)), ar2, invert)


def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The sorted values that occur in both.

    Examples:
        >>> print(mnp.intersect1d(mnp.array([1, 2, 3]), mnp.array([3, 1, 7])))
        [1 3]
    """
    found: Any = onp.intersect1d(  # type: ignore[call-overload]
        concrete("intersect1d", tensor(ar1)), concrete("intersect1d", tensor(ar2)), assume_unique, return_indices
    )
    return tuple(Tensor(f) for f in found) if return_indices else Tensor(found)


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    """The values of the first array that do not occur in the second.

    Examples:
        >>> print(mnp.setdiff1d(mnp.array([1, 2, 3]), mnp.array([3, 1])))
        [2]
    """
    return Tensor(onp.setdiff1d(concrete("setdiff1d", tensor(ar1)), concrete("setdiff1d", tensor(ar2)), assume_unique))


def array_str(a: ArrayLike) -> str:
    """The array as text.

    Examples:
        >>> mnp.array_str(mnp.array([1, 2]))
        '[1 2]'
    """
    return str(tensor(a))
