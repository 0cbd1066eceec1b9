"""The messages of event files: what a run measured, the graph it ran, where its result came from."""

from __future__ import annotations

from mindspore._base import dtype as mstype
from mindspore._base.protobuf import Message, field

#: element types in event files
DATA_TYPES = {
    mstype.bool_: 1, mstype.int8: 2, mstype.int16: 3, mstype.int32: 4, mstype.int64: 5, mstype.uint8: 6,
    mstype.uint16: 7, mstype.uint32: 8, mstype.uint64: 9, mstype.float16: 10, mstype.float32: 11, mstype.float64: 12,
    mstype.string: 13, mstype.complex64: 43, mstype.complex128: 44, mstype.bfloat16: 46,
}  # fmt: skip
DT_TENSOR, DT_GRAPH, DT_TUPLE, DT_LIST, DT_NONE = 14, 15, 31, 32, 34
VERSION = "MindSpore.Event:1"


class TensorRecord(Message):
    """A tensor."""

    dims = field(1, "int64", repeated=True)
    data_type = field(2, "enum")
    float_data = field(3, "float", repeated=True, packed=True)
    int32_data = field(4, "int32", repeated=True, packed=True)
    int64_data = field(5, "int64", repeated=True, packed=True)
    double_data = field(6, "double", repeated=True, packed=True)
    uint64_data = field(7, "uint64", repeated=True, packed=True)
    raw_data = field(8, "bytes")


class ImageRecord(Message):
    """An encoded image."""

    height = field(1, "int32")
    width = field(2, "int32")
    colorspace = field(3, "int32")
    encoded_image = field(4, "bytes")


class Bucket(Message):
    """How many values lie in [left, left + width)."""

    left = field(1, "double")
    width = field(2, "double")
    count = field(3, "int64")


class HistogramRecord(Message):
    """The distribution of values."""

    buckets = field(1, lambda: Bucket, repeated=True)
    nan_count = field(2, "int64")
    pos_inf_count = field(3, "int64")
    neg_inf_count = field(4, "int64")
    max = field(5, "double")
    min = field(6, "double")
    sum = field(7, "double")
    count = field(8, "int64")


class BoardHistogram(Message):
    """The distribution as TensorBoard reads it."""

    min = field(1, "double")
    max = field(2, "double")
    num = field(3, "double")
    sum = field(4, "double")
    sum_squares = field(5, "double")
    bucket_limit = field(6, "double", repeated=True, packed=True)
    bucket = field(7, "double", repeated=True, packed=True)


class LandscapePoints(Message):
    """Coordinates and losses."""

    x = field(1, lambda: TensorRecord)
    y = field(2, lambda: TensorRecord)
    z = field(3, lambda: TensorRecord)


class LossPath(Message):
    """The way that training took: numbers of steps or epochs, and where the weights were."""

    intervals = field(1, "int32", repeated=True)
    points = field(2, lambda: LandscapePoints)


class LandscapeMetadata(Message):
    decomposition = field(1, "string")
    unit = field(2, "string")
    step_per_epoch = field(3, "int32")


class LossLandscape(Message):
    """The loss over a plane of weights."""

    landscape = field(1, lambda: LandscapePoints)
    loss_path = field(2, lambda: LossPath)
    metadata = field(3, lambda: LandscapeMetadata)
    convergence_point = field(4, lambda: LandscapePoints)


class ValueRecord(Message):
    """One named value. `simple_value` and `histo` repeat scalars and histograms where TensorBoard looks for them."""

    tag = field(1, "string")
    simple_value = field(2, "float")
    scalar_value = field(3, "float")
    image = field(4, lambda: ImageRecord)
    histo = field(5, lambda: BoardHistogram)
    tensor = field(8, lambda: TensorRecord)
    histogram = field(9, lambda: HistogramRecord)
    loss_landscape = field(10, lambda: LossLandscape)


class SummaryMessage(Message):
    """The values of one step."""

    value = field(1, lambda: ValueRecord, repeated=True)


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


class Event(Message):
    """One entry of an event file."""

    wall_time = field(1, "double")
    step = field(2, "int64")
    version = field(3, "string")
    graph_def = field(4, lambda: GraphMessage)
    summary = field(5, lambda: SummaryMessage)


# ---------------------------------------------------------------------------------------------------------------------
# Lineage: with what a model was trained and how good it is


class Entry(Message):
    """A key and a string."""

    key = field(1, "string")
    value = field(2, "string")


class BoolEntry(Message):
    key = field(1, "string")
    value = field(2, "bool")


class IntEntry(Message):
    key = field(1, "string")
    value = field(2, "int32")


class DoubleEntry(Message):
    key = field(1, "string")
    value = field(2, "double")


class StringList(Message):
    strValue = field(1, "string", repeated=True)


class ListEntry(Message):
    key = field(1, "string")
    value = field(2, lambda: StringList)


class UserDefinedInfo(Message):
    """What the user wants to be stored with a run."""

    user_info = field(1, lambda: UserDefinedInfo, repeated=True)
    map_int32 = field(3, lambda: IntEntry, repeated=True)
    map_str = field(4, lambda: Entry, repeated=True)
    map_double = field(5, lambda: DoubleEntry, repeated=True)


class OperationParameter(Message):
    """The arguments of a step of a data pipeline."""

    mapStr = field(1, lambda: Entry, repeated=True)
    mapStrList = field(2, lambda: ListEntry, repeated=True)
    mapBool = field(3, lambda: BoolEntry, repeated=True)
    mapInt = field(4, lambda: IntEntry, repeated=True)
    mapDouble = field(5, lambda: DoubleEntry, repeated=True)


class Operation(Message):
    operationParam = field(1, lambda: OperationParameter)
    size = field(2, "int32", repeated=True)
    weights = field(3, "float", repeated=True)


class DatasetGraph(Message):
    """A data pipeline."""

    children = field(1, lambda: DatasetGraph, repeated=True)
    parameter = field(2, lambda: OperationParameter)
    operations = field(3, lambda: Operation, repeated=True)
    sampler = field(4, lambda: Operation)


class HyperParameters(Message):
    optimizer = field(1, "string")
    learning_rate = field(2, "float")
    loss_function = field(3, "string")
    epoch = field(4, "int32")
    parallel_mode = field(5, "string")
    device_num = field(6, "int32")
    batch_size = field(8, "int32")


class TrainDataset(Message):
    train_dataset_path = field(1, "string")
    train_dataset_size = field(2, "int32")


class Algorithm(Message):
    network = field(1, "string")
    loss = field(2, "float")


class ModelFile(Message):
    path = field(3, "string")
    size = field(4, "int64")


class TrainLineage(Message):
    """With what a model was trained."""

    hyper_parameters = field(1, lambda: HyperParameters)
    train_dataset = field(2, lambda: TrainDataset)
    algorithm = field(3, lambda: Algorithm)
    model = field(4, lambda: ModelFile)


class ValidDataset(Message):
    valid_dataset_path = field(1, "string")
    valid_dataset_size = field(2, "int32")


class EvaluationLineage(Message):
    """How good a model is."""

    metric = field(2, "string")
    valid_dataset = field(3, lambda: ValidDataset)


class LineageEvent(Message):
    """One entry of a lineage file."""

    wall_time = field(1, "double")
    step = field(2, "int64")
    version = field(3, "string")
    train_lineage = field(6, lambda: TrainLineage)
    evaluation_lineage = field(7, lambda: EvaluationLineage)
    dataset_graph = field(9, lambda: DatasetGraph)
    user_defined_info = field(10, lambda: UserDefinedInfo)
