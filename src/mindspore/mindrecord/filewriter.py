"""FileWriter: turns rows into MindRecord files."""

from __future__ import annotations

import logging
import os
import queue
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from . import crypto
from .common.exceptions import (
    MRMAddSchemaError,
    MRMCommitError,
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidHeaderSizeError,
    MRMInvalidPageSizeError,
    ParamTypeError,
    ParamValueError,
)
from .config import _get_enc_key
from .index import check_index_names
from .layout import (
    DEFAULT_HEADER_SIZE,
    DEFAULT_PAGE_SIZE,
    MAX_HEADER_SIZE,
    MAX_PAGE_SIZE,
    MAX_SHARD_COUNT,
    MIN_HEADER_SIZE,
    MIN_PAGE_SIZE,
    MIN_SHARD_COUNT,
    Header,
    check_filename,
)
from .schema import Encoded, Schema
from .shard_reader import open_shard, shard_paths
from .shard_writer import ShardWriter, check_row_sizes, discard, publish
from .status import SUCCESS, MSRStatus

__all__ = ["FileWriter"]

_log = logging.getLogger(__name__)
_QUEUE_LENGTH = 8


class FileWriter:
    """Writes rows to one or more MindRecord files.

    The files appear under their names only when `commit` has completed them all; a writer that is dropped before that
    leaves nothing behind.

    Args:
        file_name: path of the file. With more than one shard, each gets its number after this name.
        shard_num: number of files, 1 to 1000.
        overwrite: whether existing files may be replaced.

    Raises:
        ParamValueError: if an argument is not valid.

    Examples:
        >>> from mindspore.mindrecord import FileWriter, FileReader
        >>> writer = FileWriter("test.mindrecord", shard_num=1, overwrite=True)
        >>> writer.add_schema({"name": {"type": "string"}, "label": {"type": "int32"}, "data": {"type": "bytes"}})
        >>> writer.write_raw_data([{"name": "a.jpg", "label": 0, "data": b"..."}])
        >>> status = writer.commit()
        >>> [row["name"] for row in FileReader("test.mindrecord").get_next()]
        ['a.jpg']
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False):
        check_filename(file_name)
        _check_shard_num(shard_num)
        if not isinstance(overwrite, bool):
            raise ParamValueError("Parameter overwrite's type is not bool.")
        if shard_num > 1 and _get_enc_key() is not None:
            raise RuntimeError("When encode mode is enabled, the automatic sharding function is unavailable.")
        digits = len(str(shard_num - 1))
        self._file_name = file_name
        self._paths = [f"{file_name}{n:0{digits}d}" for n in range(shard_num)] if shard_num > 1 else [file_name]
        self._overwrite = overwrite
        self._append = False
        self._schema: Schema | None = None
        self._index_fields: list[str] = []
        self._header_size = DEFAULT_HEADER_SIZE
        self._page_size = DEFAULT_PAGE_SIZE
        self._shards: list[ShardWriter] | None = None
        self._committed = False
        self._parallel: bool | None = None
        self._pool: _ShardThreads | None = None
        self._next_shard = 0
        self._cleanup: weakref.finalize | None = None

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """A writer that adds rows to existing files, to all shards that `file_name` belongs to.

        Raises:
            ParamValueError: if the name is not valid.
            RuntimeError: if the files cannot be read.
        """
        check_filename(file_name)
        crypto.is_encrypted(file_name)
        crypto.is_encrypted(file_name + ".db")
        writer = cls(file_name)
        writer._append = True
        writer._paths = shard_paths(file_name)
        with open_shard(file_name) as shard:
            header = shard.header
        writer._schema, writer._index_fields = header.schema, header.index_fields
        writer._header_size, writer._page_size = header.header_size, header.page_size
        return writer

    # ------------------------------------------------------------------------------------------------- description

    def add_schema(self, content: dict[str, dict[str, Any]], desc: str | None = None) -> None:
        """Say which fields the rows have.

        Args:
            content: field name -> {"type": t} with t one of int32, int64, float32, float64, string, bytes; or
                {"type": t, "shape": [...]} for an array of numbers, in which one dimension may be -1.
            desc: a description.

        Raises:
            MRMInvalidSchemaError, MRMBuildSchemaError: if the schema is not valid.
            MRMAddSchemaError: if there is one already.
        """
        schema = Schema.checked(content, desc)
        if self._schema is not None:
            raise MRMAddSchemaError("Failed to add schema. There is one already: call 'add_schema' once.")
        self._schema = schema

    def add_index(self, index_fields: list[str]) -> None:
        """Choose the scalar fields that rows can be looked up by. Without this call it is all of them.

        Raises:
            ParamTypeError: if it is not a list of strings.
            MRMGetMetaError: if there is no schema yet.
            MRMDefineIndexError: if a field is no scalar.
            RuntimeError: if a field is unknown or given twice.
        """
        if not index_fields or not isinstance(index_fields, list):
            raise ParamTypeError("index_fields", "list")
        schema = self._known_schema()
        for field in index_fields:
            if field in schema.blob_fields:
                raise MRMDefineIndexError(f"Failed to set field {field} since it's not primitive type.")
            if not isinstance(field, str):
                raise ParamTypeError("index field", "str")
            if field not in schema.content:
                raise RuntimeError(
                    f"Invalid input, 'index_fields': {field} can not found in schema: {schema.content}.\n"
                    "Please use 'add_index' function to add proper 'index_fields'."
                )
        added = self._index_fields + index_fields
        for field in added:
            if added.count(field) > 1:
                raise RuntimeError(
                    f"The 'index_fields': {field} is added repeatedly. "
                    "Please remove the redundant 'add_index' function."
                )
        self._index_fields = added

    def set_header_size(self, header_size: int) -> MSRStatus:
        """Set how many bytes each file sets aside for its header: 16 KB to 128 MB, 16 MB when not set.

        Raises:
            MRMInvalidHeaderSizeError: if the size is out of range or no multiple of 4.
        """
        _check_size("header", header_size, MIN_HEADER_SIZE, MAX_HEADER_SIZE, MRMInvalidHeaderSizeError)
        self._check_not_started("set_header_size")
        self._header_size = header_size
        return SUCCESS

    def set_page_size(self, page_size: int) -> MSRStatus:
        """Set the size of pages: 32 KB to 256 MB, 32 MB when not set. A row must fit in a page.

        Raises:
            MRMInvalidPageSizeError: if the size is out of range or no multiple of 4.
        """
        _check_size("page", page_size, MIN_PAGE_SIZE, MAX_PAGE_SIZE, MRMInvalidPageSizeError)
        self._check_not_started("set_page_size")
        self._page_size = page_size
        return SUCCESS

    def open_and_set_header(self) -> MSRStatus:
        """Begin the files now, rather than at the first `write_raw_data`."""
        self._start()
        return SUCCESS

    def _check_not_started(self, name: str) -> None:
        if self._shards is not None or self._append:
            raise RuntimeError(f"Call '{name}' before the first row is written.")

    def _known_schema(self) -> Schema:
        if self._schema is None:
            raise MRMGetMetaError("Failed to get meta info: call 'add_schema' first.")
        return self._schema

    # ----------------------------------------------------------------------------------------------------- writing

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> None:
        """Write rows. A row that does not fit the schema is left out, with a warning.

        Args:
            raw_data: rows, each a dict from field names to values.
            parallel_writer: give each call's rows to one shard and write the shards in the background. Such shards are
                datasets of their own: read them by a list of their names. It has to be the same in every call.

        Raises:
            ParamTypeError: if `raw_data` is not a list of dicts.
            TypeError: if `parallel_writer` is not a bool.
            RuntimeError: if no row is valid, a row is larger than a page, or files of that name exist.
        """
        if not isinstance(parallel_writer, bool):
            raise TypeError("The parameter `parallel_writer` must be bool.")
        if self._parallel is None:
            self._parallel = parallel_writer
        if self._parallel != parallel_writer:
            raise RuntimeError("The parameter `parallel_writer` must be consistent during use.")
        if not isinstance(raw_data, list):
            raise ParamTypeError("raw_data", "list")
        if self._committed and not self._append:
            raise RuntimeError("Not allowed to call `write_raw_data` on flushed MindRecord files.")
        for row in raw_data:
            if not isinstance(row, dict):
                raise ParamTypeError("raw_data item", "dict")
        shards = self._start()
        if self._parallel:
            self._pool = self._pool or _ShardThreads(shards, self._encode)
            self._pool.put(self._next_shard, raw_data)
            self._next_shard = (self._next_shard + 1) % len(shards)
            return
        encoded, values = self._encode(raw_data)
        for shard, rows in zip(shards, self._shares(len(encoded))):
            if rows.start < rows.stop:
                shard.write(encoded[rows], values[rows])

    def _encode(self, raw_data: Sequence[dict[str, Any]]) -> tuple[list[Encoded], list[list[Any]]]:
        schema = self._known_schema()
        valid = []
        for number, row in enumerate(raw_data):
            problem = schema.problem(row)
            if problem is None:
                valid.append(row)
            else:
                _log.warning("for schema, %d th data is wrong, %s", number, problem)
        if not valid:
            raise RuntimeError(
                "There is no valid data which can be written by 'write_raw_data' to mindrecord file. Please check the "
                "abnormal input data indicated in the warning log above."
            )
        encoded = [schema.encode(row) for row in valid]
        check_row_sizes(encoded, self._page_size)
        return encoded, [schema.scalars(row, self._index_fields) for row in valid]

    def _shares(self, count: int) -> list[slice]:
        """Which rows each shard gets: runs of equal length, the remainder one each to the shards whose turn it is."""
        shards = len(self._paths)
        each, left = divmod(count, shards)
        favoured = {(self._next_shard + n) % shards for n in range(left)}
        self._next_shard = (self._next_shard + left) % shards
        shares, start = [], 0
        for n in range(shards):
            end = start + each + (n in favoured)
            shares.append(slice(start, end))
            start = end
        return shares

    def _start(self) -> list[ShardWriter]:
        """The shards' writers, made at first use."""
        if self._shards is not None:
            return self._shards
        shards: list[ShardWriter] = []
        temporaries: list[list[str]] = []
        self._cleanup = weakref.finalize(self, _discard_all, temporaries)  # also when a later shard cannot be begun

        def begin(path: str, header: Header, append: bool = False) -> None:
            shards.append(ShardWriter(path, header, append))
            temporaries.append(shards[-1].temporaries)

        if self._append:
            for path in self._paths:
                with open_shard(path) as shard:
                    shard.check_complete()
                    header = shard.header
                begin(path, header, append=True)
        else:
            self._check_overwrite()
            for number, path in enumerate(self._paths):
                begin(path, self._new_header(number))
        self._shards = shards
        return shards

    def _new_header(self, number: int) -> Header:
        if self._schema is None:
            raise RuntimeError(
                "Invalid data, schema is not found in header, please use 'add_schema' to add a schema for new "
                "mindrecord files."
            )
        self._index_fields = self._index_fields or list(self._schema.raw_fields)
        check_index_names(self._index_fields)
        names = [os.path.basename(path) for path in self._paths]
        alone = bool(self._parallel)  # shards written in parallel do not know each other
        return Header(
            schema=self._schema,
            index_fields=self._index_fields,
            shard_names=[names[number]] if alone else names,
            shard_id=0 if alone else number,
            header_size=self._header_size,
            page_size=self._page_size,
        )

    def _check_overwrite(self) -> None:
        if self._overwrite:
            return
        for path in self._paths:
            if os.path.exists(path) or os.path.exists(path + ".db"):
                raise RuntimeError(
                    f"Invalid file, mindrecord files already exist. Please check file path: {path}.\n"
                    "If you do not want to keep the files, set the 'overwrite' parameter to True and try again."
                )

    def commit(self) -> MSRStatus:
        """Complete the files and their indexes, and give them their names.

        Raises:
            RuntimeError: if rows written in the background were not valid, or the header is too small.
            MRMCommitError: if the files cannot be put in place.
        """
        if self._committed and not self._append:
            raise RuntimeError("Not allowed to call `commit` twice on the same MindRecord files.")
        try:
            shards = self._start()
            if self._pool is not None:
                self._pool.finish()
            for shard in shards:
                shard.complete()
            if not self._append:
                self._check_overwrite()
            publish(shards)
        except OSError as error:
            raise MRMCommitError(f"Failed to commit. {error}") from None
        finally:
            self._committed = True
            self._shards = self._pool = None
            if self._cleanup is not None:
                self._cleanup()
        return SUCCESS


