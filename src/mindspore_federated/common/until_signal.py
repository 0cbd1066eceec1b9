"""SIGTERM and SIGINT end a server that runs, and mean what they meant before when it has ended."""
from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def ended_by_signals(ended: threading.Event) -> Iterator[None]:
    """In the main thread, which alone may say what signals do."""
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in (signal.SIGTERM, signal.SIGINT)} if here else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
