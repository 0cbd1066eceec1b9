"""Arrays that somebody relies on not to change.

Copies made from weights (filters in another layout, say) may be used again as long as the weights are the same arrays
and nobody has written to them. An array that only its Parameter refers to can be written in two ways: by compiled code that
overwrites it, and by somebody who has got hold of it, perhaps through another view of its memory. Both call `touched`,
which is told about many arrays that nobody watches and must therefore cost next to nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

#: watched arrays by id; empty in most programs, which is all that others need to look at
WATCHED: dict[int, list[Watch]] = {}


class Watch:
    """Remembers arrays; `holds(arrays)` says whether these are the same arrays, untouched since."""

    __slots__ = ("_numbers", "_references", "intact")

    def __init__(self, arrays: Sequence[np.ndarray]):
        self.intact = True
        self._references = [weakref.ref(a) for a in arrays]
        self._numbers = [id(a) for a in arrays]
        for number in self._numbers:
            WATCHED.setdefault(number, []).append(self)

    def holds(self, arrays: Sequence[Any]) -> bool:
        return self.intact and all(r() is a for r, a in zip(self._references, arrays))

    def end(self) -> None:
        """Stop watching."""
        self.intact = False
        for number in self._numbers:
            others = [w for w in WATCHED.pop(number, ()) if w is not self]
            if others:
                WATCHED[number] = others


def touched(array: Any) -> None:
    """An array, or the memory it is a view of, was written or given to somebody who may write it."""
    while array is not None:
        for watch in WATCHED.pop(id(array), ()):
            watch.intact = False
        array = getattr(array, "base", None)
