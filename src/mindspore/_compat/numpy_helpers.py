"""Private helpers of official `mindspore.numpy.utils` and `utils_const` that packages import."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor


def _to_tensor(*args: Any) -> Any:
    """Tensors of the arguments; one alone not in a tuple."""
    made = tuple(a if isinstance(a, Tensor) else Tensor(a) for a in args)
    return made[0] if len(made) == 1 else made


_to_tensor_origin_dtype = _to_tensor


def _get_size(x: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, or of those along some axes."""
    shape = x.shape
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return math.prod(shape[a] for a in axes)


def _is_scalar(shape: Sequence[int]) -> bool:
    """Whether a shape is that of one number."""
    return math.prod(shape) == 1


def _isnan(x: Any) -> Any:
    return x != x


def _expand(x: Any, ndim: int, axis: int = 0) -> Any:
    """As many dimensions, by ones at `axis`."""
    while x.ndim < ndim:
        x = ops.expand_dims(x, axis)
    return x


def _broadcast_to_shape(x: Any, shape: Sequence[int]) -> Any:
    return ops.broadcast_to(x, tuple(shape))


def _broadcast_to(x: Any, shape_cur: Sequence[int], shape_to: Sequence[int], ndim_to: int) -> Any:
    return ops.broadcast_to(x.reshape((1,) * (ndim_to - len(shape_cur)) + tuple(shape_cur)), tuple(shape_to))


def _infer_out_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that shapes are broadcast to."""
    return np.broadcast_shapes(*map(tuple, shapes))


def _convert_64_to_32(tensor: Any) -> Any:
    """Numbers of 64 bits in 32."""
    narrow = {mstype.float64: mstype.float32, mstype.int64: mstype.int32}
    return tensor.astype(narrow[tensor.dtype]) if tensor.dtype in narrow else tensor


def _convert_bool_to_int(tensor: Any) -> Any:
    return tensor.astype(mstype.int32) if tensor.dtype == mstype.bool_ else tensor


def _check_input_tensor(*tensors: Any) -> bool:
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expect Tensor, but got {type(tensor)}")
    return True


def _check_dtype(dtype: Any) -> Any:
    """An element type, however it is named."""
    return mstype.from_numpy(np.dtype(dtype)) if not isinstance(dtype, mstype.DType) else dtype


def _promote(*dtypes: Any) -> Any:
    """The common type of element types."""
    return mstype.from_numpy(np.result_type(*(mstype.dtype_to_nptype(d) for d in dtypes)))


def _canonicalize_axis(axis: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, each once."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if any(not -ndim <= a < ndim for a in axes):
        raise ValueError(f"axis {axis} is out of bounds for an array of dimension {ndim}")
    found = tuple(a % ndim for a in axes)
    if len(set(found)) != len(found):
        raise ValueError("duplicate axis in axes")
    return found


def _check_axis_valid(axes: Any, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim)) if axes is None else _canonicalize_axis(axes, ndim)


def _tuple_setitem(tup: tuple, idx: int, value: Any) -> tuple:
    items = list(tup)
    items[idx] = value
    return tuple(items)


def _seq_prod(seq1: Sequence[int], seq2: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(operator.mul, seq1, seq2))


def _tile_size(shape: Sequence[int], out_shape: Sequence[int], ndim: int) -> tuple[int, ...]:
    """How often each dimension is repeated to get a shape."""
    return tuple(o if s != o else 1 for s, o in zip((1,) * (ndim - len(shape)) + tuple(shape), out_shape))


def _list_comprehensions(obj: Any, item: Any = None, return_tuple: bool = False, make_none: bool = False) -> Any:
    """A sequence as long as `obj` (or of that length) of one item."""
    count = obj if isinstance(obj, int) else len(obj)
    items: list[Any] = [None if make_none else item] * count
    if item is None and not make_none:
        items = list(range(obj)) if isinstance(obj, int) else list(obj)
    return tuple(items) if return_tuple else items


def _cumprod(x: Sequence[int]) -> tuple[int, ...]:
    return tuple(np.cumprod(list(x)).tolist())


def _raise_type_error(info: str, param: Any = None) -> None:
    raise TypeError(info if param is None else f"{info}{param}")


def _raise_value_error(info: str, param: Any = None) -> None:
    raise ValueError(info if param is None else f"{info}{param}")


def _max(*args: Any) -> Any:
    return max(*args)


def _min(*args: Any) -> Any:
    return min(*args)


def _in(x: Any, y: Any) -> bool:
    return x in y


_abs, _ceil = abs, math.ceil
__all__ = [name for name in dir() if name.startswith("_") and not name.startswith("__")]
