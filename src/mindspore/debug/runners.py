"""Running a recorded step again: compiled, as graph mode did, or operation by operation, as PyNative mode did."""

from __future__ import annotations

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore import context as settings
from mindspore.common.compiled import CompiledFunction
from mindspore.common.entry import Entry
from mindspore.common.tensor import Tensor
from mindspore.debug.eager_steps import EAGER, Step, results_of, within
from mindspore.ir.naming import full_names
from mindspore.nn.cell import Cell
from mindspore.prims import primitive
from mindspore.prims.values import TensorBase
from mindspore.runtime.dump.eager import place_of_call
from mindspore.runtime.replay.ring import RingError, StepRecord
from mindspore.runtime.watch.graphs import SILENT, is_watchable, part_of

_OTHER = "The ring was recorded with another network: its Parameters are not those of 'train_step'."


def runner_of(train_step: Any, record: StepRecord) -> CompiledRunner | EagerRunner:
    """What runs the step of a record again."""
    if record.graph.startswith(EAGER):
        return EagerRunner(train_step, record)
    return CompiledRunner(train_step, record)


class CompiledRunner:
    """A step of graph mode."""

    def __init__(self, train_step: Any, record: StepRecord):
        compiled = train_step._compiled_function() if isinstance(train_step, Cell) else train_step
        if not isinstance(compiled, CompiledFunction):
            raise TypeError("For 'Replay', 'train_step' must be a Cell or a function under `ms.jit`.")
        entry = compiled.compile(*_tensors(record))
        if not isinstance(entry, Entry):
            raise RingError(_OTHER)
        self.entry = entry
        self.names = [p.name for p in entry.traced.graph.parameters if p.default is not None]
        if self.names != record.names:
            raise RingError(_OTHER)

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[None]:
        """Parameters are afterwards as they were before."""
        before = [w._data for w in self.entry.traced.weights]
        try:
            yield
        finally:
            for weight, array in zip(self.entry.traced.weights, before):
                weight._data = array

    def restore(self, record: StepRecord) -> None:
        for number, array in record.states.items():
            self.entry.traced.weights[number]._data = array.copy()

    def run(self, record: StepRecord) -> list[np.ndarray]:
        """What the step returns; Parameters are then as it left them."""
        entry, given = self.entry, _tensors(record)
        arrays = entry._arrays(given)
        if entry.device is not None:
            entry._move_to_device(given, arrays)
        outputs = entry.executable(*arrays)
        entry.finish(outputs)
        written = {index for _, index in entry.traced.written}
        return [np.array(r) for i, r in enumerate(outputs) if i not in written and hasattr(r, "nbytes")]

    def state(self) -> dict[str, np.ndarray]:
        return {name: np.array(w._data) for name, w in zip(self.names, self.entry.traced.weights)}

    def tensors(self, record: StepRecord, pattern: str) -> dict[str, np.ndarray]:
        """Tensors of the step by their full names; Parameters stay as they are."""
        graph = self.entry.traced.graph
        names = full_names(n for n in graph.nodes() if not isinstance(n.op, SILENT))
        wanted = [n for n in graph.nodes() if n.id in names and is_watchable(n) and re.search(pattern, names[n.id])]
        if not wanted:
            return {}
        arrays = part_of(graph, wanted)(*self.entry._arrays(_tensors(record)))
        return {names[n.id]: np.array(a) for n, a in zip(wanted, arrays)}


class EagerRunner:
    """A step of PyNative mode."""

    def __init__(self, train_step: Any, record: StepRecord):
        step = Step(train_step, train_step) if isinstance(train_step, Cell) else train_step
        if not isinstance(step, Step):
            raise TypeError("For 'Replay' of PyNative steps, 'train_step' must be a Cell or a `debug.Step`.")
        self.step = step
        self.names = step.names
        if self.names != record.names:
            raise RingError(_OTHER)

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[None]:
        """Parameters, random numbers and the mode are afterwards as they were before."""
        before, mode = self.step.states(), settings.get_context("mode")
        parameters = self.step.parameters
        settings.set_context(mode=settings.PYNATIVE_MODE)
        try:
            yield
        finally:
            settings.set_context(mode=mode)
            for parameter, array in zip(parameters, before):
                parameter._data = array
            self.step.restore({len(parameters): np.array(before[-1])})

    def restore(self, record: StepRecord) -> None:
        self.step.restore(record.states)

    def run(self, record: StepRecord) -> list[np.ndarray]:
        """What the step returns; Parameters are then as it left them."""
        with within():
            return [np.array(r) for r in results_of(self.step.function(*_tensors(record)))]

    def state(self) -> dict[str, np.ndarray]:
        return {name: np.array(array) for name, array in zip(self.names, self.step.states())}

    def tensors(self, record: StepRecord, pattern: str) -> dict[str, np.ndarray]:
        """Tensors of the step by their full names; Parameters stay as they are."""
        before = [np.array(array) for array in self.step.states()]
        collector = _Collector(pattern)
        primitive.interpose(collector.before, observes=True)
        try:
            self.run(record)
        finally:
            primitive.withdraw(collector.before)
            self.step.restore(dict(enumerate(before)))
        return collector.found


class _Collector:
    """Stands before the dispatch of primitives and keeps what they make."""

    def __init__(self, pattern: str):
        self.dispatch: Any = None
        self.found: dict[str, np.ndarray] = {}
        self._pattern = re.compile(pattern)
        self._counts: Counter[str] = Counter()

    def before(self, dispatch: Any) -> _Collector:
        self.dispatch = dispatch
        return self

    def __call__(self, prim: Any, args: tuple) -> Any:
        out = self.dispatch(prim, args)
        stem = f"{place_of_call(sys._getframe(1))[0]}/{prim.name}"
        name = f"{stem}-op{self._counts[stem]}"
        self._counts[stem] += 1
        if self._pattern.search(name):
            for slot, result in enumerate(out if isinstance(out, tuple) else (out,)):
                if isinstance(result, TensorBase):
                    self.found[f"{name}:{slot}" if slot else name] = np.array(result._data)
        return out


def _tensors(record: StepRecord) -> list[Tensor]:
    return [Tensor.from_numpy(a.copy()) for a in record.arguments]
