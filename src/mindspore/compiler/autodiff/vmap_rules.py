"""Batching rules: a primitive applied to all examples at once. `(op, size, *(value, is_batched)) -> value`.

A rule may return None to say that this case has no direct form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.prims import arrays, linalg, reduction
from mindspore.prims.reduction import BroadcastTo, Reshape

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

Arg = tuple[Any, bool]


def shift(axis: int, ndim: int) -> int:
    """An axis of one example as an axis of the batch."""
    return axis % max(ndim, 1) + 1


def _reduction(op: Primitive, size: int, x: Arg, axis: Arg) -> Any:
    from mindspore.prims import checks

    value = x[0]
    axes = checks.axes(op.name, axis[0], value.ndim - 1)
    if not axes:
        return op(value.reshape((*value.shape, 1)), value.ndim)
    return op(value, tuple(a + 1 for a in axes))


def _reshape(op: Primitive, size: int, x: Arg, shape: Arg) -> Any:
    target = reduction.resolve_shape(op.name, x[0].shape[1:], shape[0])
    return op(x[0], (size, *target))


def _broadcast_to(op: Primitive, size: int, x: Arg) -> Any:
    target = op._target(x[0].shape[1:])
    lead = (1,) * (len(target) - (x[0].ndim - 1))
    return BroadcastTo((size, *target))(Reshape()(x[0], (size, *lead, *x[0].shape[1:])))


def _transpose(op: Primitive, size: int, x: Arg, perm: Arg) -> Any:
    ndim = x[0].ndim - 1
    return op(x[0], (0, *(shift(p, ndim) for p in perm[0])))


def _expand_dims(op: Primitive, size: int, x: Arg, axis: Arg) -> Any:
    return op(x[0], shift(axis[0], x[0].ndim))


def _squeeze(op: Primitive, size: int, x: Arg) -> Any:
    return Reshape()(x[0], (size, *op._shape(x[0].shape[1:])))


def spread(arg: Arg, size: int) -> Any:
    value, batched = arg
    return value if batched else BroadcastTo((size, *value.shape))(value)


def _concat(op: Any, size: int, *xs: Arg) -> Any:
    ndim = max(v.ndim - 1 if b else v.ndim for v, b in xs)
    return type(op)(shift(op.axis, ndim))([spread(x, size) for x in xs])


def _stack(op: Any, size: int, *xs: Arg) -> Any:
    ndim = max(v.ndim - 1 if b else v.ndim for v, b in xs)
    return type(op)(shift(op.axis, ndim + 1))([spread(x, size) for x in xs])


def _matmul(op: Primitive, size: int, x: Arg, y: Arg) -> Any:
    left, right = x[0], y[0]
    rank = max(v.ndim - 1 if b else v.ndim for v, b in (x, y))
    if x[1]:
        left = left.reshape((size, *(1,) * (rank - (left.ndim - 1)), *left.shape[1:]))
    if y[1]:
        right = right.reshape((size, *(1,) * (rank - (right.ndim - 1)), *right.shape[1:]))
    return linalg.BatchMatMul(op.transpose_a, op.transpose_b)(left, right)


def _static_index(spec: tuple) -> bool:
    return not any(s is arrays.TENSOR_INDEX for s in spec)


def _get_item(op: Primitive, size: int, x: Arg, *indices: Arg) -> Any:
    if indices and (any(b for _, b in indices) or not _leading_tensor(op.spec)):
        return None
    if not x[1]:
        return None
    return arrays.GetItem((slice(None), *op.spec))(x[0], *(v for v, _ in indices))


def _leading_tensor(spec: tuple) -> bool:
    """One index tensor and otherwise slices only: its place does not move when an axis is put in front."""
    tensors = [s for s in spec if s is arrays.TENSOR_INDEX]
    return len(tensors) == 1 and all(s is arrays.TENSOR_INDEX or isinstance(s, slice) for s in spec)


def _set_item(op: Primitive, size: int, x: Arg, value: Arg, *indices: Arg) -> Any:
    if indices:
        return None
    base = spread(x, size)
    region = op.indexed_shape(base.shape[1:], ())
    update = value[0]
    if value[1]:
        lead = (1,) * (len(region) - (update.ndim - 1))
        update = update.reshape((size, *lead, *update.shape[1:]))
    return arrays.SetItem((slice(None), *op.spec), op.accumulate)(base, update)


def _fill(op: Primitive, size: int, dtype: Arg, shape: Arg, value: Arg) -> Any:
    lead = value[0].reshape((size,) + (1,) * len(shape[0]))
    from mindspore.prims.elementwise import Cast

    return BroadcastTo((size, *shape[0]))(Cast()(lead, dtype[0]))


RULES: dict[type, Any] = {
    reduction.Reshape: _reshape,
    reduction.BroadcastTo: _broadcast_to,
    arrays.Transpose: _transpose,
    arrays.ExpandDims: _expand_dims,
    arrays.Squeeze: _squeeze,
    arrays.Concat: _concat,
    arrays.Stack: _stack,
    arrays.GetItem: _get_item,
    arrays.SetItem: _set_item,
    arrays.Fill: _fill,
    linalg.MatMul: _matmul,
    linalg.BatchMatMul: _matmul,
}
_REDUCTIONS = (
    reduction.ReduceSum,
    reduction.ReduceMean,
    reduction.ReduceMax,
    reduction.ReduceMin,
    reduction.ReduceProd,
    reduction.ReduceAll,
    reduction.ReduceAny,
)
RULES.update(dict.fromkeys(_REDUCTIONS, _reduction))
