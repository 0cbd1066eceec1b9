"""Things made once per key and given back when nobody uses them: compiled kernels.

What somebody holds is found again under its key; besides, the last ones asked for are held here, because programs make and drop
functions that need the same kernels.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """`size`: how many are held although nobody else does."""

    def __init__(self, size: int):
        self.size = size
        self._known: weakref.WeakValueDictionary[Hashable, T] = weakref.WeakValueDictionary()
        self._recent: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.RLock()  # a destructor may come in between

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        found = self._known.get(key)
        if found is None:
            found = make()
        with self._lock:
            found = self._known.setdefault(key, found)
            self._recent[key] = found
            self._recent.move_to_end(key)
            while len(self._recent) > self.size:
                self._recent.popitem(last=False)
        return found
