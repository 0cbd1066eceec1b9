"""Labels on disk: every answer is durable before the call returns, and can be taken back.

One SQLite file, written in transactions, so a kill loses nothing that was acknowledged and several processes may look on.
`labels` holds what is believed of each item now; `answers` is the log that `undo` walks backwards.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS labels (
    item INTEGER PRIMARY KEY, value TEXT NOT NULL, source TEXT NOT NULL, confidence REAL NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, before TEXT, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
#: who may have given a label
SOURCES = ("human", "model", "function", "import")


@dataclass(frozen=True)
class Label:
    """What is believed of one item. `value` is a class, a list of boxes, a text: whatever JSON can hold; None: skipped."""

    item: int
    value: Any
    source: str = "human"
    confidence: float = 1.0
    at: float = 0.0


class LabelStore:
    """The labels of one project.

    Args:
        path: the file, made if it is not there; `":memory:"` keeps nothing.
        project: a few words on what is labelled. A file made for another project is refused.
    """

    def __init__(self, path: str | Path, project: str = ""):
        self.path = str(path)
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
            self._db.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; {_SCHEMA}")
        except sqlite3.DatabaseError as error:
            raise ValueError(f"'{self.path}' is no file of labels: {error}.") from None
        self._claim(project)

    def _claim(self, project: str) -> None:
        known = self._db.execute("SELECT value FROM about WHERE key = 'project'").fetchone()
        if known is None:
            with self._writing():
                self._db.execute("INSERT OR IGNORE INTO about VALUES ('project', ?)", (project,))
        elif project and known[0] != project:
            self.close()
            raise ValueError(f"'{self.path}' holds labels of the project '{known[0]}', not of '{project}'.")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def put(self, item: int, value: Any, source: str = "human", confidence: float = 1.0) -> Label:
        """Believe `value` of an item. A person's answer replaces any other; a machine's does not replace a person's."""
        label = Label(int(item), value, source, float(confidence), time.time())
        self.put_all([label])
        return label

    def put_all(self, labels: list[Label]) -> None:
        """Believe many at once, in one transaction."""
        for label in labels:
            if label.source not in SOURCES:
                raise ValueError(f"'source' must be one of {', '.join(SOURCES)}, but got {label.source!r}.")
            if label.item < 0 or not 0 <= label.confidence <= 1:
                raise ValueError(f"an item is numbered from 0 on and a confidence lies within [0, 1], but got {label}.")
        texts = [json.dumps(label.value) for label in labels]
        with self._writing():
            for label, text in zip(labels, texts):
                before = self._row(label.item)
                if before is not None and before[1] == "human" and label.source != "human":
                    continue
                at = label.at or time.time()
                self._db.execute(
                    "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?)", (label.item, text, label.source, label.confidence, at)
                )
                if label.source == "human":
                    kept = None if before is None else json.dumps(before)
                    self._db.execute("INSERT INTO answers (item, before, at) VALUES (?, ?, ?)", (label.item, kept, at))

    def _row(self, item: int) -> tuple[str, str, float, float] | None:
        return self._db.execute("SELECT value, source, confidence, at FROM labels WHERE item = ?", (item,)).fetchone()

    def undo(self) -> int | None:
        """Take the last answer of a person back; the item it was about, or None where there is none."""
        with self._writing():
            last = self._db.execute("SELECT number, item, before FROM answers ORDER BY number DESC LIMIT 1").fetchone()
            if last is None:
                return None
            number, item, before = last
            self._db.execute("DELETE FROM answers WHERE number = ?", (number,))
            self._db.execute("DELETE FROM labels WHERE item = ?", (item,))
            if before is not None:
                self._db.execute("INSERT INTO labels VALUES (?, ?, ?, ?, ?)", (item, *json.loads(before)))
        return int(item)

    def get(self, item: int) -> Label | None:
        """What is believed of an item."""
        with self._lock:
            row = self._row(int(item))
        return None if row is None else Label(int(item), json.loads(row[0]), row[1], row[2], row[3])

    def labels(self, source: str | None = None) -> list[Label]:
        """All labels, or those of one source, in the order of the items."""
        where, values = ("", ()) if source is None else (" WHERE source = ?", (source,))
        with self._lock:
            rows = self._db.execute(f"SELECT item, value, source, confidence, at FROM labels{where} ORDER BY item", values)
            return [Label(item, json.loads(value), *rest) for item, value, *rest in rows.fetchall()]

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM labels").fetchone()[0])

    def close(self) -> None:
        self._db.close()
