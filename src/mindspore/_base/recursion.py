"""Deep Python recursion for a while. The interpreter's limit is one for all threads, so the last user puts it back."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator


class _Users:
    lock = threading.Lock()
    count = 0
    before = 0  # the limit when the first of them came


@contextlib.contextmanager
def deep_recursion(limit: int) -> Iterator[None]:
    """Allow at least `limit` Python calls under way; never lowers the limit."""
    with _Users.lock:
        if _Users.count == 0:
            _Users.before = sys.getrecursionlimit()
        _Users.count += 1
        sys.setrecursionlimit(max(sys.getrecursionlimit(), limit))
    try:
        yield
    finally:
        with _Users.lock:
            _Users.count -= 1
            if _Users.count == 0:
                sys.setrecursionlimit(_Users.before)
