"""Data preparation that belongs to a model: the `map` operations of a dataset, stored in its MindIR file.

Columns and operations are stored as JSON text, as official MindSpore does. Only operations that are known by name can be
stored; a Python function cannot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mindspore import log as logger
from mindspore.formats.mindir.messages import ModelProto, PreprocessOpProto, PreprocessorProto


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
