"""Reading ONNX models into trainable cells.

The nodes of a model are kept as a list of steps; `construct` carries them out with our operations, eagerly or into the
graph being built. Float initializers become Parameters. Inputs that ONNX passes as tensors but that decide shapes
(axes, sizes, paddings) must be constants of the model; they are kept as NumPy arrays, and what is computed from shapes
alone is computed with NumPy.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.optional import require
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train._onnx.layers import OPERATORS
from mindspore.train._onnx.operators import run_operator


class OnnxStep(NamedTuple):
    """One node of a model."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


class OnnxCell(Cell):
    """A network read from an ONNX file."""

    def __init__(self, model: Any):
        super().__init__()
        graph = model.graph
        opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
        put = self.__dict__.__setitem__
        put("_opset", opset)
        put("_constants", {})
        put("_weights", {})
        for tensor in graph.initializer:
            self._add_initializer(tensor)
        known = {*self._constants, *self._weights}
        put("_input_names", tuple(i.name for i in graph.input if i.name not in known))
        put("_output_names", tuple(o.name for o in graph.output))
        put("_steps", tuple(_step(node) for node in graph.node))
        for step in self._steps:
            if step.op not in OPERATORS:
                raise ValueError(f"The ONNX operator '{step.op}' is not supported.")

    def _add_initializer(self, tensor: Any) -> None:
        array = to_array(tensor)
        if array.dtype.kind != "f" or array.size == 0:
            self._constants[tensor.name] = array
            return
        parameter = Parameter(Tensor.from_numpy(array), name=tensor.name)
        self._weights[tensor.name] = parameter
        self.insert_param_to_cell(f"weight{len(self._weights)}", parameter)
        parameter.name = tensor.name

    def construct(self, *inputs: Any) -> Any:
        if len(inputs) != len(self._input_names):
            raise ValueError(f"The ONNX model takes {len(self._input_names)} inputs, but got {len(inputs)}.")
        values = {"": None, **self._constants, **self._weights, **dict(zip(self._input_names, inputs))}
        for step in self._steps:
            results = run_operator(
                step.op, self._opset, [values[n] for n in step.inputs], step.attributes, len(step.outputs)
            )
            for name, value in zip(step.outputs, results):
                values[name] = value
        outputs = tuple(_public(values[name]) for name in self._output_names)
        return outputs[0] if len(outputs) == 1 else outputs


def _public(value: Any) -> Any:
    return Tensor(value) if isinstance(value, np.ndarray) else value


def _step(node: Any) -> OnnxStep:
    if node.domain not in ("", "ai.onnx"):
        raise ValueError(f"The ONNX operator '{node.domain}.{node.op_type}' is not supported.")
    attributes = {a.name: _attribute(a) for a in node.attribute}
    return OnnxStep(node.op_type, tuple(node.input), tuple(node.output), attributes)


def _attribute(attribute: Any) -> Any:
    value = require("onnx", "onnx", "Reading an ONNX model").helper.get_attribute_value(attribute)
    if attribute.type == attribute.TENSOR:
        return to_array(value)
    if attribute.type in (attribute.GRAPH, attribute.GRAPHS):
        raise ValueError("ONNX models with If, Loop or Scan cannot be read yet.")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in value] if _is_list(value) else value


def _is_list(value: Any) -> bool:
    return not isinstance(value, (int, float, str, bytes)) and hasattr(value, "__iter__")


def to_array(tensor: Any) -> np.ndarray:
    """The array of an ONNX tensor."""
    return np.array(require("onnx.numpy_helper", "onnx", "Reading an ONNX model").to_array(tensor))


def load_onnx(file_name: str) -> OnnxCell:
    """Read an ONNX file into a trainable Cell.

    Examples:
        >>> import numpy as np
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> from mindspore.train.serialization import load_onnx
        >>> net, x = nn.Dense(3, 2), ms.Tensor(np.ones((1, 3), np.float32))
        >>> ms.export(net, x, file_name="doc_example.onnx", file_format="ONNX")
        >>> bool(np.allclose(load_onnx("doc_example.onnx")(x).asnumpy(), net(x).asnumpy()))
        True
    """
    if not isinstance(file_name, str) or not os.path.isfile(file_name):
        raise ValueError(f"For 'load_onnx', there is no file {file_name!r}.")
    onnx = require("onnx", "onnx", "Reading an ONNX model")
    try:
        model = onnx.load(file_name)
        onnx.checker.check_model(model)
    except Exception as error:  # the package raises protobuf's, its checker's and operating system errors alike
        raise ValueError(f"The file {file_name} is no valid ONNX model: {error}") from None
    return OnnxCell(model)


__all__ = ["OnnxCell", "load_onnx"]
