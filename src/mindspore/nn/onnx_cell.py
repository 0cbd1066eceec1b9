"""OnnxCell: a network read from an ONNX file."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common.parameter import Parameter
from mindspore.common.random import get_seed
from mindspore.common.tensor import Tensor
from mindspore.formats.onnx.load import program_of
from mindspore.formats.onnx.program import public
from mindspore.formats.onnx.registry import as_tensor
from mindspore.nn.cell import Cell


class OnnxCell(Cell):
    """A network read from an ONNX file. Float initializers are Parameters and can be trained."""

    def __init__(self, model: Any, file_name: str = "model"):
        super().__init__()
        program, weights = program_of(model, file_name, get_seed)
        put = self.__dict__.__setitem__
        put("_program", program)
        put("_weights", {})
        for name, array in weights.items():
            self._add_weight(name, array)

    def _add_weight(self, name: str, array: np.ndarray) -> None:
        parameter = Parameter(Tensor.from_numpy(array), name=name)
        self._weights[name] = parameter
        self.insert_param_to_cell(f"weight{len(self._weights)}", parameter)
        parameter.name = name

    def construct(self, *inputs: Any) -> Any:
        names = self._program.inputs
        if len(inputs) != len(names):
            raise ValueError(f"The ONNX model takes {len(names)} inputs, but got {len(inputs)}.")
        results = self._program.run(tuple(as_tensor(i) for i in inputs), self._weights)
        outputs = tuple(public(value) for value in results)
        return outputs[0] if len(outputs) == 1 else outputs


__all__ = ["OnnxCell"]
