"""Where in the user's program a node comes from."""

from __future__ import annotations

import linecache
from typing import NamedTuple


class Location(NamedTuple):
    """A position in a source file. Columns are 0-based; `end_column` is -1 when only the line is known."""

    file: str
    line: int
    column: int = -1
    end_column: int = -1
    function: str = ""

    @property
    def source(self) -> str:
        """The text of the line, without indentation."""
        return linecache.getline(self.file, self.line).strip()

    def describe(self) -> str:
        """The form used in IR dumps."""
        return f"In file {self.file}({self.line})/    {self.source}/"

    def excerpt(self) -> str:
        """The form used in error messages: file, line, the source line and a caret under the expression."""
        head = f"  In file {self.file}:{self.line}" + (f", in {self.function}" if self.function else "")
        raw = linecache.getline(self.file, self.line).rstrip("\n")
        if not raw.strip():
            return head
        indent = len(raw) - len(raw.lstrip())
        body = f"{head}\n    {raw.strip()}"
        if self.column >= 0:
            width = max(1, (self.end_column if self.end_column > self.column else self.column + 1) - self.column)
            width = min(width, max(1, len(raw) - self.column))
            body += "\n    " + " " * (self.column - indent) + "^" * width
        return body
