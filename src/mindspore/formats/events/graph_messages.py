"""The messages of a graph as dashboards and debuggers read it: nodes with scopes, types and constants."""

from __future__ import annotations

from mindspore._base import dtype as mstype
from mindspore._base.protobuf import Message, field

#: element types
DATA_TYPES = {
    mstype.bool_: 1, mstype.int8: 2, mstype.int16: 3, mstype.int32: 4, mstype.int64: 5, mstype.uint8: 6,
    mstype.uint16: 7, mstype.uint32: 8, mstype.uint64: 9, mstype.float16: 10, mstype.float32: 11, mstype.float64: 12,
    mstype.string: 13, mstype.complex64: 43, mstype.complex128: 44, mstype.bfloat16: 46,
}  # fmt: skip
DT_TENSOR, DT_GRAPH, DT_TUPLE, DT_LIST, DT_NONE = 14, 15, 31, 32, 34


class Dimension(Message):
    size = field(1, "int64")


class ShapeMessage(Message):
    dim = field(1, lambda: Dimension, repeated=True)


class TensorTypeMessage(Message):
    elem_type = field(1, "enum")
    shape = field(2, lambda: ShapeMessage)


class SequenceTypeMessage(Message):
    elem_types = field(1, lambda: TypeMessage, repeated=True)


class TypeMessage(Message):
    """The type of a node's result."""

    data_type = field(1, "enum")
    tensor_type = field(2, lambda: TensorTypeMessage)
    sequence_type = field(3, lambda: SequenceTypeMessage)


class AnyValue(Message):
    """A constant."""

    dtype = field(1, "enum")
    bool_val = field(2, "bool")
    int_val = field(3, "int64")
    float_val = field(5, "float")
    str_val = field(7, "string")
    values = field(18, lambda: AnyValue, repeated=True)


class NamedValue(Message):
    key = field(1, "string")
    value = field(2, lambda: AnyValue)


class AttributeMessage(Message):
    name = field(1, "string")
    value = field(2, lambda: AnyValue)


class ParameterMessage(Message):
    name = field(1, "string")
    type = field(2, lambda: TypeMessage)


class OutputMessage(Message):
    name = field(1, "string")
    type = field(2, lambda: TypeMessage)


class InputMessage(Message):
    name = field(1, "string")
    type = field(2, "enum")


class NodeMessage(Message):
    """A node of the graph."""

    input = field(1, lambda: InputMessage, repeated=True)
    name = field(2, "string")
    op_type = field(3, "string")
    scope = field(4, "string")
    attribute = field(5, lambda: AttributeMessage, repeated=True)
    output_type = field(6, lambda: TypeMessage)
    output_i = field(7, "uint64")
    full_name = field(8, "string")
    source_address = field(9, "string")
    instance_name = field(10, "string")


class GraphMessage(Message):
    """The graph a network was compiled to."""

    node = field(1, lambda: NodeMessage, repeated=True)
    name = field(2, "string")
    parameters = field(3, lambda: ParameterMessage, repeated=True)
    outputs = field(4, lambda: OutputMessage, repeated=True)
    const_vals = field(5, lambda: NamedValue, repeated=True)


class ModelMessage(Message):
    """A graph in a file of its own."""

    ir_version = field(1, "int64")
    graph = field(4, lambda: GraphMessage)