class _ShardThreads:
    """Writes shards in the background: each thread serves its own shards, in the order of the calls."""

    def __init__(self, shards: Sequence[ShardWriter], encode: Any):
        self._shards = shards
        self._encode = encode
        self._error: BaseException | None = None
        count = min(len(shards), os.cpu_count() or 1)
        self._queues: list[queue.Queue] = [queue.Queue(_QUEUE_LENGTH) for _ in range(count)]
        self._threads = [threading.Thread(target=self._serve, args=(q,), daemon=True) for q in self._queues]
        for thread in self._threads:
            thread.start()

    def _serve(self, work: queue.Queue) -> None:
        while (job := work.get()) is not None:
            if self._error is None:  # after an error, only empty the queue so that nobody waits
                number, rows = job
                try:
                    self._shards[number].write(*self._encode(rows))
                except BaseException as error:  # raised by the next `put` or by `finish`
                    self._error = error

    def put(self, number: int, rows: list[dict[str, Any]]) -> None:
        if self._error is not None:
            self.finish()
        self._queues[number % len(self._queues)].put((number, rows))

    def finish(self) -> None:
        """Wait until all is written; raise what went wrong."""
        for work in self._queues:
            work.put(None)
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error


def _discard_all(temporaries: Sequence[Sequence[str]]) -> None:
    for paths in temporaries:
        discard(paths)


def _check_shard_num(shard_num: Any) -> None:
    if shard_num is None:
        raise ParamValueError("Parameter shard_num is None.")
    if not isinstance(shard_num, int) or isinstance(shard_num, bool):
        raise ParamValueError("Parameter shard_num's type is not int.")
    if not MIN_SHARD_COUNT <= shard_num <= MAX_SHARD_COUNT:
        raise ParamValueError(
            f"Parameter shard_num's value: {shard_num} should between {MIN_SHARD_COUNT} and {MAX_SHARD_COUNT}."
        )


def _check_size(name: str, size: Any, low: int, high: int, error: type[Exception]) -> None:
    if not isinstance(size, int) or not low <= size <= high:
        raise error(f"Failed to set {name} size: {size} should be in range [{low} bytes, {high} bytes].")
    if size % 4:
        raise error(f"Failed to set {name} size: {size} should be divided by four.")
