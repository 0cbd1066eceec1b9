"""Values that travel through the server: arrays, texts and byte strings."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

#: one input or output of an instance
Value: TypeAlias = np.ndarray[Any, Any] | str | bytes
Instance: TypeAlias = tuple[Value, ...]

#: element types that the protocols know
ELEMENT_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def nbytes(value: Value) -> int:
    """How much there is to send, about."""
    return value.nbytes if isinstance(value, np.ndarray) else len(value)


def as_value(item: Any) -> Value:
    """What a Python stage returned as a value that can travel; TypeError if it cannot."""
    if callable(getattr(item, "asnumpy", None)):
        item = item.asnumpy()
    if isinstance(item, (str, bytes)):
        return item
    if not isinstance(item, (np.ndarray, np.generic, bool, int, float)):
        raise TypeError(f"the data type {type(item)} is not supported; it can be a number, str, bytes or an array")
    array = np.asarray(item)
    if array.dtype.name not in ELEMENT_TYPES:
        raise TypeError(f"the element type {array.dtype} is not supported")
    return array


def for_stage(value: Value) -> Any:
    """A value as a Python stage receives it: byte strings as arrays of uint8."""
    return np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value
