"""Tensors without a framework around them: what stands for values where graphs are built without one.

Primitives, gradient rules and loaders apply operators and a few methods to tensors. `mindspore.Tensor` has them and
hundreds more; programs that read a model, compile it and feed it NumPy arrays (a server, a device) do without it. Then
these classes take its place, until the public ones register themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.dtype import DType
from mindspore.prims import elementwise as ew
from mindspore.prims import symbolic, values
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.indexing import getitem
from mindspore.prims.products import matmul
from mindspore.prims.values import SymbolicScalarBase, TensorBase

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def _operator(prim: Primitive, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: PlainTensor, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = values.from_array(other)
        if not isinstance(other, (TensorBase, SymbolicScalarBase)) and not values.is_number(other):
            return NotImplemented
        return prim(other, self) if reflected else prim(self, other)

    return method


class PlainTensor(TensorBase):
    """An array, or a node of the graph being built."""

    __slots__ = ("_ms_keep",)  # of the value that orders effects (`debug.io_token`)
    __array_ufunc__ = None  # NumPy leaves operators to this class

    def __init__(self, data: Any, dtype: DType | None = None):
        self._data = np.asarray(data, None if dtype is None else dtype.np)
        self._node = None

    @property
    def shape(self) -> tuple[int, ...]:
        return values.abstract_of(self).shape  # type: ignore[attr-defined]

    @property
    def dtype(self) -> DType:
        return values.dtype_of(self)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        return Transpose()(self, tuple(range(self.ndim))[::-1])

    def reshape(self, *shape: Any) -> Any:
        return Reshape()(self, tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)

    def astype(self, dtype: Any) -> Any:
        return ew.Cast()(self, mstype.to_dtype(dtype))

    def asnumpy(self) -> np.ndarray:
        return np.asarray(self.__array__())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._node is not None:
            raise symbolic.unknown_value("conversion to a NumPy array", self)
        return np.asarray(self._data, dtype)

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self._number("bool()"))

    def __int__(self) -> int:
        return int(self._number("int()"))

    def __float__(self) -> float:
        return float(self._number("float()"))

    def __index__(self) -> int:
        return int(self._number("using it as an index or a size", values.SizeUnknownError))

    def _number(self, what: str, kind: type[values.ValueUnknownError] = values.ValueUnknownError) -> Any:
        return self._data.item() if self._node is None else symbolic.python_number(what, self, kind)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __neg__(self) -> Any:
        return ew.Neg()(self)

    def __abs__(self) -> Any:
        return ew.Abs()(self)

    def __invert__(self) -> Any:
        return (ew.LogicalNot() if self.dtype is mstype.bool_ else ew.Invert())(self)

    __hash__ = object.__hash__
    __add__, __radd__ = _operator(ew.Add()), _operator(ew.Add(), True)
    __sub__, __rsub__ = _operator(ew.Sub()), _operator(ew.Sub(), True)
    __mul__, __rmul__ = _operator(ew.Mul()), _operator(ew.Mul(), True)
    __truediv__, __rtruediv__ = _operator(ew.Div()), _operator(ew.Div(), True)
    __floordiv__, __rfloordiv__ = _operator(ew.FloorDiv()), _operator(ew.FloorDiv(), True)
    __mod__, __rmod__ = _operator(ew.FloorMod()), _operator(ew.FloorMod(), True)
    __pow__, __rpow__ = _operator(ew.Pow()), _operator(ew.Pow(), True)
    __and__, __or__, __xor__ = _operator(ew.BitwiseAnd()), _operator(ew.BitwiseOr()), _operator(ew.BitwiseXor())
    __lt__, __le__ = _operator(ew.Less()), _operator(ew.LessEqual())
    __gt__, __ge__ = _operator(ew.Greater()), _operator(ew.GreaterEqual())
    __eq__, __ne__ = _operator(ew.Equal()), _operator(ew.NotEqual())  # type: ignore[assignment]


class PlainParameter(PlainTensor):
    """A weight: an input of every graph that reads it."""

    __slots__ = ("name",)

    def __init__(self, data: Any, name: str = ""):
        super().__init__(data._data if isinstance(data, TensorBase) else data)
        self.name = name


def install() -> None:
    """Have tensors be of these classes where the public ones are not loaded."""
    if values.tensor_class() is None:
        values.register_tensor_class(PlainTensor)
        values.register_parameter_class(PlainParameter)
