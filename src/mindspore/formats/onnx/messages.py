"""The messages of ONNX files that export needs, so that writing one needs no further package. https://onnx.ai"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base.dtype import DType
from mindspore._base.protobuf import Message, field

DATA_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "bool_": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip
BOOL, INT32, INT64 = 9, 6, 7
_FLOAT, _INT, _STRING, _GRAPH, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 5, 6, 7, 8


class OnnxEntry(Message):
    key = field(1, "string")
    value = field(2, "string")


class OnnxTensor(Message):
    dims = field(1, "int64", repeated=True)
    data_type = field(2, "int32")
    name = field(8, "string")
    raw_data = field(9, "bytes")
    external_data = field(13, lambda: OnnxEntry, repeated=True)
    data_location = field(14, "enum")


class OnnxAttribute(Message):
    name = field(1, "string")
    f = field(2, "float")
    i = field(3, "int64")
    s = field(4, "bytes")
    g = field(6, lambda: OnnxGraphMessage)
    floats = field(7, "float", repeated=True)
    ints = field(8, "int64", repeated=True)
    strings = field(9, "bytes", repeated=True)
    type = field(20, "enum")


class OnnxNode(Message):
    input = field(1, "string", repeated=True)
    output = field(2, "string", repeated=True)
    name = field(3, "string")
    op_type = field(4, "string")
    attribute = field(5, lambda: OnnxAttribute, repeated=True)


class OnnxDimension(Message):
    dim_value = field(1, "int64")
    dim_param = field(2, "string")


class OnnxShape(Message):
    dim = field(1, lambda: OnnxDimension, repeated=True)


class OnnxTensorType(Message):
    elem_type = field(1, "int32")
    shape = field(2, lambda: OnnxShape)


class OnnxType(Message):
    tensor_type = field(1, lambda: OnnxTensorType)


class OnnxValueInfo(Message):
    name = field(1, "string")
    type = field(2, lambda: OnnxType)


class OnnxGraphMessage(Message):
    node = field(1, lambda: OnnxNode, repeated=True)
    name = field(2, "string")
    initializer = field(5, lambda: OnnxTensor, repeated=True)
    input = field(11, lambda: OnnxValueInfo, repeated=True)
    output = field(12, lambda: OnnxValueInfo, repeated=True)


class OnnxOpset(Message):
    domain = field(1, "string")
    version = field(2, "int64")


class OnnxModel(Message):
    ir_version = field(1, "int64")
    producer_name = field(2, "string")
    graph = field(7, lambda: OnnxGraphMessage)
    opset_import = field(8, lambda: OnnxOpset, repeated=True)


def data_type(dtype: Any) -> int:
    """ONNX's number of an element type."""
    return DATA_TYPES[dtype.name if isinstance(dtype, DType) else np.dtype(dtype).name]


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], attributes: dict[str, Any]) -> OnnxNode:
    """A node; attribute kinds follow from the values."""
    return OnnxNode(
        input=list(inputs), output=list(outputs), name=outputs[0], op_type=op,
        attribute=[_attribute(k, v) for k, v in attributes.items()],
    )  # fmt: skip


def _attribute(name: str, value: Any) -> OnnxAttribute:
    if isinstance(value, OnnxGraphMessage):
        return OnnxAttribute(name=name, g=value, type=_GRAPH)
    if isinstance(value, str):
        return OnnxAttribute(name=name, s=value.encode("utf-8"), type=_STRING)
    if isinstance(value, float):
        return OnnxAttribute(name=name, f=value, type=_FLOAT)
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(v, str) for v in value):
            return OnnxAttribute(name=name, strings=[v.encode("utf-8") for v in value], type=_STRINGS)
        if any(isinstance(v, float) for v in value):
            return OnnxAttribute(name=name, floats=[float(v) for v in value], type=_FLOATS)
        return OnnxAttribute(name=name, ints=[int(v) for v in value], type=_INTS)
    return OnnxAttribute(name=name, i=int(value), type=_INT)


def tensor(name: str, array: np.ndarray) -> OnnxTensor:
    """A constant."""
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return OnnxTensor(name=name, dims=list(array.shape), data_type=data_type(array.dtype), raw_data=raw)


def value_info(name: str, kind: int, shape: Sequence[int]) -> OnnxValueInfo:
    """The type of an input or output; -1 is a size that is not fixed."""
    dims = [OnnxDimension() if d == -1 else OnnxDimension(dim_value=d) for d in shape]
    return OnnxValueInfo(
        name=name, type=OnnxType(tensor_type=OnnxTensorType(elem_type=kind, shape=OnnxShape(dim=dims)))
    )
