"""CSV to MindRecord."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from typing import Any

from ..filewriter import FileWriter
from ..layout import check_filename
from ..status import MSRStatus
from .converter import check_partition_number, write_rows

__all__ = ["CsvToMR"]

_MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "n/a", "<NA>", "#N/A"))
_BOOLEANS = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}


class CsvToMR:
    """Converts a CSV file whose first line names the columns.

    A column of whole numbers becomes int64, of numbers (with gaps, which become nan) float64, of true and false int32,
    and any other string.

    Args:
        source: the CSV file.
        destination: name of the MindRecord files.
        columns_list: the columns to keep; all when None.
        partition_number: number of files.

    Raises:
        ValueError: if an argument is not valid.

    Examples:
        >>> from pathlib import Path
        >>> from mindspore.mindrecord import CsvToMR, FileReader
        >>> _ = Path("sales.csv").write_text("Age,Sales\\n3,9.5\\n")
        >>> _ = CsvToMR("sales.csv", "sales.mindrecord", ["Age", "Sales"]).transform()
        >>> [int(row["Age"]) for row in FileReader("sales.mindrecord").get_next()]
        [3]
    """

    def __init__(self, source: str, destination: str, columns_list: list[str] | None = None, partition_number: int = 1):
        for name, value in (("source", source), ("destination", destination)):
            if not isinstance(value, str):
                raise ValueError(f"The parameter {name} must be str.")
            check_filename(value)
        if columns_list and not (isinstance(columns_list, list) and all(isinstance(c, str) for c in columns_list)):
            raise ValueError("The parameter columns_list must be list of str.")
        self.source = source
        self.destination = destination
        self.columns_list = columns_list
        self.partition_number = check_partition_number(partition_number)
        self.writer = FileWriter(destination, self.partition_number)

    def run(self) -> MSRStatus:
        """Convert all lines."""
        if not os.path.exists(self.source):
            raise OSError(f"Csv file {self.source} do not exist.")
        names = self._columns()
        kinds = self._kinds(names)
        schema = {name: {"type": kind} for name, kind in kinds.items()}
        return write_rows(self.writer, schema, "csv_schema", names, self._rows(kinds))

    def transform(self) -> MSRStatus:
        """Convert all lines.

        Raises:
            OSError: if the CSV file is not there.
            RuntimeError: if a column is not there.
            ValueError: if a column's name is a number.
        """
        return self.run()

    def _lines(self) -> Iterator[dict[str, str]]:
        with open(self.source, newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream, restval="")
            try:
                yield from reader
            except (csv.Error, UnicodeDecodeError) as error:
                raise RuntimeError(f"{self.source} is no CSV file: line {reader.line_num}: {error}.") from None

    def _columns(self) -> list[str]:
        with open(self.source, newline="", encoding="utf-8-sig") as stream:
            header = next(csv.reader(stream), [])
        if not header:
            raise RuntimeError("Failed to generate schema from csv file.")
        for name in self.columns_list or []:
            if name not in header:
                raise RuntimeError(f"The parameter columns_list is illegal, column {name} does not exist.")
        names = self.columns_list or header
        for name in names:
            if name.isdigit():
                raise ValueError(
                    f"The first line content: {name} of the CSV file is used as a column name and does not allow "
                    "starting with a number."
                )
        return list(names)

    def _kinds(self, names: list[str]) -> dict[str, str]:
        """The type of each column: the narrowest that all of its cells have."""
        kinds: dict[str, set[str]] = {name: set() for name in names}
        for line in self._lines():
            for name, seen in kinds.items():
                seen.add(_kind(line[name]))
        return {name: _common_kind(seen) for name, seen in kinds.items()}

    def _rows(self, kinds: dict[str, str]) -> Iterator[dict[str, Any]]:
        readers = {name: _READERS[kind] for name, kind in kinds.items()}
        for line in self._lines():
            yield {name: read(line[name]) for name, read in readers.items()}


def _kind(cell: str) -> str:
    if cell in _MISSING:
        return "missing"
    if cell in _BOOLEANS:
        return "int32"
    try:
        return "int64" if -(2**63) <= int(cell) < 2**63 else "float64"
    except ValueError:
        pass
    try:
        float(cell)
    except ValueError:
        return "string"
    return "float64"


def _common_kind(seen: set[str]) -> str:
    if len(seen) == 1 and seen <= {"int32", "int64"}:
        return next(iter(seen))
    return "float64" if seen <= {"int64", "float64", "missing"} else "string"


_READERS: dict[str, Callable[[str], Any]] = {
    "int32": _BOOLEANS.__getitem__,
    "int64": int,
    "float64": lambda cell: float("nan") if cell in _MISSING else float(cell),
    "string": str,
}
