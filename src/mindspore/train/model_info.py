"""What a MindIR file holds, and the same model in another format."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.formats.mindir.files import PART_SIZE, SPLIT_ABOVE
from mindspore.formats.mindir.values import read_type, tensor_type
from mindspore.nn.graph_cell import GraphCell
from mindspore.train.exporting import export_network, load, load_mindir


def get_model_info(file_name: str) -> dict[str, Any]:
    """The inputs, outputs, parameters and operations of a MindIR file.

    Returns:
        "inputs" and "outputs": lists of (name, type); "parameters": names to types; "operations": names to counts.

    Examples:
        >>> ms.export(nn.ReLU(), ops.ones(2), file_name="relu", file_format="MINDIR")
        >>> sorted(ms.get_model_info("relu.mindir"))
        ['inputs', 'operations', 'outputs', 'parameters']
    """
    model = load_mindir(file_name)
    operations: dict[str, int] = {}
    kinds = {f"REF::{p.name}": p.op_type for p in model.primitives}
    for graph in (model.graph, *model.functions):
        for node in graph.node:
            kind = kinds.get(node.op_type)
            if kind is not None:
                operations[kind] = operations.get(kind, 0) + 1
    return {
        "inputs": [(i.name, tensor_type(i.tensor[0]) if i.tensor else None) for i in model.graph.input],
        "outputs": [
            (o.name, tensor_type(o.tensor[0]) if o.tensor else read_type(o.attr_info) if o.attr_info else None)
            for o in model.graph.output
        ],
        "parameters": {p.ref_key or p.name: tensor_type(p) for p in model.graph.parameter},
        "operations": operations,
    }


def convert_model(mindir_file: str, convert_file: str, file_format: str) -> None:
    """Write the model of a MindIR file in another format ("ONNX").

    Examples:
        >>> ms.export(nn.ReLU(), ops.ones(2), file_name="relu", file_format="MINDIR")
        >>> ms.convert_model("relu.mindir", "relu.onnx", "ONNX")
        >>> from pathlib import Path
        >>> Path("relu.onnx").is_file()
        True
    """
    for label, value in (("mindir_file", mindir_file), ("convert_file", convert_file)):
        if not isinstance(value, str):
            raise TypeError(f"For 'convert_model', '{label}' must be a string, but got {type(value).__name__}.")
    if file_format != "ONNX":
        raise ValueError(f"For 'convert_model', 'file_format' must be 'ONNX', but got {file_format!r}.")
    if not os.path.exists(mindir_file):
        raise ValueError(f"For 'convert_model', the file {mindir_file} does not exist.")
    net = GraphCell(load(mindir_file))
    net.set_train(False)
    types = [tensor_type(i.tensor[0]) for i in load_mindir(mindir_file).graph.input]
    inputs = [Tensor(np.zeros(tuple(max(d, 1) for d in t.shape), t.dtype.np)) for t in types]
    export_network(net, tuple(inputs), convert_file, file_format, {}, (SPLIT_ABOVE, PART_SIZE))
