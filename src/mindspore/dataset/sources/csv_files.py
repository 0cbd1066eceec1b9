"""Comma-separated values, and the data sets that come as such files."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import check_num_parallel_workers, check_type
from mindspore.dataset.api.operations import UnionBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.samplers.files import FileSampler
from mindspore.dataset.sources.lines import FolderDataset, check_exist
from mindspore.dataset.sources.records import FileDataset, find_files

Cells = list[str] | csv.Error


class CsvReader(Reader):
    """Rows of CSV files. A quoted field may hold line ends, so rows are found with a real parser, once."""

    def __init__(self, files: Sequence[str], delimiter: str, defaults: Sequence | None, columns: Sequence[str] | None):
        header = columns is None
        repeated = [name for i, name in enumerate(columns or ()) if name in (columns or ())[:i]]
        if repeated:
            raise RuntimeError(
                f"Invalid parameter, duplicate column names are not allowed: {repeated[0]} stands twice in column_names."
            )
        self._tables = [read_csv(path, delimiter, header) for path in files]
        self.columns = list(columns) if columns is not None else self._tables[0][0]
        self.row_files = [(path, len(rows)) for path, (_, rows) in zip(files, self._tables)]
        self._convert = converters(defaults, len(self.columns))
        self._starts = np.cumsum([0, *(len(rows) for _, rows in self._tables)])

    def __len__(self):
        return int(self._starts[-1])

    def row(self, index):
        which = int(np.searchsorted(self._starts, index, side="right")) - 1
        line, cells = self._tables[which][1][index - int(self._starts[which])]
        if isinstance(cells, csv.Error):
            raise RuntimeError(f"Invalid csv, failed to parse csv file: {self.path(index)} at line {line}: {cells}.")
        if len(cells) != len(self.columns):
            raise RuntimeError(
                f"Invalid csv, csv file: {self.path(index)} parse failed at line {line}. Number of fields: "
                f"{len(cells)}, number of columns: {len(self.columns)}."
            )
        try:
            return tuple(convert(cell) for convert, cell in zip(self._convert, cells))
        except ValueError as error:
            raise RuntimeError(
                f"Invalid csv, csv file: {self.path(index)} parse failed at line {line}, type does not match: {error}."
            ) from None


def read_csv(path: str, delimiter: str, header: bool) -> tuple[list[str], list[tuple[int, Cells]]]:
    """Names of the header (if any) and the rows with their line numbers.

    What cannot be parsed stands as an error in the place of its row, and is raised when that row is asked for.
    """
    with open(path, encoding="utf-8", newline="") as stream:
        text = stream.read()
    parser = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    rows: list[tuple[int, Cells]] = []
    try:
        rows.extend((parser.line_num, cells) for cells in parser if cells)
    except csv.Error as error:
        rows.append((parser.line_num, error))
    names = rows.pop(0)[1] if header and rows else []
    if isinstance(names, csv.Error):
        raise RuntimeError(f"Invalid csv, failed to parse csv file: {path} at line {parser.line_num}: {names}.")
    return names, rows


def converters(defaults: Sequence | None, count: int) -> list:
    """For each column a function from text to array; an empty cell takes the column's default."""
    if defaults is None:
        return [np.array] * count
    return [functools.partial(_convert, default) for default in defaults]


def _convert(default: Any, cell: str) -> np.ndarray:
    if isinstance(default, str):
        return np.array(cell if cell else default)
    if isinstance(default, float):
        return np.array(float(cell) if cell else default, dtype=np.float32)
    number = int(cell) if cell else default
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{cell} is beyond the range of int32")
    return np.array(number, dtype=np.int32)


