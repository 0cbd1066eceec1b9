"""Official primitives that are no primitives here: functions of what they are called with and, as keywords, of what they
are created with. Files spell them either way, so `operations.py` calls both alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.prims import arrays, broadcasting, elementwise, reduction, sorting, values
from mindspore.prims.gather_scatter import Gather, TensorScatterAdd
from mindspore.prims.values import TensorBase

COMPOSED: dict[str, Callable[..., Any]] = {}


def composed(*names: str) -> Callable[[Callable], Callable]:
    """Register a function for primitives."""

    def register(function: Callable) -> Callable:
        COMPOSED.update(dict.fromkeys(names, function))
        return function

    return register


def _ints(value: Any) -> tuple[int, ...]:
    known = values.static_value(value)
    return tuple(int(v) for v in (known if isinstance(known, (tuple, list)) else (known,)))


# -- parts and shapes -------------------------------------------------------------------------------------------------
@composed("StridedSlice")
def _strided_slice(
    x: Any, begin: Any, end: Any, strides: Any, *, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,
    new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Any:  # fmt: skip
    """x[begin:end:strides]; bits of the masks mark entries to ignore, new axes, dropped axes and an ellipsis."""
    spec: list[Any] = []
    for place, (first, last, step) in enumerate(zip(_ints(begin), _ints(end), _ints(strides))):
        bit = 1 << place
        if ellipsis_mask & bit:
            spec.append(Ellipsis)
        elif new_axis_mask & bit:
            spec.append(None)
        elif shrink_axis_mask & bit:
            spec.append(first)
        else:
            spec.append(slice(None if begin_mask & bit else first, None if end_mask & bit else last, step))
    return arrays.GetItem(tuple(spec))(x)


@composed("Slice")
def _slice(x: Any, begin: Any, size: Any) -> Any:
    ends = (None if n == -1 else b + n for b, n in zip(_ints(begin), _ints(size)))
    return arrays.GetItem(tuple(slice(b, e) for b, e in zip(_ints(begin), ends)))(x)


@composed("Split")
def _split(x: TensorBase, *, axis: int = 0, output_num: int = 1) -> tuple:
    lead, size = (slice(None),) * (axis % x.ndim), x.shape[axis] // output_num
    return tuple(arrays.GetItem((*lead, slice(i * size, (i + 1) * size)))(x) for i in range(output_num))


@composed("Unstack", "Unpack")
def _unstack(x: TensorBase, *, axis: int = 0, num: int | None = None) -> tuple:
    lead = (slice(None),) * (axis % x.ndim)
    return tuple(arrays.GetItem((*lead, place))(x) for place in range(x.shape[axis]))


@composed("Tile")
def _tile(x: TensorBase, dims: Any) -> Any:
    repeats = _ints(dims)
    shape = (1,) * (len(repeats) - x.ndim) + tuple(x.shape)
    repeats = (1,) * (len(shape) - len(repeats)) + repeats
    pairs = [size for pair in zip(repeats, shape) for size in pair]
    spread = broadcasting.BroadcastTo(tuple(pairs))(broadcasting.Reshape()(x, tuple(v for d in shape for v in (1, d))))
    return broadcasting.Reshape()(spread, tuple(r * d for r, d in zip(repeats, shape)))


@composed("ReverseV2")
def _reverse(x: TensorBase, *, axis: Any = ()) -> Any:
    turned = {a % x.ndim for a in _ints(axis)}
    return arrays.GetItem(tuple(slice(None, None, -1 if a in turned else None) for a in range(x.ndim)))(x)


@composed("Rank")
def _rank(x: TensorBase) -> int:
    return x.ndim


def _resize_nearest(x: TensorBase, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    for axis, want in enumerate(_ints(size), 2):
        own = x.shape[axis]
        if align_corners:
            at = np.floor(np.arange(want) * ((own - 1) / max(want - 1, 1)) + 0.5)
        else:  # in float32: kernels round so at exact boundaries
            at = np.floor((np.arange(want, dtype=np.float32) + half_pixel_centers * 0.5) * np.float32(own / want))
        x = Gather()(x, values.from_array(np.clip(at, 0, own - 1).astype(np.int64)), axis)
    return x


COMPOSED["ResizeNearestNeighborV2"] = _resize_nearest


@composed("ResizeNearestNeighbor")
def _resize_nearest_by_attribute(
    x: Any, *, size: Any, align_corners: bool = False, half_pixel_centers: bool = False
) -> Any:
    return _resize_nearest(x, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)


@composed("Meshgrid")
def _meshgrid(xs: Any, *rest: Any, indexing: str = "xy") -> tuple:
    """Each vector spread over the grid that all of them span."""
    vectors = (*xs, *rest) if isinstance(xs, (tuple, list)) else (xs, *rest)
    order = list(range(len(vectors)))
    if indexing.lower() == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    shape = tuple(vectors[place].shape[0] for place in order)
    rows = (broadcasting.Reshape()(x, tuple(-1 if p == i else 1 for p in order)) for i, x in enumerate(vectors))
    return tuple(broadcasting.BroadcastTo(shape)(row) for row in rows)


# -- arithmetic -------------------------------------------------------------------------------------------------------
@composed("AddN")
def _add_all(xs: Any, *rest: Any) -> Any:
    first, *others = (*xs, *rest) if isinstance(xs, (tuple, list)) else (xs, *rest)
    for other in others:
        first = elementwise.Add()(first, other)
    return first


@composed("BiasAdd")
def _bias_add(x: TensorBase, bias: Any, *, data_format: str = "NCHW") -> Any:
    if data_format == "NHWC":
        return x + bias
    return x + broadcasting.Reshape()(bias, (-1, *(1,) * (x.ndim - 2)))


@composed("MaskedFill")
def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    kept = value if isinstance(value, TensorBase) else values.number_tensor(value, values.dtype_of(x))
    return elementwise.Select()(mask, elementwise.Cast()(kept, values.dtype_of(x)), x)


@composed("OneHot")
def _one_hot(indices: TensorBase, depth: Any, on: Any, off: Any, *, axis: int = -1) -> Any:
    count, place = int(values.static_value(depth)), axis % (indices.ndim + 1)
    codes = np.arange(count).reshape(-1, *(1,) * (indices.ndim - place))
    return elementwise.Select()(arrays.ExpandDims()(indices, place) == values.from_array(codes), on, off)


@composed("ScatterNd")
def _scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    zeros = values.from_array(np.zeros(_ints(shape), values.dtype_of(updates).np))
    return TensorScatterAdd()(zeros, indices, updates)


def _extreme(reduce: Any, search: Any) -> Callable:
    def run(x: Any, *, axis: int = 0, keep_dims: bool = False) -> tuple:
        """Where the extreme elements stand, and what they are."""
        places = search(axis)(x)
        return arrays.ExpandDims()(places, axis) if keep_dims else places, reduce(keep_dims)(x, axis)

    return run


COMPOSED["ArgMaxWithValue"] = _extreme(reduction.ReduceMax, sorting.Argmax)
COMPOSED["ArgMinWithValue"] = _extreme(reduction.ReduceMin, sorting.Argmin)



#: operations of training, in a model that predicts
PREDICTING: dict[str, Callable[..., Any]] = {"Dropout": lambda x: (x, elementwise.OnesLike()(x))}
