"""Lists, dicts, sets and arrays from outside of the compiled function: from its module, from functions around it, from attributes.

Interpreted code works on these objects themselves, so identity, aliases and library code are as in Python. What is in them
is noted when they are met. It is part of what the graph is made for (common/guards.py), and it is put back when the trace ends, since
tracing is no run. What the function leaves in them is stored when the graph has run, as attributes are.

From outside is what is reached from the function, its module and its arguments, by attributes and items. What the function itself makes
is not, such as the CellList that a slice of one is: it exists during the trace alone.

Branches join what each side leaves in lists and dicts (branching.py). Where that can't be done, as in loops of unknown length,
the function needs values that only a run gives.
"""

from __future__ import annotations

import operator
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mindspore.prims.values import TensorBase, ValueUnknownError

#: larger arrays are compared by identity alone: looking at them would cost more than a call
LARGEST_ARRAY = 1 << 16

_KINDS = (list, dict, set, deque, np.ndarray)
#: nothing in these can change
_PLAIN = (bool, int, float, complex, str, bytes, type(None), TensorBase)
#: what is found in these is from outside
_ALWAYS = (types.CellType, type, types.FunctionType)


class Contents:
    """Something from outside, and what was in it when it was met."""

    def __init__(self, container: Any):
        self.container = container
        self.kept = _copy(container)

    def changed(self) -> bool:
        """Whether something else is in it now."""
        return not same_items(self.kept, self.container)

    def put_back(self) -> None:
        """Have what was in it in it again."""
        fill(self.container, self.kept)


class Left:
    """Where a graph stores what a function leaves in something from outside: `left.items = …` fills it."""

    def __init__(self, container: Any):
        self.container = container

    @property
    def items(self) -> Any:
        """What is there."""
        return _copy(self.container)

    @items.setter
    def items(self, structure: Any) -> None:
        fill(self.container, _without_marks(structure))


class Same:
    """Stands in a structure for something from outside, which stays the object it is."""

    def __init__(self, container: Any):
        self.container = container


class Outside:
    """What an interpretation has met."""

    def __init__(self) -> None:
        self.met: dict[int, Contents] = {}
        self.objects: dict[int, Any] = {}  # others from outside; those of modules and variables around always are

    def begin(self, function: Any, arguments: Iterable[Any]) -> None:
        """What the interpretation starts from. A wrapper of a function, such as its gradient, has it in an attribute."""
        for value in (function, *arguments):
            self.meet(value)
        for value in (getattr(function, "__self__", None), *getattr(function, "__dict__", {}).values()):
            self.meet(value)

    def holds(self, owner: Any) -> bool:
        """Whether an object is known to be from outside."""
        return isinstance(owner, _ALWAYS) or id(owner) in self.objects

    def meet(self, value: Any) -> None:
        """Note a value from outside, and what is in it."""
        if isinstance(value, _PLAIN) or id(value) in self.met or id(value) in self.objects:
            return
        if isinstance(value, _KINDS):
            self.met[id(value)] = Contents(value)
        else:
            self.objects[id(value)] = value
        if isinstance(value, (tuple, *_KINDS)):
            for item in list(_values(value)):
                self.meet(item)
        elif "_cells" in getattr(value, "__dict__", ()):
            for cell in list(value._cells.values()):
                self.meet(cell)

    def wrote(self, container: dict, key: Any) -> bool:
        """Whether the function has given an item of a dictionary another value."""
        met = self.met.get(id(container))
        return met is not None and met.kept.get(key, met) is not container[key]

    def lists_and_dicts(self) -> Iterator[Contents]:
        return (c for c in self.met.values() if isinstance(c.container, (list, dict)))

    def left(self) -> list[tuple[Left, Any]]:
        """What the function changed, and a structure of what it left there."""
        changed = [c for c in self.met.values() if c.changed()]
        self._refuse(c for c in changed if isinstance(c.container, np.ndarray))
        return [(Left(c.container), self._marked(c.container)) for c in changed]

    def put_back(self) -> None:
        """Undo what tracing did."""
        for contents in self.met.values():
            if contents.changed():
                contents.put_back()

    def refuse_changes(self, before: dict[int, tuple[Any, Any]], joined: tuple[type, ...] = ()) -> None:
        """A part of the program that may run any number of times, or not at all, must not have changed what is not `joined`."""
        self._refuse(
            c for key, c in self.met.items()
            if not isinstance(c.container, joined)
            and not same_items(before[key][1] if key in before else c.kept, c.container)
        )  # fmt: skip

    def _refuse(self, changed: Iterable[Contents]) -> None:
        for contents in changed:
            raise ValueUnknownError(
                f"The {type(contents.container).__name__} {_short(contents.kept)} comes from outside of the compiled function, "
                "which changes it where only a run knows how often. Return the values instead, or change a copy."
            )

    def _marked(self, value: Any, root: bool = True) -> Any:
        if not root and id(value) in self.met:
            return Same(value)
        return _mapped(value, lambda item: self._marked(item, False))


def same_items(kept: Any, now: Any) -> bool:
    """Whether two containers of a kind hold the same objects, or equal numbers and words."""
    if isinstance(now, np.ndarray):
        return kept is None or _array_items(now) == kept
    if isinstance(now, dict):
        return _all_same(kept, now) and _all_same(dict.values(kept), dict.values(now))
    return _all_same(kept, now)


def _all_same(kept: Any, now: Any) -> bool:
    return len(kept) == len(now) and (all(map(operator.is_, kept, now)) or all(map(_same, kept, now)))


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, complex, str)) and a == b)


def _kind(container: dict) -> type[dict]:
    """Whose methods change a dictionary without its own class's being asked: an ordered one keeps its order beside its items."""
    return OrderedDict if isinstance(container, OrderedDict) else dict


def _copy(container: Any) -> Any:
    if isinstance(container, dict):
        return dict(_kind(container).items(container))
    if isinstance(container, np.ndarray):
        return _array_items(container)
    return set(container) if isinstance(container, set) else list(container)


def _array_items(array: np.ndarray) -> tuple | None:
    small = array.nbytes <= LARGEST_ARRAY and not array.dtype.hasobject
    return (array.dtype.str, array.shape, array.tobytes()) if small else None


def _values(container: Any) -> Iterable[Any]:
    if isinstance(container, np.ndarray):
        return ()
    return dict.values(container) if isinstance(container, dict) else container


def fill(container: Any, kept: Any) -> None:
    """Put what a copy holds into the container."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), kept)
    elif isinstance(container, dict):
        kind = _kind(container)
        kind.clear(container)
        for key, item in kept.items():
            kind.__setitem__(container, key, item)
    elif isinstance(container, np.ndarray):
        container[...] = np.frombuffer(kept[2], container.dtype).reshape(container.shape)
    else:
        container.clear()
        (container.update if isinstance(container, set) else container.extend)(kept)


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A plain copy of a structure with the function applied to what is in it."""
    if isinstance(value, dict):
        return {key: function(item) for key, item in _kind(value).items(value)}
    if isinstance(value, (list, deque)):
        return [function(item) for item in value]
    if type(value) is tuple:
        return tuple(function(item) for item in value)
    return set(value) if isinstance(value, set) else value


def _without_marks(value: Any) -> Any:
    return value.container if isinstance(value, Same) else _mapped(value, _without_marks)


def _short(kept: Any) -> str:
    text = repr(kept if not isinstance(kept, tuple) else kept[1])
    return text if len(text) < 60 else text[:57] + "..."
