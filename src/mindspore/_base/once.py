"""A cache for what may exist only once.

`functools.cache` lets two threads that ask at the same moment both compute, and keeps one of the results. Where a result owns
something (machine code, a library's handle) and others keep its address, the other one's must not vanish: here the second
thread waits for the first.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")


def once(function: Callable[..., T]) -> Callable[..., T]:
    """Compute for given arguments once in the life of the process, whoever asks."""
    kept = functools.cache(function)
    lock = threading.RLock()

    @functools.wraps(function)
    def ask(*args: Hashable) -> T:
        with lock:
            return kept(*args)

    return ask
