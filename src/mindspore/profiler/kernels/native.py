"""The native CPU backend: the machine code that goes through the steps notes the processor's counter at each.

The counter is turned into nanoseconds by what both it and the clock say at the ends of the call, so a step costs the
reading of a register and a store.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence
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
        self._last = threading.local()  # the status of a thread's last run
        self._plain = Instance.__call__, Instance.repeat
        Instance.__call__ = self._timed_call(Instance.__call__)  # type: ignore[method-assign]
        Instance.repeat = self._one_by_one()  # type: ignore[method-assign]

    def run(self, executable: CpuExecutable, arrays: list[Any], **how: Any) -> Any:
        return executable(*arrays, **how)

    def stop(self) -> None:
        Instance.__call__, Instance.repeat = self._plain  # type: ignore[method-assign]
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

    def _one_by_one(self) -> Any:
        """Several runs in one call are as many calls while each is looked at."""

        def repeat(instance: Instance, external: dict, calls: Sequence[dict]) -> int:
            for made, call in enumerate(calls):
                instance({**external, **call})
                if self._last.status:  # the graph reports an error: it was the last run
                    return made
            return len(calls)

        return repeat

    def _run(self, instance: Instance, table: int, count: int) -> int:
        stamps = np.zeros(count + 1, np.int64)
        begin = _clock()
        status = self._last.status = runner.timed()(table, count, stamps.ctypes.data)
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
