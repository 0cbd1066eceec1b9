"""A graph as a message for dashboards and debuggers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base.dtype import DType
from mindspore.formats.events.graph_messages import (
    DATA_TYPES,
    DT_GRAPH,
    DT_NONE,
    DT_TENSOR,
    DT_TUPLE,
    AnyValue,
    AttributeMessage,
    Dimension,
    GraphMessage,
    InputMessage,
    ModelMessage,
    NamedValue,
    NodeMessage,
    OutputMessage,
    ParameterMessage,
    SequenceTypeMessage,
    ShapeMessage,
    TensorTypeMessage,
    TypeMessage,
)
from mindspore.ir.abstract import Abstract, AbstractScalar, AbstractTensor, AbstractTuple
from mindspore.ir.graph import CNode, FuncGraph, Node, ValueNode
from mindspore.ir.naming import full_names, shown_scope


def graph_message(graph: FuncGraph) -> GraphMessage:
    """A graph and its constants."""
    message = GraphMessage(name=graph.name)
    constants: dict[int, str] = {}
    for parameter in graph.parameters:
        message.parameters.append(ParameterMessage(name=parameter.name, type=type_message(parameter.abstract)))
    names = {node.id: str(i) for i, node in enumerate(graph.nodes(), start=1)}
    shown = full_names(graph.nodes())
    for node in graph.nodes():
        inputs = [InputMessage(name=_name(a, names, constants, message), type=0) for a in node.args]
        message.node.append(_node_message(node, names[node.id], shown[node.id], inputs))
    output = graph.output
    message.outputs.append(
        OutputMessage(name=_name(output, names, constants, message), type=type_message(output.abstract))
    )
    return message


def _node_message(node: CNode, name: str, full_name: str, inputs: list[InputMessage]) -> NodeMessage:
    attributes = [AttributeMessage(name=k, value=value_message(v)) for k, v in node.op.attrs.items()]
    return NodeMessage(
        input=inputs, name=name, op_type=node.op.name, scope=shown_scope(node.scope), attribute=attributes,
        output_type=type_message(node.abstract), full_name=full_name, instance_name="",
        source_address="".join(f"{line.describe()}\n" for line in node.location),
    )  # fmt: skip


def _name(node: Node, names: dict[int, str], constants: dict[int, str], message: GraphMessage) -> str:
    if isinstance(node, CNode):
        return names.get(node.id, f"outer_{node.id}")
    if not isinstance(node, ValueNode):
        return node.name  # type: ignore[attr-defined]
    if node.id not in constants:
        constants[node.id] = f"cst{len(constants) + 1}"
        message.const_vals.append(NamedValue(key=constants[node.id], value=value_message(node.value)))
    return constants[node.id]


def type_message(abstract: Abstract) -> TypeMessage:
    """The type of a result."""
    if isinstance(abstract, AbstractTensor):
        shape = ShapeMessage(dim=[Dimension(size=d) for d in abstract.shape])
        tensor = TensorTypeMessage(elem_type=DATA_TYPES.get(abstract.dtype, 0), shape=shape)
        return TypeMessage(data_type=DT_TENSOR, tensor_type=tensor)
    if isinstance(abstract, AbstractTuple):
        sequence = SequenceTypeMessage(elem_types=[type_message(e) for e in abstract.elements])
        return TypeMessage(data_type=DT_TUPLE, sequence_type=sequence)
    if isinstance(abstract, AbstractScalar):
        return TypeMessage(data_type=DATA_TYPES.get(abstract.dtype, 0))
    return TypeMessage(data_type=DT_NONE)


def value_message(value: Any) -> AnyValue:
    """A constant; of tensors and everything unusual, what it is."""
    if isinstance(value, bool):
        return AnyValue(dtype=DATA_TYPES_BOOL, bool_val=value)
    if isinstance(value, (int, np.integer)):
        clipped = max(-(2**63), min(2**63 - 1, int(value)))
        return AnyValue(dtype=DATA_TYPES_INT, int_val=clipped)
    if isinstance(value, float) and abs(value) < 3e38:
        return AnyValue(dtype=DATA_TYPES_FLOAT, float_val=value)
    if isinstance(value, (tuple, list)):
        return AnyValue(dtype=DT_TUPLE, values=[value_message(v) for v in value])
    if value is None:
        return AnyValue(dtype=DT_NONE)
    if isinstance(value, FuncGraph):
        return AnyValue(dtype=DT_GRAPH, str_val=value.name)
    if isinstance(value, np.ndarray):
        return AnyValue(dtype=DT_TENSOR, str_val=f"Tensor(shape={list(value.shape)}, dtype={value.dtype})")
    return AnyValue(dtype=13, str_val=str(value) if isinstance(value, (str, DType)) else repr(value)[:200])


DATA_TYPES_BOOL, DATA_TYPES_INT, DATA_TYPES_FLOAT = 1, 5, 11


def model_file(graph: FuncGraph) -> bytes:
    """The content of a file that holds a graph."""
    return ModelMessage(ir_version=1, graph=graph_message(graph)).encode()
