"""What a table says about one module path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    """The names of a module that live elsewhere."""

    names: Mapping[str, str] = {}
    """For each name the module that has it, or "module:name there"."""
    search: tuple[str, ...] = ()
    """Modules that are asked, in order, for names not listed."""
    unlisted: Mapping[str, str] = {}
    """Names that `from … import *` does not bring. (Modules of the design do that with each other.)"""

    @property
    def places(self) -> dict[str, str]:
        """Where each name lives, listed or not."""
        return {**self.names, **self.unlisted}


def held_by(module: str, names: str) -> dict[str, str]:
    """Names, separated by blanks, that one module has."""
    return dict.fromkeys(names.split(), module)
