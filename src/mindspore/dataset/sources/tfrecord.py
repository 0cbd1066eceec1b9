"""Rows of TFRecord files for the pipeline.

    rows = open(files, columns, schema, compression_type)
    len(rows)                        # number of records in all files
    rows.columns                     # names, in the order of the arrays: as asked for, else the schema's, else sorted
    rows.row(i)                      # {column: array}; any order, any thread
    rows.gather(indices)             # {column: array with one more dimension in front}, or None when shapes differ
    rows.shard_sizes                 # records in each file
    rows.close()                     # and `with open(...) as rows:`

`schema` maps a column to (NumPy dtype, shape): shape None takes what comes, one dimension may be -1. Without a schema
the columns are those of the first record; integers are int64, floats float32, and bytes a flat uint8 array (several
values of one feature are padded with zeros to the longest). A column of dtype `U` or `S` gives strings or bytes, one
per value.

Files are open while they are read, a bounded number at a time; a compressed one ("GZIP", "ZLIB") is
unpacked to a nameless temporary file. The object may be shared between threads and pickles by opening the files again.

Records of one dataset mostly have one of a few layouts, differing in values only. So the places of values found in one
record are kept as a template for its length; a record whose bytes between the values are those of a template needs no
parsing, and a batch of such records is decoded column by column at once.
"""

from __future__ import annotations

import builtins
import contextlib
import gzip
import os
import shutil
import tempfile
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from mindspore._base.file_bytes import FileBytes
from mindspore.mindrecord import tfrecord
from mindspore.mindrecord.tfrecord import Damaged, Span

Shape = Sequence[int] | None
TableSchema = Mapping[str, tuple[Any, Shape]]
_OPEN_FILES = 128
_TEMPLATES = 1024  # in all
_TEMPLATES_PER_LENGTH = 8
_CHUNK = 1 << 20


def open(
    files: str | Sequence[str],
    columns: Sequence[str] | None = None,
    schema: TableSchema | None = None,
    compression_type: str | None = None,
) -> TFRecordRows:
    """Open TFRecord files."""
    return TFRecordRows(files, columns, schema, compression_type)


