"""Lists and dicts of a call: those among its arguments, and those that it gives back.

The trace works on copies of the lists and dicts among the arguments, in which tensors are symbolic. What the function leaves in a copy
is stored in the list or dict of the call when the graph has run. Where the function returns one of them, or one from outside, the
caller gets that very object, as in Python; if tensors that the graph computes are in it, a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.compiler.parse.outside import Contents, Outside, Same, fill
from mindspore.prims.structure import leaves, parts_of, with_parts


class Given:
    """Stands in a structure for a list or dict among the arguments of a call."""

    def __init__(self, name: int | str, path: tuple[int, ...]):
        self.name, self.path = name, path  # of the argument: its number or keyword; and which part of which part it is

    def of(self, args: tuple, kwargs: dict) -> Any:
        """The one of this call."""
        found = args[self.name] if isinstance(self.name, int) else kwargs[self.name]
        for number in self.path:
            found = (parts_of(found) or ())[number]
        return found


class Copies:
    """The copies of a trace."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[Contents, Given]] = {}

    def note(self, copy: Any, given: Given) -> None:
        """Remember what a copy stands for."""
        if type(copy) in (list, dict):
            self._met[id(copy)] = (Contents(copy), given)

    def left(self, outside: Outside) -> list[tuple[Given, Any]]:
        """What the function changed, and a structure of what it left there."""
        changed = [(c.container, given) for c, given in self._met.values() if c.changed()]
        return [(given, self.marked(with_parts(copy, parts_of(copy) or []), outside, lambda _: False)) for copy, given in changed]

    def marked(self, value: Any, outside: Outside, is_variable: Callable[[Any], bool]) -> Any:
        """A structure with marks for lists and dicts that the caller has; not for those in which there is a variable."""
        parts = parts_of(value)
        if parts is None:
            return value
        if isinstance(value, (list, dict)) and not any(map(is_variable, leaves(value))):
            if id(value) in self._met:
                return self._met[id(value)][1]
            if id(value) in outside.met:
                return Same(value)
        inner = [self.marked(part, outside, is_variable) for part in parts]
        return value if all(new is old for new, old in zip(inner, parts)) else with_parts(value, inner)

    def unmarked(self, value: Any) -> Any:
        """The structure with copies of what is in the marked lists and dicts in their place."""
        if isinstance(value, Given):
            value = next(contents.container for contents, given in self._met.values() if given is value)
        elif isinstance(value, Same):
            value = value.container
        parts = parts_of(value)
        return value if parts is None else with_parts(value, [self.unmarked(part) for part in parts])


def resolved(value: Any, args: tuple, kwargs: dict) -> Any:
    """A structure with what its marks stand for in this call."""
    if isinstance(value, Given):
        return value.of(args, kwargs)
    if isinstance(value, Same):
        return value.container
    parts = parts_of(value)
    return value if parts is None else with_parts(value, [resolved(part, args, kwargs) for part in parts])


def store(left: list[tuple[Given, Any]], args: tuple, kwargs: dict) -> None:
    """Fill lists and dicts of a call with what the function leaves there."""
    for target, items in [(given.of(args, kwargs), resolved(structure, args, kwargs)) for given, structure in left]:
        fill(target, items)
