"""The messages of TensorFlow's graphs (tensorflow/core/framework/*.proto, protobuf/meta_graph.proto) that importing needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.protobuf import DecodeError, Message, element_count, field

#: TensorFlow's numbers of element types
TYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 9: "int64", 10: "bool", 14: "bfloat16", 17: "uint16",
    19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip
RESOURCE = 20


class Dim(Message):
    size = field(1, "int64")


class Shape(Message):
    dim = field(2, lambda: Dim, repeated=True)
    unknown_rank = field(3, "bool")

    def sizes(self) -> list[int] | None:
        """-1 is an unknown size, None an unknown rank."""
        return None if self.unknown_rank else [d.size or 0 for d in self.dim]


class TensorMessage(Message):
    dtype = field(1, "enum")
    shape = field(2, lambda: Shape)
    content = field(4, "bytes")
    float_val = field(5, "float", repeated=True)
    double_val = field(6, "double", repeated=True)
    int_val = field(7, "int32", repeated=True)
    string_val = field(8, "bytes", repeated=True)
    int64_val = field(10, "int64", repeated=True)
    bool_val = field(11, "bool", repeated=True)
    half_val = field(13, "int32", repeated=True)
    uint32_val = field(16, "int64", repeated=True)
    uint64_val = field(17, "uint64", repeated=True)

    def array(self, name: str) -> np.ndarray | None:
        """The elements; None for types that no array here has (strings)."""
        kind = numpy_type(self.dtype)
        if kind is None:
            return None
        dims = (self.shape.sizes() if self.shape is not None else []) or []
        count = element_count(name, dims)
        if self.content:
            if len(self.content) != count * kind.itemsize:
                raise DecodeError(f"the data of '{name}' does not fit its shape")
            return np.frombuffer(bytes(self.content), kind).reshape(dims)
        return self._listed(name, kind, count).reshape(dims)

    def _listed(self, name: str, kind: np.dtype, count: int) -> np.ndarray:
        """Elements one by one; the last stands for all that follow."""
        lists = (self.float_val, self.double_val, self.int_val, self.int64_val, self.bool_val, self.uint32_val, self.uint64_val)
        given = next((np.array(values).astype(kind) for values in lists if values), np.zeros(1, kind))
        if self.half_val:
            given = np.array(self.half_val, np.uint16).view(kind)
        if count > 1 << 28 or len(given) > max(count, 1):
            raise DecodeError(f"the data of '{name}' does not fit its shape")
        return given[:count] if len(given) >= count else np.concatenate([given, np.full(count - len(given), given[-1])])


class FunctionName(Message):
    name = field(1, "string")


class ListValue(Message):
    s = field(2, "bytes", repeated=True)
    i = field(3, "int64", repeated=True)
    f = field(4, "float", repeated=True)
    b = field(5, "bool", repeated=True)
    type = field(6, "enum", repeated=True)


class AttrValue(Message):
    list = field(1, lambda: ListValue)
    s = field(2, "bytes")
    i = field(3, "int64")
    f = field(4, "float")
    b = field(5, "bool")
    type = field(6, "enum")
    shape = field(7, lambda: Shape)
    tensor = field(8, lambda: TensorMessage)
    func = field(10, lambda: FunctionName)


class AttrEntry(Message):
    key = field(1, "string")
    value = field(2, lambda: AttrValue)


class NodeDef(Message):
    name = field(1, "string")
    op = field(2, "string")
    input = field(3, "string", repeated=True)
    attr = field(5, lambda: AttrEntry, repeated=True)


class ArgDef(Message):
    name = field(1, "string")
    type = field(3, "enum")


class OpDef(Message):
    name = field(1, "string")
    input_arg = field(2, lambda: ArgDef, repeated=True)
    output_arg = field(3, lambda: ArgDef, repeated=True)


class TextEntry(Message):
    key = field(1, "string")
    value = field(2, "string")


class FunctionDef(Message):
    signature = field(1, lambda: OpDef)
    node = field(3, lambda: NodeDef, repeated=True)
    ret = field(4, lambda: TextEntry, repeated=True)


class Library(Message):
    function = field(1, lambda: FunctionDef, repeated=True)


class GraphDef(Message):
    node = field(1, lambda: NodeDef, repeated=True)
    library = field(2, lambda: Library)


class TensorInfo(Message):
    name = field(1, "string")
    dtype = field(2, "enum")
    shape = field(3, lambda: Shape)


class InfoEntry(Message):
    key = field(1, "string")
    value = field(2, lambda: TensorInfo)


class SignatureDef(Message):
    inputs = field(1, lambda: InfoEntry, repeated=True)
    outputs = field(2, lambda: InfoEntry, repeated=True)


class SignatureEntry(Message):
    key = field(1, "string")
    value = field(2, lambda: SignatureDef)


class MetaInfo(Message):
    tags = field(4, "string", repeated=True)


class MetaGraph(Message):
    info = field(1, lambda: MetaInfo)
    graph = field(2, lambda: GraphDef)
    signature = field(5, lambda: SignatureEntry, repeated=True)


class SavedModel(Message):
    meta_graphs = field(2, lambda: MetaGraph, repeated=True)


class BundleEntry(Message):
    """Where a variable's elements are in a checkpoint."""

    dtype = field(1, "enum")
    shape = field(2, lambda: Shape)
    shard = field(3, "int32")
    offset = field(4, "int64")
    size = field(5, "int64")


class BundleHeader(Message):
    num_shards = field(1, "int32")


def numpy_type(number: Any) -> np.dtype | None:
    name = TYPES.get(number or 0)
    if name is None:
        return None
    return np.dtype(mstype.bfloat16.np if name == "bfloat16" else name)
