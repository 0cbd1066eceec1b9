"""The index: one SQLite file that any number of processes read and extend at once.

    file    an event file and how far it has been read
    part    up to `_PART` points of one tag in one file, as columns; clustered by tag, so a chart of many runs is one scan
    series  a line per tag and file: how many points, the last one, the range
    thing   what is no number (images, histograms, graphs, …): where its bytes are in the event file

A reader of event files may be killed, or two may read the same file. So the points and the new position of the file are
committed in one transaction, and only if the position still is where the reader started (`extend`): each point is stored
once or not at all, without locks between processes. The index can be deleted at any time; the event files are the truth.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mindinsight.events.bulk import Batch, Columns
from mindinsight.index.columns import decode, encode, joined

_VERSION = 4
_PART = 4096
_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, created REAL, updated REAL, revision INTEGER);
CREATE INDEX IF NOT EXISTS run_by_revision ON run (revision);
CREATE TABLE IF NOT EXISTS tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL, inode INTEGER, position INTEGER NOT NULL, size INTEGER,
    modified REAL, damaged INTEGER NOT NULL DEFAULT 0, damage TEXT NOT NULL DEFAULT '', version TEXT NOT NULL DEFAULT '',
    UNIQUE (run, name));
CREATE TABLE IF NOT EXISTS part (
    tag INTEGER, run INTEGER, file INTEGER, number INTEGER, count INTEGER, data BLOB,
    PRIMARY KEY (tag, run, file, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS series (
    run INTEGER, tag INTEGER, file INTEGER, count INTEGER, first_step INTEGER, last_step INTEGER, first_time REAL,
    last_time REAL, last_value REAL, low REAL, high REAL, PRIMARY KEY (run, tag, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS thing (
    id INTEGER PRIMARY KEY, run INTEGER, kind INTEGER, tag INTEGER, step INTEGER, wall_time REAL, file INTEGER,
    place INTEGER, length INTEGER);
CREATE INDEX IF NOT EXISTS thing_by_run ON thing (run, kind, tag, step);
CREATE INDEX IF NOT EXISTS thing_by_file ON thing (file);
CREATE TABLE IF NOT EXISTS note (run TEXT PRIMARY KEY, text TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '');
"""
_TABLES = ("run", "tag", "file", "part", "series", "thing")


class IndexFault(RuntimeError):
    """The index cannot be used; the message says what to do."""


class FileState(NamedTuple):
    """How far a file has been read."""

    id: int
    run: int
    name: str
    inode: int
    position: int
    size: int


class Series(NamedTuple):
    """The points of a tag in a run, in a line."""

    run: int
    tag: str
    points: int
    first_step: int
    last_step: int
    first_time: float
    last_time: float
    last_value: float | None
    low: float | None
    high: float | None


class Thing(NamedTuple):
    """What is no number, and where its bytes are."""

    id: int
    tag: str
    step: int
    wall_time: float
    file: str
    place: int
    length: int


class Run(NamedTuple):
    """A folder with event files."""

    id: int
    name: str
    created: float
    updated: float
    revision: int


