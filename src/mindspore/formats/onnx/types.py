"""ONNX tensors and element types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require

#: ONNX's numbers of element types
TYPES = {
    1: mstype.float32, 2: mstype.uint8, 3: mstype.int8, 4: mstype.uint16, 5: mstype.int16, 6: mstype.int32,
    7: mstype.int64, 9: mstype.bool_, 10: mstype.float16, 11: mstype.float64, 12: mstype.uint32, 13: mstype.uint64,
    14: mstype.complex64, 15: mstype.complex128, 16: mstype.bfloat16, 17: mstype.float8_e4m3fn, 19: mstype.float8_e5m2,
}  # fmt: skip
#: those that a Tensor cannot hold; they live in NumPy arrays with types of the package ml_dtypes
SMALL_TYPES = {
    18: mstype.float8_e4m3fnuz, 20: mstype.float8_e5m2fnuz, 21: mstype.uint4, 22: mstype.int4, 23: mstype.float4_e2m1fn,
    24: mstype.float8_e8m0fnu, 25: mstype.uint2, 26: mstype.int2,
}  # fmt: skip
_HELD = {np.dtype(t.np) for t in TYPES.values() if t.kind != "s"}


def numpy_type(code: int) -> np.dtype:
    """The NumPy type of an ONNX element type."""
    if code in TYPES:
        return np.dtype(TYPES[code].np)
    if code in SMALL_TYPES:
        return np.dtype(SMALL_TYPES[code].np)
    raise ValueError(f"The ONNX element type {code} is not supported.")


def fits_tensor(dtype: np.dtype) -> bool:
    """Whether a Tensor can hold elements of this type."""
    return np.dtype(dtype) in _HELD


def to_array(tensor: Any) -> np.ndarray:
    """The array of an ONNX tensor."""
    return np.array(require("onnx.numpy_helper", "onnx", "Reading an ONNX model").to_array(tensor))


def dense(sparse: Any) -> np.ndarray:
    """The array of a sparse ONNX tensor."""
    values, places = to_array(sparse.values), to_array(sparse.indices)
    shape = tuple(sparse.dims)
    out = np.zeros(math.prod(shape), values.dtype)
    flat = places if places.ndim == 1 else np.ravel_multi_index(tuple(places.T), shape)
    out[flat] = values
    return out.reshape(shape)
