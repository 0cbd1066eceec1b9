"""Writing one shard: rows go into its pages and its index.

Rows fill the current blob page and the current raw page; when either is full, a new row group begins. A new shard is
written under temporary names and gets its own only when it is complete (`publish`, below). The names tell the machine and the
process: what a killed process left goes when the file is next written. Appending writes behind
the rows that the header knows, so that the old header stays true until the new one replaces it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import stat
import uuid
from collections.abc import Sequence
from typing import Any

from . import crypto, index
from .config import _get_enc_key, _get_enc_mode
from .layout import BLOB, LENGTH, MAX_PAGE_SIZE, MIN_PAGE_SIZE, RAW, Header, Page
from .schema import Encoded

_PENDING_LINES = 8192
_OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR


@functools.cache
def _machine() -> str:
    """Tells apart machines that share a folder, whose processes have the same numbers."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _remove_orphans(folder: str, name: str) -> None:
    """Remove what processes of this machine that are no more have left of a shard."""
    pattern = re.compile(re.escape(f".{name}.{_machine()}-") + r"(\d+)-[0-9a-f]{12}(\.db)?\.part")
    try:
        found = os.listdir(folder)
    except OSError:  # the folder is not there or not ours to read: creating the file will say so
        return
    for entry in found:
        match = pattern.fullmatch(entry)
        if match and not _alive(int(match[1])):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, entry))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is somebody else's, or no number of a process
        return True
    return True


class ShardWriter:
    """One shard at `path`, new or (with `append`) existing."""

    def __init__(self, path: str, header: Header, append: bool = False):
        self._path = path
        self._header = header
        folder, name = os.path.split(os.path.abspath(path))
        _remove_orphans(folder, name)
        temporary = os.path.join(folder, f".{name}.{_machine()}-{os.getpid()}-{uuid.uuid4().hex[:12]}")
        self._index = f"{temporary}.db.part"
        self._encrypts = _get_enc_key() is not None
        self._in_place = append and not self._encrypts
        self._data = path if self._in_place else f"{temporary}.part"
        self.temporaries = [self._index] if self._in_place else [self._index, self._data]
        self._lines: list[Sequence[Any]] = []
        try:
            if append:
                self._copy_existing()
            else:
                os.close(os.open(self._data, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY))
                index.create(self._index, name, header.schema, header.index_fields)
        except BaseException:
            discard(self.temporaries)
            raise
        self._rows = header.row_count
        self._blob = self._last(BLOB)
        self._raw = self._last(RAW)

    def _copy_existing(self) -> None:
        for source, target in ((self._path + ".db", self._index), (self._path, self._data)):
            if source == target:
                continue
            if self._encrypts:
                with open(target, "wb") as stream:
                    crypto.decrypt_file(source, stream)
            else:
                shutil.copyfile(source, target)

    def _last(self, kind: str) -> Page | None:
        return next((page for page in reversed(self._header.pages) if page.kind == kind), None)

    def write(self, rows: Sequence[Encoded], index_values: Sequence[Sequence[Any]]) -> None:
        """Add rows. `index_values` gives, for each, the values of the index fields."""
        writes: dict[int, list[bytes]] = {}  # page id -> what to append to it
        starts: dict[int, int] = {}
        for encoded, values in zip(rows, index_values):
            blob, raw = self._room_for(encoded)
            for page, body in ((blob, encoded.blob), (raw, encoded.raw)):
                starts.setdefault(page.page_id, page.size)
                writes.setdefault(page.page_id, []).extend((LENGTH.pack(len(body)), body))
            blob_end = blob.size + LENGTH.size + len(encoded.blob)
            raw_end = raw.size + LENGTH.size + len(encoded.raw)
            place = (self._rows, raw.page_id, raw.size, raw_end, blob.kind_id, blob.page_id, blob.size, blob_end)
            self._lines.append((*place, *(part for value in values for part in (0, value))))
            blob.size, raw.size = blob_end, raw_end
            self._rows += 1
            blob.end_row = self._rows
            self._header.compression_size += encoded.saved
        self._flush(writes, starts)
        if len(self._lines) >= _PENDING_LINES:
            self._flush_lines()

    def _room_for(self, encoded: Encoded) -> tuple[Page, Page]:
        limit = self._header.page_size
        blob_size, raw_size = LENGTH.size + len(encoded.blob), LENGTH.size + len(encoded.raw)
        blob, raw = self._blob, self._raw
        if blob and raw and blob.size + blob_size <= limit and raw.size + raw_size <= limit:
            return blob, raw
        blob = self._blob = self._new_page(BLOB, self._blob)
        if raw is None or raw.size + raw_size > limit:
            raw = self._raw = self._new_page(RAW, raw)
        raw.groups.append((blob.kind_id, raw.size))
        return blob, raw

    def _new_page(self, kind: str, last: Page | None) -> Page:
        page = Page(len(self._header.pages), kind, last.kind_id + 1 if last else 0)
        if kind == BLOB:
            page.start_row = page.end_row = self._rows
        self._header.pages.append(page)
        return page

    def _flush(self, writes: dict[int, list[bytes]], starts: dict[int, int]) -> None:
        with open(self._data, "r+b") as stream:
            for page_id, parts in writes.items():
                stream.seek(self._header.header_size + page_id * self._header.page_size + starts[page_id])
                stream.write(b"".join(parts))

    def _flush_lines(self) -> None:
        if self._lines:
            index.insert(self._index, self._lines)
            self._lines = []

    def complete(self) -> None:
        """Write all that is left; after this only the renames and `finish` remain."""
        self._flush_lines()
        self._content = self._header.to_bytes()
        if not self._in_place:
            self._write_header()
            if self._encrypts:
                self._encrypt(self._data)
        if self._encrypts:
            self._encrypt(self._index)
        for path in {self._data, self._index}:
            os.chmod(path, _OWNER_ONLY)
            _sync(path)

    def _write_header(self) -> None:
        with open(self._data, "r+b") as stream:
            stream.write(self._content)
            stream.flush()
            os.fsync(stream.fileno())

    def _encrypt(self, path: str) -> None:
        key = _get_enc_key()
        assert key is not None
        encrypted = f"{path}.enc"
        self.temporaries.append(encrypted)
        with open(path, "rb") as source, open(encrypted, "wb") as target:
            crypto.encrypt_stream(source, os.path.getsize(path), target, key, _get_enc_mode())
        os.replace(encrypted, path)

    def moves(self) -> list[tuple[str, str]]:
        """The renames that give the files their names."""
        index_move = (self._index, self._path + ".db")
        return [index_move] if self._in_place else [(self._data, self._path), index_move]

    def finish(self) -> None:
        """What is left after the renames: until now the old header was true."""
        if self._in_place:
            self._write_header()


