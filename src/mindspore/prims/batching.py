"""What the `vmap` rules of primitives share: applying an operation to all examples at once.

A rule gets pairs, a value and whether the examples run along its first axis, and gives a result that has such an axis.
Operations along an axis take the next one; those over windows already have a batch dimension, which the examples join.
"""

from __future__ import annotations

from typing import Any

from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.values import TensorBase


def shift(axis: int, ndim: int) -> int:
    """An axis of one example, which has so many dimensions, as an axis of the batch."""
    return axis % max(ndim, 1) + 1


def spread(arg: Batched, size: int) -> Any:
    """The value for each example, repeated if they share it."""
    value, batched = arg
    return value if batched else BroadcastTo((size, *value.shape))(value)


def align(arg: Batched, size: int, rank: int) -> Any:
    """The value with examples of so many dimensions, ones put in front, so that they broadcast."""
    value, batched = arg
    if not batched or value.ndim - 1 >= rank:
        return value
    return Reshape()(value, (size, *(1,) * (rank - (value.ndim - 1)), *value.shape[1:]))


def rank_of(*args: Batched) -> int:
    """The most dimensions that one example has."""
    return max(value.ndim - 1 if batched else value.ndim for value, batched in args)


def with_attributes(op: Primitive, **attributes: Any) -> Any:
    """The primitive with other attributes."""
    copy = op.clone()
    copy.attrs = {**copy.attrs, **attributes}
    copy.__dict__.update(attributes)
    return copy


def along_axis(op: Primitive, size: int, x: Batched) -> Any:
    """Primitives whose attribute `axis` says along which dimension they work."""
    ndim = x[0].ndim - 1
    if op.axis is None or not ndim:
        return None
    axis = tuple(shift(a, ndim) for a in op.axis) if isinstance(op.axis, tuple) else shift(op.axis, ndim)
    return with_attributes(op, axis=axis)(x[0])


def running(op: Primitive, size: int, x: Batched, axis: Batched) -> Any:
    """Primitives whose second argument is the axis that they run along."""
    return op(x[0], shift(axis[0], x[0].ndim - 1)) if x[0].ndim > 1 else None


# -- a batch of batches -------------------------------------------------------------------------------------------------
def join(value: Any) -> Any:
    """The examples put one after the other along the batch dimension that they have themselves."""
    return Reshape()(value, (value.shape[0] * value.shape[1], *value.shape[2:]))


def part(value: Any, size: int) -> Any:
    """Joined examples, apart again."""
    return Reshape()(value, (size, value.shape[0] // size, *value.shape[1:]))


def folded(op: Primitive, size: int, *args: Batched) -> Any:
    """Primitives all of whose tensors have the batch dimension first."""
    joined = [join(spread(a, size)) if isinstance(a[0], TensorBase) else a[0] for a in args]
    out = op(*joined)
    return tuple(part(o, size) for o in out) if isinstance(out, tuple) else part(out, size)
