"""The base of the interpreter's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Rules:
    """A part of the interpreter: methods of the other parts are reached through `self`."""

    frame: Any
    scope: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
