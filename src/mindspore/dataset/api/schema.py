"""`Schema`: names, types and shapes of the columns of a source."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.dataset._check import check_file, check_type

_NAMES = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "float16": np.float16, "float32": np.float32, "float64": np.float64,
    "string": np.str_, "bytes": np.bytes_,
}  # fmt: skip


def type_name(given: Any) -> str:
    """The name a schema uses for a MindSpore type, a NumPy type or a name."""
    if isinstance(given, mstype.DType):
        name = given.name.rstrip("_") if given.name != "string" else "string"
    elif isinstance(given, str):
        name = given.lower()
    else:
        raise TypeError(f"Unrecognized column type: {given!r}; give a mindspore type or its name.")
    if name not in _NAMES:
        raise TypeError(f"Unknown column type: {given!r}. Known: {', '.join(_NAMES)}.")
    return name


def numpy_type(given: Any) -> np.dtype:
    """The NumPy type of a MindSpore type, a NumPy type or a name."""
    if isinstance(given, np.dtype):
        return given
    if isinstance(given, type) and issubclass(given, np.generic):
        return np.dtype(given)
    return np.dtype(_NAMES[type_name(given)])


class Schema:
    """Columns of a source, given by hand or read from a JSON file.

    schema = ds.Schema()
    schema.add_column("image", de_type=mindspore.uint8, shape=[28, 28])

    Examples:
        >>> schema = ds.Schema()
        >>> schema.add_column("x", ms.float32, shape=[2])
        >>> sorted(schema.columns[0])
        ['name', 'rank', 'shape', 'type']
    """

    def __init__(self, schema_file: str | None = None):
        self.num_rows: int | None = None
        self.dataset_type = ""
        self.columns: list[dict[str, Any]] = []
        if schema_file is not None:
            if not isinstance(schema_file, (str, os.PathLike)):
                raise TypeError(f"path: {schema_file} is not string")
            with open(check_file(schema_file), encoding="utf-8") as stream:
                try:
                    content = json.load(stream)
                except ValueError as error:
                    raise RuntimeError(
                        f"Schema file failed to load with JSON tools. File is: {schema_file}: {error}"
                    ) from None
            self.from_json(content)

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Add a column. Without a shape, rows may differ in theirs."""
        check_type(name, str, "name")
        if not isinstance(de_type, (mstype.DType, str)):
            raise TypeError(f"Argument de_type with value {de_type} is not a mindspore type or a str.")
        column: dict[str, Any] = {"name": name, "type": type_name(de_type)}
        if shape is not None:
            check_type(shape, list, "shape")
            for side in shape:
                check_type(side, int, "shape")
                if side < -1:
                    raise ValueError(f"Input shape value is not within the required interval, got {side}.")
            column["shape"] = list(shape)
            column["rank"] = len(shape)
        else:
            column["rank"] = 1
        self.columns.append(column)

    def parse_columns(self, columns: list[dict] | dict[str, dict]) -> None:
        """Columns of a list or dict of descriptions with `type`, `shape`, `rank`."""
        self.columns = []
        if isinstance(columns, list):
            for column in columns:
                column = dict(column)
                if "name" not in column:
                    raise RuntimeError("Column's name is missing.")
                self._add_described(column.pop("name"), column)
        elif isinstance(columns, dict):
            for name, column in sorted(columns.items()):  # an object of JSON has no order
                self._add_described(name, dict(column))
        else:
            raise TypeError("columns must be dict or list, columns contain name, type, shape(optional).")

    def _add_described(self, name: str, column: dict) -> None:
        if "type" not in column:
            raise AttributeError("Column's type is missing.")
        de_type, shape = column.pop("type"), column.pop("shape", None)
        rank, _ = column.pop("rank", None), column.pop("t_impl", None)
        if column:
            raise AttributeError(f"Unknown field {','.join(column)}")
        self.add_column(name, de_type, shape)
        if shape is None and rank is not None:
            self.columns[-1]["rank"] = rank

    def from_json(self, json_obj: dict) -> None:
        """Read from what `to_json` gives."""
        check_type(json_obj, dict, "json_obj")
        for key, value in json_obj.items():
            if key == "datasetType":
                self.dataset_type = value
            elif key == "numRows":
                self.num_rows = value
            elif key == "columns":
                self.parse_columns(value)
            else:
                raise RuntimeError(f"Unknown field {key}")
        if "columns" not in json_obj:
            raise RuntimeError("Columns are missing.")
        if self.num_rows is not None and (not isinstance(self.num_rows, int) or self.num_rows <= 0):
            raise ValueError(f"numRows must be greater than 0, but got {self.num_rows}.")

    def to_json(self) -> str:
        """The schema as JSON text."""
        form: dict[str, Any] = {"columns": [dict(sorted(column.items())) for column in self.columns]}
        if self.dataset_type:
            form["datasetType"] = self.dataset_type
        if self.num_rows:
            form["numRows"] = self.num_rows
        return json.dumps(form, indent=2)

    def parse(self) -> None:
        """Kept for programs that call it: a schema is always ready."""

    def __str__(self) -> str:
        return self.to_json()
