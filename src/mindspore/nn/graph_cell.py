"""GraphCell: a network loaded from a file."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.formats.mindir.program import Program
from mindspore.nn.cell import Cell
from mindspore.nn.graph_operations import graph_operations
from mindspore.nn.graph_preprocessing import Preprocessing


class LoadedGraph:
    """What `load` returns: the program of a MindIR file. Give it to `nn.GraphCell`."""

    def __init__(self, program: Program, preprocessor: Any = None):
        self.program = program
        self._preprocessor = preprocessor

    @functools.cached_property
    def preprocess(self) -> Preprocessing | None:
        """The data preparation stored with the model (see `export(dataset=…)`): a function of a row's columns."""
        return None if self._preprocessor is None else Preprocessing(self._preprocessor)

    def __repr__(self) -> str:
        return f"LoadedGraph({self.program.main}, {len(self.program.weights)} parameters)"


class GraphCell(Cell):
    """Run a graph that `mindspore.load` has read. Its weights are Parameters and can be trained.

    Args:
        graph: what `load` returned.
        params_init: new values for parameters, by name.
        obf_random_seed: accepted; obfuscated models are not supported.
    """

    def __init__(self, graph: LoadedGraph, params_init: dict[str, Any] | None = None, obf_random_seed: Any = None):
        super().__init__(auto_prefix=True)
        if not isinstance(graph, LoadedGraph):
            raise TypeError(f"For 'GraphCell', 'graph' must be what mindspore.load returned, but got {type(graph)}.")
        if params_init is not None and not isinstance(params_init, dict):
            raise TypeError(f"For 'GraphCell', the argument 'params_init' must be a dict, but got {type(params_init)}.")
        if obf_random_seed is not None:
            raise ValueError("For 'GraphCell', obfuscated models are not supported.")
        for name, value in (params_init or {}).items():
            if not isinstance(name, str) or not isinstance(value, Tensor):
                raise TypeError(
                    "For 'GraphCell', the key of the 'params_init' must be str, and the value must be Tensor or "
                    f"Parameter, but got {type(name)} and {type(value)}."
                )
        self.graph = graph
        put = self.__dict__.__setitem__
        put("_operations", graph_operations())
        put("_weights", {})
        for key, (label, array) in graph.program.weights.items():
            given = (params_init or {}).get(label)
            parameter = Parameter(Tensor.from_numpy(self._initial(label, array, given)), name=label)
            self._weights[key] = parameter
            self.insert_param_to_cell(label.replace(".", "_") + f"_{len(self._weights)}", parameter)
            parameter.name = label

    @staticmethod
    def _initial(label: str, array: np.ndarray, given: Any) -> np.ndarray:
        if given is None:
            return array.copy()
        value = np.asarray(given.asnumpy())
        if value.shape != array.shape or value.dtype != array.dtype:
            raise ValueError(
                "Only support update parameter by Tensor or Parameter with same shape and dtype as it: "
                f"'{label}' has shape {array.shape} and type {array.dtype}, not {value.shape} and {value.dtype}."
            )
        return value.copy()

    def construct(self, *inputs: Any) -> Any:
        if len(inputs) != len(self.graph.program.input_types):
            inputs = _leaves(inputs)
        return self.graph.program.run(self._operations, self._weights, inputs)


def _leaves(value: Any) -> tuple:
    """The tensors of nested sequences, in order: files written here have one input for each."""
    if isinstance(value, (tuple, list)):
        return tuple(leaf for item in value for leaf in _leaves(item))
    return (value,)
