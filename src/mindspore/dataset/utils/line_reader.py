"""`LineReader`: any line of a text file, without reading the others."""

from __future__ import annotations

import os
from typing import Any

from mindspore.dataset._check import check_type
from mindspore.dataset.sources.lines import line_spans


class LineReader:
    """Lines of a text file by number, from 1.

    reader = ds.utils.LineReader("large.txt")
    reader.len(), reader.readline(3)

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("lines.txt").write_text("good day\\ngood night\\n")
        >>> with ds.LineReader("lines.txt") as reader:
        ...     line = reader.readline(2)
        >>> line
        'good night\\n'
    """

    def __init__(self, filename: str):
        check_type(filename, str, "filename")
        if not os.path.isfile(filename):
            raise ValueError(f"The file {filename} does not exist or is not a file.")
        self.filename = filename
        self._spans = line_spans(filename, keep_empty=True)
        self._stream: Any = open(filename, "rb")  # noqa: SIM115 - closed by close()

    def readline(self, line: int) -> str:
        """Line number `line`, with its line end."""
        check_type(line, int, "line")
        if not 1 <= line <= len(self._spans):
            raise ValueError(f"The line number should be within [1, {len(self._spans)}], but got {line}.")
        if self._stream is None:
            raise RuntimeError(f"The file {self.filename} has been closed.")
        self._stream.seek(int(self._spans[line - 1][0]))
        return self._stream.readline().decode("utf-8")

    def len(self) -> int:
        """The number of lines."""
        return len(self._spans)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> LineReader:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.close()
