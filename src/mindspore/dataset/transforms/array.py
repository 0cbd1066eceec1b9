"""Transforms of any array column: cast, pad, slice, mask, one-hot, concatenate."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from ..._base.dtype import DType, bool_, to_dtype
from .checks import (
    INT64_MAX,
    check_positive,
    check_range,
    check_type,
    checked,
    each,
    number,
    of_type,
    optional,
    probability,
)
from .transform import Transform, as_column, on_each, tensor_from_json, tensor_to_json, to_plain

_constant = of_type(str, float, bool, int, bytes)


def is_text(array: np.ndarray) -> bool:
    return array.dtype.kind in "US"


def kind_name(array: np.ndarray) -> str:
    return {"U": "string", "S": "bytes"}.get(array.dtype.kind, array.dtype.name)


def check_data_type(value: Any, name: str) -> None:
    """A MindSpore data type, or anything NumPy takes for one."""
    if isinstance(value, DType):
        return
    try:
        if value is not None:
            np.dtype(value)
            return
    except (TypeError, ValueError):
        pass
    check_type(value, (DType, np.dtype), name)


def numpy_type(data_type: Any) -> np.dtype:
    return data_type.np if isinstance(data_type, DType) else np.dtype(data_type)


class TypeCast(Transform):
    """The column converted to another data type.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.transforms as transforms
        >>> transforms.TypeCast(np.int32)(np.array([1.7, -1.7])).tolist()
        [1, -1]
    """

    releases_gil = True
    pixelwise = True

    @checked(data_type=check_data_type)
    def __init__(self, data_type: Any):
        self.data_type = data_type
        self._dtype = numpy_type(data_type)

    def apply(self, column: Any) -> np.ndarray:
        return self._cast(as_column(column))

    def batched(self, *batches: np.ndarray) -> Any:
        return on_each(self._cast, batches)

    def _cast(self, batch: np.ndarray) -> np.ndarray:
        if is_text(batch) != (self._dtype.kind in "US"):
            raise RuntimeError(
                f"TypeCast: TypeCast does not support cast from {kind_name(batch)} to {to_plain(self._dtype)}"
            )
        with np.errstate(invalid="ignore"):
            if batch.dtype.kind == "f" and self._dtype.kind == "u":
                # Through a signed type: NumPy leaves the cast of a negative float to an unsigned type undefined.
                return batch.astype(np.int64).astype(self._dtype)
            return batch.astype(self._dtype)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return self.json_name, {"data_type": to_plain(self._dtype)}


def _class_count(value: Any, name: str) -> None:
    check_type(value, (int,), name)
    check_positive(value)


class OneHot(Transform):
    """Class numbers as one-hot rows; `smoothing_rate` spreads that share of the weight over all classes.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.transforms as transforms
        >>> transforms.OneHot(3)(np.array(1)).tolist()
        [0, 1, 0]
    """

    releases_gil = True

    @checked(smoothing_rate=number(probability), num_classes=_class_count)
    def __init__(self, num_classes: int, smoothing_rate: float = 0.0):
        self.num_classes = num_classes
        self.smoothing_rate = smoothing_rate

    def apply(self, column: Any) -> np.ndarray:
        """One row for a scalar or an array of one label, else a row for each label."""
        return self.batched(as_column(column)[None])[0]

    def batched(self, batch: np.ndarray) -> np.ndarray:
        batch = batch.reshape(len(batch), -1)
        if batch.shape[1] == 1:
            batch = batch[:, 0]
        if batch.dtype.kind not in "iu":
            raise RuntimeError(f"OneHot: Only support input of int type, but got: {kind_name(batch)}")
        if batch.size and batch.max() >= self.num_classes:
            raise RuntimeError(
                f"OneHot: index values should not bigger than num classes: {self.num_classes}, but got: {batch.max()}"
            )
        hot = batch[..., None] == np.arange(self.num_classes)
        if not self.smoothing_rate:
            return hot.astype(batch.dtype)
        return hot * (1.0 - self.smoothing_rate) + self.smoothing_rate / self.num_classes


def _pad_shape(value: Any, name: str) -> None:
    check_type(value, (list,), name)
    for size in value:
        if size is None:
            continue
        if not isinstance(size, int):
            raise TypeError("a value in the list is not an integer.")
        check_range(size, 1, INT64_MAX)


class PadEnd(Transform):
    """The column padded at the end of each axis to `pad_shape`, or cut to it; None keeps an axis as it is.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.transforms as transforms
        >>> transforms.PadEnd([4], 0)(np.array([1, 2])).tolist()
        [1, 2, 0, 0]
    """

    @checked(pad_value=optional(_constant), pad_shape=_pad_shape)
    def __init__(self, pad_shape: list, pad_value: Any = None):
        self.pad_shape = pad_shape
        self.pad_value = pad_value

    def apply(self, column: Any) -> np.ndarray:
        array = as_column(column)
        if not array.ndim:
            return array
        if array.ndim != len(self.pad_shape):
            raise RuntimeError(
                f"PadEnd: invalid pad shape, as rank of input is: {array.ndim}, "
                f"and rank of pad value: {len(self.pad_shape)}"
            )
        value = self.pad_value
        if value is None:
            value = "" if is_text(array) else 0
        filler = np.array(value)
        if is_text(filler) != is_text(array):
            raise RuntimeError(
                "PadEnd: can not pad numeric and string tensors together, "
                f"but got: {kind_name(filler)} and {kind_name(array)}."
            )
        dtype = np.result_type(array, filler) if is_text(array) else array.dtype
        shape = [have if want is None else want for want, have in zip(self.pad_shape, array.shape)]
        padded = np.full(shape, filler.astype(dtype), dtype=dtype)
        kept = tuple(slice(0, min(want, have)) for want, have in zip(shape, array.shape))
        padded[kept] = array[kept]
        return padded

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        value = None if self.pad_value is None else np.array(self.pad_value)
        return self.json_name, {"pad_shape": list(self.pad_shape), "pad_value": tensor_to_json(value)}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        value = tensor_from_json(params.get("pad_value"))
        return cls(list(params["pad_shape"]), None if value is None else value.item())


def _concat_axis(value: Any, name: str) -> None:
    check_type(value, (int,), name)
    if value not in (0, -1):
        raise ValueError("only 1D concatenation supported.")


def _one_dimensional(verb: str) -> Any:
    def run(value: Any, name: str) -> None:
        check_type(value, (np.ndarray,), name)
        if value.ndim != 1:
            raise ValueError(f"can only {verb} 1D arrays.")

    return optional(run)


class Concatenate(Transform):
    """The columns joined end to end, with constant arrays before and after.

    Examples:
        >>> transforms.Concatenate(append=np.array([9]))(np.array([1, 2])).tolist()
        [1, 2, 9]
    """

    @checked(axis=optional(_concat_axis), prepend=_one_dimensional("prepend"), append=_one_dimensional("append"))
    def __init__(self, axis: int = 0, prepend: np.ndarray | None = None, append: np.ndarray | None = None):
        self.axis = axis
        self.prepend = prepend
        self.append = append

    def apply(self, *columns: Any) -> np.ndarray:
        arrays = [as_column(column) for column in columns]
        for array in arrays:
            if array.ndim != 1:
                raise RuntimeError(f"Concatenate: only 1D input supported, got rank of input: {array.ndim}")
        parts = [self.prepend] if self.prepend is not None else []
        parts += arrays + ([self.append] if self.append is not None else [])
        for what, part in (("prepend", self.prepend), ("append", self.append)):
            if part is not None and kind_name(part) != kind_name(arrays[0]):
                raise RuntimeError(
                    f"Concatenate: input datatype does not match the {what} datatype, got input datatype: "
                    f"{kind_name(arrays[0])}, {what} datatype:{kind_name(part)}"
                )
        return np.concatenate(parts)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        constants = {"append": tensor_to_json(self.append), "prepend": tensor_to_json(self.prepend)}
        return self.json_name, {"axis": self.axis, **constants}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        prepend, append = (tensor_from_json(params.get(key)) for key in ("prepend", "append"))
        return cls(params.get("axis", 0), prepend, append)


class Duplicate(Transform):
    """The column twice.

    Examples:
        >>> [column.tolist() for column in transforms.Duplicate()(np.array([1, 2]))]
        [[1, 2], [1, 2]]
    """

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 1:
            raise RuntimeError(
                f"Duplicate: only supports transform one column each time, got column num: {len(columns)}, "
                "check 'input_columns' when call this operator."
            )
        array = as_column(columns[0])
        return array, array.copy()


class Fill(Transform):
    """A column of the same shape and type, filled with one value.

    Examples:
        >>> transforms.Fill(7)(np.array([1, 2])).tolist()
        [7, 7]
    """

    @checked(fill_value=_constant)
    def __init__(self, fill_value: Any):
        self.fill_value = fill_value

    def apply(self, column: Any) -> np.ndarray:
        array, filler = as_column(column), np.array(self.fill_value)
        if kind_name(filler) != kind_name(array) and (is_text(filler) or is_text(array)):
            raise RuntimeError(
                "Fill: fill_value and the input tensor must be of the same data type when involving strings or bytes, "
                f"but got fill_value data type {kind_name(filler)} and input tensor data type {kind_name(array)}"
            )
        return np.full(array.shape, filler if is_text(array) else filler.astype(array.dtype))

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return self.json_name, tensor_to_json(np.array(self.fill_value)) or {}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(tensor_from_json(params).item())


class Relational(IntEnum):
    """The comparison that `Mask` makes.

    Examples:
        >>> [choice.name for choice in transforms.Relational]
        ['EQ', 'NE', 'GT', 'GE', 'LT', 'LE']
    """

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5

    @property
    def json_code(self) -> int:
        return ("EQ", "NE", "LT", "LE", "GT", "GE").index(self.name)


_COMPARE = {
    Relational.EQ: np.equal,
    Relational.NE: np.not_equal,
    Relational.GT: np.greater,
    Relational.GE: np.greater_equal,
    Relational.LT: np.less,
    Relational.LE: np.less_equal,
}
# The numbers by which the pipeline's JSON names data types.
_TYPE_CODES = (
    "unknown", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
    "float64", "string",
)  # fmt: skip


class Mask(Transform):
    """Where the column's elements stand in a relation to a constant.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.transforms as transforms
        >>> transforms.Mask(transforms.Relational.GT, 2)(np.array([1, 2, 3])).tolist()
        [False, False, True]
    """

    json_keys = {"operator": "op"}

    @checked(operator=of_type(Relational), constant=_constant, dtype=of_type(DType))
    def __init__(self, operator: Relational, constant: Any, dtype: DType = bool_):
        self.operator = operator
        self.constant = constant
        self.dtype = dtype

    def apply(self, column: Any) -> np.ndarray:
        array, constant = as_column(column), np.array(self.constant)
        if is_text(array) != is_text(constant):
            raise RuntimeError(
                "Mask: input datatype does not match the value datatype, "
                "both should be numeric or non-numerical in the same time."
            )
        if self.dtype.np.kind not in "buif":
            raise RuntimeError(
                f"Mask: Only supports bool or numeric datatype for generated mask type, but got: {to_plain(self.dtype)}."
            )
        compare_as = constant if is_text(array) else constant.astype(array.dtype)
        return _COMPARE[self.operator](array, compare_as).astype(self.dtype.np)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        dtype = _TYPE_CODES.index(to_plain(self.dtype))
        constant = tensor_to_json(np.array(self.constant))
        return self.json_name, {"op": self.operator.json_code, "constant": constant, "dtype": dtype}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        operator = next(relation for relation in Relational if relation.json_code == params["op"])
        return cls(operator, tensor_from_json(params["constant"]).item(), to_dtype(_TYPE_CODES[params["dtype"]]))


def _slice_options(values: Any, name: str) -> None:
    for value in values:
        if value is not None:
            check_type(value, (int, list, slice, bool, type(...)), "slice")
            if isinstance(value, list):
                each(int)(value, "slice" if value and isinstance(value[0], int) else "slice_option")


class Slice(Transform):
    """A part of the column: per axis an int, a list of ints, a slice, None or `...` for all of it.

    Axes are kept: an int gives an axis of length 1.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.transforms as transforms
        >>> transforms.Slice(slice(1, 3))(np.arange(5)).tolist()
        [1, 2]
    """

    @checked(slices=_slice_options)
    def __init__(self, *slices: Any):
        self.slices = slices

    def apply(self, column: Any) -> np.ndarray:
        array = as_column(column)
        if len(self.slices) > array.ndim:
            raise RuntimeError("Invalid shape, should be greater than slices index.")
        for axis, option in enumerate(self.slices):
            array = np.take(array, self._positions(option, array.shape[axis]), axis=axis)
        return array

    @staticmethod
    def _positions(option: Any, length: int) -> Any:
        if option is None or option is ... or option is True:
            return range(length)
        if isinstance(option, slice):
            return range(length)[option]
        indices = option if isinstance(option, list) else [option]
        if not indices:
            raise RuntimeError("Both indices and slices can not be empty.")
        for index in indices:
            if not -length <= index < length:
                raise RuntimeError(f"Index {index} is out of bounds.")
        return indices

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return self.json_name, {"slices": [_slice_to_json(option) for option in self.slices]}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(*(_slice_from_json(option) for option in params["slices"]))


def _slice_to_json(option: Any) -> Any:
    if isinstance(option, slice):
        return {"start": option.start, "stop": option.stop, "step": option.step}
    return None if option is ... else option


def _slice_from_json(option: Any) -> Any:
    return slice(option["start"], option["stop"], option["step"]) if isinstance(option, dict) else option


class Unique(Transform):
    """The distinct elements in order of first appearance, each element's position among them, and their counts.

    Examples:
        >>> value, index, count = transforms.Unique()(np.array([5, 3, 5]))
        >>> value.tolist(), index.tolist(), count.tolist()
        ([5, 3], [0, 1, 0], [2, 1])
    """

    def apply(self, column: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        array = as_column(column)
        if is_text(array):
            raise RuntimeError(f"Unique: only support numeric datatype of input, got {kind_name(array)}.")
        flat = array.reshape(-1)
        values, first, inverse, counts = np.unique(flat, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        return values[order], position[inverse.reshape(-1)].astype(np.int32), counts[order].astype(np.int32)
