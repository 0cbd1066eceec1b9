"""Reading ONNX files.

A model is kept as a list of steps that are carried out on tensors, eagerly or into the graph being built. Its float
initializers are weights. Inputs that ONNX passes as tensors but that decide shapes (axes, sizes, paddings) must be
constants of the model; they are kept as NumPy arrays, and what is computed from shapes alone is computed with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.formats import program
from mindspore.formats.onnx import (  # noqa: F401 - they fill the table of operators
    layers,
    operators,
    other_domains,
    pooling,
    quantised,
    recurrent,
    resampling,
    selection,
    sequences,
    signals,
    trees,
    vision,
)
from mindspore.formats.onnx.program import OnnxProgram
from mindspore.formats.onnx.registry import NeedsValuesError, as_tensor
from mindspore.formats.onnx.types import SMALL_TYPES, TYPES
from mindspore.formats.program import Program, Shape, TensorSpec

_STRING = 8


def read_model(path: str) -> Any:
    """The checked model message of a file; ValueError when it is none."""
    onnx = require("onnx", "onnx", "Reading an ONNX model")
    try:
        onnx.checker.check_model(path)  # by name: a model with its weights may be too big for one message
        return onnx.load(path)
    except Exception as error:  # the package raises protobuf's, its checker's and operating system errors alike
        raise ValueError(f"The file {path} is no valid ONNX model: {error}") from None


def program_of(
    model: Any, path: str = "model", common_seed: Callable[[], int | None] = lambda: None
) -> tuple[OnnxProgram, dict[str, np.ndarray]]:
    """The steps of a model, and its weights by name. Single numbers (the bounds of a Clip, factors) are no weights."""
    try:
        opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=1)
        functions = {(f.domain, f.name): f for f in model.functions}
        made = OnnxProgram(model.graph, opset, functions, common_seed=common_seed)
    except (KeyError, TypeError, IndexError, OverflowError) as error:  # what the checker lets pass
        raise ValueError(f"The file {path} is no valid ONNX model: {error!r}") from None
    names = [name for name, array in made.constants.items() if array.dtype.kind == "f" and array.size and array.ndim]
    return made, {name: made.constants.pop(name) for name in names}


def load(path: str, shapes: Mapping[str, Shape] | None = None) -> Program:
    """The graph and weights of an ONNX file. `shapes` gives sizes that the file leaves open, by names of inputs."""
    return build(read_model(path), shapes, path=path)


def build(
    model: Any,
    shapes: Mapping[str, Shape] | None = None,
    known: Mapping[str, np.ndarray] | None = None,
    path: str = "model",
    resize: bool = False,
) -> Program:
    """The graph and weights of a model message.

    `known`: inputs whose values the graph is made for. With `resize`, `shapes` may differ from those of the model.
    """
    steps, weights = program_of(model, path)
    known = known or {}
    specs = [_spec(i) if i.name not in known else TensorSpec(i.name, TYPES[1], ()) for i in _inputs(model, steps)]
    small = [spec.name for spec in specs if spec.dtype in SMALL_TYPES.values()]
    if small:
        raise NeedsValuesError(f"The elements of the ONNX input '{small[0]}' are of a type that no tensor can hold.")
    counts: list[int | None] = []  # of outputs that are sequences: how many tensors

    def run(arguments: tuple, held: Mapping[str, Any]) -> tuple:
        found = steps.run(tuple(a if s.name in known else as_tensor(a) for s, a in zip(specs, arguments)), held)
        counts[:] = [len(value) if isinstance(value, list) else None for value in found]
        return found

    made = program.build(
        model.graph.name or "graph",
        run,
        specs,
        {name: (name, array) for name, array in weights.items()},
        shapes,
        known,
        resize,
    )
    names = [n for name, many in zip(steps.outputs, counts) for n in ([name] if many is None else [f"{name}_{i}" for i in range(many)])]
    return made._replace(outputs=tuple(spec._replace(name=name) for spec, name in zip(made.outputs, names)))


def input_specs(model: Any) -> list[TensorSpec]:
    """What a model takes, as its message says."""
    constants = {t.name for t in model.graph.initializer} | {s.values.name for s in model.graph.sparse_initializer}
    return [_spec(i) for i in model.graph.input if i.name not in constants]


def _inputs(model: Any, steps: OnnxProgram) -> list[Any]:
    by_name = {i.name: i for i in model.graph.input}
    return [by_name[name] for name in steps.inputs]


def tensor_type(kind: Any) -> Any:
    """The type of a tensor, or of one that may be left out."""
    return kind.optional_type.elem_type.tensor_type if kind.HasField("optional_type") else kind.tensor_type


def _spec(info: Any) -> TensorSpec:
    kind = tensor_type(info.type)
    if kind.elem_type not in TYPES and kind.elem_type not in SMALL_TYPES:
        found = "of strings" if kind.elem_type == _STRING else f"of ONNX's element type {kind.elem_type}"
        raise ValueError(f"The ONNX input '{info.name}' is a tensor {found}; models take tensors of numbers and truths.")
    sizes = (d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim)
    return TensorSpec(info.name, TYPES.get(kind.elem_type) or SMALL_TYPES[kind.elem_type], tuple(sizes))
