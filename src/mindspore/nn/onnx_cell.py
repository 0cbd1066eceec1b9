"""Reading ONNX models into trainable cells.

The nodes of a model are kept as a list of steps; `construct` carries them out with our operations, eagerly or into the
graph being built. Float initializers become Parameters. Inputs that ONNX passes as tensors but that decide shapes
(axes, sizes, paddings) must be constants of the model; they are kept as NumPy arrays, and what is computed from shapes
alone is computed with NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.formats.onnx import (  # noqa: F401 - they fill the table of operators
    layers,
    operators,
    pooling,
    quantised,
    recurrent,
    resampling,
    selection,
    sequences,
    signals,
    vision,
)
from mindspore.formats.onnx.program import OnnxProgram, public
from mindspore.formats.onnx.registry import as_tensor
from mindspore.nn.cell import Cell


class OnnxCell(Cell):
    """A network read from an ONNX file. Float initializers are Parameters and can be trained."""

    def __init__(self, model: Any):
        super().__init__()
        opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=1)
        functions = {(f.domain, f.name): f for f in model.functions}
        put = self.__dict__.__setitem__
        put("_program", OnnxProgram(model.graph, opset, functions))
        put("_weights", {})
        for name, array in list(self._program.constants.items()):
            if array.dtype.kind == "f" and array.size:
                self._add_weight(name, self._program.constants.pop(name))

    def _add_weight(self, name: str, array: np.ndarray) -> None:
        parameter = Parameter(Tensor.from_numpy(array), name=name)
        self._weights[name] = parameter
        self.insert_param_to_cell(f"weight{len(self._weights)}", parameter)
        parameter.name = name

    def construct(self, *inputs: Any) -> Any:
        names = self._program.inputs
        if len(inputs) != len(names):
            raise ValueError(f"The ONNX model takes {len(names)} inputs, but got {len(inputs)}.")
        results = self._program(tuple(as_tensor(i) for i in inputs), self._weights)
        outputs = tuple(public(value) for value in results)
        return outputs[0] if len(outputs) == 1 else outputs
