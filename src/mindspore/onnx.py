"""`mindspore.onnx.export`: ONNX files with names and free sizes of one's choice."""

from __future__ import annotations

import os
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.formats.onnx import messages
from mindspore.formats.onnx.export import network_onnx, save_onnx
from mindspore.formats.onnx.messages import OnnxGraphMessage
from mindspore.nn.cell import Cell
from mindspore.train.exporting import trace_network

Axes = dict[str, Any]


def export(
    net: Cell,
    *inputs: Any,
    file_name: str,
    input_names: list[str] | None = None,
    output_names: list[str] | None = None,
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Axes | None = None,
) -> None:
    """Write a network as an ONNX file.

    Args:
        net: the network.
        inputs: example inputs.
        file_name: the file; ".onnx" is added when missing.
        input_names, output_names: names for the inputs and outputs, in order.
        export_params: store the values of parameters; without them they are inputs.
        keep_initializers_as_inputs: list the stored parameters among the inputs too.
        dynamic_axes: for names of inputs, the axes whose sizes are free: a list, or a dict of axes to names.

    Examples:
        >>> import numpy as np
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> x = ms.Tensor(np.ones((1, 3), np.float32))
        >>> ms.onnx.export(nn.Dense(3, 2), x, file_name="doc_example.onnx", input_names=["x"], dynamic_axes={"x": [0]})
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'onnx.export', 'net' must be a Cell, but got {type(net)}.")
    if not isinstance(file_name, str):
        raise ValueError(f"For 'onnx.export', 'file_name' must be a string, but got {type(file_name)}.")
    given = _with_free_axes(net, inputs, input_names, dynamic_axes or {})
    model = network_onnx(lambda values: trace_network(net, values), given)
    graph = model.graph
    assert graph is not None
    _rename(graph, _renamed(graph.input, input_names, "input_names"))
    _rename(graph, _renamed(graph.output, output_names, "output_names"))
    parameters = {parameter.name for parameter in net.get_parameters()}
    stored = [t for t in graph.initializer if t.name in parameters]
    if keep_initializers_as_inputs or not export_params:
        graph.input = [*graph.input, *(messages.value_info(t.name, t.data_type, t.dims) for t in stored)]
    if not export_params:
        graph.initializer = [t for t in graph.initializer if t.name not in parameters]
    _name_axes(graph, dynamic_axes or {})
    save_onnx(model, os.path.realpath(file_name))


def _with_free_axes(net: Cell, inputs: tuple, names: list[str] | None, axes: Axes) -> tuple:
    """The inputs, with the axes that shall be free marked."""
    if not axes:
        return inputs
    known = list(names) if names is not None else [f"x{i}" for i in range(len(inputs))]
    made = []
    for place, value in enumerate(inputs):
        free = {int(a) % value.ndim for a in axes.get(known[place], ())} if place < len(known) else set()
        shape = [None if i in free else d for i, d in enumerate(value.shape)]
        made.append(Tensor(shape=shape, dtype=value.dtype) if free else value)
    return tuple(made)


def _renamed(infos: list[Any], names: list[str] | None, label: str) -> dict[str, str]:
    if names is None:
        return {}
    if len(names) != len(infos) or len(set(names)) != len(names):
        raise ValueError(f"For 'onnx.export', '{label}' must hold {len(infos)} different names, but got {names}.")
    return dict(zip((info.name for info in infos), names))


def _rename(graph: OnnxGraphMessage, names: dict[str, str]) -> None:
    """Give values new names, in nested graphs too."""
    for info in (*graph.input, *graph.output):
        info.name = names.get(info.name, info.name)
    for node in graph.node:
        node.input = [names.get(n, n) for n in node.input]
        node.output = [names.get(n, n) for n in node.output]
        for attribute in node.attribute:
            if attribute.g is not None:
                _rename(attribute.g, names)


def _name_axes(graph: OnnxGraphMessage, axes: Axes) -> None:
    for info in (*graph.input, *graph.output):
        named = axes.get(info.name)
        if isinstance(named, dict):
            for axis, label in named.items():
                info.type.tensor_type.shape.dim[axis] = messages.OnnxDimension(dim_param=str(label))
