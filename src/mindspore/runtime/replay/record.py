"""Keeping what steps are made of, while a training runs.

What a step is called with is small; all states are large, and only needed now and then: steps are run again from the last file that
holds them. So they are written every `keep` steps at most, and less often where writing would take more than a twentieth of the time,
as long as what is kept of the steps in between takes no more space than the states.
"""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from mindspore.ir import FuncGraph
from mindspore.runtime.replay import ring
from mindspore.runtime.replay.backlog import Backlog

#: results of a step that are kept to compare a replay with, in bytes altogether
_SMALL_RESULTS = 1 << 20
#: bytes of all states that are written without asking what it costs
_SMALL_STATES = 1 << 22
#: of the time for writing all states
_SHARE = 0.05
#: steps between two files with all states are at most so many times `keep`
_LONGEST = 20
#: bytes of steps that wait to be written; a slower disk slows the training down rather than filling the memory
_WAITING = 1 << 26


class Recorder:
    """Writes the ring of a training. A step is a run of a graph that changes Parameters."""

    def __init__(self, folder: str, keep: int, end: Any):
        self.folder = Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        for torn in self.folder.glob(".step_*.part"):  # of a process that was killed
            torn.unlink(missing_ok=True)
        left = ring.steps_of(self.folder)
        self.step = left[-1] + 1 if left else 0  # a training that goes on
        self.keep = keep
        self.key = object()  #: graphs compiled for one recorder serve no other
        self._end = end
        self._wholes: list[int] = []
        self._cost: float | None = None  # seconds that all states took to copy and write; None while that is not known
        self._begun = 0.0  # when they were last copied
        self._copying = 0.0
        self._size, self._between = 0, 0  # bytes of all states, and of the steps since
        self._failed = False
        self._backlog = Backlog(_WAITING)
        self._writer = threading.Thread(target=self._write, name="replay ring", daemon=True)
        self._writer.start()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: Any) -> None:
        self._end()

    def wants_whole(self, step: int) -> bool:
        """Whether a step's file is to hold all states."""
        if not self._wholes:
            return True
        since = step - self._wholes[-1]
        if since < self.keep:
            return False
        if self._size < _SMALL_STATES or self._between > self._size or since >= _LONGEST * self.keep:
            return True
        return self._cost is not None and time.perf_counter() - self._begun >= self._cost / _SHARE

    def add(self, record: ring.StepRecord, copying: float) -> None:
        """Have a step written whose arrays took `copying` seconds to copy."""
        if record.whole:
            self._wholes = [*self._wholes[-2:], record.step]
            self._size = sum(array.nbytes for array in record.states.values())
            self._cost, self._copying, self._between, self._begun = None, copying, 0, time.perf_counter()
        self._between += sum(array.nbytes for array in record.arguments)
        if not self._failed:
            self._backlog.put(record)

    def close(self) -> None:
        """Wait until everything is written."""
        if self._writer.is_alive():
            self._backlog.put(None)
            self._writer.join()

    def _write(self) -> None:
        while (record := self._backlog.get()) is not None:
            if self._failed:
                continue
            begun = time.perf_counter()
            try:
                ring.write(self.folder, record)
                self._forget(record.step)
                if record.whole:
                    self._cost = self._copying + time.perf_counter() - begun
            except OSError as error:
                self._failed = True
                warnings.warn(f"The replay ring in {self.folder} ends at step {record.step}: {error.strerror}. Training goes on.")

    def _forget(self, newest: int) -> None:
        """Delete what the last `keep` steps do not need."""
        steps = ring.steps_of(self.folder)
        starts = [w for w in self._wholes if w <= newest - self.keep + 1]
        for step in steps:
            if starts and step < starts[-1]:
                ring.file_of(self.folder, step).unlink(missing_ok=True)


class StepKeeper:
    """Keeps the steps of one graph or function: what it is called with, and states that are not those its last run left."""

    def __init__(self, recorder: Recorder, name: str, names: list[str]):
        self.recorder = recorder
        self.name, self.names = name, names
        self._left: dict[int, Any] = {}  # place among the states -> the array that the last run left there
        self._results: list[Any] = []

    def begin(self, states: list[Any], arguments: list[Any]) -> tuple[ring.StepRecord, float]:
        """The record of a step that begins, and the seconds that copying took."""
        recorder = self.recorder
        step, recorder.step = recorder.step, recorder.step + 1
        whole = recorder.wants_whole(step)
        begun = time.perf_counter()
        record = ring.StepRecord(step, self.name, whole, names=self.names, results=[np.array(r) for r in self._results])
        for place, array in enumerate(states):
            known = self._left.get(place)
            if whole or known is None or known() is not array:
                record.states[place] = np.array(array)
        record.arguments = [np.array(a) for a in arguments]
        return record, time.perf_counter() - begun

    def end(self, record: ring.StepRecord, copying: float, states: list[Any], results: list[Any]) -> None:
        """Have the step written, now that it is done."""
        self.recorder.add(record, copying)
        self._left = {place: weakref.ref(array) for place, array in enumerate(states)}
        results = [r for r in results if hasattr(r, "nbytes")]
        self._results = results if sum(r.nbytes for r in results) <= _SMALL_RESULTS else []


class RecordedGraph:
    """A compiled graph whose runs are kept by a recorder."""

    def __init__(self, graph: FuncGraph, executable: Any, recorder: Recorder):
        self.executable = executable
        self.states = [i for i, p in enumerate(graph.parameters) if p.default is not None]
        self.updates = dict(graph.attrs.get("updates", {}))
        self._keeper = StepKeeper(recorder, graph.name, [graph.parameters[i].name for i in self.states])

    def __call__(self, *arrays: Any, **kept: Any) -> Any:
        taken = set(self.states)
        begun = self._keeper.begin([arrays[i] for i in self.states], [a for i, a in enumerate(arrays) if i not in taken])
        outputs = self.executable(*arrays, **kept)
        left = [outputs[self.updates[i]] if i in self.updates else arrays[i] for i in self.states]
        written = set(self.updates.values())
        self._keeper.end(*begun, left, [r for o, r in enumerate(outputs) if o not in written])
        return outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self.executable, name)
