"""The data preparation that a model's file holds, ready to run.

Operations are looked up by their names among those of `mindspore.dataset`; nothing read from a file is executed as code.
"""

from __future__ import annotations

import json
from typing import Any

from mindspore.formats.mindir.messages import PreprocessorProto


class Preprocessing:
    """The data preparation of a loaded model: a function of the columns of one row."""

    def __init__(self, stored: PreprocessorProto):
        from mindspore.dataset import audio, text, transforms, vision  # noqa: F401 - their operations are known by name
        from mindspore.dataset.transforms.transform import transform_from_json

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
