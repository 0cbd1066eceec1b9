"""Tensors of a model's interface: an array with a name, a type, a shape and a layout."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np

from mindspore._base.dtype import type_of_name
from mindspore_lite import _checks as check

__all__ = ["TensorMeta", "DataType", "Format", "Tensor"]


class DataType(Enum):
    """Element types, with their numbers in model files."""

    UNKNOWN = 0
    BOOL = 30
    INT8 = 32
    INT16 = 33
    INT32 = 34
    INT64 = 35
    UINT8 = 37
    UINT16 = 38
    UINT32 = 39
    UINT64 = 40
    FLOAT16 = 42
    FLOAT32 = 43
    FLOAT64 = 44
    BFLOAT16 = 45
    FLOAT8_E4M3FN = 1001  # numbers of our own
    FLOAT8_E5M2 = 1002
    FLOAT8_E4M3FNUZ = 1003
    FLOAT8_E5M2FNUZ = 1004
    FLOAT8_E8M0FNU = 1005
    FLOAT4_E2M1FN = 1006
    INT4 = 1007  # 4 and 2 bits: a byte each
    UINT4 = 1008
    INT2 = 1009
    UINT2 = 1010
    INVALID = 2147483647


class Format(Enum):
    """Orders of the dimensions of images (N, C, H, W) and filters (K, C, H, W)."""

    DEFAULT = -1
    NCHW = 0
    NHWC = 1
    NHWC4 = 2
    HWKC = 3
    HWCK = 4
    KCHW = 5
    CKHW = 6
    KHWC = 7
    CHWK = 8
    HW = 9
    HW4 = 10
    NC = 11
    NC4 = 12
    NC4HW4 = 13
    NCDHW = 15
    NWC = 16
    NCW = 17
    NDHWC = 18
    NC8HW8 = 19


#: element types that NumPy has only with `ml_dtypes`
_EXTENDED = {kind.name.lower(): kind for kind in DataType if kind is DataType.BFLOAT16 or 1000 < kind.value < 1100}
_NONE = (DataType.UNKNOWN, DataType.INVALID)
#: element types that arrays can have
_NUMPY: dict[DataType, np.dtype[Any]] = {
    kind: np.dtype(kind.name.lower()) for kind in DataType if kind not in (*_NONE, *_EXTENDED.values())
}
_KINDS = {dtype: kind for kind, dtype in _NUMPY.items()}


def kind_of(dtype: Any) -> DataType:
    """The type for a NumPy type; UNKNOWN for those that Lite has no name for."""
    found = np.dtype(dtype)
    return _KINDS.get(found) or _EXTENDED.get(found.name, DataType.UNKNOWN)


def numpy_of(kind: DataType) -> np.dtype[Any] | None:
    """The NumPy type for a type, or None."""
    if kind in _EXTENDED.values():
        return type_of_name(kind.name.lower()).np  # type: ignore[attr-defined,no-any-return]
    return _NUMPY.get(kind)


class TensorMeta:
    """What is known of an output before a run."""

    def __init__(self) -> None:
        self.name = ""
        self.dtype = DataType.UNKNOWN
        self.shape: list[int] = []
        self.format = Format.DEFAULT
        self.element_num = 0
        self.data_size = 0

    def __str__(self) -> str:
        return (
            f"name: {self.name},\ndtype: {self.dtype},\nshape: {self.shape},\nformat: {self.format},\n"
            f"element_num: {self.element_num},\ndata_size: {self.data_size}."
        )


class Tensor:
    """An input or output. Arrays are taken and given without a copy.

    Examples:
        >>> tensor = mslite.Tensor(np.ones((2, 3), np.float32))
        >>> tensor.name = "x"
        >>> print(tensor.dtype, tensor.shape, tensor.data_size)
        DataType.FLOAT32 [2, 3] 24
    """

    def __init__(self, tensor: Any = None, shape: Any = None, dtype: DataType | None = None, device: str | None = None):
        if shape is not None:
            _check_shape(shape)
        self._device = _device(device)
        if dtype is not None:
            check.instance("dtype", dtype, DataType)
        self._name = ""
        self._format = Format.NCHW
        self._array: np.ndarray | None = None
        self._dtype = DataType.FLOAT32 if dtype is None or shape is None else dtype
        self._shape: list[int] = [] if dtype is None or shape is None else list(shape)
        if isinstance(tensor, Tensor):
            _check_same("tensor", tensor.shape, tensor.dtype, tensor.dtype, shape, dtype)
            self._take(tensor.get_data_to_numpy().copy())
        elif isinstance(tensor, np.ndarray):
            if kind_of(tensor.dtype) is DataType.UNKNOWN:
                raise TypeError(f"Unsupported numpy dtype value {tensor.dtype}")
            _check_same("numpy", tensor.shape, tensor.dtype, kind_of(tensor.dtype), shape, dtype)
            self._take(np.ascontiguousarray(tensor).reshape(tensor.shape))
        elif tensor is not None:
            raise TypeError(f"tensor must be MindSpore Lite's Tensor._tensor or numpy ndarray, but got {type(tensor)}.")

    def __str__(self) -> str:
        return (
            f"name: {self.name},\ndtype: {self.dtype},\nshape: {self.shape},\nformat: {self.format},\n"
            f"element_num: {self.element_num},\ndata_size: {self.data_size}.\ndevice: {self.device}."
        )

    def _take(self, array: np.ndarray) -> None:
        self._array, self._dtype, self._shape = array, kind_of(array.dtype), list(array.shape)

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        check.instance("name", value, str)
        self._name = value

    @property
    def dtype(self) -> DataType:
        return self._dtype

    @dtype.setter
    def dtype(self, value: DataType) -> None:
        check.instance("dtype", value, DataType)
        if value is not self._dtype:
            self._dtype, self._array = value, None

    @property
    def shape(self) -> list[int]:
        return list(self._shape)

    @shape.setter
    def shape(self, value: Any) -> None:
        _check_shape(value)
        if list(value) != self._shape:
            self._shape, self._array = list(value), None

    @property
    def format(self) -> Format:
        return self._format

    @format.setter
    def format(self, value: Format) -> None:
        check.instance("format", value, Format)
        self._format = value

    @property
    def element_num(self) -> int:
        """How many elements; 0 while a size is open."""
        return 0 if any(size < 0 for size in self._shape) else math.prod(self._shape)

    @property
    def data_size(self) -> int:
        """Bytes."""
        kind = numpy_of(self._dtype)
        return self.element_num * (0 if kind is None else kind.itemsize)

    @property
    def device(self) -> str:
        return self._device

    @property
    def filled(self) -> bool:
        """Whether data was set."""
        return self._array is not None

    def get_data_to_numpy(self) -> np.ndarray:
        """The elements; zeros while none were set."""
        if self._array is not None:
            return self._array
        sizes: tuple[int, ...] = tuple(max(size, 0) for size in self._shape)
        return np.zeros(sizes, numpy_of(self._dtype) or np.dtype(np.uint8))

    def set_data_from_numpy(self, numpy_obj: np.ndarray) -> None:
        """Use an array's elements. Not copied: what is written to the array later is seen by `predict`."""
        check_array(numpy_obj)
        kind = kind_of(numpy_obj.dtype)
        if kind is DataType.UNKNOWN:
            raise TypeError(f"Unsupported numpy dtype value {numpy_obj.dtype}")
        if kind is not self._dtype:
            raise RuntimeError(f"data type not equal! Numpy type: {numpy_obj.dtype.type}, Tensor type: {self._dtype}")
        if numpy_obj.nbytes != self.data_size:
            raise RuntimeError(f"data size not equal! Numpy size: {numpy_obj.nbytes}, Tensor size: {self.data_size}")
        self._array = np.ascontiguousarray(numpy_obj).reshape(self._shape)


