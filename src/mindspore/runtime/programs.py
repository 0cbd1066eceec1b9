"""How many compiled programs are kept: those unused for longest are forgotten.

Each new shape is compiled anew and takes some tenths of a megabyte: graph, tables, machine code. A program lies in the cache of the
function it belongs to; `Programs` knows all of them, of all functions, and has caches forget some when there are too many. Nothing
is taken from under a running call: whoever runs a program holds it, and its memory is given back when the last holder lets go.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

#: moves on with every use of a program
tick = itertools.count(1).__next__
#: this part of the limit is forgotten at a time, so that finding the oldest costs little per program
_SHARE = 8


class Used(Protocol):
    """A program, which notes when it was last used (`used = tick()`)."""

    used: int


#: takes a program out of the cache it is in
Forget = Callable[[Any], None]


class _Kept(NamedTuple):
    program: weakref.ref[Any]
    forget: Forget


class Programs:
    """Programs that share a limit."""

    def __init__(self) -> None:
        self._kept: list[_Kept] = []
        self._lock = threading.RLock()  # a destructor may come in between

    def __len__(self) -> int:
        return sum(kept.program() is not None for kept in list(self._kept))

    def add(self, program: Used, forget: Forget, limit: int) -> None:
        """Count a new program; if that makes more than `limit`, have the oldest ones forgotten."""
        with self._lock:
            self._kept.append(_Kept(weakref.ref(program), forget))
            surplus = self._surplus(limit) if len(self._kept) > limit else []
        for old, forget_it in surplus:
            forget_it(old)

    def _surplus(self, limit: int) -> list[tuple[Used, Forget]]:
        """Take what was unused for longest off the list."""
        alive = [(program, kept) for kept in self._kept if (program := kept.program()) is not None]
        alive.sort(key=lambda pair: pair[0].used)
        count = len(alive) - limit
        cut = count + limit // _SHARE if count > 0 else 0
        self._kept = [kept for _, kept in alive[cut:]]
        return [(program, kept.forget) for program, kept in alive[:cut]]
