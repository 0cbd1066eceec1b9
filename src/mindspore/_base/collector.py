"""Pausing the collector of cyclic garbage.

A compilation makes hundreds of thousands of objects that live until its end. The collector looks at all of them again and again and
finds nothing: a tenth of the time it takes to compile a large network.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator


class _Pauses:
    lock = threading.Lock()
    count = 0  # pauses under way, in all threads
    resume = False  # whether the collector ran before the first of them


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No collection meanwhile; pauses may overlap."""
    with _Pauses.lock:
        if not _Pauses.count:
            _Pauses.resume = gc.isenabled()
            gc.disable()
        _Pauses.count += 1
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.count -= 1
            if not _Pauses.count and _Pauses.resume:
                gc.enable()
