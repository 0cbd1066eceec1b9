"""Nodes without children: the sources of rows.

A source is described by a reader: an object that opens nothing until it is asked. `Reader` gives rows by number,
`StreamReader` gives them in the order in which they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mindspore.dataset.ir.node import Count, Node
from mindspore.dataset.samplers import Sampler

Row = tuple


class Reader:
    """Rows by number. A reader is stateless after `__init__`: threads and processes share it."""

    columns: list[str] = []
    releases_gil = True  # reading files, decoding: threads help
    padded = False  # holds copies of one row, which the shards must share evenly
    samplers_decide = False  # a user's sampler without `num_samples` may give more rows than there are
    row_files: Sequence[tuple[str, int]] = ()  # files that hold rows one after the other, and how many

    def __len__(self) -> int:
        raise NotImplementedError

    def row(self, index: int) -> Row:
        raise NotImplementedError

    def gather(self, indices: np.ndarray) -> Row | None:
        """The rows as one array for each column, where that is cheaper than row by row; None where it is not."""
        return None

    def can_gather(self) -> bool:
        return type(self).gather is not Reader.gather

    def row_bytes(self) -> int | None:
        """Bytes of a row, for sources that hold all rows in memory: small ones need no thread to run ahead."""
        return None

    def labels(self, column: str = "label") -> np.ndarray:
        """The class of every row, for samplers that need it."""
        raise RuntimeError(f"{type(self).__name__} has no class labels.")

    def file_sizes(self) -> list[int]:
        """Rows in each file, for sources whose rows stand in files one after the other."""
        return [rows for _, rows in self.row_files] or [len(self)]

    def num_classes(self) -> int | None:
        return None

    def class_indexing(self) -> dict | list | None:
        return None

    def path(self, index: int) -> str | None:
        """The file a row comes from, for error messages."""
        for path, rows in self.row_files:
            if index < rows:
                return path
            index -= rows
        return None


class StreamReader:
    """Rows in the order in which they come."""

    columns: list[str] | None = None

    def rows(self, epoch: int, rng: np.random.Generator) -> Iterator[Row]:
        """The rows of one epoch; `rng` orders files and rows where the source shuffles."""
        raise NotImplementedError

    def size(self) -> int | None:
        return None


class MappableNode(Node):
    """A source of random access, seen through a sampler."""

    def __init__(
        self,
        op_type: str,
        open_reader: Callable[[], Reader],
        sampler: Sampler,
        params: dict[str, Any],
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        max_rowsize: int | None = None,
    ):
        super().__init__(num_parallel_workers=num_parallel_workers)
        self.op_type = op_type
        self.open_reader = open_reader
        self.sampler = sampler
        self.own_params = params
        self.python_multiprocessing = python_multiprocessing
        self.max_rowsize = max_rowsize
        self.error_samples = False

    @cached_property
    def reader(self) -> Reader:
        try:
            return self.open_reader()
        except (LookupError, AttributeError, OverflowError) as error:  # something else stands where a number, a field … belongs
            raise RuntimeError(
                f"Invalid file, the files of {self.op_type} cannot be read: {type(error).__name__}: {error}."
            ) from error

    def columns(self) -> list[str]:
        return list(self.reader.columns)

    def size(self, count: Count = None) -> int | None:
        return self.sampler.count_rows(len(self.reader), self.reader)

    def batch_size(self) -> int | None:
        return 1

    def num_classes(self) -> int | None:
        return self.reader.num_classes()

    def class_indexing(self) -> dict | list | None:
        return self.reader.class_indexing()

    def params(self) -> dict[str, Any]:
        return {**self.worker_params(), **self.own_params, "sampler": self.sampler.to_json()}


class StreamNode(Node):
    """A source that can only be read from the start."""

    def __init__(
        self,
        op_type: str,
        open_reader: Callable[[], StreamReader],
        params: dict[str, Any],
        num_parallel_workers: int | None = None,
    ):
        super().__init__(num_parallel_workers=num_parallel_workers)
        self.op_type = op_type
        self.open_reader = open_reader
        self.own_params = params

    @cached_property
    def reader(self) -> StreamReader:
        return self.open_reader()

    def columns(self) -> list[str] | None:
        return None if self.reader.columns is None else list(self.reader.columns)

    def size(self, count: Count = None) -> int | None:
        size = self.reader.size()
        return count(self) if size is None and count else size

    def batch_size(self) -> int | None:
        return 1

    def num_classes(self) -> int | None:
        count = getattr(self.reader, "num_classes", None)
        return count() if count else None

    def params(self) -> dict[str, Any]:
        return {**self.worker_params(), **self.own_params}
