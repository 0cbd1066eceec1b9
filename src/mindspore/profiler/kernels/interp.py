"""The reference machine: its steps are timed one by one."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from typing import Any

from mindspore.backends.interp.machine import Program

_clock = time.perf_counter_ns


class InterpClock:
    """Runs copies of programs whose kernels look at the clock. A branch or loop counts as one kernel."""

    def __init__(self, recorder: Any):
        self.recorder = recorder
        self._timed: dict[int, tuple[Program, Program]] = {}  # id -> (the program, which keeps the id taken, its copy)

    def run(self, executable: Program, arrays: list[Any], **how: Any) -> Any:
        found = self._timed.get(id(executable))
        if found is None:
            found = self._timed[id(executable)] = (executable, self._copy(executable))
        return found[1](*arrays, **how)

    def _copy(self, program: Program) -> Program:
        timed = copy.copy(program)
        steps = zip(program.nodes, program.steps)
        timed.steps = [(self._watched(node, kernel), reads, to, dead) for node, (kernel, reads, to, dead) in steps]
        return timed

    def _watched(self, node: Any, kernel: Callable) -> Callable:
        append, ident, name, place = self.recorder.spans.append, threading.get_ident, node.op.name, node.scope

        def run(*args: Any) -> Any:
            begin = _clock()
            out = kernel(*args)
            append((name, "kernel", begin, _clock(), ident(), place))
            return out

        return run

    def stop(self) -> None:
        self._timed.clear()
