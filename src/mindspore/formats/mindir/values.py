"""Python values, tensors and types as MindIR attributes, and back.

Numbers that stand alone are in `i`, `f`, `d` or `s`; inside sequences they are in the lists `ints`, `floats`, `doubles`
and `strings`. Tensors are in `tensors`. Nothing read from a file is ever executed, and every size is checked before
memory is used for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore._base.dtype import DType
from mindspore._base.protobuf import DecodeError, element_count
from mindspore.formats.mindir import messages as proto
from mindspore.formats.mindir.messages import AttributeProto, SeqInfo, TensorProto
from mindspore.ir.abstract import Abstract, AbstractNone, AbstractScalar, AbstractTensor, AbstractTuple


class Monad:
    """The token that orders side effects in official graphs; this implementation has no use for it."""


MONAD = Monad()


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def tensor_proto(array: np.ndarray, **fields: Any) -> TensorProto:
    """A tensor with its data."""
    data = np.ascontiguousarray(array)
    return TensorProto(
        dims=list(array.shape), data_type=type_code(data.dtype), raw_data=data.reshape(-1).view(np.uint8).data, **fields
    )


def type_code(dtype: Any) -> int:
    """The number of an element type."""
    from mindspore._base.dtype import from_numpy

    found = dtype if isinstance(dtype, DType) else from_numpy(dtype)
    if found not in proto.TYPE_CODES:
        raise TypeError(f"MindIR cannot hold tensors of type {found}")
    return proto.TYPE_CODES[found]


def value_attribute(name: str, value: Any, nested: bool = False) -> AttributeProto:
    """A Python value as an attribute."""
    attribute = AttributeProto(name=name) if name else AttributeProto()
    if value is None:
        attribute.type = proto.NONE
    elif isinstance(value, Monad):
        attribute.type = proto.UMONAD
    elif isinstance(value, (bool, np.bool_)):
        attribute.type = proto.BOOL
        _put(attribute, "i", "ints", int(value), nested)
    elif isinstance(value, (int, np.integer)):
        attribute.type = proto.INT64
        _put(attribute, "i", "ints", int(value), nested)
    elif isinstance(value, (float, np.floating)):
        attribute.type = proto.FLOAT
        _put(attribute, "f", "floats", _as_float32(float(value)), nested)
    elif isinstance(value, str):
        attribute.type = proto.STRING
        _put(attribute, "s", "strings", value.encode("utf-8"), nested)
    elif isinstance(value, DType):
        attribute.type = proto.INT64
        _put(attribute, "i", "ints", proto.TYPE_IDS[value], nested)
    elif isinstance(value, (tuple, list)):
        attribute.type = proto.TUPLE if isinstance(value, tuple) else proto.LIST
        attribute.values = [value_attribute("", item, nested=True) for item in value]
    elif isinstance(value, np.ndarray):
        attribute.type = proto.TENSORS
        attribute.tensors = [tensor_proto(value)]
    else:
        raise TypeError(f"a value of type {type(value).__name__} cannot be stored in MindIR")
    return attribute


def _put(attribute: AttributeProto, single: str, several: str, value: Any, nested: bool) -> None:
    setattr(attribute, several if nested else single, [value] if nested else value)


def _as_float32(value: float) -> float:
    return value if math.isinf(value) or abs(value) <= 3.4028234663852886e38 else math.copysign(math.inf, value)


def type_attribute(name: str, abstract: Abstract) -> AttributeProto:
    """The type of a node's result as an attribute."""
    attribute = AttributeProto(name=name) if name else AttributeProto()
    if isinstance(abstract, AbstractTuple):
        attribute.type = proto.TUPLE
        attribute.values = [type_attribute("", e) for e in abstract.elements]
        attribute.seq_info = SeqInfo(is_dyn_len=False)
    elif isinstance(abstract, AbstractNone):
        attribute.type = proto.NONE
    elif isinstance(abstract, AbstractScalar):
        attribute.type = proto.SCALAR
        attribute.tensors = [TensorProto(dims=[0], data_type=type_code(abstract.dtype))]
    elif isinstance(abstract, AbstractTensor):
        attribute.type = proto.TENSORS
        attribute.tensors = [TensorProto(dims=list(abstract.shape), data_type=type_code(abstract.dtype))]
    else:
        attribute.type = proto.UMONAD
    return attribute


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def read_tensor(tensor: TensorProto, data: Any = None) -> np.ndarray:
    """The array of a tensor; `data` replaces the tensor's own bytes (external data)."""
    dtype = proto.DATA_TYPES.get(tensor.data_type or 0)
    if dtype is None or dtype.kind == "s":
        raise DecodeError(f"tensor '{tensor.name or ''}' has the unknown element type {tensor.data_type}")
    count = element_count(tensor.name or "", tensor.dims)
    raw = tensor.raw_data if data is None else data
    if raw is not None:
        if len(raw) != count * dtype.np.itemsize:
            raise DecodeError(
                f"tensor '{tensor.name or ''}' of shape {tuple(tensor.dims)} and type {dtype} must have "
                f"{count * dtype.np.itemsize} bytes, not {len(raw)}"
            )
        return np.frombuffer(raw, np.uint8).copy().view(dtype.np).reshape(tensor.dims)
    values = tensor.float_data or tensor.int32_data or tensor.int64_data or tensor.double_data or tensor.uint64_data
    if len(values) != count:
        raise DecodeError(f"tensor '{tensor.name or ''}' must have {count} values, not {len(values)}")
    return np.array(values, dtype.np).reshape(tensor.dims)


