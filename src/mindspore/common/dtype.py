"""`mindspore.common.dtype`: the element types under the path user code imports them from."""

from __future__ import annotations

import enum
from builtins import bool as _PyBool
from typing import Any

from mindspore._base import dtype as _dtype
from mindspore._base.dtype import *  # noqa: F403
from mindspore._base.dtype import (  # noqa: F401 - names that a star import leaves out
    TensorType,
    Type,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    float_,
    hifloat8,
    int4,
    int8,
    int16,
    int32,
    int64,
    int_,
    list_,
    number,
    pytype_to_dtype,
    tuple_,
    uint8,
    uint16,
    uint32,
    uint64,
)

int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16, float8_e4m3fn, float8_e5m2, hifloat8)
complex_type = (complex64, complex128)
number_type = (
    *int_type, *uint_type, float16, float32, float64, bfloat16, *complex_type, int4, float8_e4m3fn, float8_e5m2, hifloat8,
)  # fmt: skip
signed_type = tuple(d for d in number_type if d.kind != "u")
all_types = (bool_, *number_type)
implicit_conversion_seq = {d: i for i, d in enumerate(_dtype.NUMBER_TYPES)}
long = int64
_null = _dtype.null_type
undetermined = Type("undetermined")
index_slices = _dtype.row_tensor


class _AnyTensorType(Type):
    """The type of all tensors; calling it with an element type gives the type of tensors of that element type."""

    __slots__ = ()

    def __call__(self, element: Any) -> Any:
        return TensorType(element)


tensor_type = _AnyTensorType("tensor")


class _FamilyMeta(type):
    """Makes `isinstance(mindspore.float32, Float)` true: a family is known by the kind letters of its members."""

    kinds: str
    names: tuple[str, ...]

    def __instancecheck__(cls, value: Any) -> _PyBool:
        if isinstance(value, _dtype.DType):
            return value.kind in cls.kinds
        return isinstance(value, Type) and value.name in cls.names


def _family(name: str, kinds: str = "", names: tuple[str, ...] = ()) -> Any:
    return _FamilyMeta(name, (), {"__doc__": f"Types of the family {name}.", "kinds": kinds, "names": names})


Int, UInt, Float, Complex = _family("Int", "i"), _family("UInt", "u"), _family("Float", "f"), _family("Complex", "c")
Bool, String, Number = _family("Bool", "b"), _family("String", "s"), _family("Number", "biufc", ("number",))
List, Tuple, Dict = _family("List", "", ("list_",)), _family("Tuple", "", ("tuple_",)), _family("Dict", "", ("dict_",))
Slice, NoneType = _family("Slice", "", ("slice",)), _family("NoneType", "", ("type_none",))
FunctionType = _family("FunctionType", "", ("function", "func"))


def get_py_obj_dtype(obj: Any) -> Type:
    """The MindSpore type of a Python object.

    Examples:
        >>> print(ms.get_py_obj_dtype(1.5))
        Float64
    """
    if hasattr(obj, "dtype") and isinstance(getattr(obj, "dtype", None), Type):
        return TensorType(obj.dtype)
    if callable(obj) and not isinstance(obj, type):
        return _dtype.function
    if isinstance(obj, Type):
        return _dtype.type_type
    return pytype_to_dtype(obj if isinstance(obj, type) else type(obj))


def type_size_in_bytes(dtype: Any) -> int:
    """Bytes of one element."""
    if not isinstance(dtype, _dtype.DType):
        raise TypeError(f"The argument 'dtype' must be a MindSpore dtype, but got {type(dtype).__name__}.")
    return dtype.itemsize


class _Number(int):
    """The number of an enumeration's member, which official programs get by a call."""

    def __call__(self) -> int:
        return int(self)


_INTEGERS = {**{f"INT{i}": i - 1 for i in range(1, 17)}, **{f"UINT{i}": 99 + i for i in range(1, 17)}}
QuantDtype = enum.Enum("QuantDtype", {name: _Number(value) for name, value in _INTEGERS.items()})  # type: ignore[misc]
QuantDtype.__doc__ = "Bit widths of quantised values."
