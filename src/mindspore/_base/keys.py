"""Keys of caches: equal for what may share an entry, and for nothing else.

Python's `==` is too generous for that (1, 1.0 and True are equal, 0.0 and -0.0, frozenset({1}) and frozenset({True})), and
`id()` is reused as soon as an object is gone. `exact` looks at types and at values; what has no value to compare is
held by the key, so that nothing else can be mistaken for it.
"""

from __future__ import annotations

import array
import collections
from collections.abc import Callable
from typing import Any

import numpy as np

#: kinds whose `==` is exact within the kind
_ATOMS = frozenset((bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented)))
#: kinds compared by their contents
BY_CONTENTS = (bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set, frozenset, bytearray, memoryview, slice,
               collections.deque, array.array, np.ndarray, np.generic)  # fmt: skip


class ByIdentity:
    """The key of one object. It holds the object: as long as the key exists, no other object can be equal to it."""

    __slots__ = ("held",)

    def __init__(self, held: Any):
        self.held = held

    def __hash__(self) -> int:
        return object.__hash__(self.held)

    def __eq__(self, other: object) -> bool:
        return type(other) is ByIdentity and other.held is self.held

    def __repr__(self) -> str:
        return f"ByIdentity({type(self.held).__name__})"


def exact(value: Any, part: Callable[[Any], Any] | None = None) -> Any:
    """A key that is equal for values of the same type and contents only; `part` gives the keys of elements."""
    kind = type(value)
    if kind in _ATOMS:
        return (kind, value)
    if kind is float:
        return (kind, value) if value and value == value else (kind, repr(value))  # -0.0 == 0.0, nan != nan
    return _of_contents(kind, value, part or exact) if isinstance(value, BY_CONTENTS) else _of_object(kind, value)


def _of_contents(kind: type, value: Any, part: Callable[[Any], Any]) -> Any:
    if isinstance(value, (tuple, list, collections.deque)):
        return (kind, *map(part, value))
    if isinstance(value, dict):
        return (kind, *((part(k), part(v)) for k, v in value.items()))
    if isinstance(value, (set, frozenset)):
        return (kind, frozenset(map(part, value)))
    if isinstance(value, slice):
        return (kind, part(value.start), part(value.stop), part(value.step))
    if isinstance(value, (np.ndarray, np.generic)):
        elements = tuple(map(part, value.ravel().tolist())) if value.dtype.hasobject else value.tobytes()
        return (kind, value.dtype, value.shape, elements)
    if isinstance(value, (bytearray, memoryview, array.array)):
        return (kind, getattr(value, "typecode", getattr(value, "format", "")), bytes(value))
    return (kind, repr(value)) if isinstance(value, complex) else _of_object(kind, value)


def _of_object(kind: type, value: Any) -> Any:
    """Objects that can be compared, compared; others (and arrays of other libraries, whose `==` is an array) held."""
    if hasattr(kind, "__array__"):
        return ByIdentity(value)
    try:
        hash(value)
    except (TypeError, ValueError):
        return ByIdentity(value)
    return (kind, value)


def same_constant(a: Any, b: Any) -> bool:
    """Whether two known values may stand for one another; no, where their `==` has no yes or no."""
    if type(a) is not type(b):
        return False
    try:
        return bool(exact(a) == exact(b) if isinstance(a, BY_CONTENTS) else a == b)
    except (TypeError, ValueError):
        return False
