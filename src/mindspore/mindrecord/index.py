"""The SQLite index beside each shard ("<shard>.db").

Table INDEXES has one line per row: its number, where its raw and blob parts lie (page, start, end), its row group, and
for each index field a value column "<field>_0" after a counter column "INC_<n>". Table SHARD_NAME holds the shard's
name.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .schema import Schema

_PLACE_COLUMNS = (
    "ROW_ID",
    "PAGE_ID_RAW",
    "PAGE_OFFSET_RAW",
    "PAGE_OFFSET_RAW_END",
    "ROW_GROUP_ID",
    "PAGE_ID_BLOB",
    "PAGE_OFFSET_BLOB",
    "PAGE_OFFSET_BLOB_END",
)
_SQL_TYPES = {"string": "TEXT", "int32": "INTEGER", "int64": "INTEGER", "float32": "REAL", "float64": "REAL"}
_CHUNK = 1 << 16
# What a query on a damaged file can raise; SQLite's own messages may quote bytes that are no text.
_DAMAGE = (sqlite3.Error, ValueError, TypeError, OverflowError, MemoryError)


def column_name(field: str) -> str:
    return f"{field}_0"


def check_index_names(fields: Sequence[str]) -> None:
    """RuntimeError when SQLite could not tell the columns of these fields apart."""
    taken = {name.lower() for name in _PLACE_COLUMNS} | {f"inc_{n}" for n in range(len(fields))}
    for field in fields:
        if field[0].isdigit():
            raise RuntimeError(f"Index field: {field} can't start with a number.")
        column = column_name(field).lower()
        if column in taken:
            raise RuntimeError(f"Index field: {field} clashes with another column of the index; rename it.")
        taken.add(column)


def create(path: str, shard_name: str, schema: Schema, fields: Sequence[str]) -> None:
    """An empty index in a new file."""
    columns = [f"{name} INT NOT NULL" for name in _PLACE_COLUMNS]
    for number, field in enumerate(fields):
        columns += [f"INC_{number} INT", f"{column_name(field)} {_SQL_TYPES[schema.content[field]['type']]}"]
    key = ",".join(["ROW_ID", *(f"INC_{number}" for number in range(len(fields)))])
    with _writing(path) as db:
        db.execute(f"CREATE TABLE INDEXES({', '.join(columns)}, PRIMARY KEY({key}));")
        db.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL);")
        db.execute("INSERT INTO SHARD_NAME (NAME) VALUES (?);", (shard_name,))


def insert(path: str, rows: Sequence[Sequence[Any]]) -> None:
    """Add lines: the eight place columns, then a 0 and a value for each index field."""
    with _writing(path) as db:
        db.executemany(f"INSERT INTO INDEXES VALUES ({','.join('?' * len(rows[0]))});", rows)


@contextlib.contextmanager
def _writing(path: str) -> Iterator[sqlite3.Connection]:
    # The file gets its final name only when it is whole, so it needs no journal.
    db = sqlite3.connect(path)
    try:
        db.execute("PRAGMA journal_mode=OFF;")
        db.execute("PRAGMA synchronous=OFF;")
        with db:
            yield db
    finally:
        db.close()


class IndexReader:
    """Queries on one shard's index. `image` is its content when it has no readable file (an encrypted one).

    Each query opens the index and closes it again: a dataset may have a thousand shards.
    """

    def __init__(self, path: str, shard_path: str, image: bytes | None = None):
        self._path = path
        self._image = image
        query = "SELECT NAME from SHARD_NAME;"
        with self._connected() as db:
            try:
                names = db.execute(query).fetchall()
                kinds = dict(db.execute("SELECT name, type FROM sqlite_master;").fetchall())
            except _DAMAGE as error:
                raise RuntimeError(
                    f"Failed to execute the sql [ {query} ] while verifying meta file, {error}.\n"
                    f"Please check the meta file: {path}"
                ) from None
        if not names or names[0][0] != os.path.basename(shard_path):
            raise RuntimeError(
                f"Invalid file, mindrecord meta file: {path} and mindrecord file: {shard_path} can not match. "
                "Please do not rename the mindrecord file or meta file."
            )
        if kinds.get("INDEXES") != "table":
            raise RuntimeError(f"Invalid file, mindrecord meta file: {path} has no table INDEXES.")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if self._image is not None:
            db = sqlite3.connect(":memory:")
            with contextlib.suppress(sqlite3.Error):  # a broken image is reported by the first query
                db.deserialize(self._image)
        elif os.path.isfile(self._path):
            # "immutable" keeps SQLite from locking, or looking for journals on a read-only disk.
            uri = f"file:{urllib.parse.quote(os.path.abspath(self._path))}?mode=ro&immutable=1"
            db = sqlite3.connect(uri, uri=True)
        else:
            raise RuntimeError(
                "Invalid file, failed to open mindrecord meta file. Please check whether the meta file: "
                f"{self._path} exists and do not rename the mindrecord file and meta file."
            )
        try:
            yield db
        finally:
            db.close()

    def places(self) -> np.ndarray:
        """int64 (rows, 6): raw page, start, end, blob page, start, end; in the order of row numbers."""
        query = (
            "SELECT ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, "
            "PAGE_ID_BLOB, PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END FROM INDEXES;"
        )
        try:
            with self._connected() as db:
                table = _gather(db.execute(query))
        except _DAMAGE as error:
            raise RuntimeError(f"Invalid file, mindrecord meta file: {self._path} is damaged ({error}).") from None
        if table.size == 0:
            return np.empty((0, 6), np.int64)
        numbers = table[:, 0]
        if (np.diff(numbers) <= 0).any():
            table = table[np.argsort(numbers, kind="stable")]
        return np.ascontiguousarray(table[:, 1:])

    def column(self, field: str) -> list[Any]:
        """All values of an index field, in the order of row numbers."""
        return [value for (value,) in self._query(f"SELECT {column_name(field)} FROM INDEXES ORDER BY ROW_ID;")]

    def fields(self) -> list[str]:
        """The index fields, without their suffix."""
        names = [line[1] for line in self._query("PRAGMA table_info(INDEXES);")]
        return [name[: name.rfind("_")] for name in names[len(_PLACE_COLUMNS) + 1 :: 2]]

    def groups(self, field: str) -> list[tuple[Any, int]]:
        """Each value of an index field as text, and how many rows have it."""
        column = column_name(field)
        return self._query(f"SELECT CAST({column} AS TEXT), COUNT({column}) FROM INDEXES GROUP BY {column};")

    def rows_with(self, field: str, value: str) -> list[int]:
        """Positions of the rows whose index field, as text, is `value`."""
        found = self._query(f"SELECT CAST({column_name(field)} AS TEXT) FROM INDEXES ORDER BY ROW_ID;")
        return [position for position, (text,) in enumerate(found) if text == value]

    def _query(self, sql: str) -> list[Any]:
        try:
            with self._connected() as db:
                return db.execute(sql).fetchall()
        except _DAMAGE as error:
            raise RuntimeError(f"Failed to execute sql [ {sql} ] on meta file {self._path}, {error}.") from None


def _gather(cursor: sqlite3.Cursor) -> np.ndarray:
    parts = []
    while chunk := cursor.fetchmany(_CHUNK):
        parts.append(np.array(chunk, np.int64))
    return np.concatenate(parts) if parts else np.empty((0, 7), np.int64)
