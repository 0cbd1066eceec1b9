"""Sinking: several training steps per call of one executable.

Python is not needed between two steps, and what they give is what the steps one by one would give, random numbers included. With
XLA the batches of some steps are stacked and a compiled loop goes through them (`_CompiledLoop`). Native code goes through its
table of steps again with the addresses of the next batch (`_NativeLoop`), which takes a step without calls to Python.
Otherwise the steps are made one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindspore import context
from mindspore.backends.interp.machine import Program
from mindspore.common.api import EAGER, CompiledFunction
from mindspore.common.entry import Entry
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import gather
from mindspore.prims.active import ACTIVE
from mindspore.runtime import choose_backend
from mindspore.runtime import context as settings

_MOST_STEPS = 64  # per call
_MOST_BYTES = 256 << 20  # of stacked batches


class _Loop(Cell):
    """Makes `count` steps; gives the outputs of the last one."""

    def __init__(self, step: Callable):
        super().__init__(auto_prefix=False)
        self.__dict__["step"] = step

    def construct(self, count, outputs, stacks):  # type: ignore[no-untyped-def]
        number = count * 0
        while number < count:
            outputs = self.step(*[gather(stack, number, 0) for stack in stacks])
            number = number + 1
        return outputs


class _CompiledLoop:
    """Steps as one graph with a loop. `outputs`: of a step, to begin with."""

    def __init__(self, step: Callable, outputs: Any, capacity: int):
        self.function = CompiledFunction(_Loop(step), "sunk_steps", {"for_values": False})
        self.outputs, self.capacity = outputs, capacity

    def possible(self, batches: list[tuple]) -> bool:
        entry = self.function.entry(self._arguments(batches), {})
        return entry is not EAGER and not isinstance(entry.executable, Program)  # else XLA cannot express it

    def run(self, batches: list[tuple]) -> Any:
        return self.function(*self._arguments(batches))

    def _arguments(self, batches: list[tuple]) -> tuple:
        padded = batches + [batches[-1]] * (self.capacity - len(batches))  # one shape, so one executable; never looked at
        stacks = tuple(Tensor.from_numpy(np.stack([np.asarray(c._data) for c in columns])) for columns in zip(*padded))
        return (Tensor(len(batches)), self.outputs, stacks)


class _NativeLoop:
    """Steps as runs of one native program, each on the state that the one before it left."""

    def __init__(self, step: Callable, capacity: int):
        self.function = step if isinstance(step, CompiledFunction) else step._compiled_function()  # type: ignore[attr-defined]
        self.capacity = capacity

    def possible(self, batches: list[tuple]) -> bool:
        entry = self.function.entry(batches[0], {})
        return isinstance(entry, Entry) and not ACTIVE.tapes and entry.may_repeat()

    def run(self, batches: list[tuple]) -> Any:
        return self.function.entry(batches[0], {}).repeat([list(batch) for batch in batches])


class SunkSteps:
    """Makes steps with a network or function, several per call where that is possible.

    Args:
        step: called with the columns of a batch.
        compiled: whether `step` is compiled when it is called.
    """

    def __init__(self, step: Callable, compiled: bool = True):
        self.step = step
        self.compiled = compiled
        self._loops: dict[Any, _CompiledLoop | _NativeLoop] = {}  # by kind of batches
        self._refused: set[Any] = set()  # kinds that cannot be looped over

    def run(self, batches: Iterable[tuple], steps: int) -> tuple[int, Any]:
        """Make a step for each of at most `steps` batches; returns how many there were and the outputs of the last."""
        made, outputs = 0, None
        waiting: list[tuple] = []
        for batch in batches:
            made += 1
            if waiting and (_kind(batch) != _kind(waiting[0]) or len(waiting) == self._capacity(waiting[0])):
                outputs, waiting = self._make(waiting, steps), []
            waiting.append(batch)
        return made, self._make(waiting, steps) if waiting else outputs

    def _capacity(self, batch: tuple) -> int:
        found = self._loops.get(_kind(batch))
        return 1 if found is None else found.capacity

    def _make(self, batches: list[tuple], steps: int) -> Any:
        """Make the steps of batches of one kind."""
        kind = _kind(batches[0])
        if len(batches) > 1:
            return self._loop(kind, batches)
        outputs = self.step(*batches[0])
        if kind not in self._loops and kind not in self._refused:
            self._prepare(kind, batches[0], outputs, steps)
        return outputs

    def _prepare(self, kind: Any, batch: tuple, outputs: Any, steps: int) -> None:
        """After the first step with a kind of batches: is a loop over them possible?"""
        size = sum(column.nbytes for column in batch if isinstance(column, Tensor))
        capacity = min(steps, _MOST_STEPS, _MOST_BYTES // max(size, 1))
        watched = settings.current().watch or settings.current().recorder  # which look at steps one by one
        backend = choose_backend.current_backend().name
        if not self.compiled or watched or capacity < 2 or not _all_tensors(batch):
            self._refused.add(kind)
        elif backend == "xla" and _all_tensors(outputs):
            self._loops[kind] = _CompiledLoop(self.step, outputs, capacity)
        elif backend == "cpu":
            self._loops[kind] = _NativeLoop(self.step, capacity)
        else:
            self._refused.add(kind)

    def _loop(self, kind: Any, batches: list[tuple]) -> Any:
        loop = self._loops[kind]
        if loop.possible(batches):
            return loop.run(batches)
        del self._loops[kind]
        self._refused.add(kind)
        return [self.step(*batch) for batch in batches][-1]


def _kind(batch: tuple) -> tuple:
    return tuple((c.dtype, c.shape) if isinstance(c, Tensor) else c for c in batch)


def _all_tensors(values: Any) -> bool:
    if isinstance(values, (tuple, list)):
        return bool(values) and all(map(_all_tensors, values))
    return isinstance(values, Tensor)


def is_compiled(step: Any) -> bool:
    """Whether calling `step` runs a compiled graph."""
    return isinstance(step, CompiledFunction) or (isinstance(step, Cell) and context.graph_mode())