class CSVDataset(FileDataset, UnionBaseDataset):
    """Rows of CSV files; without `column_names` the first line names the columns.

    ds.CSVDataset(["a.csv"], column_defaults=["", 0, 0.0], column_names=["name", "count", "mean"])

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("rows.csv").write_text("1,2\\n3,4\\n")
        >>> data = ds.CSVDataset("rows.csv", column_defaults=[0, 0], column_names=["x", "y"], shuffle=False)
        >>> [int(y) for _, y in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [2, 4]
    """

    def __init__(self, dataset_files, field_delim=",", column_defaults=None, column_names=None, num_samples=None,
                 num_parallel_workers=None, shuffle=True, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_num_parallel_workers(num_parallel_workers)
        field_delim = "," if field_delim is None else field_delim
        check_type(field_delim, str, "field_delim")
        if field_delim in ('"', "\r", "\n") or len(field_delim) != 1:
            raise ValueError("field_delim is invalid: it must be one character, and no quote or line end.")
        check_defaults(column_defaults)
        if column_names is not None:
            check_type(column_names, list, "column_names")
            for name in column_names:
                check_type(name, str, "column_names")
            if column_defaults is not None and len(column_defaults) != len(set(column_names)):
                raise ValueError("column_names and column_defaults must be of the same length.")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_files = find_files(dataset_files)
        opener = functools.partial(CsvReader, self.dataset_files, field_delim, column_defaults, column_names)
        params = {
            "column_names": column_names or [],
            "dataset_files": self.dataset_files,
            "field_delim": field_delim,
        }
        sampler = FileSampler(shuffle, num_samples, num_shards, shard_id)
        self._files("CSVDataset", opener, sampler, params)


def check_defaults(defaults: Any) -> None:
    if defaults is None:
        return
    if not isinstance(defaults, list):
        raise TypeError("column_defaults should be type of list.")
    for value in defaults:
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise TypeError("column type in column_defaults is invalid: use str, int or float.")


class _CsvFolder(FolderDataset):
    usages = {"train": "train.csv", "test": "test.csv"}
    column_names: list[str] = []

    @classmethod
    def open(cls, files, usage):
        check_exist(files, cls.__name__)
        return CsvReader(files, ",", None, cls.column_names)


class AGNewsDataset(_CsvFolder):
    """News articles: columns "index", "title", "description"."""

    column_names = ["index", "title", "description"]


class AmazonReviewDataset(_CsvFolder):
    """Product reviews: columns "label", "title", "content"."""

    column_names = ["label", "title", "content"]


class DBpediaDataset(_CsvFolder):
    """Encyclopaedia entries: columns "class", "title", "content"."""

    column_names = ["class", "title", "content"]


class _ShuffleBeforeShards(_CsvFolder):
    """Data sets whose `shuffle` stands before the shard arguments in their signature."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, shuffle=True, num_shards=None, shard_id=None,
                 num_parallel_workers=None, cache=None):  # fmt: skip
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class SogouNewsDataset(_ShuffleBeforeShards):
    """News articles: columns "index", "title", "content"."""

    column_names = ["index", "title", "content"]


class YelpReviewDataset(_ShuffleBeforeShards):
    """Restaurant reviews: columns "label", "text"."""

    column_names = ["label", "text"]


class YahooAnswersDataset(_CsvFolder):
    """Questions and answers: columns "class", "title", "content", "answer"."""

    column_names = ["class", "title", "content", "answer"]


class SST2Dataset(FolderDataset):
    """Film reviews: columns "sentence" and, except for the test part, "label"."""

    usages = {"train": "train.tsv", "test": "test.tsv", "dev": "dev.tsv"}

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=True,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        super().__init__(
            dataset_dir, usage or "train", num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    @classmethod
    def open(cls, files, usage):
        check_exist(files, cls.__name__)
        reader = CsvReader(files, "\t", None, None)
        return _SentenceReader(reader) if usage == "test" else reader


class _SentenceReader(Reader):
    """The test part numbers its sentences; the numbers are left out."""

    columns = ["sentence"]

    def __init__(self, table: CsvReader):
        self._table, self.row_files = table, table.row_files

    def __len__(self):
        return len(self._table)

    def row(self, index):
        return self._table.row(index)[1:]
