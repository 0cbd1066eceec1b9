"""`Dataset.save`: rows into MindRecord files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindspore.dataset._check import check_pos_int32, check_type
from mindspore.dataset.runtime.pipeline import run_once

_KINDS = {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "int32": "int32", "uint32": "int64",
          "int64": "int64", "float16": "float32", "float32": "float32", "float64": "float64"}  # fmt: skip
_ROWS_AT_ONCE = 1000


def save(dataset: Any, file_name: str, num_files: int, file_type: str) -> None:
    from mindspore.mindrecord import FileWriter

    check_type(file_name, str, "file_name")
    check_pos_int32(num_files, "num_files")
    if not 1 <= num_files <= 1000:
        raise ValueError(f"num_files should between 0 and 1000. Got {num_files}.")
    if file_type != "mindrecord":
        raise ValueError(f"{file_type} dataset format is not supported. Use 'mindrecord'.")
    columns, rows = run_once(dataset)
    writer, pending = None, []
    for row in rows:
        named = dict(zip(columns, row))
        if writer is None:
            schema = {name: _field(name, value) for name, value in named.items()}
            writer = FileWriter(os.path.realpath(file_name), num_files)
            writer.add_schema(schema, "dataset")
        pending.append({name: _stored(value, schema[name]) for name, value in named.items()})
        if len(pending) >= _ROWS_AT_ONCE:
            writer.write_raw_data(pending)
            pending = []
    if writer is None:
        raise RuntimeError("The dataset pipeline has no row, so there is nothing to save.")
    if pending:
        writer.write_raw_data(pending)
    writer.commit()


def _field(name: str, value: Any) -> dict[str, Any]:
    """The schema of a column, from its first row."""
    array = np.asarray(value)
    if array.dtype.kind == "U":
        if array.ndim:
            raise RuntimeError(f"In save op, column {name!r} is an array of strings, which MindRecord cannot hold.")
        return {"type": "string"}
    if array.dtype.kind == "S" or (array.dtype == np.uint8 and array.ndim == 1):
        return {"type": "bytes"}
    if array.dtype.name not in _KINDS:
        raise RuntimeError(f"In save op, column {name!r} is of type {array.dtype}, which MindRecord cannot hold.")
    kind: dict[str, Any] = {"type": _KINDS[array.dtype.name]}
    if array.ndim:
        kind["shape"] = [-1, *array.shape[1:]] if array.ndim > 1 else [-1]
    return kind


def _stored(value: Any, kind: dict[str, Any]) -> Any:
    array = np.asarray(value)
    if kind["type"] == "string":
        return str(array)
    if kind["type"] == "bytes":
        return array.tobytes()
    array = array.astype(kind["type"])
    return array if "shape" in kind else array.item()
