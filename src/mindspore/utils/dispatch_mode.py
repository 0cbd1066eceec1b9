"""Watching, and changing, every operation that runs inside a block."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from mindspore.prims import primitive
from mindspore.prims.active import ACTIVE


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


class _EveryOperation:
    """Stands among the tapes so that no operation takes the short way past the dispatcher. Records nothing."""

    def record(self, prim: Any, args: tuple, out: Any) -> None:
        """Nothing to note."""


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
        if not _STACK.modes:
            self._install()
        _STACK.modes = (*_STACK.modes, self)
        return self

    def __exit__(self, *_: Any) -> None:
        _STACK.modes = _STACK.modes[:-1]
        if not _STACK.modes:
            self._restore()

    def __ms_dispatch__(self, func: OpFunc, args: tuple, kwargs: dict | None = None) -> Any:
        """Run the operation; override to do something else."""
        return func(*args, **(kwargs or {}))

    def _install(self) -> None:
        before = primitive._Dispatch.call
        watcher = _EveryOperation()

        def dispatch(prim: Any, args: tuple) -> Any:
            modes = _STACK.modes
            if not modes:
                return before(prim, args)
            _STACK.modes = modes[:-1]  # what the callback itself computes goes to the mode outside
            try:
                return modes[-1].__ms_dispatch__(OpFunc(prim, before), args, {})
            finally:
                _STACK.modes = modes

        self._before, self._watcher = before, watcher
        primitive.set_dispatch(dispatch)
        ACTIVE.tapes = (*ACTIVE.tapes, watcher)

    def _restore(self) -> None:
        primitive.set_dispatch(self._before)
        ACTIVE.tapes = tuple(tape for tape in ACTIVE.tapes if tape is not self._watcher)