def read_value(attribute: AttributeProto) -> Any:
    """The Python value of an attribute."""
    if attribute.ref_attr_name:
        return _read_old_value(attribute, attribute.ref_attr_name)
    kind = attribute.type
    if kind == proto.NONE:
        return None
    if kind in (proto.UMONAD, proto.IOMONAD):
        return MONAD
    if kind == proto.BOOL:
        return bool(_number(attribute, "i", "ints"))
    if kind in proto.INTEGER_KINDS:
        return int(_number(attribute, "i", "ints"))
    if kind == proto.FLOAT:
        return float(np.float32(_number(attribute, "f", "floats")))
    if kind == proto.DOUBLE:
        return float(_number(attribute, "d", "doubles"))
    if kind == proto.STRING:
        return str(_number(attribute, "s", "strings"), "utf-8", "replace")
    if kind in (proto.TUPLE, proto.LIST):
        items = [read_value(v) for v in attribute.values]
        return tuple(items) if kind == proto.TUPLE else items
    if kind == proto.DICT:
        return {v.name or "": read_value(v) for v in attribute.values}
    if kind == proto.TENSOR and attribute.t is not None:
        return read_tensor(attribute.t)
    if kind == proto.TENSORS and len(attribute.tensors) == 1:
        return read_tensor(attribute.tensors[0])
    if kind == proto.TENSORS:
        return tuple(read_tensor(t) for t in attribute.tensors)
    if kind == proto.TYPE_NULL:
        return None
    raise DecodeError(f"attribute '{attribute.name or ''}' has the kind {kind}, which is not supported")


def _read_old_value(attribute: AttributeProto, form: str) -> Any:
    """The value of an attribute of version 0.1: a text such as "scalar:Tuple[value1,value2,]," says what it is.

    The numbers or strings that it refers to are in the attribute's lists, in order.
    """
    what, _, structure = form.partition(":")
    if what == "Monad":
        return MONAD
    if what == "none":
        return None
    if what == "tensor":
        arrays = [read_tensor(t) for t in attribute.tensors]
        if not arrays and attribute.t is not None:
            arrays = [read_tensor(attribute.t)]
        return arrays[0] if len(arrays) == 1 and "[" not in structure else tuple(arrays)
    if what == "type":
        return proto.DATA_TYPES.get(attribute.type or 0)
    values = [
        *attribute.ints,
        *attribute.floats,
        *attribute.doubles,
        *(str(v, "utf-8", "replace") for v in attribute.strings),
    ]
    if attribute.type == proto.BOOL:
        values = [bool(v) for v in values]
    if "[" not in structure:
        return values[0] if values else read_value(AttributeProto(**{**attribute._set(), "ref_attr_name": None}))
    return _old_sequence(structure, iter(values), attribute.name or "")


def _old_sequence(structure: str, values: Iterator[Any], name: str) -> Any:
    """A nested sequence: "Tuple[" and "List[" open one, "]" closes it, every "valueN" takes the next value."""
    stack: list[tuple[bool, list[Any]]] = [(False, [])]
    for word in re.findall(r"Tuple\[|List\[|\]|value\d+", structure):
        if word.endswith("["):
            stack.append((word == "Tuple[", []))
        elif word == "]":
            if len(stack) == 1:
                raise DecodeError(f"attribute '{name}' has the broken form {structure!r}")
            is_tuple, items = stack.pop()
            stack[-1][1].append(tuple(items) if is_tuple else items)
        else:
            missing = object()
            value = next(values, missing)
            if value is missing:
                raise DecodeError(f"attribute '{name}' has too few values")
            stack[-1][1].append(value)
    if len(stack) != 1 or len(stack[0][1]) != 1:
        raise DecodeError(f"attribute '{name}' has the broken form {structure!r}")
    return stack[0][1][0]


def _number(attribute: AttributeProto, single: str, several: str) -> Any:
    values = getattr(attribute, several)
    value = getattr(attribute, single)
    if value is None and values:
        value = values[0]
    if value is None:
        return b"" if single == "s" else 0
    return value


def read_type(attribute: AttributeProto) -> Abstract:
    """The type that an attribute describes."""
    if attribute.type == proto.TENSORS and attribute.tensors:
        return tensor_type(attribute.tensors[0])
    if attribute.type in (proto.TUPLE, proto.LIST):
        return AbstractTuple(tuple(read_type(v) for v in attribute.values))
    return AbstractNone()


def tensor_type(tensor: TensorProto) -> AbstractTensor:
    """The type of a tensor."""
    dtype = proto.DATA_TYPES.get(tensor.data_type or 0)
    if dtype is None:
        raise DecodeError(f"'{tensor.name or ''}' has the unknown element type {tensor.data_type}")
    return AbstractTensor(dtype, tuple(tensor.dims))
