"""Watching, and changing, every operation that runs inside a block."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from mindspore.prims import primitive


class OpFunc:
    """An operation about to run: `func.name`, and `func(*args)` to run it."""

    def __init__(self, prim: Any, run: Any):
        self.name = prim.name
        self._prim, self._run = prim, run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(self._prim, args)


class _Stack(threading.local):
    modes: tuple = ()


_STACK = _Stack()


class MsDispatchMode(contextlib.ContextDecorator):
    """Inside `with MyMode():` each operation calls `__ms_dispatch__` of the innermost mode instead of running at once.

    Examples:
        >>> from mindspore.utils.dispatch_mode import MsDispatchMode
        >>> class Names(MsDispatchMode):
        ...     def __ms_dispatch__(self, func, args, kwargs=None):
        ...         print(func.name)
        ...         return func(*args)
    """

    def __enter__(self) -> MsDispatchMode:
        primitive.interpose(_asking, observes=True)
        _STACK.modes = (*_STACK.modes, self)
        return self

    def __exit__(self, *_: Any) -> None:
        _STACK.modes = _STACK.modes[:-1]
        primitive.withdraw(_asking)

    def __ms_dispatch__(self, func: OpFunc, args: tuple, kwargs: dict | None = None) -> Any:
        """Run the operation; override to do something else."""
        return func(*args, **(kwargs or {}))


def _asking(before: Any) -> Any:
    """Asks the innermost mode of the thread, before what carries calls out otherwise."""

    def dispatch(prim: Any, args: tuple) -> Any:
        modes = _STACK.modes
        if not modes:
            return before(prim, args)
        _STACK.modes = modes[:-1]  # what the callback itself computes goes to the mode outside
        try:
            return modes[-1].__ms_dispatch__(OpFunc(prim, before), args, {})
        finally:
            _STACK.modes = modes

    return dispatch
