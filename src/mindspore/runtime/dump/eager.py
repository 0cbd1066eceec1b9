"""PyNative mode: the dispatch of primitives is watched while a dump is asked for."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType
from typing import Any

from mindspore.prims import primitive
from mindspore.prims.active import ACTIVE
from mindspore.prims.values import TensorBase
from mindspore.runtime import tape
from mindspore.runtime.dump import session as sessions
from mindspore.runtime.dump.session import Run, Session

_CALL_OF_CELL = "run_around"  # the method of Cell around `construct`


class Watcher:
    """Stands before the dispatch. The cells at work are found on the Python stack: nobody has to keep track of them."""

    def __init__(self) -> None:
        self.dispatch: Any = None
        self._outermost: Any = None  # the stack frame of the Cell call that began the iteration
        self._session: Session | None = None
        self._run: Run | None = None
        self._counts: Counter[str] = Counter()

    def before(self, dispatch: Any) -> Watcher:
        """Stand before what carries calls out otherwise."""
        self.dispatch = dispatch
        return self

    def __call__(self, prim: Any, args: tuple) -> Any:
        session = sessions.current() if ACTIVE.builder is None else None
        if session is None:
            return self.dispatch(prim, args)
        scope, marked, outermost = place_of_call(sys._getframe(1))
        self._advance(session, outermost)
        if self._run is None:
            return self.dispatch(prim, args)
        stem = f"{scope}/{prim.name}"
        name = f"{stem}-op{self._counts[stem]}"
        self._counts[stem] += 1
        inputs = [a._data if isinstance(a, TensorBase) else a for a in args]
        try:
            out = self.dispatch(prim, args)
        except Exception:
            self._run.failed(name, inputs)
            raise
        own = prim.attrs.get("dump")
        self._run.operation(name, inputs, out, marked if own is None else own == "true")
        return out

    def _advance(self, session: Session, outermost: FrameType | None) -> None:
        """Begin an iteration when another call of a Cell is at work, or nothing has begun yet."""
        same = self._session is session and (outermost is None or outermost is self._outermost)
        if same:
            return
        self._session, self._outermost = session, outermost
        owner = outermost.f_locals["self"] if outermost is not None else self
        self._run = session.launch(session.number(owner)[0])
        self._counts.clear()


def place_of_call(frame: FrameType | None) -> tuple[str, bool, FrameType | None]:
    """The scope of a call, whether a cell around it is marked, and the frame of the outermost Cell call."""
    parts: list[str] = []
    mark: bool | None = None
    outermost = None
    backward = False
    while frame is not None:
        if frame.f_code.co_name == _CALL_OF_CELL and hasattr(frame.f_locals.get("self"), "cells_and_names"):
            cell = frame.f_locals["self"]
            outermost = frame
            tag = cell.__dict__.get("_cell_tag", "")
            parts.append(f"{tag}-{type(cell).__name__}" if tag else "")
            if mark is None:
                mark = cell._flags.get("dump")
        elif tape.differentiated(frame) is not None:
            backward = True
        frame = frame.f_back
    scope = "/".join(["Gradients"] * backward + ["Default"] + [p for p in reversed(parts) if p])
    return scope, bool(mark), outermost


_WATCHER = Watcher()


def watch() -> None:
    """Put the watcher before the dispatch, once."""
    if not primitive.is_interposed(_WATCHER.before):
        primitive.interpose(_WATCHER.before, observes=True)


def unwatch() -> None:
    """Take it away: no dump is wanted any more."""
    if primitive.is_interposed(_WATCHER.before):
        primitive.withdraw(_WATCHER.before)
