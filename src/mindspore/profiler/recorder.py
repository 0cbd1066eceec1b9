"""What happened when: spans of time, collected with little more cost than reading the clock.

While a recorder is active, every primitive that PyNative mode runs, every call of a compiled graph and every kernel in it
leaves a span, and so does whatever asks `span` (waiting for data, user ranges). While it runs, spans are plain tuples;
`stop` gives them names.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mindspore.dataset.runtime.stopwatch import Stopwatch
from mindspore.dataset.settings import change
from mindspore.ir import FuncGraph
from mindspore.prims import primitive
from mindspore.prims.values import TensorBase
from mindspore.profiler.kernels import Clocks

_clock = time.perf_counter_ns


class Span(NamedTuple):
    """A stretch of time in nanoseconds."""

    name: str
    kind: str  # "step", "graph", "kernel", "operator", "data" (waiting for it), "pipeline" (a step of it), "user"
    start: int
    end: int
    thread: int
    detail: Any = None  # shapes of an operator's inputs, the place of a kernel in the network, the Lap of a pipeline's step


class _Current:
    recorder: Recorder | None = None


class Recorder:
    """Collects spans between `start` and `stop`.

    Args:
        shapes: also note the shapes and types of operands.
        memory: also note, at the end of each step, how much memory is in use.
    """

    def __init__(self, shapes: bool = False, memory: bool = False):
        self.shapes = shapes
        self.memory = memory
        self.spans: list[Any] = []
        self.samples: list[tuple[int, dict[str, int]]] = []  # (time, {what: bytes})
        self.graphs: dict[str, FuncGraph] = {}  # that ran, by the names of their spans
        self.pipeline = Stopwatch()
        self._clocks = Clocks(self)
        self._run: Callable | None = None

    def start(self) -> None:
        """Begin to collect; RuntimeError when another recorder does already."""
        if _Current.recorder is not None:
            raise RuntimeError("A Profiler is running already; stop it first.")
        from mindspore.common.api import Entry

        _Current.recorder = self
        change(stopwatch=self.pipeline)
        self._run = Entry.run_plain
        primitive.interpose(self._timed_dispatch, observes=False)
        Entry.run_plain = self._timed_graph(self._run)  # type: ignore[method-assign]

    def stop(self) -> None:
        """Stop collecting and leave everything as it was."""
        if _Current.recorder is not self:
            return
        from mindspore.common.api import Entry

        assert self._run is not None
        primitive.withdraw(self._timed_dispatch)
        Entry.run_plain = self._run  # type: ignore[method-assign]
        _Current.recorder = None
        change(stopwatch=None)
        self._clocks.stop()
        self.spans = [Span(*s) for s in self.spans]
        self.spans += [Span(lap.step.describe(), "pipeline", lap.start, lap.end, lap.thread, lap) for lap in self.pipeline.laps]

    def add(self, name: str, kind: str, start: int, end: int, detail: Any = None) -> None:
        self.spans.append((name, kind, start, end, threading.get_ident(), detail))

    def end_step(self, name: str, start: int) -> None:
        """Note a step that began at `start`."""
        self.add(name, "step", start, _clock())
        if self.memory:
            self.samples.append((_clock(), memory_in_use()))

    def _timed_dispatch(self, dispatch: Callable) -> Callable:
        append, ident, shapes = self.spans.append, threading.get_ident, self.shapes

        def call(prim: Any, args: tuple) -> Any:
            begin = _clock()
            out = dispatch(prim, args)
            end = _clock()
            append((prim.name, "operator", begin, end, ident(), _shapes(args) if shapes else None))
            return out

        return call

    def _timed_graph(self, run: Callable) -> Callable:
        clocks = self._clocks

        def timed(entry: Any, *given: Any) -> Any:
            executable = entry.executable
            entry.executable = lambda *arrays, **how: clocks.run(executable, arrays, **how)
            begin = _clock()
            try:
                return run(entry, *given)
            finally:
                self.add(entry.name, "graph", begin, _clock())
                self.graphs[entry.name] = entry.traced.graph
                entry.executable = executable

        return timed


def memory_in_use() -> dict[str, int]:
    """Bytes of the process and, where JAX tells, of the devices."""
    sample = {}
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as stream:
        sample["host"] = int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    jax = sys.modules.get("jax")
    for device in jax.local_devices() if jax is not None else ():
        stats = device.memory_stats() if device.platform != "cpu" else None
        if stats:
            sample[f"{device.platform}:{device.id}"] = stats["bytes_in_use"]
    return sample


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
