"""Raw data of a party from CSV files, and its export as MindRecord files in the order of the keys."""
from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_TYPES: dict[str, Callable[[str], Any]] = {"int32": int, "int64": int, "float32": float, "float64": float,
                                           "string": str, "bytes": str.encode}


class CsvSource:
    """Rows by primary key, with the columns and types of a schema."""

    def __init__(self, files: str | list[str], primary_key: str, schema: Mapping[str, Mapping[str, str]]) -> None:
        self.columns = {name: entry["type"] for name, entry in schema.items()}
        wrong = {kind for kind in self.columns.values() if kind not in _TYPES}
        if wrong:
            raise ValueError(f"the schema's type {sorted(wrong)[0]} is unknown, it can be one of {list(_TYPES)}")
        if self.columns.get(primary_key) != "string":
            raise ValueError(f"the schema should have the primary key '{primary_key}' of type string")
        self._rows: dict[str, dict[str, Any]] = {}
        for path in _files(files):
            self._read(path, primary_key)

    def keys(self) -> list[str]:
        """All keys."""
        return list(self._rows)

    def row(self, key: str) -> dict[str, Any]:
        """The columns of one key."""
        return self._rows[key]

    def _read(self, path: str, primary_key: str) -> None:
        with open(path, newline="", encoding="utf-8") as source:
            reader = csv.DictReader(source)
            missing = set(self.columns) - set(reader.fieldnames or [])
            if missing:
                raise ValueError(f"{path} has no column '{sorted(missing)[0]}'")
            for line in reader:
                key = line[primary_key]
                if key in self._rows:
                    raise ValueError(f"{path}: the key '{key}' is there twice")
                self._rows[key] = {name: _value(line[name], kind, path) for name, kind in self.columns.items()}


def _value(text: str, kind: str, path: str) -> Any:
    try:
        value = _TYPES[kind](text)
    except ValueError:
        raise ValueError(f"{path}: '{text}' is no {kind}") from None
    return np.array([value], kind) if kind.startswith(("int", "float")) else value


def _files(given: str | list[str]) -> list[str]:
    if isinstance(given, list):
        return given
    if os.path.isdir(given):
        return sorted(os.path.join(given, name) for name in os.listdir(given))
    return [given]


def export_mindrecord(file_name: str, source: CsvSource, keys: list[str]) -> None:
    """Write the rows of `keys`, in this order."""
    from mindspore.mindrecord import FileWriter

    schema = {name: {"type": kind, "shape": [1]} if kind.startswith(("int", "float")) else {"type": kind}
              for name, kind in source.columns.items()}
    writer = FileWriter(file_name=file_name, shard_num=1, overwrite=True)
    writer.add_schema(schema, "joined data")
    writer.write_raw_data([source.row(key) for key in keys])
    writer.commit()


def load_mindrecord(input_dir: str, seed: int = 0, **kwargs: Any) -> Any:
    """The exported files of a folder as a MindDataset; the same seed gives both parties the same order."""
    from mindspore import dataset

    dataset.config.set_seed(seed)
    files = sorted(os.path.join(input_dir, name) for name in os.listdir(input_dir) if not name.endswith(".db"))
    return dataset.MindDataset(files, **kwargs)
