"""Ctrl-C that is never lost.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a weak reference's callback, a destructor, a
fork hook or a C library's callback nobody can catch it: it is reported to `sys.unraisablehook` and the program goes on
as if nothing had happened. Every import runs such a callback (importlib's module locks), and so does every iterator or
batch that is dropped. The hook here sends the signal again once the main thread is out of reach of the first.

And what must not be left half-way, as weights whose memory has new values already, is done within `held_back()`.
"""

from __future__ import annotations

import _signal  # `signal` makes enumerations of handlers, which takes ten times as long
import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_PAUSE_SECONDS = 0.001
_SIGINT = int(signal.SIGINT)


class _SendAgain:
    """A hook for exceptions that cannot be raised; all but interrupts go to the hook before it."""

    def __init__(self, following: Callable[[Any], Any]):
        self._following = following

    def __call__(self, unraisable: Any) -> None:
        main = threading.main_thread().ident
        if unraisable.exc_type is KeyboardInterrupt and threading.get_ident() == main:
            _thread.start_new_thread(_send, (main, self.__call__.__code__))
        else:
            self._following(unraisable)


def _send(main: int, hook: Any) -> None:
    while _runs(sys._current_frames().get(main), hook):  # raised there, it would be lost again
        time.sleep(_PAUSE_SECONDS)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)  # also wakes a thread that waits
    else:
        _thread.interrupt_main()


def _runs(frame: Any, code: Any) -> bool:
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


class held_back:
    """A block of the main thread at whose end an interrupt is raised, not within; for blocks that soon come to their end."""

    __slots__ = ("_before", "_noted")

    def __enter__(self) -> None:
        self._noted = False
        self._before: Any = _signal.getsignal(_SIGINT) if threading.current_thread() is threading.main_thread() else None
        if callable(self._before):
            _signal.signal(_SIGINT, self._note)

    def _note(self, *_: Any) -> None:
        self._noted = True

    def __exit__(self, *_: Any) -> None:
        if callable(self._before):
            _signal.signal(_SIGINT, self._before)
            if self._noted:
                self._before(_SIGINT, sys._getframe(1))


def keep_interrupts() -> None:
    """From now on an interrupt that Python would ignore is raised a moment later."""
    if not isinstance(sys.unraisablehook, _SendAgain):
        sys.unraisablehook = _SendAgain(sys.unraisablehook)
