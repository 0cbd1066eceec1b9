"""PyNative mode: a watcher before the dispatch of primitives computes the statistics of every result that is watched.

Lines are found on the Python stack. A gradient rule runs long after the line it belongs to, so the line of each recorded
result is noted under the number of its value, which the tape's entries know. On an accelerator the statistics are computed
there and read when the next step begins; on a CPU a hit is known at once.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import keys
from mindspore.ir import Location
from mindspore.prims import primitive, values
from mindspore.prims.active import ACTIVE
from mindspore.prims.inplace import value_of
from mindspore.prims.primitive import Primitive
from mindspore.prims.statistics import ScalarVector, TensorStatistics
from mindspore.prims.structural import Identity
from mindspore.prims.values import TensorBase
from mindspore.runtime import context, devices, tape
from mindspore.runtime import eager as _dispatching  # noqa: F401 - sets the dispatch that is watched
from mindspore.runtime.dump.session import arrays_of
from mindspore.runtime.watch.hits import Subject, Watch
from mindspore.runtime.watch.rules import Watchpoint

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_CALL_OF_CELL = "run_around"  # the method of Cell around `construct`


class _Place(NamedTuple):
    scope: str
    locations: tuple[Location, ...]
    backward: bool
    outermost: FrameType | None  # the frame of the outermost Cell call


class Watcher:
    """Stands before the dispatch while a watch is on."""

    def __init__(self) -> None:
        self.dispatch: Any = None
        self._outermost: FrameType | None = None
        self._lines: dict[int, tuple[Location, ...]] = {}  # number of a recorded value -> the line that made it
        self._counts: Counter[str] = Counter()
        self._waiting: list[tuple[Subject, list[Watchpoint], tuple, Any, list[Any], int]] = []
        self._owner: Watch | None = None
        self._step = 0
        self._first: set[str] = set()  # Parameters that have been looked at
        self._trained: set[keys.ByIdentity] = set()  # Parameters that gradients were taken of

    def before(self, dispatch: Any) -> Watcher:
        """Stand before what carries calls out otherwise."""
        self.dispatch = dispatch
        return self

    def __call__(self, prim: Primitive, args: tuple) -> Any:
        watch = context.current().watch
        if watch is None or ACTIVE.builder is not None or isinstance(prim, Identity):
            return self.dispatch(prim, args)
        given = [a._data if isinstance(a, TensorBase) else a for a in args]  # before anything is written to
        out = self.dispatch(prim, args)
        self._look(watch, prim, args, given, out)
        return out

    def _look(self, watch: Watch, prim: Primitive, args: tuple, given: list[Any], out: Any) -> None:
        place = _place(sys._getframe(2), self._lines)
        self._advance(watch, place.outermost)
        stem = f"{place.scope}/{prim.name}"
        name = f"{stem}-op{self._counts[stem]}"
        self._counts[stem] += 1
        results = out if isinstance(out, tuple) else (out,)
        if ACTIVE.tapes:
            for result in results:
                if isinstance(result, TensorBase):
                    self._lines[value_of(result)] = place.locations
        written = {output: argument for argument, output in prim.writes}
        kind = "activation" if prim.activation else "tensor"
        for slot, result in enumerate(results):
            if not _is_watchable(result):
                continue
            target = args[written[slot]] if slot in written else None
            if isinstance(target, values.parameter_class()):
                subject = Subject(target.name, 0, self._kind_of(target), result.size, place.locations)
                self._check(watch, subject, result, given, given[written[slot]])
            else:
                self._check(watch, Subject(name, slot, kind, result.size, place.locations, place.backward), result, given)

    def _kind_of(self, parameter: Any) -> str:
        is_weight = keys.ByIdentity(parameter) in self._trained if self._trained else parameter.requires_grad
        return "weight" if is_weight else "state"

    def gradient(self, watch: Watch, parameter: Any, grad: Any) -> None:
        """Look at the gradient of a weight."""
        self._trained.add(keys.ByIdentity(parameter))
        if _is_watchable(grad):
            lines = _place(sys._getframe(1), self._lines).locations
            self._check(watch, Subject(f"Gradients/{parameter.name}", 0, "gradient", grad.size, lines, True), grad, [])

    def _check(self, watch: Watch, subject: Subject, result: Any, given: list[Any], before: Any = None) -> None:
        points = watch.points_for(subject.kind, subject.name, subject.locations)
        points = [p for p in points if before is not None or not p.compares]
        if not points or not subject.size:
            return
        wanted = tuple(dict.fromkeys(s for p in points for s in p.statistics()))
        operands = (result,) if not any(p.compares for p in points) else (result, values.from_array(before))
        with tape.paused():
            numbers = self.dispatch(TensorStatistics(wanted), operands)
            vector = self.dispatch(ScalarVector(), numbers)
        self._waiting.append((subject, points, wanted, vector, given, self._step))
        if devices.accelerator() is None:
            self.read(watch)

    def read(self, watch: Watch) -> None:
        """Judge what is known by now."""
        waiting, self._waiting = self._waiting, []
        for subject, points, wanted, vector, given, step in waiting:
            found = dict(zip(wanted, np.asarray(vector._data).tolist()))
            first = subject.name not in self._first
            hits = watch.judge(step, subject, points, found, first)
            if any(p.first_step for p in points):
                self._first.add(subject.name)
            watch.act(hits, lambda _, given=given: _shown(given), lambda: "")  # type: ignore[misc]

    def _advance(self, watch: Watch, outermost: FrameType | None) -> None:
        """Begin a step when another call of a Cell is at work, or nothing has begun yet."""
        if self._owner is watch and (outermost is None or outermost is self._outermost):
            return
        if self._owner is not watch:
            self._waiting, self._first, self._trained = [], set(), set()
            watch.note_unread(lambda: self.read(watch))
        self._owner, self._outermost = watch, outermost
        self.read(watch)
        self._step = watch.begin_step()
        self._counts.clear()
        self._lines.clear()


def _shown(args: Sequence[Any]) -> dict[str, np.ndarray]:
    return {f"input {number}": array for number, array in arrays_of(args)}


def _is_watchable(value: Any) -> bool:
    return isinstance(value, TensorBase) and values.dtype_of(value).name in _FLOATS


def _place(frame: FrameType | None, lines: dict[int, tuple[Location, ...]]) -> _Place:
    """Where a call comes from: the scope of the cells at work, the user's lines, and whether a gradient rule is at work."""
    parts: list[str] = []
    found: list[Location] = []
    outermost = None
    forward: tuple[Location, ...] | None = None
    while frame is not None:
        code, names = frame.f_code, frame.f_locals
        if code.co_name == _CALL_OF_CELL and hasattr(names.get("self"), "cells_and_names"):
            outermost, cell = frame, names["self"]
            tag = cell.__dict__.get("_cell_tag", "")
            parts.append(f"{tag}-{type(cell).__name__}" if tag else "")
        elif (entry := tape.differentiated(frame)) is not None:
            forward = next((lines[k] for k in entry.out_keys if k in lines), ())
        if not code.co_filename.startswith(_PACKAGE) and not code.co_filename.startswith("<"):
            found.append(Location(code.co_filename, frame.f_lineno, function=code.co_name))
        frame = frame.f_back
    backward = forward is not None
    scope = "/".join(["Gradients"] * backward + ["Default"] + [p for p in reversed(parts) if p])
    return _Place(scope, tuple(found) if forward is None or not forward else forward, backward, outermost)


class _Installed:
    watcher: Watcher | None = None


def install() -> None:
    """Put a watcher before the dispatch, once."""
    if _Installed.watcher is None:
        _Installed.watcher = Watcher()
        primitive.interpose(_Installed.watcher.before, observes=True)


def uninstall() -> None:
    """Take it away."""
    if _Installed.watcher is not None:
        primitive.withdraw(_Installed.watcher.before)
        _Installed.watcher = None


def gradients(parameters: Sequence[Any], grads: Sequence[Any]) -> None:
    """Look at gradients of weights that a tape has computed."""
    watch, watcher = context.current().watch, _Installed.watcher
    if watch is not None and watcher is not None:
        for parameter, grad in zip(parameters, grads):
            watcher.gradient(watch, parameter, grad)
