"""Rows of MindRecord files for the pipeline.

    rows = open(files, columns)      # one path (all its shards) or a list of paths (exactly those)
    len(rows)                        # number of rows
    rows.columns                     # names, in the order of the arrays: as asked for, else sorted
    rows.row(i)                      # {column: array}; any order, any thread
    rows.gather(indices)             # {column: array with one more dimension in front}, or None when shapes differ
    rows.column_types                # {column: (dtype, shape)}; shape None or with -1 where rows differ
    rows.class_column(name)          # values of a scalar column of all rows, for samplers
    rows.shard_sizes                 # rows in each file
    rows.close()                     # and `with open(...) as rows:`

Arrays are fresh and writable: numbers are 0-d, strings 0-d `<U`, `bytes` fields 1-element `S` arrays (as the official
reader gives them; `row(i)["data"].tobytes()` are the bytes), array fields have their schema's shape. The object is safe
to share between threads and pickles by opening the files again. RuntimeError names the file and row that is damaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.mindrecord import msgpack
from mindspore.mindrecord.layout import LENGTH
from mindspore.mindrecord.shard_reader import RowReader, naming

Files = str | Sequence[str]


def open(files: Files, columns: Sequence[str] | None = None) -> MindRecordRows:
    """Open MindRecord files."""
    return MindRecordRows(files, columns)


class MindRecordRows(RowReader):
    """See the head of this module."""

    @property
    def column_types(self) -> dict[str, tuple[np.dtype, list[int] | None]]:
        return {name: self._column_type(name) for name in self.columns}

    def _column_type(self, name: str) -> tuple[np.dtype, list[int] | None]:
        kind = self.schema.content[name]
        if kind["type"] == "string":
            return np.dtype("U"), []
        if kind["type"] == "bytes":
            return np.dtype("S"), [1]
        return np.dtype(kind["type"]), list(kind.get("shape", []))

    def row(self, number: int) -> dict[str, np.ndarray]:
        """One row."""
        shard, place = self.locate(number)
        with naming(shard, place):
            found = self._scalar_arrays(number, shard, place)
            if self._blob_columns:
                parts = self.schema.split_blob(shard.part(place, blob=True))
                for name in self._blob_columns:
                    found[name] = self._blob_array(name, parts[name])
        return {name: found[name] for name in self.columns}

    def _scalar_arrays(self, number: int, shard: Any, place: int) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        stored: dict[str, Any] | None = None
        for name in self._raw_columns:
            column = self.scalar_column(name)
            if column is not None:
                found[name] = np.array(column[number])
                continue
            if stored is None:
                stored = msgpack.unpack_map(bytes(shard.part(place, blob=False)))
            found[name] = self._scalar_array(name, stored[name])
        return found

    def _scalar_array(self, name: str, value: Any) -> np.ndarray:
        kind = self.schema.content[name]["type"]
        return np.array(str(value)) if kind == "string" else np.array(value, kind)

    def _blob_array(self, name: str, part: memoryview) -> np.ndarray:
        if "shape" in self.schema.content[name]:
            return self.schema.decode_array(name, part, self.header.packs_integers)
        if not len(part):
            return np.array([b""])
        return np.frombuffer(part, f"S{len(part)}").copy()

    def class_column(self, name: str) -> np.ndarray:
        """The values of a scalar column, one for each row."""
        if name not in self.schema.raw_fields:
            raise RuntimeError(
                f"Invalid data, 'class_column': {name} can not found in fields of mindrecord files. Please check "
                "'class_column' in PKSampler: it must be a scalar column."
            )
        column = self.scalar_column(name)
        if column is not None:
            return column
        if name in self.header.index_fields:
            return np.array([value for shard in self.shards for value in shard.index.column(name)])
        rows = MindRecordRows([shard.path for shard in self.shards], [name])
        with rows:
            return np.array([rows.row(number)[name] for number in range(len(rows))])

    def gather(self, indices: Sequence[int] | np.ndarray) -> dict[str, np.ndarray] | None:
        """Many rows at once, or None when their shapes differ (then take them one by one)."""
        numbers = np.asarray(indices, np.int64)
        if numbers.size == 0 or numbers.min() < 0 or numbers.max() >= len(self):
            raise IndexError(f"rows {numbers.tolist()[:8]}... of {len(self)}")
        found = {}
        single = self._single_blob()
        if single is not None:
            block = self._gather_blob(single, numbers)
            if block is None:
                return None
            found[single] = block
        left = []
        for name in self.columns:
            column = self.scalar_column(name) if name in self._raw_columns else None
            if column is not None:
                found[name] = column[numbers]
            elif name not in found:
                left.append(name)
        if left:
            rows = [self.row(number) for number in numbers.tolist()]
            for name in left:
                if len({row[name].shape for row in rows}) > 1:
                    return None
                found[name] = np.stack([row[name] for row in rows])
        return {name: found[name] for name in self.columns}

    def _single_blob(self) -> str | None:
        """The column that is the whole blob of a row, byte for byte."""
        if len(self.schema.blob_fields) != 1 or not self._blob_columns:
            return None
        name = self._blob_columns[0]
        return None if self.header.packs_integers else name

    def _gather_blob(self, name: str, numbers: np.ndarray) -> np.ndarray | None:
        kind = self.schema.content[name]
        owner = np.searchsorted(self._starts, numbers, "right") - 1
        block: np.ndarray | None = None
        for which in np.unique(owner).tolist():
            shard, chosen = self.shards[which], np.flatnonzero(owner == which)
            spans = shard.places[numbers[chosen] - self._starts[which], 2:]
            width = int(spans[0, 1] - spans[0, 0])
            if (spans[:, 1] - spans[:, 0] != width).any() or width == LENGTH.size:
                return None
            if block is None:
                block = np.empty((len(numbers), width - LENGTH.size), np.uint8)
            if block.shape[1] != width - LENGTH.size:
                return None
            windows = shard.bytes.gather(spans[:, 0], width)
            lengths = windows[:, : LENGTH.size].copy().view("<u8")
            if (lengths != width - LENGTH.size).any():
                return None  # damaged: reading row by row names the place
            block[chosen] = windows[:, LENGTH.size :]
        assert block is not None
        if kind["type"] == "bytes":
            return block.view(f"S{block.shape[1]}")
        return block.view(kind["type"]).reshape(len(numbers), *kind["shape"])
