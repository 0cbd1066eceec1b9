"""x[index] and x[index] = value, for every kind of NumPy index.

An index is translated into a static part (ints, slices, None, Ellipsis and marks) and index tensors that stand at the
marks; `GetItem` and `SetItem` do the rest. Boolean masks become integer indices where their values are known. A mask
that only the running graph knows can be assigned through, because the result's shape does not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import TENSOR_INDEX, GetItem, ScalarToTensor, SetItem
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.elementwise import Cast, Select
from mindspore.prims.inplace import update
from mindspore.prims.measured import measure
from mindspore.prims.scan import CumSum
from mindspore.prims.symbolic import ValueUnknownError
from mindspore.prims.values import SymbolicScalarBase, TensorBase
from mindspore.prims.views import link


def getitem(x: TensorBase, index: Any) -> Any:
    """x[index] as a new tensor; in PyNative mode a view of x where ints, slices, None and Ellipsis pick it."""
    if index is False or index is True:
        return getitem(GetItem((None,))(x), slice(0, int(index)))
    whole, index = _bools_as_positions(x, _by_dimension(index))
    spec, tensors = _translate(whole, index)
    pick = GetItem(spec)
    out = pick(whole, *tensors)
    if tensors or ACTIVE.builder is not None:
        return out
    return link(out, x, pick, SetItem(spec))


def setitem(x: TensorBase, index: Any, value: TensorBase | float) -> None:
    """Replace x[index] in place."""
    update(x, with_items(x, index, value))


def with_items(x: TensorBase, index: Any, value: TensorBase | float) -> Any:
    """A tensor like `x` except that x[index] is `value`."""
    value, index = _as_value(x, value), _by_dimension(index)
    if index is True:
        index = Ellipsis
    elif index is False:
        return GetItem((Ellipsis,))(x)
    if _is_mask(index) and not _is_known(index):
        return _assign_through_mask(x, _as_tensor(index), value)
    whole, index = _bools_as_positions(x, index)
    spec, tensors = _translate(whole, index)
    out = SetItem(spec)(whole, _drop_leading_ones(value, whole), *tensors)
    return out if whole is x else Reshape()(out, x.shape)


def with_items_added(x: TensorBase, index: Any, value: TensorBase) -> Any:
    """A tensor like `x` except that `value` is added to x[index]; repeated places add up."""
    spec, tensors = _translate(x, _by_dimension(index))
    return SetItem(spec, accumulate=True)(x, _as_value(x, value), *tensors)


def _by_dimension(index: Any) -> Any:
    """A list of anything but plain numbers has a part for each dimension, as a tuple has; one of numbers is an array."""
    if isinstance(index, list) and not all(values.is_number(i) or isinstance(i, SymbolicScalarBase) for i in index):
        return tuple(index)
    return index


def is_variable(value: Any) -> bool:
    """Whether only the running graph knows a tensor's or scalar's value."""
    builder = ACTIVE.builder
    return builder is not None and builder.is_variable(value)


def _is_known(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_known(v) for v in value)
    return not is_variable(value)


def _is_mask(index: Any) -> bool:
    if isinstance(index, (TensorBase, np.ndarray)):
        return _dtype(index) is mstype.bool_
    return isinstance(index, list) and bool(index) and all(isinstance(i, (bool, np.bool_)) for i in index)


def _dtype(value: Any) -> Any:
    return values.dtype_of(value) if isinstance(value, TensorBase) else mstype.from_numpy(value.dtype)


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, TensorBase) else values.tensor_class()(value)


def _as_value(x: TensorBase, value: Any) -> Any:
    if isinstance(value, (TensorBase, SymbolicScalarBase)):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return values.tensor_class()(value, values.dtype_of(x))
    if not values.is_number(value):
        raise TypeError(f"For setting items, the value must be a tensor, a number or a list, but got {value!r}.")
    return values.number_tensor(value, values.dtype_of(x))


def _drop_leading_ones(value: Any, x: TensorBase) -> Any:
    """A value may have more dimensions than the region as long as the extra ones are of size 1."""
    extra = len(value.shape) - len(x.shape)
    if extra > 0 and all(d == 1 for d in value.shape[:extra]):
        return Reshape()(value, value.shape[extra:])
    return value


# -- translation ----------------------------------------------------------------------------------------------------
def _translate(x: TensorBase, index: Any) -> tuple[tuple, list]:
    """The static index and the index tensors for `GetItem` and `SetItem`."""
    spec: list[Any] = []
    tensors: list[Any] = []
    parts = _true_as_axis(index) if isinstance(index, tuple) else (index,)
    for place, part in enumerate(parts):
        if part is None or part is Ellipsis:
            spec.append(part)
        elif isinstance(part, slice):
            spec.append(slice(*(_bound(b) for b in (part.start, part.stop, part.step))))
        elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            spec.append(int(part))
        else:
            found = _index_tensors(x, part, parts[:place], parts[place + 1 :])
            spec += [TENSOR_INDEX] * len(found) if not isinstance(found, int) else [found]
            tensors += found if not isinstance(found, int) else []
    return tuple(spec), tensors


def _bools_as_positions(x: TensorBase, index: Any) -> tuple[Any, Any]:
    """True and False among other parts of an index are masks without dimensions, as in NumPy.

    Such a mask picks from a dimension of size 1 that is put before it: position 0, or nothing.
    """
    if not isinstance(index, tuple) or not any(isinstance(part, (bool, np.bool_)) for part in index):
        return x, index
    index = _true_as_axis(index)
    taken = [_dimensions_taken(part) for part in index]
    rest = x.ndim - sum(taken)
    axes, parts, axis = [], [], 0
    for part, count in zip(index, taken):
        if isinstance(part, (bool, np.bool_)):
            axes.append(axis)
            parts.append(values.from_array(np.zeros(int(part), np.int64)))
        else:
            parts.append(part)
            axis += rest if part is Ellipsis else count
    for added, axis in enumerate(axes):
        x = GetItem((*[slice(None)] * (axis + added), None))(x)
    return x, tuple(parts)


def _dimensions_taken(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, (list, np.ndarray)):
        part = np.asarray(part)
        return part.ndim if part.dtype == np.bool_ else 1
    return part.ndim if isinstance(part, TensorBase) and values.dtype_of(part) is mstype.bool_ else 1


def _true_as_axis(index: tuple) -> tuple:
    """A True among slices is a new dimension of size 1, as in NumPy."""
    plain = all(part is True or part is None or part is Ellipsis or isinstance(part, slice) for part in index)
    if not plain or sum(part is True for part in index) != 1:
        return index
    return tuple(None if part is True else part for part in index)


def _bound(value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, SymbolicScalarBase) or is_variable(value):
        answer = values.answer(value)
        if answer is not None and answer.size == 1:
            return int(answer.item())
        raise ValueUnknownError(
            "the bounds of a slice decide the shape of the result, so they must be known when the graph is compiled; "
            "use constants, or gather with an index tensor"
        )
    if not hasattr(value, "__index__"):
        raise TypeError(f"Slice indices must be integers or bool, or None, but got {value!r}.")
    return value.__index__()


def _index_tensors(x: TensorBase, part: Any, before: tuple, after: tuple) -> Any:
    """One part of an index, between others, as index tensors (several for a mask), or as a plain int."""
    if isinstance(part, SymbolicScalarBase):
        return [ScalarToTensor()(part, mstype.int64)]
    if not isinstance(part, TensorBase):
        part = _sequence_index(part)
    dtype = values.dtype_of(part)
    if dtype is mstype.bool_:
        if not part.ndim:
            _scalar_mask(part)
        behind = sum(map(_dimensions_taken, after))
        first = x.ndim - behind - part.ndim if any(b is Ellipsis for b in before) else sum(map(_dimensions_taken, before))
        _require_fit(x, part, max(first, 0))
        return list(measure("x[mask]", np.nonzero, part))
    if dtype.kind not in "ui":
        raise IndexError(f"tensors used as indices must be of an integer or bool type, but got {dtype}.")
    if part.ndim == 0 and not is_variable(part):
        return int(part)
    return [part]


def _scalar_mask(part: Any) -> Any:
    raise IndexError(f"a single bool cannot be part of an index: {bool(part)}")


def _sequence_index(part: Any) -> Any:
    """A list, range or array as an index tensor."""
    if isinstance(part, (bool, np.bool_)):
        return _scalar_mask(part)
    if isinstance(part, range):
        part = list(part)
    if isinstance(part, (list, tuple)) and len(part) == 0:
        return values.from_array(np.zeros(0, np.int64))
    if isinstance(part, (list, tuple, np.ndarray)):
        return values.tensor_class()(part)
    raise IndexError(
        f"tensors can be indexed by ints, slices, None, Ellipsis, tensors, arrays and lists, but got {type(part).__name__}."
    )


def _require_fit(x: TensorBase, mask: TensorBase, first: int) -> None:
    """A mask says of each element of the dimensions from `first` on whether it is meant."""
    if mask.shape != x.shape[first : first + mask.ndim]:
        where = f" from dimension {first} on" if first else ""
        raise IndexError(f"a mask of shape {mask.shape} does not fit a tensor of shape {x.shape}{where}.")


# -- masks that the graph knows only when it runs -------------------------------------------------------------------
def _assign_through_mask(x: TensorBase, mask: TensorBase, value: Any) -> Any:
    _require_fit(x, mask, 0)
    inner = x.shape[mask.ndim :]
    spread = BroadcastTo(x.shape)(Reshape()(mask, mask.shape + (1,) * len(inner)))
    if values.dtype_of(value) is not values.dtype_of(x):
        value = Cast()(value, values.dtype_of(x))
    if len(value.shape) > len(inner) and value.shape[0] != 1:
        value = _deal_out(mask, value)
    elif len(value.shape) > len(inner):
        value = Reshape()(value, value.shape[1:])
    return Select()(spread, value, x)


def _deal_out(mask: Any, value: Any) -> Any:
    """The i-th row of `value` at the i-th place where the mask holds; anything elsewhere."""
    flat = Cast()(Reshape()(mask, (-1,)), mstype.int64)
    rank = CumSum()(flat, 0) - flat
    last = value.shape[0] - 1
    rows = GetItem((TENSOR_INDEX,))(value, Select()(rank < last, rank, last))
    return Reshape()(rows, mask.shape + rows.shape[1:])
