"""Sums and broadcasting, each the other's gradient, and Reshape, which both are written with.

All that reductions have in common (`Reduction`) stands here, too; the other reductions, whose gradients need elementwise
primitives, are in reduction.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor
from mindspore.prims import checks, values
from mindspore.prims.factors import WHOLE, Factors, broadcasting, numbered, reduction, reshaping
from mindspore.prims.precision import is_half
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore.compiler.shard.device import Device
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


class Reshape(Primitive):
    """The same elements in another shape; one dimension may be -1.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Reshape()(Tensor([1.0, 2.0]), (2, 1)).shape
        (2, 1)
    """

    moves = True
    spreads = True
    keeps_finite = True

    def __init__(self) -> None:
        super().__init__("Reshape")

    def prepare(self, args: tuple) -> tuple:
        x, shape = args
        return x, checks.shape(self.name, values.static_value(shape))

    def infer(self, x: AbstractTensor, shape: Any) -> Any:
        checks.tensor(self.name, "x", x)
        return AbstractTensor(x.dtype, resolve_shape(self.name, x.shape, shape))

    def factors(self, x: AbstractTensor, shape: Any) -> Factors:
        before, after = reshaping(x.shape, resolve_shape(self.name, x.shape, shape))
        return Factors((before, None), (after,), linear=True).filling(None)

    def on_device(self, device: Device, x: Any, shape: Any) -> Any:
        return self(x, device.shapes[0])

    def eval(self, xp: Namespace, x: Array, shape: tuple[int, ...]) -> Any:
        return xp.reshape(x, resolve_shape(self.name, x.shape, shape))

    def bprop(self, x: TensorBase, shape: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return Reshape()(dout, x.shape), None

    def vmap(self, size: int, x: Batched, shape: Batched) -> Any:
        return self(x[0], (size, *resolve_shape(self.name, x[0].shape[1:], shape[0])))


def resolve_shape(op: str, old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    """Replace -1 and check that the number of elements stays the same."""
    size = 1
    for d in old:
        size *= d
    known = 1
    for d in new:
        if d < -1:
            raise ValueError(f"For '{op}', the dimensions of 'shape' must be -1 or more, but got {new}.")
        known *= d if d != -1 else 1
    if new.count(-1) > 1:
        raise ValueError(f"For '{op}', at most one dimension of 'shape' may be -1, but got {new}.")
    if -1 in new and known and size % known == 0:
        return tuple(size // known if d == -1 else d for d in new)
    if known != size or -1 in new:
        raise ValueError(f"For '{op}', a tensor of shape {old} has {size} elements and cannot take the shape {new}.")
    return new


class BroadcastTo(Primitive):
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> print(ops.BroadcastTo((2, -1))(Tensor([1, 2, 3])))
        [[1 2 3]
         [1 2 3]]
    """

    spreads = True
    keeps_finite = True

    def __init__(self, shape: Any):
        super().__init__(shape=checks.shape("BroadcastTo", shape))

    def _target(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        lead = len(self.shape) - len(shape)
        if lead < 0:
            raise ValueError(
                f"For '{self.name}', cannot broadcast shape {shape} to {self.shape}, which has fewer dimensions."
            )
        target = tuple(shape[i - lead] if d == -1 and i >= lead else d for i, d in enumerate(self.shape))
        if any(a not in (1, b) for a, b in zip(shape, target[lead:])) or -1 in target:
            raise ValueError(f"For '{self.name}', cannot broadcast shape {shape} to {self.shape}.")
        return target

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        return AbstractTensor(x.dtype, self._target(x.shape))

    def factors(self, x: AbstractTensor) -> Factors:
        target = self._target(x.shape)
        return Factors(broadcasting((x,), len(target), target), (numbered(len(target)),), linear=True).filling(None)

    def on_device(self, device: Device, x: Any) -> Any:
        return BroadcastTo(device.shapes[0])(x)

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.broadcast_to(x, self._target(x.shape))

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (sum_to_shape(dout, x.shape),)

    def vmap(self, size: int, x: Batched) -> Any:
        target = self._target(x[0].shape[1:])
        lead = (1,) * (len(target) - (x[0].ndim - 1))
        return BroadcastTo((size, *target))(Reshape()(x[0], (size, *lead, *x[0].shape[1:])))


def sum_to_shape(value: TensorBase | None, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: sum over the dimensions that `shape` lacks or has as 1."""
    if value is None or value.shape == shape:
        return value
    lead = value.ndim - len(shape)
    axes = tuple(i for i in range(value.ndim) if i < lead or (shape[i - lead] == 1 and value.shape[i] != 1))
    if axes:
        only_leading = len(axes) == lead and axes[-1] == lead - 1  # a bias: its shape is what the sum leaves
        value = ReduceSum(not only_leading)(value, axes)
    return Reshape()(value, shape) if value.shape != shape else value


class Reduction(Primitive):
    """Common part: `axis` is an int, a tuple, None or () (all axes)."""

    kinds = "buifc"

    def __init__(self, keep_dims: bool = False):
        if not isinstance(keep_dims, (bool, np.bool_)):
            raise TypeError(f"For '{type(self).__name__}', 'keep_dims' must be a bool, but got {keep_dims!r}.")
        super().__init__(keep_dims=bool(keep_dims))

    def prepare(self, args: tuple) -> tuple:
        axis = values.static_value(args[1]) if len(args) > 1 else ()
        return args[0], tuple(axis) if isinstance(axis, list) else axis

    def infer(self, x: AbstractTensor, axis: Any) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, self.kinds)
        axes = checks.axes(self.name, axis, x.ndim)
        self.check_nonempty(x, axes)
        return AbstractTensor(self.result_dtype(x.dtype), reduced_shape(x.shape, axes, self.keep_dims))

    def check_nonempty(self, x: AbstractTensor, axes: tuple[int, ...]) -> None:
        """Overridden where an empty reduction has no value."""

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return dtype

    #: how the results of parts combine; "" where they do not
    combined = ""

    def factors(self, x: AbstractTensor, axis: Any) -> Factors:
        axes = checks.axes(self.name, axis, x.ndim)
        found = reduction(x, axes, self.keep_dims, self.combined or "sum", axis)
        if self.combined:
            return found
        names = tuple(WHOLE if i in axes else n for i, n in enumerate(numbered(x.ndim)))
        return Factors((names, None), found.outputs)

    def eval(self, xp: Namespace, x: Array, axis: Any) -> Any:
        axes = checks.axes(self.name, axis, x.ndim)
        out = self.reduce(xp, x, axes)
        wanted = self.result_dtype(mstype.from_numpy(x.dtype)).np
        return out if out.dtype == wanted else out.astype(wanted)

    def reduce(self, xp: Namespace, x: Any, axes: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def spread(self, value: TensorBase, x: TensorBase, axis: Any) -> Any:
        """Broadcast a reduced value back to the input's shape."""
        return BroadcastTo(x.shape)(self.unsqueeze(value, x, axis))

    def unsqueeze(self, value: TensorBase, x: TensorBase, axis: Any) -> Any:
        axes = checks.axes(self.name, axis, x.ndim)
        return Reshape()(value, reduced_shape(x.shape, axes, True))

    def vmap(self, size: int, x: Batched, axis: Batched) -> Any:
        value = x[0]
        axes = checks.axes(self.name, axis[0], value.ndim - 1)
        if not axes:  # a scalar for each example
            return self(Reshape()(value, (*value.shape, 1)), value.ndim)
        return self(value, tuple(a + 1 for a in axes))


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keep_dims: bool) -> tuple[int, ...]:
    if keep_dims:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


class ReduceSum(Reduction):
    """Sum over axes.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.ReduceSum(keep_dims=True)(Tensor([[1.0, 2.0]]), 1).tolist()
        [[3.0]]
    """

    spreads = True

    combined = "sum"
    @setting_types(skip_mode=bool)
    def __init__(self, keep_dims: bool = False, skip_mode: bool = False):
        super().__init__(keep_dims)
        self.skip_mode = skip_mode

    def result_dtype(self, dtype: mstype.DType) -> mstype.DType:
        return mstype.int64 if dtype is mstype.bool_ else dtype

    def reduce(self, xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
        if is_half(x.dtype):
            return xp.sum(x, axis=axes, keepdims=self.keep_dims, dtype=np.float32)
        return xp.sum(x, axis=axes, keepdims=self.keep_dims, dtype=None if x.dtype.kind in "bfc" else x.dtype)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return self.spread(dout, x, axis), None
