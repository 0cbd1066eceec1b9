"""Data preparation that belongs to a model: the `map` operations of a dataset, stored in its MindIR file.

Columns and operations are stored as JSON text, as official MindSpore does. Only operations that are known by name can be
stored; a Python function cannot, and nothing read from a file is executed as code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mindspore import log as logger
from mindspore.ir.mindir_proto import ModelProto, PreprocessOpProto, PreprocessorProto


def add_preprocessing(model: ModelProto, dataset: Any) -> None:
    """Store the `map` operations of a dataset in a model."""
    if not hasattr(dataset, "to_json"):
        raise TypeError(f"For 'export', 'dataset' must be a Dataset, but got {type(dataset)}.")
    steps = [node for node in _from_source(dataset.to_json()) if node.get("op_type") == "Map"]
    for step in steps:
        for operation in step["operations"]:
            if operation.get("python_module") and "is_python_front_end_op" not in operation:
                name = operation.get("tensor_op_name")
                raise ValueError(
                    f"For 'export', the Python function {name!r} of 'dataset' cannot be stored in a MindIR file; use "
                    "operations of mindspore.dataset only."
                )
    model.preprocessor = PreprocessorProto(
        op=[
            PreprocessOpProto(
                input_columns=json.dumps(step["input_columns"]), output_columns=json.dumps(step["output_columns"]),
                op_type=json.dumps(step["op_type"]), operations=json.dumps(step["operations"]),
                offload=bool(step.get("offload", False)),
            )
            for step in steps
        ]
    )  # fmt: skip


def _from_source(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a pipeline, from its source on; of several sources the first counts."""
    children = node.get("children") or []
    if len(children) > 1:
        logger.warning("For 'export', only the first of the datasets that are joined in 'dataset' is stored.")
    if children:
        yield from _from_source(children[0])
    yield node


class Preprocessing:
    """The data preparation of a loaded model: a function of the columns of one row."""

    def __init__(self, stored: PreprocessorProto):
        from mindspore.dataset import audio, text, transforms, vision  # noqa: F401 - their operations are known by name
        from mindspore.dataset.transforms.base import transform_from_json

        self.steps = []
        for step in stored.op:
            inputs, outputs, operations = (
                _listed(field) for field in (step.input_columns, step.output_columns, step.operations)
            )
            made = [
                transform_from_json(o["tensor_op_name"], o.get("tensor_op_params") or {})
                for o in operations
                if isinstance(o, dict) and isinstance(o.get("tensor_op_name"), str)
            ]
            if len(made) != len(operations):
                raise ValueError("The data preparation of the model has an operation that cannot be read.")
            self.steps.append((inputs, outputs or inputs, made))

    def __call__(self, **columns: Any) -> dict[str, Any]:
        """The prepared columns of a row."""
        row = dict(columns)
        for inputs, outputs, operations in self.steps:
            missing = [name for name in inputs if name not in row]
            if missing:
                raise ValueError(f"The data preparation of the model needs the column '{missing[0]}'.")
            values: tuple = tuple(row.pop(name) for name in inputs)
            for operation in operations:
                result = operation(*values)
                values = result if isinstance(result, tuple) else (result,)
            row.update(zip(outputs, values))
        return row


def _listed(text: str | None) -> list[Any]:
    try:
        value = json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise ValueError("The data preparation of the model is no JSON.") from None
    if not isinstance(value, list):
        raise ValueError("The data preparation of the model must hold lists.")
    return value


__all__ = ["Preprocessing", "add_preprocessing"]
