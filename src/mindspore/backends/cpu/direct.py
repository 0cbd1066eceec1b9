"""Calling a compiled graph with as little Python around it as possible: the kernels of PyNative mode.

A graph of one operation runs for a few microseconds, so the general call (conversions, recycling of results, a
dictionary of addresses) would cost more than the work. Here the arguments are contiguous arrays of the types the graph
was made for, results are new arrays, and their addresses go straight into the graph's table.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from mindspore.backends.base import CannotCompile
from mindspore.backends.cpu import arena, openmp
from mindspore.backends.cpu.addresses import address_of
from mindspore.backends.cpu.executable import CpuExecutable, Instance
from mindspore.backends.cpu.layout import numpy_dtype
from mindspore.backends.cpu.steps import HostStep


class _Frame:
    """An instance of the graph, and which array's address goes into which word of its table."""

    def __init__(self, executable: CpuExecutable, shared: arena.Arena):
        self.instance = instance = Instance(executable.blueprint, shared)
        self.lock = shared.lock
        count = len(executable.blueprint.inputs)
        self.places = [(w, (n if kind == "input" else count + n), o) for (kind, n), o, w in instance.patches]
        self.words = (ctypes.c_int64 * len(instance.word_array)).from_buffer(instance.word_array.data)
        self.table = instance.table.ctypes.data
        self.count = instance.count
        self.run = instance.run


class DirectCall:
    """`call(arrays)` with contiguous arrays in the order of the graph's parameters gives the list of its results.

    `serial`: without threads, which work of a few microseconds does not repay; the code is then made for one thread.
    """

    def __init__(self, compile: Callable[[], CpuExecutable], serial: bool = False):
        self.serial = serial
        executable = openmp.alone(compile) if serial else compile()
        blueprint = executable.blueprint
        hosted = [s for s in blueprint.steps if isinstance(s, HostStep)]
        if blueprint.preparation or any(s.guard is None for s in hosted):
            raise CannotCompile(f"the graph {blueprint.name!r} has steps that need Python")
        if any(v is None or v.buffer.kind != "output" for v in blueprint.results):
            raise CannotCompile(f"the graph {blueprint.name!r} has results that are not new arrays")
        self.executable = executable
        self.may_call_back = bool(hosted)  # in rare calls, which find a guard set
        self.results = [(v.shape, numpy_dtype(v.dtype)) for v in blueprint.results if v is not None]
        self._free: list[_Frame] = []  # calls of several threads at a time get a frame each

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        results = [np.empty(shape, dtype) for shape, dtype in self.results]
        addresses = [address_of(a) for a in arrays]
        addresses += [address_of(a) for a in results]
        frame = self._frame()
        words = frame.words
        for word, number, offset in frame.places:
            words[word] = addresses[number] + offset
        if self.may_call_back:
            frame.instance.external = self._external(addresses)
        try:
            if self.serial:
                status = openmp.alone(frame.run, frame.table, frame.count)
            elif self.executable.threads:
                with openmp.limited(self.executable.threads):
                    status = frame.run(frame.table, frame.count)
            else:
                status = frame.run(frame.table, frame.count)
            if status:
                frame.instance.fail(status)
        finally:
            frame.lock.release()
            self._free.append(frame)
        return results

    def _external(self, addresses: list[int]) -> dict[tuple[str, int], int]:
        count = len(addresses) - len(self.results)
        inputs = {("input", n): address for n, address in enumerate(addresses[:count])}
        return inputs | {("output", n): address for n, address in enumerate(addresses[count:])}

    def _frame(self) -> _Frame:
        """A frame that nobody uses, with its arena locked."""
        try:
            frame = self._free.pop()
        except IndexError:
            return self._new_frame()
        if frame.lock.acquire(blocking=False):
            return frame
        self._free.append(frame)  # another graph is running in its arena
        return self._new_frame()

    def _new_frame(self) -> _Frame:
        shared = arena.acquire(self.executable.blueprint.plan.peak)
        try:
            return _Frame(self.executable, shared)
        except BaseException:
            shared.lock.release()
            raise
