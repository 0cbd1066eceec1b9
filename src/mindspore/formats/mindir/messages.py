"""The messages of a `.mindir` file: a ModelProto holds graphs of nodes, their constants and the primitives they use.

Field numbers and enumerations are those of official MindSpore's format (IR version 1.1), which follows ONNX.
"""

from __future__ import annotations

from mindspore._base import dtype as mstype
from mindspore._base.dtype import DType
from mindspore._base.protobuf import Message, field

#: tensor element types
DATA_TYPES: dict[int, DType] = {
    1: mstype.float32, 2: mstype.uint8, 3: mstype.int8, 4: mstype.uint16, 5: mstype.int16, 6: mstype.int32,
    7: mstype.int64, 8: mstype.string, 9: mstype.bool_, 10: mstype.float16, 11: mstype.float64, 12: mstype.uint32,
    13: mstype.uint64, 14: mstype.complex64, 15: mstype.complex128, 16: mstype.bfloat16, 17: mstype.float64,
    18: mstype.qint4x2,
}  # fmt: skip
TYPE_CODES: dict[DType, int] = {dtype: code for code, dtype in reversed(DATA_TYPES.items())}

#: attribute kinds; up to 16 they are the element types above
(UNDEFINED, FLOAT, INT32, INT64, STRING, BOOL, DOUBLE) = (0, 1, 6, 7, 8, 9, 11)
(TENSOR, GRAPH, TENSORS, TUPLE, LIST, DICT, UMONAD, IOMONAD, NONE) = range(17, 26)
(PRIMITIVE_CLOSURE, GRAPH_CLOSURE, PARTIAL_CLOSURE, UNION_CLOSURE) = range(26, 30)
TYPE_NULL = 36
SCALAR = 39
INTEGER_KINDS = frozenset((2, 3, 4, 5, 6, 7, 12, 13))

PRIMITIVE, PRIMITIVE_FUNCTION = 1, 2
IR_VERSION = "1.1"
FORMAT_VERSION = 3

#: the numbers that stand for element types among the inputs of primitives (Cast and others)
TYPE_IDS: dict[DType, int] = {
    mstype.bool_: 30, mstype.int8: 32, mstype.int16: 33, mstype.int32: 34, mstype.int64: 35, mstype.uint8: 37,
    mstype.uint16: 38, mstype.uint32: 39, mstype.uint64: 40, mstype.float16: 42, mstype.float32: 43,
    mstype.float64: 44, mstype.bfloat16: 45, mstype.complex64: 51, mstype.complex128: 52,
}  # fmt: skip
TYPES_BY_ID: dict[int, DType] = {number: dtype for dtype, number in TYPE_IDS.items()}


class ExternalData(Message):
    """Where the data of a tensor lies in another file."""

    location = field(1, "string")
    offset = field(2, "int64")
    length = field(3, "int64")


class TensorProto(Message):
    """A tensor, or just the type of one."""

    dims = field(1, "int64", repeated=True)
    data_type = field(2, "int32")
    float_data = field(3, "float", repeated=True)
    int32_data = field(4, "int32", repeated=True)
    string_data = field(5, "bytes", repeated=True)
    int64_data = field(6, "int64", repeated=True)
    name = field(7, "string")
    doc_string = field(8, "string")
    raw_data = field(9, "bytes")
    double_data = field(10, "double", repeated=True)
    uint64_data = field(11, "uint64", repeated=True)
    external_data = field(12, lambda: ExternalData)
    ref_key = field(13, "string")
    min_dims = field(14, "int64", repeated=True)
    max_dims = field(15, "int64", repeated=True)
    compression_type = field(16, "enum")


class SeqInfo(Message):
    """Whether a sequence has a length that is only known at run time."""

    is_dyn_len = field(1, "bool")
    tuple_elem_item = field(2, lambda: AttributeProto)


class AttributeProto(Message):
    """A value: a number, string, tensor, sequence …"""

    name = field(1, "string")
    f = field(2, "float")
    i = field(3, "int64")
    d = field(4, "double")
    s = field(5, "bytes")
    t = field(6, lambda: TensorProto)
    g = field(7, lambda: GraphProto)
    floats = field(8, "float", repeated=True)
    doubles = field(9, "double", repeated=True)
    ints = field(10, "int64", repeated=True)
    strings = field(11, "bytes", repeated=True)
    tensors = field(12, lambda: TensorProto, repeated=True)
    graphs = field(13, lambda: GraphProto, repeated=True)
    doc_string = field(14, "string")
    ref_attr_name = field(15, "string")
    type = field(16, "enum")
    values = field(17, lambda: AttributeProto, repeated=True)
    seq_info = field(18, lambda: SeqInfo)


class ValueInfoProto(Message):
    """An input or output of a graph."""

    name = field(1, "string")
    tensor = field(2, lambda: TensorProto, repeated=True)
    doc_string = field(3, "string")
    denotation = field(4, "string")
    attr_info = field(5, lambda: AttributeProto)


class NodeProto(Message):
    """A constant, or the application of a primitive, graph or closure."""

    input = field(1, "string", repeated=True)
    output = field(2, "string", repeated=True)
    name = field(3, "string")
    op_type = field(4, "string")
    attribute = field(5, lambda: AttributeProto, repeated=True)
    doc_string = field(6, "string")
    domain = field(7, "string")
    node_attr = field(8, lambda: AttributeProto, repeated=True)
    primal_attr = field(9, lambda: AttributeProto, repeated=True)


class GraphProto(Message):
    """A function: parameters with data, inputs, nodes in order, outputs."""

    node = field(1, lambda: NodeProto, repeated=True)
    name = field(2, "string")
    parameter = field(3, lambda: TensorProto, repeated=True)
    doc_string = field(4, "string")
    input = field(5, lambda: ValueInfoProto, repeated=True)
    output = field(6, lambda: ValueInfoProto, repeated=True)
    bprop_hash = field(7, "string")
    attribute = field(8, lambda: AttributeProto, repeated=True)
    bprop_filepath = field(9, "string")


class PreprocessOpProto(Message):
    """A step of data preparation that belongs to the model."""

    input_columns = field(1, "string")
    output_columns = field(2, "string")
    project_columns = field(3, "string")
    op_type = field(4, "string")
    operations = field(5, "string")
    offload = field(6, "bool")


class PreprocessorProto(Message):
    """The data preparation of a model."""

    op = field(1, lambda: PreprocessOpProto, repeated=True)


class PrimitiveProto(Message):
    """A primitive with its attributes; nodes refer to it as REF::name."""

    name = field(1, "string")
    op_type = field(2, "string")
    attribute = field(3, lambda: AttributeProto, repeated=True)
    instance_name = field(4, "string")
    prim_type = field(5, "enum")


class UserInfoEntry(Message):
    """A piece of information the user attached."""

    key = field(1, "string")
    value = field(2, "string")


class ModelProto(Message):
    """A whole model."""

    ir_version = field(1, "string")
    producer_name = field(2, "string")
    producer_version = field(3, "string")
    domain = field(4, "string")
    model_version = field(5, "string")
    doc_string = field(6, "string")
    graph = field(7, lambda: GraphProto)
    functions = field(8, lambda: GraphProto, repeated=True)
    preprocessor = field(9, lambda: PreprocessorProto)
    little_endian = field(10, "bool")
    primitives = field(12, lambda: PrimitiveProto, repeated=True)
    mind_ir_version = field(13, "int64")
    user_info = field(14, lambda: UserInfoEntry, repeated=True)
