"""Numbers that only the running graph knows, and the error for code that needs them earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.prims import elementwise as _ew
from mindspore.prims import values
from mindspore.prims.values import SizeUnknownError, SymbolicScalarBase, TensorBase, ValueUnknownError

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def unknown_value(what: str, value: Any, kind: type[ValueUnknownError] = ValueUnknownError) -> ValueUnknownError:
    abstract = value._node.abstract
    return kind(
        f"{what} needs the value of a {abstract.dtype} tensor of shape {getattr(abstract, 'shape', ())}, which is only known when the "
        "compiled graph runs. Use tensor operations instead, move this code out of the compiled function, or run in "
        "PYNATIVE_MODE."
    )


def python_number(what: str, value: Any, kind: type[ValueUnknownError] = ValueUnknownError) -> Any:
    """The number that a symbolic value has, in a graph that may be made for it."""
    answer = values.answer(value)
    if answer is None:
        raise unknown_value(what, value, kind)
    return answer.item()


def _operator(prim: Primitive, reflected: bool = False) -> Any:
    def method(self: SymbolicScalar, other: Any) -> Any:
        if not isinstance(other, (SymbolicScalarBase, TensorBase)) and not values.is_number(other):
            return NotImplemented
        if not isinstance(other, TensorBase):
            left, right = _lift(self), _lift(other)
            return prim(right, left) if reflected else prim(left, right)
        return prim(other, self) if reflected else prim(self, other)

    return method


def _arithmetic(prim: Primitive, reflected: bool = False) -> Any:
    """`+`, `*` and their like: bools count as 0 and 1 unless a tensor has a say."""
    operate = _operator(prim, reflected)
    return lambda self, other: operate(self if isinstance(other, TensorBase) else _counted(self), other)


def _counted(number: SymbolicScalar) -> Any:
    return _ew.Cast()(number, mstype.int64) if number.dtype.kind == "b" else number


def _bitwise(of_integers: Primitive, of_bools: Primitive, reflected: bool = False) -> Any:
    """`&`, `|` and `^`: as in Python, those of two bools are a bool."""
    integers, bools = _operator(of_integers, reflected), _operator(of_bools, reflected)

    def method(self: SymbolicScalar, other: Any) -> Any:
        both = self.dtype.kind == "b" and (isinstance(other, bool) or getattr(other, "dtype", self.dtype).kind == "b")
        return bools(self, other) if both and type(other) not in (int, float) else integers(self, other)

    return method


def _lift(value: Any) -> Any:
    """A Python number next to a symbolic one becomes a symbolic constant, so that the result stays a number."""
    if isinstance(value, SymbolicScalarBase):
        return value
    return values.symbolic_number(value)


class SymbolicScalar(SymbolicScalarBase):
    """An int, float or bool of unknown value inside a graph: arithmetic on it adds nodes."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        return self._node.abstract.dtype

    @property
    def shape(self) -> tuple:
        return ()

    ndim = 0
    size = 1

    __add__ = _arithmetic(_ew.Add())
    __radd__ = _arithmetic(_ew.Add(), True)
    __sub__ = _arithmetic(_ew.Sub())
    __rsub__ = _arithmetic(_ew.Sub(), True)
    __mul__ = _arithmetic(_ew.Mul())
    __rmul__ = _arithmetic(_ew.Mul(), True)
    __truediv__ = _arithmetic(_ew.Div())
    __rtruediv__ = _arithmetic(_ew.Div(), True)
    __floordiv__ = _arithmetic(_ew.FloorDiv())
    __rfloordiv__ = _arithmetic(_ew.FloorDiv(), True)
    __mod__ = _arithmetic(_ew.FloorMod())
    __rmod__ = _arithmetic(_ew.FloorMod(), True)
    __pow__ = _arithmetic(_ew.Pow())
    __rpow__ = _arithmetic(_ew.Pow(), True)
    __and__ = _bitwise(_ew.BitwiseAnd(), _ew.LogicalAnd())
    __rand__ = _bitwise(_ew.BitwiseAnd(), _ew.LogicalAnd(), True)
    __or__ = _bitwise(_ew.BitwiseOr(), _ew.LogicalOr())
    __ror__ = _bitwise(_ew.BitwiseOr(), _ew.LogicalOr(), True)
    __xor__ = _bitwise(_ew.BitwiseXor(), _ew.NotEqual())
    __rxor__ = _bitwise(_ew.BitwiseXor(), _ew.NotEqual(), True)
    __lt__ = _operator(_ew.Less())
    __le__ = _operator(_ew.LessEqual())
    __gt__ = _operator(_ew.Greater())
    __ge__ = _operator(_ew.GreaterEqual())
    __eq__ = _operator(_ew.Equal())
    __ne__ = _operator(_ew.NotEqual())

    def __hash__(self) -> int:
        return id(self)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise unknown_value("conversion to a NumPy array", self)

    def __neg__(self) -> Any:
        return _ew.Neg()(_counted(self))

    def __pos__(self) -> Any:
        return _counted(self)

    def __invert__(self) -> Any:
        return _ew.BitwiseNot()(_counted(self))

    def __abs__(self) -> Any:
        return _ew.Abs()(_counted(self))

    def __bool__(self) -> bool:
        return bool(python_number("bool()", self))

    def __int__(self) -> int:
        return int(python_number("int()", self))

    def __float__(self) -> float:
        raise unknown_value("float()", self)

    def __index__(self) -> int:
        return int(python_number("using it as an index or a size", self, SizeUnknownError))

    def __str__(self) -> str:
        raise unknown_value("str()", self)

    def __format__(self, spec: str) -> str:
        raise unknown_value("format()", self)

    def __repr__(self) -> str:
        return f"<{self.dtype} known when the graph runs>"


values.register_scalar_class(SymbolicScalar)
