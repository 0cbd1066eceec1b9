"""The messages of event files: what a run measured, the graph it ran, where its result came from."""

from __future__ import annotations

from mindspore._base.protobuf import Message, field
from mindspore.formats.events.graph_messages import GraphMessage

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


# ---------------------------------------------------------------------------------------------------------------------
# Explanations: images, what was predicted for them, saliency maps, and the measures of their quality


class InferenceRecord(Message):
    """What a network said of an image."""

    ground_truth_prob = field(1, "float", repeated=True)
    predicted_label = field(2, "int32", repeated=True)
    predicted_prob = field(3, "float", repeated=True)


class ExplanationRecord(Message):
    """A saliency map, drawn over the image."""

    explain_method = field(1, "string")
    label = field(2, "int32")
    heatmap_path = field(3, "string")


class BenchmarkRecord(Message):
    """How good a method is."""

    benchmark_method = field(1, "string")
    explain_method = field(2, "string")
    total_score = field(3, "float")
    label_score = field(4, "float", repeated=True)


class ExplainMetadata(Message):
    """The names of classes, methods and measures."""

    label = field(1, "string", repeated=True)
    explain_method = field(2, "string", repeated=True)
    benchmark_method = field(3, "string", repeated=True)


class ExplainRecord(Message):
    """One image, or the metadata, or scores."""

    sample_id = field(1, "int32")
    image_path = field(2, "string")
    ground_truth_label = field(3, "int32", repeated=True)
    inference = field(4, lambda: InferenceRecord)
    explanation = field(5, lambda: ExplanationRecord, repeated=True)
    benchmark = field(6, lambda: BenchmarkRecord, repeated=True)
    metadata = field(7, lambda: ExplainMetadata)
    status = field(8, "string")


class ExplainEvent(Message):
    """One entry of an explain file."""

    wall_time = field(1, "double")
    step = field(2, "int64")
    explain = field(6, lambda: ExplainRecord)