def check_array(value: Any) -> None:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"numpy_obj must be numpy.ndarray, but got {type(value)}.")


def from_result(name: str, array: np.ndarray, layout: Format) -> Tensor:
    """The tensor of a result. Types without a Lite name (bfloat16) keep their array and are UNKNOWN."""
    tensor = Tensor()
    tensor._take(array)
    tensor._name, tensor._format = name, layout
    return tensor


def _check_shape(value: Any) -> None:
    check.elements("shape", value, int, (list, tuple))


def _check_same(what: str, own_shape: Any, own_type: Any, own_kind: DataType, shape: Any, dtype: Any) -> None:
    """What the caller says besides the data must agree with it."""
    user = "user's" if what == "tensor" else "user"
    if shape is not None and list(shape) != list(own_shape):
        raise TypeError(
            f"user set shape is not equal numpy shape, {user} shape: {shape}, {what} shape is: {own_shape}."
        )
    if dtype is not None and dtype is not own_kind:
        raise TypeError(
            f"user set dtype is not equal {what} dtype, {user} dtype: {dtype}, {what} dtype is: {own_type}."
        )


def _device(device: Any) -> str:
    """'kind:number' of a device argument."""
    if device is None:
        return "None:-1"
    if not isinstance(device, str):
        raise TypeError(f"device must be str, but got {type(device)}.")
    kind, *number = device.split(":")
    if len(number) > 1:
        raise TypeError("device must be 'ascend:index', eg: 'ascend:0'")
    if kind != "ascend":
        raise TypeError("now only support ascend device.")
    if number and not number[0].isdigit():
        raise TypeError("device id should >= 0.")
    return f"{kind}:{number[0] if number else -1}"