class TFRecordRows:
    """See the head of this module."""

    def __init__(
        self,
        files: str | Sequence[str],
        columns: Sequence[str] | None = None,
        schema: TableSchema | None = None,
        compression_type: str | None = None,
    ):
        self._arguments = (files, columns, schema, compression_type)
        self._files = [files] if isinstance(files, str) else list(files)
        self._files_open = _OpenFiles(self._files, compression_type)
        places = self._places()
        self._begins = [begins for begins, _ in places]
        self._lengths = [lengths for _, lengths in places]
        self._starts = np.cumsum([0, *(len(begins) for begins in self._begins)])
        self._templates: dict[int, list[_Template]] = {}
        self._template_count = 0
        self._schema = None if schema is None else {n: (np.dtype(d), shape) for n, (d, shape) in schema.items()}
        self.columns = self._column_names(columns)

    def _places(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Where the records of each file stand; one error names all the files that hold none."""
        places, failures = [], []
        for number, path in enumerate(self._files):
            try:
                places.append(tfrecord.find_records(self._files_open.get(number), path))
            except Damaged as error:
                failures.append(error)
        if failures:
            raise Damaged(
                "Invalid file, the following files cannot be opened or are not valid TFRecordDataset files:\n"
                + "\n".join(map(str, failures))
            )
        return places

    def _column_names(self, columns: Sequence[str] | None) -> list[str]:
        if self._schema is not None:
            known = list(self._schema)
        elif len(self):
            file, place = self._locate(0)
            try:
                known = sorted(tfrecord.find_features(self._record(file, place)))
            except ValueError as error:
                raise self._damaged(file, place, error) from None
        else:
            known = list(columns or [])
        for name in columns or []:
            if name not in known:
                raise RuntimeError(
                    f"Invalid columns_list, tfrecord file failed to find column name: {name} in tfrecord file or "
                    f"schema. The columns are: {', '.join(known)}."
                )
        return list(columns) if columns else known

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def paths(self) -> list[str]:
        """The files."""
        return self._files

    @property
    def shard_sizes(self) -> list[int]:
        """Number of records in each file."""
        return np.diff(self._starts).tolist()

    def close(self) -> None:
        self._files_open.close()

    def __enter__(self) -> TFRecordRows:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self):
        return type(self), self._arguments

    def _locate(self, number: int) -> tuple[int, int]:
        if not 0 <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        if len(self._files) == 1:
            return 0, number
        file = int(np.searchsorted(self._starts, number, "right")) - 1
        return file, number - int(self._starts[file])

    def _damaged(self, file: int, place: int, error: ValueError) -> Damaged:
        return Damaged(f"Invalid file, record {place} of {self._files[file]} cannot be read: {error}.")

    def _record(self, file: int, place: int) -> bytes:
        start = int(self._begins[file][place])
        return self._files_open.get(file)[start : start + int(self._lengths[file][place])]

    def check(self, number: int) -> None:
        """Damaged when the data checksum of a record is wrong; reading does not check it."""
        file, place = self._locate(number)
        start, length = int(self._begins[file][place]), int(self._lengths[file][place])
        tfrecord.check_record(self._files_open.get(file), start, length, self._files[file], place)

    def row(self, number: int) -> dict[str, np.ndarray]:
        """One row."""
        file, place = self._locate(number)
        record = self._record(file, place)
        try:
            spans = self._spans(record)
            return {name: self._array(name, record, spans) for name in self.columns}
        except ValueError as error:
            raise self._damaged(file, place, error) from None

    def _spans(self, record: bytes) -> dict[str, Span]:
        templates = self._templates.setdefault(len(record), [])
        for template in templates:
            if template.fits(record):
                return template.spans
        spans = tfrecord.find_features(record)
        if len(templates) < _TEMPLATES_PER_LENGTH and self._template_count < _TEMPLATES:
            templates.append(_Template.of(record, spans))
            self._template_count += 1
        return spans

    def _array(self, name: str, record: bytes, spans: dict[str, Span]) -> np.ndarray:
        if name not in spans:
            raise ValueError(f"Feature name: {name} is required in schema but could not be found in tfrecord file.")
        values = tfrecord.read_values(record, spans[name])
        dtype, shape = self._wanted(name)
        if isinstance(values, list):
            return _bytes_array(name, values, dtype, shape)
        kind = values.dtype if dtype is None else dtype
        if kind.kind in "US":
            raise _other_type(name, "numbers", kind)
        return _shaped(name, values.astype(kind), shape)

    def _wanted(self, name: str) -> tuple[np.dtype | None, Shape]:
        return (None, None) if self._schema is None else self._schema[name]

    def gather(self, indices: Sequence[int] | np.ndarray) -> dict[str, np.ndarray] | None:
        """Many rows at once, or None when their shapes differ (then take them one by one)."""
        numbers = np.asarray(indices, np.int64)
        if numbers.size == 0 or numbers.min() < 0 or numbers.max() >= len(self):
            raise IndexError(f"rows {numbers.tolist()[:8]}... of {len(self)}")
        files = np.searchsorted(self._starts, numbers, "right") - 1
        found: dict[str, np.ndarray] = {}
        for file in np.unique(files).tolist():
            chosen = np.flatnonzero(files == file)
            places = numbers[chosen] - int(self._starts[file])
            lengths = self._lengths[file][places]
            for length in np.unique(lengths).tolist():
                group = np.flatnonzero(lengths == length)
                block = self._gather_group(file, places[group], length)
                if block is None or not _scatter(found, block, chosen[group], len(numbers)):
                    return None
        return found

    def _gather_group(self, file: int, places: np.ndarray, length: int) -> dict[str, np.ndarray] | None:
        """Records of one file and one length: at once those that fit a template, one by one the others."""
        found: dict[str, np.ndarray] = {}
        todo = np.arange(len(places))
        if len(places) > 1 and length:
            records = self._files_open.get(file).gather(self._begins[file][places], length)
            for template in self._templates.get(length, []):
                fits = (records[todo][:, template.fixed_places] == template.fixed_bytes).all(axis=1)
                if not fits.any():
                    continue
                block = self._decode_block(records[todo[fits]], template)
                if block is None:
                    continue
                if not _scatter(found, block, todo[fits], len(places)):
                    return None
                todo = todo[~fits]
                if not todo.size:
                    return found
        start = int(self._starts[file])
        for number, place in zip(todo.tolist(), places[todo].tolist()):
            row = {name: values[None] for name, values in self.row(start + place).items()}
            if not _scatter(found, row, np.array([number]), len(places)):
                return None
        return found

    def _decode_block(self, records: np.ndarray, template: _Template) -> dict[str, np.ndarray] | None:
        """All columns of records of one layout; None when they have to be read one by one."""
        found = {}
        for name in self.columns:
            values = _column(records, template.spans[name]) if name in template.spans else None
            dtype, shape = self._wanted(name)
            if values is None or (dtype is not None and not _castable(template.spans[name].kind, dtype)):
                return None
            if dtype is not None:
                values = values.astype(dtype)
            if shape is not None:
                try:
                    values = values.reshape(len(values), *shape)
                except ValueError:
                    return None  # reading row by row names the place
            found[name] = values
        return found


class _Template(NamedTuple):
    """The layout of a record: where the values of its features lie, and all bytes between them."""

    spans: dict[str, Span]
    pieces: list[tuple[int, int, bytes]]
    fixed_places: np.ndarray
    fixed_bytes: np.ndarray

    @classmethod
    def of(cls, record: bytes, spans: dict[str, Span]) -> _Template:
        pieces, at = [], 0
        for start, end in sorted(run for span in spans.values() for run in span.runs):
            if at < start:
                pieces.append((at, start, record[at:start]))
            at = max(at, end)
        if at < len(record):
            pieces.append((at, len(record), record[at:]))
        places = [np.arange(start, end) for start, end, _ in pieces]
        fixed = np.concatenate(places) if places else np.empty(0, np.int64)
        return cls(spans, pieces, fixed, np.frombuffer(record, np.uint8)[fixed])

    def fits(self, record: bytes) -> bool:
        for start, end, piece in self.pieces:  # noqa: SIM110 - all() with a generator takes twice as long
            if record[start:end] != piece:
                return False
        return True


def _castable(kind: int, dtype: np.dtype) -> bool:
    """Whether a whole block of a feature can be cast to its column's type; the rest is for `_array` to do or refuse."""
    return dtype.kind not in "US" and (kind != 1 or dtype.itemsize == 1)


def _column(records: np.ndarray, span: Span) -> np.ndarray | None:
    """One feature of records of the same layout, one line each; None when they have to be read one by one."""
    if len(span.runs) != 1:
        return None
    start, end = span.runs[0]
    block = np.ascontiguousarray(records[:, start:end])
    if span.kind == 1:
        return block
    if span.kind == 2:
        return block.view("<f4") if (end - start) % 4 == 0 else None
    last = block < 0x80
    counts = last.sum(axis=1)
    if not last[:, -1:].all() or (counts != counts[0]).any():
        return None
    return tfrecord.decode_varints(block.tobytes()).reshape(len(records), -1)


def _scatter(found: dict[str, np.ndarray], block: dict[str, np.ndarray], places: np.ndarray, total: int) -> bool:
    """Put the lines of `block` at `places` of `found`; False when their shapes differ."""
    for name, values in block.items():
        if len(values) == total:
            found[name] = values
            continue
        if name not in found:
            found[name] = np.empty((total, *values.shape[1:]), values.dtype)
        target = found[name]
        if target.shape[1:] != values.shape[1:]:
            return False
        if values.dtype.kind in "US" and values.dtype.itemsize > target.dtype.itemsize:
            target = found[name] = target.astype(values.dtype)
        target[places] = values
    return True


def _shaped(name: str, values: np.ndarray, shape: Shape) -> np.ndarray:
    if shape is None:
        return values
    try:
        return values.reshape(tuple(shape))
    except ValueError:
        raise ValueError(
            f"Column shape of {name} defined in schema does not match the shape actually load: {values.size} elements "
            f"do not have the shape {list(shape)}"
        ) from None


def _bytes_array(name: str, values: list[bytes], dtype: np.dtype | None, shape: Shape) -> np.ndarray:
    if dtype is not None and dtype.kind == "U":
        try:
            texts = np.array([value.decode("utf-8") for value in values])
        except UnicodeDecodeError:
            raise ValueError(f"feature '{name}' is no UTF-8 text; read it as bytes or uint8") from None
        return _shaped(name, texts, shape)
    if dtype is not None and dtype.kind == "S":
        return _shaped(name, np.array(values, "S"), shape)
    if dtype is not None and dtype.itemsize != 1:
        raise _other_type(name, "bytes", dtype)
    if len(values) == 1:
        data = values[0]
    else:
        width = max(map(len, values), default=0)
        data = b"".join(value.ljust(width, b"\0") for value in values)
    return _shaped(name, np.frombuffer(data, np.uint8).astype(dtype or np.uint8), shape)


def _other_type(name: str, held: str, wanted: np.dtype) -> ValueError:
    return ValueError(
        f"The data type loaded from the example for feature name: {name} does not match the predefined type in schema: "
        f"it holds {held}, its column is {wanted}"
    )


class _OpenFiles:
    """The bytes of files; the least recently used ones are let go."""

    def __init__(self, files: Sequence[str], compression_type: str | None):
        self._files = files
        self._compression = compression_type or ""
        if self._compression not in ("", "GZIP", "ZLIB"):
            raise ValueError(f"compression_type should be '', 'GZIP' or 'ZLIB', but got {compression_type!r}.")
        self._open: OrderedDict[int, FileBytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, number: int) -> FileBytes:
        with self._lock:
            found = self._open.get(number)
            if found is None:
                found = self._open[number] = self._opened(self._files[number])
                if len(self._open) > _OPEN_FILES:
                    self._open.popitem(last=False)
            else:
                self._open.move_to_end(number)
            return found

    def _opened(self, path: str) -> FileBytes:
        if not os.path.isfile(path):
            raise Damaged(f"Invalid file, {path} can not be found or is not a file.")
        with contextlib.ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(builtins.open(path, "rb"))
            if self._compression:
                plain = stack.enter_context(tempfile.TemporaryFile())
                try:
                    _unpack(stream, plain, self._compression)
                except (OSError, EOFError, zlib.error) as error:
                    raise Damaged(f"Invalid file, {path} is no whole {self._compression} file ({error}).") from None
                plain.flush()
                stream = plain
            return FileBytes(stream.fileno(), path)

    def close(self) -> None:
        with self._lock:
            self._open.clear()


def _unpack(source: IO[bytes], target: IO[bytes], compression: str) -> None:
    if compression == "GZIP":
        with gzip.GzipFile(fileobj=source) as stream:
            shutil.copyfileobj(stream, target, _CHUNK)
        return
    decoder = zlib.decompressobj()
    while chunk := source.read(_CHUNK):
        while chunk:
            target.write(decoder.decompress(chunk, _CHUNK))
            chunk = decoder.unconsumed_tail
    target.write(decoder.flush())
    if not decoder.eof:
        raise EOFError("it is cut short")
