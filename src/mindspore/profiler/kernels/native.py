"""The native CPU backend: the machine code that goes through the steps notes the processor's counter at each.

The counter is turned into nanoseconds by what both it and the clock say at the ends of the call, so a step costs the
reading of a register and a store.
"""

from __future__ import annotations

import functools
import threading
import time
from typing import Any

import numpy as np

from mindspore.backends.cpu import runner
from mindspore.backends.cpu.executable import CpuExecutable, Instance

_clock = time.perf_counter_ns


class NativeClock:
    """While it is on, instances of compiled graphs run by the timed loop."""

    def __init__(self, recorder: Any):
        self.recorder = recorder
        self._runs: list[tuple[Instance, int, int, int, np.ndarray]] = []
        self._call = Instance.__call__
        Instance.__call__ = self._timed_call(Instance.__call__)  # type: ignore[method-assign]

    def run(self, executable: CpuExecutable, arrays: list[Any], **how: Any) -> Any:
        return executable(*arrays, **how)

    def stop(self) -> None:
        Instance.__call__ = self._call  # type: ignore[method-assign]
        for run in self._runs:
            self._add_spans(*run)
        self._runs.clear()

    def _timed_call(self, call: Any) -> Any:
        def timed(instance: Instance, *args: Any) -> None:
            plain = instance.run
            instance.run = functools.partial(self._run, instance)
            try:
                call(instance, *args)
            finally:
                instance.run = plain

        return timed

    def _run(self, instance: Instance, table: int, count: int) -> int:
        stamps = np.zeros(count + 1, np.int64)
        begin = _clock()
        status = runner.timed()(table, count, stamps.ctypes.data)
        self._runs.append((instance, begin, _clock(), threading.get_ident(), stamps))
        return status

    def _add_spans(self, instance: Instance, begin: int, end: int, thread: int, stamps: np.ndarray) -> None:
        ticks = stamps[-1] - stamps[0]
        if ticks <= 0:  # a step failed: the graph has raised already
            return
        times = begin + ((stamps - stamps[0]) * ((end - begin) / ticks)).astype(np.int64)
        shift = instance.count - len(instance.blueprint.steps)  # rows that only set addresses
        for number, step in enumerate(instance.blueprint.steps, start=shift):
            span = (step.name, "kernel", int(times[number]), int(times[number + 1]), thread, instance.blueprint.name)
            self.recorder.spans.append(span)
