"""A table whose cells are values or image files, the base of most vision sources."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import check_bool, check_decrypt, check_dir
from mindspore.dataset.api.operations import VisionBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.sources.images import decode_rgb
from mindspore.dataset.sources.source import MappableDataset, read_image


class ImageFile(str):
    """A cell that is read when its row is asked for."""


class ImageTable(Reader):
    """Rows of cells; `ImageFile` cells give bytes, or pixels with `decode`."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[tuple],
        decode: bool = False,
        classes: int | None = None,
        indexing: dict | None = None,
        decrypt: Callable[[str], bytes] | None = None,
    ):
        self.columns, self._table, self._decode = list(columns), rows, decode
        self._class_count, self._indexing, self._decrypt = classes, indexing, decrypt

    def __len__(self):
        return len(self._table)

    def row(self, index):
        return tuple(self._value(cell) for cell in self._table[index])

    def _value(self, cell: Any) -> np.ndarray:
        if not isinstance(cell, ImageFile):
            return np.array(cell)
        if self._decrypt is None:
            return read_image(cell, self._decode)
        data = np.frombuffer(self._decrypt(cell), dtype=np.uint8)
        return decode_rgb(data, cell) if self._decode else data

    def labels(self, column="label"):
        if column not in self.columns:
            return super().labels(column)
        place = self.columns.index(column)
        return np.array([row[place] for row in self._table])

    def num_classes(self):
        return self._class_count

    def class_indexing(self):
        return self._indexing

    def path(self, index):
        return next((str(cell) for cell in self._table[index] if isinstance(cell, ImageFile)), None)


class ArrayTable(Reader):
    """Columns that are arrays in memory; batches are gathered at once."""

    def __init__(self, columns: Sequence[str], *arrays: np.ndarray, files: Sequence[tuple[str, int]] = ()):
        self.columns, self._arrays, self.row_files = list(columns), arrays, list(files)

    def __len__(self):
        return len(self._arrays[0])

    def row(self, index):
        return tuple(np.array(array[index]) for array in self._arrays)

    def gather(self, indices):
        return tuple(array[indices] for array in self._arrays)

    def row_bytes(self):
        return sum(array.nbytes for array in self._arrays) // max(len(self), 1)

    def labels(self, column="label"):
        if column in self.columns:
            return self._arrays[self.columns.index(column)]
        numbers = [array for array in self._arrays if array.ndim == 1 and array.dtype.kind in "iu"]
        return numbers[0] if numbers else super().labels(column)


class VisionFolder(MappableDataset, VisionBaseDataset):
    """Base of vision sources made of a folder: subclasses say how to read it and which arguments are theirs."""

    op_type = ""

    def _folder(
        self,
        dataset_dir: Any,
        open_reader: Callable[..., Reader],
        arguments: dict[str, Any],
        choice: tuple,
        reader_only: dict[str, Any] | None = None,
    ) -> None:
        """`arguments` go to the reader and into the JSON; `choice` are the arguments that choose rows."""
        check_dir(dataset_dir)
        everything = {**arguments, **(reader_only or {})}
        if everything.get("decode") is not None:
            check_bool(everything["decode"], "decode")
        check_decrypt(everything.get("decrypt"))
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache = choice
        MappableDataset.__init__(self, num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir = os.fspath(dataset_dir)
        for name, value in arguments.items():
            setattr(self, name, value)
        opener = functools.partial(open_reader, self.dataset_dir, **arguments, **(reader_only or {}))
        kind = self.op_type or type(self).__name__
        self._rows(kind, opener, {"dataset_dir": self.dataset_dir, **arguments})


def no_data(kind: str, place: str) -> RuntimeError:
    return RuntimeError(
        f"Invalid data, {kind} API can't read the data file (interface mismatch or no data found). "
        f"Check file path: {place}."
    )


def need_dir(kind: str, path: str) -> str:
    if not os.path.isdir(path):
        raise RuntimeError(f"Invalid path, {kind} path: {path} is not a directory or does not exist.")
    return path


def need_file(kind: str, path: str) -> str:
    if not os.path.isfile(path):
        raise RuntimeError(f"Invalid file, {kind} file: {path} does not exist or cannot be read.")
    return path


def read_lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as stream:
        return [line.rstrip("\r\n") for line in stream]


def load_mat(path: str) -> dict:
    """A MATLAB file; needs SciPy."""
    from mindspore._base.optional import require

    return require("scipy.io", "data", "reading .mat files").loadmat(path)
