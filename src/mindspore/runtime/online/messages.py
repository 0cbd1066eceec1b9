"""The messages of the debugger's protocol."""

from __future__ import annotations

from mindspore._base.protobuf import Message, field


class Metadata(Message):
    device_name = field(1, "string")
    cur_step = field(2, "int64")
    backend = field(3, "string")
    cur_node = field(4, "string")
    training_done = field(5, "bool")
    graph_num = field(6, "int64")
    ms_version = field(7, "string")


class Chunk(Message):
    buffer = field(1, "bytes")
    finished = field(2, "bool")


class TensorMessage(Message):
    node_name = field(1, "string")
    slot = field(2, "string")
    tensor_content = field(3, "bytes")
    dims = field(4, "int64", repeated=True)
    data_type = field(5, "enum")
    finished = field(6, "bool")
    iter = field(7, "string")


class RunCommand(Message):
    run_level = field(1, "string")
    run_steps = field(2, "int64")
    node_name = field(3, "string")


class WatchNode(Message):
    node_name = field(1, "string")
    node_type = field(2, "string")
    graph_name = field(3, "string")


class ConditionParameter(Message):
    name = field(1, "string")
    disabled = field(2, "bool")
    value = field(3, "double")
    hit = field(4, "bool")
    actual_value = field(5, "double")


class WatchCondition(Message):
    condition = field(1, "enum")
    params = field(4, lambda: ConditionParameter, repeated=True)


class SetCommand(Message):
    watch_nodes = field(1, lambda: WatchNode, repeated=True)
    watch_condition = field(2, lambda: WatchCondition)
    delete = field(3, "bool")
    id = field(4, "int64")


class ViewCommand(Message):
    tensors = field(1, lambda: TensorMessage, repeated=True)


class EventReply(Message):
    """What the debugger answers: at most one command."""

    status = field(1, "enum")
    exit = field(2, "bool")
    run_cmd = field(3, lambda: RunCommand)
    set_cmd = field(4, lambda: SetCommand)
    view_cmd = field(5, lambda: ViewCommand)
    version_matched = field(6, "bool")


class HitMessage(Message):
    tensor = field(1, lambda: TensorMessage)
    watch_condition = field(2, lambda: WatchCondition)
    id = field(3, "int64")
    error_code = field(4, "int64")