def publish(shards: Sequence[ShardWriter]) -> None:
    """Give all files their names, or, when that fails, leave everything as it was."""
    done: list[tuple[str, str | None]] = []  # a name that was given, and where the file is that had it before
    try:
        for source, target in (move for shard in shards for move in shard.moves()):
            backup = f"{source}.old" if os.path.exists(target) else None
            if backup:
                os.replace(target, backup)
            done.append((target, backup))
            os.replace(source, target)
    except BaseException:
        for target, backup in reversed(done):
            discard([target])
            if backup:
                os.replace(backup, target)
        raise
    discard([backup for _, backup in done if backup])
    for shard in shards:
        shard.finish()


def check_row_sizes(rows: Sequence[Encoded], page_size: int) -> None:
    """RuntimeError when a row does not fit in a page."""
    for kind, parts in (("raw", [row.raw for row in rows]), ("blob", [row.blob for row in rows])):
        largest = LENGTH.size + max(map(len, parts), default=0)
        if largest > page_size:
            raise RuntimeError(
                f"Invalid data, Page size: {page_size} is too small to save a {kind} row of {largest} bytes. Please "
                f"use 'set_page_size(value)' to enable larger page size, and the value range is in "
                f"[{MIN_PAGE_SIZE} bytes, {MAX_PAGE_SIZE} bytes]."
            )


def discard(paths: Sequence[str]) -> None:
    """Remove temporary files that are still there."""
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _sync(path: str) -> None:
    with open(path, "r+b") as stream:
        os.fsync(stream.fileno())
