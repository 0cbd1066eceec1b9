"""Random access to the rows of MindRecord files.

`RowReader` opens the shards and keeps, for each row, where its parts lie (32 bytes a row); a row is decoded
when it is asked for. It may be used by many threads at once, and pickles by opening the files again. Every length is
checked against the file before it is used, so that a damaged file gives an error that names file and row.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from mindspore._base.file_bytes import FileBytes

from . import crypto, msgpack
from .index import IndexReader
from .layout import LENGTH, MAX_PAGE_SIZE, Header, check_exists, read_header
from .schema import Schema

# Numeric index fields are kept whole in memory up to this many rows; beyond it they are decoded from each row.
_CACHED_ROWS = 5_000_000


class Shard:
    """One open shard: its header, its bytes, and where its rows lie."""

    def __init__(self, path: str):
        check_exists(path)
        self.path = path
        with _plain(path) as stream:
            self.header = read_header(path, stream)
            self.index = IndexReader(path + ".db", path, _index_image(path))
            self.bytes = FileBytes(stream.fileno(), path)
            self.places = self._absolute(self.index.places())

    def _absolute(self, places: np.ndarray) -> np.ndarray:
        """(rows, 4): where the raw and blob parts start and end in the file, length prefix included."""
        header = self.header
        pages = np.minimum(places[:, (0, 3)], len(self.bytes))  # a damaged page number must not overflow below
        base = header.header_size + pages * header.page_size
        spans = np.stack([base[:, 0] + places[:, 1], base[:, 0] + places[:, 2]], axis=1)
        spans = np.concatenate([spans, base[:, 1:] + places[:, 4:]], axis=1)
        lengths = spans[:, 1::2] - spans[:, ::2]
        bad = (places < 0).any(axis=1) | (lengths < LENGTH.size).any(axis=1) | (lengths > MAX_PAGE_SIZE).any(axis=1)
        bad |= (places[:, (2, 5)] > header.page_size).any(axis=1)
        if bad.any():
            raise RuntimeError(f"Invalid file, the index of {self.path} is damaged at row {int(np.argmax(bad))}.")
        beyond = (spans > len(self.bytes)).any(axis=1)
        if beyond.any():
            raise RuntimeError(
                f"Invalid file, {self.path} is cut short: row {int(np.argmax(beyond))} reaches beyond its end "
                f"({len(self.bytes)} bytes)."
            )
        return spans

    def check_complete(self) -> None:
        """RuntimeError when header and index do not list the same number of rows."""
        if self.header.row_count != len(self.places):
            raise RuntimeError(
                f"Invalid file, {self.path} has {self.header.row_count} rows but its index has {len(self.places)}; "
                "write the dataset again."
            )

    def part(self, row: int, blob: bool) -> memoryview:
        """The raw or blob part of a row."""
        start, end = self.places[row, 2:].tolist() if blob else self.places[row, :2].tolist()
        data = self.bytes[start:end]
        if LENGTH.unpack_from(data)[0] != end - start - LENGTH.size:
            raise RuntimeError(f"Invalid file, row {row} of {self.path} is damaged: its length does not fit the index.")
        return memoryview(data)[LENGTH.size :]

    def close(self) -> None:
        self.bytes.close()

    def __enter__(self) -> Shard:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_shard(path: str) -> Shard:
    return Shard(path)


@contextlib.contextmanager
def _plain(path: str) -> Iterator[IO[bytes]]:
    """The file, decrypted into a nameless temporary one if it is encrypted."""
    if not crypto.is_encrypted(path):
        with open(path, "rb") as stream:
            yield stream
        return
    with tempfile.TemporaryFile() as stream:
        crypto.decrypt_file(path, stream)
        stream.flush()
        stream.seek(0)
        yield stream


def _index_image(path: str) -> bytes | None:
    """The content of an encrypted index; None for a plain one, which SQLite opens by itself."""
    if not os.path.exists(path + ".db") or not crypto.is_encrypted(path + ".db"):
        return None
    with tempfile.TemporaryFile() as stream:
        crypto.decrypt_file(path + ".db", stream)
        stream.seek(0)
        return stream.read()


def shard_paths(path: str) -> list[str]:
    """All shards of the dataset that the shard at `path` belongs to."""
    check_exists(path)
    with _plain(path) as stream:
        names = read_header(path, stream).shard_names
    return [os.path.join(os.path.dirname(path), name) for name in names]


class RowReader:
    """The rows of MindRecord files, by number.

    Args:
        files: one path, for all shards of its dataset; or a list of paths, for exactly those.
        columns: the fields to read; all when None.

    Raises:
        RuntimeError: if a file or index is missing or damaged, or a column is unknown.
    """

    def __init__(self, files: str | Sequence[str], columns: Sequence[str] | None = None):
        self._arguments = (files, columns)
        self._lock = threading.Lock()
        self._scalars: dict[str, np.ndarray | None] = {}
        with contextlib.ExitStack() as stack:
            self.shards = [stack.enter_context(open_shard(path)) for path in _wanted_paths(files)]
            self.header: Header = self.shards[0].header
            for shard in self.shards:
                if not shard.header.same_kind(self.header):
                    raise RuntimeError(
                        f"Invalid file, the metadata of mindrecord file: {shard.path} is different from others, please "
                        "make sure all the mindrecord files generated by the same script."
                    )
            self.schema: Schema = self.header.schema
            self.columns = self._checked_columns(columns)
            self._resources = stack.pop_all()
        self._starts = np.cumsum([0, *(len(shard.places) for shard in self.shards)])
        self._raw_columns = [name for name in self.columns if name not in self.schema.blob_fields]
        self._blob_columns = [name for name in self.columns if name in self.schema.blob_fields]

    def _checked_columns(self, columns: Sequence[str] | None) -> list[str]:
        if not columns:
            return list(self.schema.content)
        for name in columns:
            if name not in self.schema.content:
                raise RuntimeError(
                    f"Invalid data, column name: {name} can not found in schema. Please check the 'column_list'. "
                    f"The columns are: {', '.join(self.schema.content)}."
                )
        return list(columns)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def paths(self) -> list[str]:
        """The files."""
        return [shard.path for shard in self.shards]

    @property
    def shard_sizes(self) -> list[int]:
        """Number of rows in each file."""
        return np.diff(self._starts).tolist()

    def close(self) -> None:
        self._resources.close()

    def __enter__(self) -> RowReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self):
        return type(self), self._arguments

    def locate(self, number: int) -> tuple[Shard, int]:
        """The shard of a row, and its number there."""
        if not 0 <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        if len(self.shards) == 1:
            return self.shards[0], number
        which = int(np.searchsorted(self._starts, number, "right")) - 1
        return self.shards[which], number - int(self._starts[which])

    def values(self, number: int) -> dict[str, Any]:
        """A row as Python values: numbers, strings, bytes, and arrays for array fields."""
        shard, row = self.locate(number)
        found: dict[str, Any] = {}
        with naming(shard, row):
            if self._raw_columns:
                stored = msgpack.unpack_map(bytes(shard.part(row, blob=False)))
                for name in self._raw_columns:
                    found[name] = stored[name]
            if self._blob_columns:
                parts = self.schema.split_blob(shard.part(row, blob=True))
                packed = self.header.packs_integers
                for name in self._blob_columns:
                    if "shape" in self.schema.content[name]:
                        found[name] = self.schema.decode_array(name, parts[name], packed)
                    else:
                        found[name] = bytes(parts[name])
        return found

    def scalar_column(self, name: str) -> np.ndarray | None:
        """A numeric index field of all rows, from the index; None when it has to be decoded row by row."""
        if name not in self._scalars:
            with self._lock:
                if name not in self._scalars:
                    self._scalars[name] = self._read_scalar_column(name)
        return self._scalars[name]

    def _read_scalar_column(self, name: str) -> np.ndarray | None:
        kind = self.schema.content[name]["type"]
        if kind == "string" or name not in self.header.index_fields or len(self) > _CACHED_ROWS:
            return None
        try:
            with np.errstate(over="ignore"):  # a double that no float holds is inf, as in the row itself
                parts = [np.array(shard.index.column(name), np.dtype(kind)) for shard in self.shards]
        except (ValueError, TypeError, OverflowError) as error:
            raise RuntimeError(f"Invalid file, the index of column '{name}' is damaged: {error}.") from None
        return np.concatenate(parts)


@contextlib.contextmanager
def naming(shard: Shard, row: int) -> Iterator[None]:
    """Say in which file and row a value is damaged."""
    try:
        yield
    except (ValueError, KeyError, OverflowError) as error:
        reason = f"field {error} is missing" if isinstance(error, KeyError) else error
        raise RuntimeError(f"Invalid file, row {row} of {shard.path} is damaged: {reason}.") from None


def _wanted_paths(files: str | Sequence[str]) -> list[str]:
    if isinstance(files, str):
        return shard_paths(files)
    if not files:
        raise RuntimeError("no MindRecord files are given")
    return list(files)
