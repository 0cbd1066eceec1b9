"""Sinking: several training steps per call of one executable.

The batches of some steps are stacked and a compiled loop goes through them, so that Python is not needed between two
steps. The loop does what the steps one by one would do, random numbers included. It is used where a call has a cost
worth saving, which is with XLA; the other backends make the steps one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindspore import context
from mindspore.backends.interp.machine import Program
from mindspore.common.api import EAGER, CompiledFunction
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import gather
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


class SunkSteps:
    """Makes steps with a network or function, several per call where that is possible.

    Args:
        step: called with the columns of a batch.
        compiled: whether `step` is compiled when it is called.
    """

    def __init__(self, step: Callable, compiled: bool = True):
        self.step = step
        self.compiled = compiled
        self._loops: dict[Any, tuple[CompiledFunction, Any, int]] = {}  # kind of batches -> loop, outputs, capacity
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
        return 1 if found is None else found[2]

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
        loopable = self.compiled and choose_backend.current_backend().name == "xla" and _all_tensors(batch) and not watched
        if not loopable or capacity < 2 or not _all_tensors(outputs):
            self._refused.add(kind)
            return
        self._loops[kind] = (CompiledFunction(_Loop(self.step), "sunk_steps", {"for_values": False}), outputs, capacity)

    def _loop(self, kind: Any, batches: list[tuple]) -> Any:
        loop, outputs, capacity = self._loops[kind]
        padded = batches + [batches[-1]] * (capacity - len(batches))  # one shape, so one executable; never looked at
        stacks = tuple(Tensor.from_numpy(np.stack([np.asarray(c._data) for c in columns])) for columns in zip(*padded))
        arguments = (Tensor(len(batches)), outputs, stacks)
        if loop.entry(arguments, {}) is EAGER or isinstance(loop.entry(arguments, {}).executable, Program):
            del self._loops[kind]  # XLA cannot express it
            self._refused.add(kind)
            return [self.step(*batch) for batch in batches][-1]
        return loop(*arguments)


def _kind(batch: tuple) -> tuple:
    return tuple((c.dtype, c.shape) if isinstance(c, Tensor) else c for c in batch)


def _all_tensors(values: Any) -> bool:
    if isinstance(values, (tuple, list)):
        return bool(values) and all(map(_all_tensors, values))
    return isinstance(values, Tensor)


def is_compiled(step: Any) -> bool:
    """Whether calling `step` runs a compiled graph."""
    return isinstance(step, CompiledFunction) or (isinstance(step, Cell) and context.graph_mode())
