"""`mindspore.common.dtype`: the element types under the path user code imports them from."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as _dtype
from mindspore._base.dtype import *  # noqa: F403
from mindspore._base.dtype import (  # noqa: F401 - names that a star import leaves out
    Type,
    TensorType,
    bool_,
    float_,
    int_,
    list_,
    number,
    pytype_to_dtype,
    tuple_,
)

number_type = _dtype.NUMBER_TYPES
int_type = tuple(d for d in _dtype.NUMBER_TYPES if d.kind == "i")
uint_type = tuple(d for d in _dtype.NUMBER_TYPES if d.kind == "u")
float_type = _dtype.FLOAT_TYPES
complex_type = _dtype.COMPLEX_TYPES
all_types = _dtype.NUMBER_TYPES
implicit_conversion_seq = {d: i for i, d in enumerate(_dtype.NUMBER_TYPES)}


def get_py_obj_dtype(obj: Any) -> Type:
    """The MindSpore type of a Python object."""
    if hasattr(obj, "dtype") and isinstance(getattr(obj, "dtype", None), Type):
        return _dtype.tensor_type(obj.dtype)
    if callable(obj) and not isinstance(obj, type):
        return _dtype.function
    if isinstance(obj, Type):
        return _dtype.type_type
    return pytype_to_dtype(type(obj))


class QuantDtype:
    """Bit widths of quantised values."""

    INT2, INT4, INT8, UINT2, UINT4, UINT8 = "INT2", "INT4", "INT8", "UINT2", "UINT4", "UINT8"
