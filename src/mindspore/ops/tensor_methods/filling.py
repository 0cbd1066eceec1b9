"""Methods that make a tensor like this one, or give this one other elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import as_tensor, cast
from mindspore.ops.tensor_methods.adapters import gathered
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import BroadcastTo
from mindspore.prims.inplace import update


def _new_shape(args: tuple) -> tuple:
    shape = gathered(args)
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _new_zeros(self: Tensor, size: Any = (), *more: int, dtype: Any = None) -> Tensor:
    """Zeros of another shape and this tensor's type.

    Examples:
        >>> print(Tensor([5]).new_zeros((2,)))
        [0 0]
    """
    return F.zeros(_new_shape((size, *more)), dtype or self.dtype)


def _new_ones(self: Tensor, size: Any = (), *more: int, dtype: Any = None) -> Tensor:
    """Ones of another shape and this tensor's type.

    Examples:
        >>> print(Tensor([5]).new_ones((2,)))
        [1 1]
    """
    return F.ones(_new_shape((size, *more)), dtype or self.dtype)


def _new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number, repeated, of this tensor's type.

    Examples:
        >>> print(Tensor([1.0]).new_full((2,), 7))
        [7. 7.]
    """
    return F.full(size, fill_value, dtype=dtype or self.dtype)


def _new_empty(self: Tensor, size: Any = (), *more: int, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of another shape and this tensor's type.

    Examples:
        >>> Tensor([1.0]).new_empty((2, 3)).shape
        (2, 3)
    """
    return F.zeros(_new_shape((size, *more)), dtype or self.dtype)


def _new_tensor(self: Tensor, data: Any, *, dtype: Any = None) -> Tensor:
    """A tensor from data, of this tensor's type.

    Examples:
        >>> Tensor([1.0]).new_tensor([1, 2]).dtype
        mindspore.float32
    """
    return Tensor(data, dtype or self.dtype)


def _fill(self: Tensor, value: Any) -> Tensor:
    """A tensor of this shape and type with every element `value`.

    Examples:
        >>> print(Tensor([1.0, 2.0]).fill(7.0))
        [7. 7.]
    """
    return F.full_like(self, 0 if value is None else value)


def _fill_(self: Tensor, value: Any) -> Tensor:
    """Set every element.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> print(x.fill_(7.0))
        [7. 7.]
    """
    return update(self, F.full_like(self, value))


def _zero_(self: Tensor) -> Tensor:
    """Set every element to 0.

    Examples:
        >>> print(Tensor([1.0, 2.0]).zero_())
        [0. 0.]
    """
    return update(self, ew.zeros_like(self))


def _copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over the (broadcast) values of another tensor.

    Examples:
        >>> x = ops.zeros((2, 2))
        >>> print(x.copy_(Tensor([1.0, 2.0])))
        [[1. 2.]
         [1. 2.]]
    """
    value = cast(as_tensor(src, self.dtype), self.dtype)
    return update(self, BroadcastTo(self.shape)(value) if value.shape != self.shape else value.copy())


METHODS: dict[str, Callable] = {
    "new_zeros": _new_zeros,
    "new_ones": _new_ones,
    "new_full": _new_full,
    "new_empty": _new_empty,
    "new_tensor": _new_tensor,
    "fill": _fill,
    "fill_": _fill_,
    "zero_": _zero_,
    "copy_": _copy_,
}
