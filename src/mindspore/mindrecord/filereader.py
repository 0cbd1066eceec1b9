"""FileReader: the rows of MindRecord files, one after the other."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

from . import crypto
from .common.exceptions import ParamTypeError, ParamValueError
from .layout import check_filename
from .shard_reader import RowReader

__all__ = ["FileReader"]

_log = logging.getLogger(__name__)


class FileReader:
    """Reads MindRecord files.

    Args:
        file_name: one file, for all files that were written with it; or a list of files, for exactly those.
        num_consumer: kept for compatibility; 1 to the number of processors.
        columns: the fields to read; all when None.
        operator: has no effect.

    Raises:
        ParamValueError: if an argument is not valid.
        RuntimeError: if a file or its index is missing or damaged.

    Examples:
        >>> from mindspore.mindrecord import FileReader, FileWriter
        >>> writer = FileWriter("test.mindrecord", overwrite=True)
        >>> _ = writer.add_schema({"label": {"type": "int32"}}, "labels")
        >>> _ = writer.write_raw_data([{"label": 7}])
        >>> _ = writer.commit()
        >>> reader = FileReader("test.mindrecord")
        >>> [int(row["label"]) for row in reader.get_next()]
        [7]
        >>> reader.close()
    """

    def __init__(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: Any = None,
    ):
        check_source(file_name, num_consumer)
        if operator is not None:
            _log.warning("The parameter 'operator' will be deprecated in a future version.")
        if columns and not isinstance(columns, list):
            raise ParamTypeError("columns", "list")
        self._reader: RowReader | None = RowReader(file_name, columns or None)
        self._schema = self._reader.schema.content
        self._length = len(self._reader)

    def get_next(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict from field names to values."""
        for number in range(self._length):
            if self._reader is None:
                return
            yield self._reader.values(number)

    def close(self) -> None:
        """Close the files; `get_next` ends."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def schema(self) -> dict[str, Any]:
        """The schema of the files."""
        return self._schema

    def len(self) -> int:
        """The number of rows."""
        return self._length


def check_source(file_name: Any, num_consumer: Any) -> None:
    """Check the arguments that `FileReader` and `MindPage` share."""
    names = file_name if isinstance(file_name, list) else [file_name]
    for name in names:
        check_filename(name)
    if num_consumer is None:
        raise ParamValueError("Parameter num_consumer is None.")
    if not isinstance(num_consumer, int):
        raise ParamValueError("Parameter num_consumer is not int.")
    limit = max(4, os.cpu_count() or 1)
    if not 1 <= num_consumer <= limit:
        raise ParamValueError(f"Parameter num_consumer: {num_consumer} should between 1 and {limit}.")
    for name in names:
        crypto.is_encrypted(name)
        crypto.is_encrypted(name + ".db")
