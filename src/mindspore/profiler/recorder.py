"""What happened when: spans of time, collected with little more cost than reading the clock.

While a recorder is active, every primitive that PyNative mode runs and every call of a compiled graph leaves a span, and
so does whatever asks `span` (waiting for data, user ranges). Spans are plain tuples in a list.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mindspore.prims import primitive
from mindspore.prims.values import TensorBase

_clock = time.perf_counter_ns


class Span(NamedTuple):
    """A stretch of time in nanoseconds."""

    name: str
    kind: str  # "operator", "graph", "data", "step", "user"
    start: int
    end: int
    thread: int
    detail: Any = None


class _Current:
    recorder: Recorder | None = None


class Recorder:
    """Collects spans between `start` and `stop`.

    Args:
        shapes: also note the shapes and types of operands.
    """

    def __init__(self, shapes: bool = False):
        self.shapes = shapes
        self.spans: list[Span] = []
        self.marks: list[tuple[str, int]] = []
        self._dispatch: Callable | None = None
        self._run: Callable | None = None

    def start(self) -> None:
        """Begin to collect; RuntimeError when another recorder does already."""
        if _Current.recorder is not None:
            raise RuntimeError("A Profiler is running already; stop it first.")
        from mindspore.common.api import Entry

        _Current.recorder = self
        self._dispatch, self._run = primitive._Dispatch.call, Entry.run_plain
        primitive.set_dispatch(self._timed_dispatch(self._dispatch))
        Entry.run_plain = self._timed_graph(self._run)  # type: ignore[method-assign]

    def stop(self) -> None:
        """Stop collecting and leave everything as it was."""
        if _Current.recorder is not self:
            return
        from mindspore.common.api import Entry

        assert self._dispatch is not None and self._run is not None
        primitive.set_dispatch(self._dispatch)
        Entry.run_plain = self._run  # type: ignore[method-assign]
        _Current.recorder = None

    def add(self, name: str, kind: str, start: int, end: int, detail: Any = None) -> None:
        self.spans.append(Span(name, kind, start, end, threading.get_ident(), detail))

    def _timed_dispatch(self, dispatch: Callable) -> Callable:
        append, ident, shapes = self.spans.append, threading.get_ident, self.shapes

        def call(prim: Any, args: tuple) -> Any:
            begin = _clock()
            out = dispatch(prim, args)
            end = _clock()
            append(Span(prim.name, "operator", begin, end, ident(), _shapes(args) if shapes else None))
            return out

        return call

    def _timed_graph(self, run: Callable) -> Callable:
        def timed(entry: Any, tensors: list) -> Any:
            begin = _clock()
            out = run(entry, tensors)
            _wait(out)
            self.add(entry.name, "graph", begin, _clock())
            return out

        return timed


def _wait(value: Any) -> None:
    """Wait until results are there: devices compute while Python goes on."""
    if isinstance(value, (tuple, list)):
        for item in value:
            _wait(item)
    elif isinstance(value, TensorBase):
        wait = getattr(value._data, "block_until_ready", None)
        if wait is not None:
            wait()


def _shapes(args: tuple) -> list[str]:
    return [f"{a.dtype}{list(a.shape)}" for a in args if isinstance(a, TensorBase)]


@contextlib.contextmanager
def span(name: str, kind: str = "user") -> Iterator[None]:
    """Record a stretch of code, if a profiler runs."""
    recorder = _Current.recorder
    if recorder is None:
        yield
        return
    begin = _clock()
    try:
        yield
    finally:
        recorder.add(name, kind, begin, _clock())


def current() -> Recorder | None:
    """The recorder that collects now."""
    return _Current.recorder


def now() -> int:
    """The recorder's clock."""
    return _clock()
