"""Tensors without values: what the device "meta" holds.

A `Valueless` stands where tensors have their array and knows shape and element type alone, so a network of any size is
built in no memory (`DeviceCtx("meta")`), and operations on such tensors only infer. Whoever asks for values is refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


class Valueless:
    """A shape and an element type."""

    __slots__ = ("dtype", "shape")
    __hash__ = None  # type: ignore[assignment]  # like arrays: no key of what is compiled

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return 0

    def astype(self, dtype: Any) -> Valueless:
        return Valueless(self.shape, dtype)

    def copy(self) -> Valueless:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise RuntimeError(
            f"A tensor of the device 'meta' has a shape, {self.shape}, and a type, {self.dtype}, but no values. Give it some: "
            "load a checkpoint into the network, or call Cell.to_empty() and initialise its Parameters."
        )


def infer(prim: Primitive, arrays: list[Any]) -> Any:
    """What is known of an operation's results without values."""
    return _of(prim.infer(*[_abstract(a) if hasattr(a, "__array__") else a for a in arrays]))


def _abstract(array: Any) -> AbstractTensor:
    return AbstractTensor(mstype.from_numpy(array.dtype), tuple(array.shape))


def _of(abstract: Any) -> Any:
    if isinstance(abstract, AbstractTuple):
        return tuple(map(_of, abstract.elements))
    return Valueless(abstract.shape, abstract.dtype.np)
