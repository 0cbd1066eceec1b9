"""The native CPU backend: the machine code that goes through the steps notes the processor's counter at each.

The counter is turned into nanoseconds by what both it and the clock say at the ends of the call, so a step costs the
reading of a register and a store.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from typing import Any

import numpy as np

from mindspore.backends.cpu import jit
from mindspore.backends.cpu.executable import CpuExecutable, Instance

_clock = time.perf_counter_ns

_IR = """
declare i64 @llvm.readcyclecounter()
define i64 @graph_run_timed(ptr %table, i64 %count, ptr %stamps) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %good ]
  %now = call i64 @llvm.readcyclecounter()
  %stamp = getelementptr i64, ptr %stamps, i64 %i
  store i64 %now, ptr %stamp, align 8
  %more = icmp slt i64 %i, %count
  br i1 %more, label %step, label %done
step:
  %at = shl i64 %i, 4
  %slot = getelementptr i8, ptr %table, i64 %at
  %function = load ptr, ptr %slot, align 8
  %second = getelementptr i8, ptr %slot, i64 8
  %argument = load ptr, ptr %second, align 8
  %status = call i32 %function(ptr %argument)
  %ok = icmp eq i32 %status, 0
  br i1 %ok, label %good, label %bad
good:
  %next = add i64 %i, 1
  br label %head
bad:
  %wide = zext i32 %status to i64
  %shifted = shl i64 %i, 8
  %result = or i64 %shifted, %wide
  ret i64 %result
done:
  ret i64 0
}
"""


@functools.cache
def _run_timed() -> Any:
    address = jit.load("graph_run_timed", _IR)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(address)


class NativeClock:
    """While it is on, instances of compiled graphs run by the timed loop."""

    def __init__(self, recorder: Any):
        self.recorder = recorder
        self._runs: list[tuple[Instance, int, int, int, np.ndarray]] = []
        self._call = Instance.__call__
        Instance.__call__ = self._timed_call(Instance.__call__)  # type: ignore[method-assign]

    def run(self, executable: CpuExecutable, arrays: list[Any]) -> Any:
        return executable(*arrays)

    def stop(self) -> None:
        Instance.__call__ = self._call  # type: ignore[method-assign]
        for run in self._runs:
            self._add_spans(*run)
        self._runs.clear()

    def _timed_call(self, call: Any) -> Any:
        def timed(instance: Instance, external: dict) -> None:
            plain = instance.run
            instance.run = functools.partial(self._run, instance)
            try:
                call(instance, external)
            finally:
                instance.run = plain

        return timed

    def _run(self, instance: Instance, table: int, count: int) -> int:
        stamps = np.zeros(count + 1, np.int64)
        begin = _clock()
        status = _run_timed()(table, count, stamps.ctypes.data)
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