class Store:
    """The index in `path`. One connection per thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._local = threading.local()
        self._prepare()

    def _prepare(self) -> None:
        try:
            found = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if found != _VERSION:
                with self.transaction() as db:
                    for table in _TABLES if found else ():
                        db.execute(f"DROP TABLE IF EXISTS {table}")
                    for statement in _SCHEMA.split(";"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.DatabaseError as error:
            raise IndexFault(f"The index {self.path} cannot be read ({error}); delete it, it will be made anew.") from None

    @property
    def _connection(self) -> sqlite3.Connection:
        db = getattr(self._local, "db", None)
        if db is None:
            db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA cache_size=-2048")
            db.execute("PRAGMA journal_size_limit=67108864")
            self._local.db = db
        return db

    def close(self) -> None:
        """Close this thread's connection."""
        db = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            self._local.db = None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, against other writers too."""
        db = self._connection
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk has ended it already
                db.execute("ROLLBACK")
            raise

    def _rows(self, query: str, arguments: Sequence[Any] = ()) -> list[Any]:
        return self._connection.execute(query, arguments).fetchall()

    # -----------------------------------------------------------------------------------------------------------------
    # Files

    def files(self) -> dict[tuple[str, str], FileState]:
        """All files known, by run and name."""
        rows = self._rows("SELECT f.id, f.run, f.name, f.inode, f.position, f.size, r.name FROM file f JOIN run r ON r.id = f.run")
        return {(row[6], row[2]): FileState(*row[:6]) for row in rows}

    def file(self, run: str, name: str) -> FileState | None:
        """One file."""
        rows = self._rows("SELECT f.id, f.run, f.name, f.inode, f.position, f.size FROM file f JOIN run r ON r.id = f.run "
                          "WHERE r.name = ? AND f.name = ?", (run, name))  # fmt: skip
        return FileState(*rows[0]) if rows else None

    def add_files(self, found: Iterable[tuple[str, str, os.stat_result]]) -> None:
        """Note files, whose reading begins at their beginning."""
        with self.transaction() as db:
            for run, name, stat in found:
                db.execute("INSERT OR IGNORE INTO run (name, created, updated, revision) VALUES (?, ?, ?, ?)",
                           (run, stat.st_ctime, stat.st_mtime, self._next_revision(db)))  # fmt: skip
                db.execute("INSERT OR IGNORE INTO file (run, name, inode, position, size, modified) "
                           "SELECT id, ?, ?, 0, ?, ? FROM run WHERE name = ?",
                           (name, stat.st_ino, stat.st_size, stat.st_mtime, run))  # fmt: skip

    def forget(self, files: Iterable[FileState]) -> None:
        """Drop what files said that are gone, or are others now; runs without files go too."""
        with self.transaction() as db:
            for file in files:
                tags = db.execute("SELECT tag FROM series WHERE run = ? AND file = ?", (file.run, file.id)).fetchall()
                for (tag,) in tags:
                    db.execute("DELETE FROM part WHERE tag = ? AND run = ? AND file = ?", (tag, file.run, file.id))
                db.execute("DELETE FROM series WHERE run = ? AND file = ?", (file.run, file.id))
                db.execute("DELETE FROM thing WHERE file = ?", (file.id,))
                db.execute("DELETE FROM file WHERE id = ?", (file.id,))
                db.execute("UPDATE run SET revision = ? WHERE id = ?", (self._next_revision(db), file.run))
            db.execute("DELETE FROM run WHERE id NOT IN (SELECT run FROM file)")

    @staticmethod
    def _next_revision(db: sqlite3.Connection) -> int:
        return int(db.execute("SELECT COALESCE(MAX(revision), 0) + 1 FROM run").fetchone()[0])

    def extend(self, work: list[tuple[FileState, os.stat_result, list[Batch], int, str]]) -> None:
        """Add what was read of files from their known positions up to new ones; files that others extended are left alone."""
        with self.transaction() as db:
            for file, stat, batches, position, damage in work:
                row = db.execute("SELECT position FROM file WHERE id = ?", (file.id,)).fetchone()
                if row is None or row[0] != file.position:
                    continue
                for batch in batches:
                    for tag, columns in batch.series.items():
                        _add_points(db, file, self._tag(db, tag), columns)
                    db.executemany(
                        "INSERT INTO thing (run, kind, tag, step, wall_time, file, place, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        [(file.run, t.kind, self._tag(db, t.tag), t.step, t.wall_time, file.id, t.offset, t.length)
                         for t in batch.things])  # fmt: skip
                db.execute(
                    "UPDATE file SET position = ?, size = ?, modified = ?, damaged = damaged + ?, "
                    "damage = CASE WHEN damage = '' THEN ? ELSE damage END, version = CASE WHEN ? = '' THEN version ELSE ? END "
                    "WHERE id = ?",
                    (position, stat.st_size, stat.st_mtime, sum(b.damaged for b in batches), damage, batches[-1].version,
                     batches[-1].version, file.id))  # fmt: skip
                db.execute("UPDATE run SET updated = MAX(updated, ?), revision = ? WHERE id = ?",
                           (stat.st_mtime, self._next_revision(db), file.run))  # fmt: skip

    @staticmethod
    def _tag(db: sqlite3.Connection, name: str) -> int:
        row = db.execute("SELECT id FROM tag WHERE name = ?", (name,)).fetchone()
        if row is None:
            return int(db.execute("INSERT INTO tag (name) VALUES (?)", (name,)).lastrowid or 0)
        return int(row[0])

    # -----------------------------------------------------------------------------------------------------------------
    # Questions

    def runs(self) -> list[Run]:
        """All runs."""
        return [Run(*row) for row in self._rows("SELECT id, name, created, updated, revision FROM run ORDER BY name")]

    def run(self, name: str) -> Run | None:
        """A run by its name."""
        rows = self._rows("SELECT id, name, created, updated, revision FROM run WHERE name = ?", (name,))
        return Run(*rows[0]) if rows else None

    def revision(self) -> int:
        """A number that grows with every change."""
        return int(self._rows("SELECT COALESCE(MAX(revision), 0) FROM run")[0][0])

    def changed(self, since: int) -> list[int]:
        """Runs that changed after a revision."""
        return [row[0] for row in self._rows("SELECT id FROM run WHERE revision > ?", (since,))]

    def run_files(self, run: int) -> list[dict[str, Any]]:
        """The files of a run: name, size, position, damage, version."""
        names = ("name", "size", "position", "damaged", "damage", "version")
        return [dict(zip(names, row)) for row in
                self._rows(f"SELECT {', '.join(names)} FROM file WHERE run = ? ORDER BY name", (run,))]  # fmt: skip

    def progress(self) -> tuple[int, int, int]:
        """Bytes read, bytes there, damaged records."""
        row = self._rows("SELECT COALESCE(SUM(position), 0), COALESCE(SUM(size), 0), COALESCE(SUM(damaged), 0) FROM file")[0]
        return int(row[0]), int(row[1]), int(row[2])

    def series(self, run: int | None = None, tag: str | None = None) -> list[Series]:
        """A line for each tag of each run (or of one run, or of one tag)."""
        where, arguments = [], []
        if run is not None:
            where.append("s.run = ?")
            arguments.append(run)
        if tag is not None:
            where.append("s.tag = (SELECT id FROM tag WHERE name = ?)")
            arguments.append(tag)  # type: ignore[arg-type]
        rows = self._rows(
            "SELECT s.run, t.name, SUM(s.count), MIN(s.first_step), MAX(s.last_step), MIN(s.first_time), MAX(s.last_time), "
            "s.last_value, MIN(s.low), MAX(s.high), MAX(s.file) FROM series s JOIN tag t ON t.id = s.tag "
            f"{'WHERE ' + ' AND '.join(where) if where else ''} GROUP BY s.run, s.tag", arguments)  # fmt: skip
        return [Series(*row[:10]) for row in rows]

    def scalar_tags(self) -> list[tuple[str, int]]:
        """Scalar tags with how many runs have them."""
        rows = self._rows("SELECT t.name, COUNT(DISTINCT s.run) FROM series s JOIN tag t ON t.id = s.tag GROUP BY s.tag ORDER BY t.name")
        return [(name, count) for name, count in rows]

    def damage(self) -> dict[int, str]:
        """What is wrong with the files of runs."""
        rows = self._rows("SELECT run, name, damaged, damage FROM file WHERE damaged > 0")
        return {run: f"{name}: {count:,} damaged record{'s' * (count > 1)} passed over ({text})" for run, name, count, text in rows}

    def totals(self) -> dict[int, tuple[int, int, int, float]]:
        """For each run: tags, points, the last step, seconds from the first to the last point."""
        rows = self._rows("SELECT run, COUNT(DISTINCT tag), SUM(count), MAX(last_step), MAX(last_time) - MIN(first_time) "
                          "FROM series GROUP BY run")  # fmt: skip
        return {run: (tags, count, step, seconds) for run, tags, count, step, seconds in rows}

    def points(self, tag: str, runs: Sequence[int]) -> Iterator[tuple[int, Columns]]:
        """The points of a tag, run by run, files in the order of their names."""
        row = self._rows("SELECT id FROM tag WHERE name = ?", (tag,))
        if not row:
            return
        for run in runs:
            parts = self._rows(
                "SELECT f.name, p.data FROM part p JOIN file f ON f.id = p.file WHERE p.tag = ? AND p.run = ? ORDER BY f.name, p.number",
                (row[0][0], run))  # fmt: skip
            if parts:
                files: dict[str, list[Columns]] = {}
                for name, data in parts:
                    files.setdefault(name, []).append(decode(data))
                yield run, _resumed([joined(pieces) for pieces in files.values()])

    def thing_tags(self, run: int, kind: int) -> list[str]:
        """The tags of a kind of thing in a run, in the order of their first appearance."""
        rows = self._rows("SELECT t.name FROM thing x JOIN tag t ON t.id = x.tag WHERE x.run = ? AND x.kind = ? "
                          "GROUP BY t.id ORDER BY MIN(x.id)", (run, kind))  # fmt: skip
        return [name for (name,) in rows]

    def kinds(self, run: int) -> set[int]:
        """Which kinds of things a run has."""
        return {kind for (kind,) in self._rows("SELECT DISTINCT kind FROM thing WHERE run = ?", (run,))}

    def runs_with(self, kind: int) -> set[int]:
        """Which runs have a kind of thing."""
        return {run for (run,) in self._rows("SELECT DISTINCT run FROM thing WHERE kind = ?", (kind,))}

    def things(self, run: int, kind: int, tag: str | None = None, step: int | None = None) -> list[Thing]:
        """The things of a kind, of a tag, of a step, in the order of steps."""
        query = ("SELECT x.id, t.name, x.step, x.wall_time, f.name, x.place, x.length FROM thing x JOIN tag t ON t.id = x.tag "
                 "JOIN file f ON f.id = x.file WHERE x.run = ? AND x.kind = ?")  # fmt: skip
        arguments: list[Any] = [run, kind]
        if tag is not None:
            query += " AND t.name = ?"
            arguments.append(tag)
        if step is not None:
            query += " AND x.step = ?"
            arguments.append(step)
        found = [Thing(*row) for row in self._rows(query + " ORDER BY f.name, x.step, x.id", arguments)]
        first: dict[tuple[str, str], int] = {}
        for thing in found:
            first.setdefault((thing.tag, thing.file), thing.step)


        def replaced(one: Thing) -> bool:
            """Whether a later file begins again at an earlier step."""
            return any(tag == one.tag and file > one.file and step <= one.step for (tag, file), step in first.items())

        return sorted((thing for thing in found if not replaced(thing)), key=lambda thing: thing.step)

    # -----------------------------------------------------------------------------------------------------------------
    # What people write about runs

    def notes(self) -> dict[str, tuple[str, str]]:
        """Notes and tags by the names of runs."""
        return {run: (text, tags) for run, text, tags in self._rows("SELECT run, text, tags FROM note")}

    def write_note(self, run: str, text: str, tags: str) -> None:
        """Keep a note."""
        with self.transaction() as db:
            db.execute("INSERT INTO note (run, text, tags) VALUES (?, ?, ?) "
                       "ON CONFLICT (run) DO UPDATE SET text = excluded.text, tags = excluded.tags", (run, text, tags))  # fmt: skip


def _resumed(files: list[Columns]) -> Columns:
    """The points of files one after the other; where a later file begins again at an earlier step, it replaces what was there."""
    kept: list[Columns] = []
    for columns in reversed(files):
        before = min((int(later.steps.min()) for later in kept if len(later.steps)), default=None)
        kept.append(columns if before is None else columns.at(np.flatnonzero(columns.steps < before)))
    return joined(kept[::-1])


def _add_points(db: sqlite3.Connection, file: FileState, tag: int, new: Columns) -> None:
    """Append to the last part, or begin new ones."""
    key = (tag, file.run, file.id)
    last = db.execute("SELECT number, count FROM part WHERE tag = ? AND run = ? AND file = ? ORDER BY number DESC LIMIT 1",
                      key).fetchone()  # fmt: skip
    number, whole = (last[0] + 1, new) if last else (0, new)
    if last and last[1] < _PART:
        number = last[0]
        data = db.execute("SELECT data FROM part WHERE tag = ? AND run = ? AND file = ? AND number = ?", (*key, number)).fetchone()
        whole = joined([decode(data[0]), new])
    for first in range(0, len(whole.steps), _PART):
        piece = whole.at(slice(first, first + _PART))
        db.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", (*key, number, len(piece.steps), encode(piece)))
        number += 1
    finite = new.values[np.isfinite(new.values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
    db.execute(
        "INSERT INTO series VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, tag, file) DO UPDATE SET "
        "count = count + excluded.count, first_step = MIN(first_step, excluded.first_step), "
        "last_step = MAX(last_step, excluded.last_step), last_time = excluded.last_time, last_value = excluded.last_value, "
        "low = COALESCE(MIN(low, excluded.low), low, excluded.low), high = COALESCE(MAX(high, excluded.high), high, excluded.high)",
        (file.run, tag, file.id, len(new.steps), int(new.steps.min()), int(new.steps.max()), float(new.times[0]),
         float(new.times[-1]), float(new.values[-1]), low, high))  # fmt: skip
