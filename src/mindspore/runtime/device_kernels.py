"""Eager operations of an accelerator: one compiled program per operation and kind of arguments.

XLA compiles the graph of an operation for the shapes and types it is given, once. The next call of the same kind is a
look-up and an asynchronous launch: no inference, no tracing, no waiting. The gradient rule of a recorded call is compiled
as a whole, so a backward step is one launch, too, and computes the wanted gradients alone.

Numbers that stand beside tensors (`x * 0.5`) are inputs, so that a number that changes compiles nothing anew; tensors
that are still on the host move to the device for good at their first use.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.backends.xla import XlaBackend
from mindspore.ir import AbstractTensor
from mindspore.prims import values
from mindspore.prims.measured import Measured
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase
from mindspore.runtime.operation_graph import OperationGraph, forward_graph, gradient_graph

#: programs kept; a process that makes more has shapes that never come again, and starts over
LIMIT = 1 << 14
#: what must run as plain calls: it prints, calls Python functions, or looks at values
_HOST = object()
_UNKNOWN = object()


class DeviceKernels:
    """The programs of one device."""

    def __init__(self, device: Any):
        self.device = device
        self._backend: Any = None
        self._programs: dict[tuple, Any] = {}
        self._lock = threading.RLock()
        self._arrays = (np.ndarray, type(device.place(np.zeros((), np.float32))))

    def forward(self, prim: Primitive, args: tuple, arrays: list[Any]) -> Any:
        """The results of an operation as arrays of the device; None where it cannot be compiled."""
        if prim.effect not in ("", "random") or isinstance(prim, Measured):
            return None
        self._settle(args, arrays)
        try:
            key = (prim.cached_key(), *map(self._kind, arrays))
            program = self._programs.get(key, _UNKNOWN)
        except TypeError:  # an argument that cannot be a key
            return None
        if program is _UNKNOWN:
            program = self._make(key, lambda: forward_graph(prim, [self._abstract(a) for a in arrays]))
        if program is _HOST:
            return None
        return program(arrays)

    def gradient(self, prim: Primitive, args: tuple, out: Any, dout: Any, needed: tuple[bool, ...]) -> tuple | None:
        """The gradients that `prim.bprop` gives, for the needed arguments; None to have them computed by the rule."""
        if prim.effect or isinstance(prim, Measured):
            return None
        many = isinstance(out, tuple)
        tensors = (*out, *dout) if many else (out, dout)
        given = (*args, *tensors)
        if not all(isinstance(t, TensorBase) for t in tensors):
            return None
        arrays = [a._data if isinstance(a, TensorBase) else a for a in given]
        self._settle(given, arrays)
        try:
            key = ("gradient", needed, many, prim.cached_key(), *map(self._kind, arrays))
            program = self._programs.get(key, _UNKNOWN)
        except TypeError:
            return None
        if program is _UNKNOWN:
            kinds = [self._abstract(a) for a in arrays]
            outs = kinds[len(args) : len(args) + len(tensors) // 2]
            program = self._make(key, lambda: gradient_graph(prim, kinds[: len(args)], outs, many, needed))
        if program is _HOST:
            return None
        return tuple(None if g is None else values.from_array(g) for g in program(arrays))

    def _kind(self, value: Any) -> Any:
        return (value.shape, value.dtype) if type(value) in self._arrays else (type(value), value)

    def _abstract(self, value: Any) -> Any:
        if type(value) not in self._arrays:
            return value
        return AbstractTensor(mstype.from_numpy(np.dtype(value.dtype)), tuple(value.shape))

    # -- making programs ----------------------------------------------------------------------------------------------
    def _make(self, key: tuple, build: Callable[[], OperationGraph]) -> Any:
        with self._lock:
            if len(self._programs) >= LIMIT:
                self._programs.clear()
            operation = build()
            program = Program(self._xla(), operation) if self._xla().supports(operation.graph) else _HOST
            self._programs[key] = program
            return program

    def _xla(self) -> XlaBackend:
        if self._backend is None:
            self._backend = XlaBackend.on(self.device.device)
        return self._backend

    def _settle(self, args: tuple, arrays: list[Any]) -> None:
        """Have tensors on the device; single numbers go along with the launch."""
        for i, array in enumerate(arrays):
            if type(array) is np.ndarray and array.ndim:
                arrays[i] = placed = self.device.place(array)
                if isinstance(args[i], TensorBase):
                    args[i]._data = placed


class Program:
    """An operation compiled by XLA: from the arguments' arrays to those of the results."""

    def __init__(self, backend: XlaBackend, operation: OperationGraph):
        self.inputs, self.results, self.count = operation.inputs, operation.results, operation.count
        self.is_tuple = operation.is_tuple
        self.run = backend.program(operation.graph)
        self.whole = self.inputs == tuple(range(len(self.inputs)))

    def __call__(self, arrays: list[Any]) -> Any:
        found = self.run(*[arrays[i] for i in self.inputs])
        if not self.is_tuple:
            return found[0]
        if len(found) == self.count:
            return found
        whole: list[Any] = [None] * self.count
        for i, array in zip(self.results, found):
            whole[i] = array
        return tuple(whole)

