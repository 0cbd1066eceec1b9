"""Handlers of signals that last as long as what set them, in whatever order several of them end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any


class Handlers:
    """While they last, signals call a function. Set by the main thread; in others Python has no handlers to give, and nothing is set.

    Handlers that are set one after another form a chain, each knowing the one before it: a signal reaches all that last, and what was
    there before them is put back when the last of them has ended. Outside the main thread an end cannot put it back; the signal is then
    passed on when it comes.
    """

    def __init__(self, numbers: Iterable[int], called: Callable[[int], object]) -> None:
        here = threading.current_thread() is threading.main_thread()
        self._links = [_Link(number, called) for number in numbers] if here else []

    def end(self) -> None:
        for link in self._links:
            link.lasts = False
            if threading.current_thread() is threading.main_thread():
                link.settle()

    def __enter__(self) -> Handlers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class _Link:
    def __init__(self, number: int, called: Callable[[int], object]) -> None:
        self._number, self._called = number, called
        self.lasts = True
        self.before: Any = signal.signal(number, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        before = _lasting(self.before)
        if self.lasts:
            self._called(number)
            if isinstance(before, _Link):
                before(number, frame)
        elif callable(before):
            before(number, frame)
        elif before is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def settle(self) -> None:
        """Put back what was there before the links that have ended; a handler that came after them stays."""
        now = signal.getsignal(self._number)
        if isinstance(now, _Link):
            signal.signal(self._number, _lasting(now) or signal.SIG_DFL)  # None: not of Python


def _lasting(handler: Any) -> Any:
    while isinstance(handler, _Link) and not handler.lasts:
        handler = handler.before
    return handler


__all__ = ["Handlers"]
