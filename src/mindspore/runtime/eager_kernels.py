"""Native kernels for the heavy operations of PyNative mode.

A heavy operation (convolution, matrix product, normalisation …) is compiled as a graph of its own by the CPU backend: the
same kernels as in graph mode, kept per operation and shapes. Its gradient rule, applied to the whole call, is compiled the
same way, so that a backward step is one native call too, and gradients that nobody asked for are not computed.

What is small or of a type native code is not made for runs on NumPy. The choice depends on shapes and types alone, never
on what ran before: the same call gives the same bits each time. Without oneDNN and LLVM everything runs on NumPy.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base import keys
from mindspore.backends.base import CannotCompile
from mindspore.ir import AbstractTensor
from mindspore.prims import values
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase
from mindspore.runtime import choose_backend, context
from mindspore.runtime.device_kinds import NumpyDevice
from mindspore.runtime.operation_graph import OperationGraph, forward_graph, gradient_graph, updates_graph
from mindspore.runtime.programs import Programs, tick

#: multiplications (of other operations: elements) up to which threads cost more than they save
_SERIAL = 1 << 19

#: steps of an optimizer whose updates are made one by one before there is a kernel for all of them
_PATIENCE = 8
#: elements of all Parameters from which memory, and not the number of calls, is what an optimizer's step takes
_MANY = 1 << 22

_FLOAT = np.dtype(np.float32)


#: kernels kept by a context for each graph that may be kept: they are small, and a network needs hundreds
_PER_GRAPH = 8


class Kernels:
    """The kernels of one context, by operation and shapes; `backend` makes them (None: operations run elsewhere)."""

    def __init__(self, backend: Any):
        self.backend = backend
        self.by_key: dict[tuple, Any] = {}
        self.programs = Programs()
        self.lock = threading.RLock()


def forward(prim: Primitive, arrays: list[Any]) -> Callable[[list[Any]], Any] | None:
    """A native kernel for `prim`, which is worth one somewhere (`native_from`), on arguments like these, or None."""
    if not _wanted(prim, arrays, prim.native_from):
        return None
    key = (prim.cached_key(), *_kinds(arrays))
    return _find(key, lambda backend: _ForwardKernel(backend, prim, arrays))


def gradient(prim: Primitive, args: tuple, out: Any, dout: Any, needed: tuple[bool, ...]) -> tuple | None:
    """The gradients that `prim.bprop` gives, for the needed arguments only; None to have them computed by the rule.

    Gradients of results may be None: they are zero.
    """
    many = isinstance(out, tuple)
    arrays = [a._data if isinstance(a, TensorBase) else a for a in args]
    if not _wanted(prim, arrays, prim.native_from or prim.native_gradient_from):
        return None
    data = [t if t is None else t._data for t in ((*out, *dout) if many else (out, dout))]
    if any(type(d) is not np.ndarray and d is not None for d in data):
        return None
    given = arrays + data
    key = ("gradient", needed, prim.cached_key(), *_kinds(given))
    kernel = _find(key, lambda backend: _GradientKernel(backend, prim, given, len(arrays), many, needed))
    return kernel(given) if kernel is not None else None


def updates(calls: Sequence[tuple[Primitive, tuple]]) -> list[list[np.ndarray]] | None:
    """What each of several updates of Parameters stores, by one kernel for all of them; None to have them made one by one.

    Both ways give the same bits: the rules go element by element, in arithmetic that is rounded in one way only. So
    there may be a kernel from the step on in which it pays.
    """
    given = [[a._data if isinstance(a, TensorBase) else a for a in args] for _, args in calls]
    if sum(getattr(arrays[0], "size", _MANY) for arrays in given) >= _MANY:
        return None
    if not all(_wanted(prim, arrays, 1) for (prim, _), arrays in zip(calls, given)):
        return None
    key = ("updates", *[(prim.cached_key(), *_kinds(arrays)) for (prim, _), arrays in zip(calls, given)])
    kernel = _find(key, lambda backend: _Updates(backend, [prim for prim, _ in calls], given))
    return kernel(given) if kernel is not None else None


def kernels() -> Kernels | None:
    """Those of the current context; None where operations run elsewhere."""
    here = context.current()
    if not isinstance(here.device, NumpyDevice):
        return None
    found = here.made(("eager", here.key), lambda: Kernels(choose_backend.native_backend()))
    return None if found.backend is None else found


# -- which calls ----------------------------------------------------------------------------------------------------------
def _wanted(prim: Primitive, arrays: list[Any], least: int) -> bool:
    first = arrays[0]
    if type(first) is not np.ndarray or first.size < least or first.dtype is not _FLOAT:
        return False
    if prim.native_beyond and prim.multiplications(*arrays) <= prim.native_beyond:
        return False
    for i in prim.varying:  # loops are faster than any() and all()
        if type(arrays[i]) is not np.ndarray:
            return False
    for a in arrays:  # noqa: SIM110
        if type(a) is np.ndarray and a.dtype is not _FLOAT and a.dtype.kind not in "iu":
            return False
    return True


def _kinds(arrays: list[Any]) -> list[Any]:
    """What a kernel depends on: shapes and types of arrays, all else exactly."""
    return [(a.shape, a.dtype) if type(a) is np.ndarray else keys.exact(a) for a in arrays]


def _work(prim: Primitive, arrays: list[Any]) -> int:
    """Multiplications; of operations that are not made of them, elements."""
    return prim.multiplications(*arrays) or arrays[0].size


def _find(key: tuple, make: Callable[[Any], Any]) -> Any:
    here = kernels()
    if here is None:
        return None
    known = here.by_key.get(key)
    if known is None:
        with here.lock:
            known = here.by_key[key] = _made(here.backend, make)
            known.used = tick()  # before it is counted: what was never used is the first to be forgotten
            limit = _PER_GRAPH * context.current().settings["max_compiled_graphs"]
            here.programs.add(known, lambda _: here.by_key.pop(key, None), limit)
    known.used = tick()
    return None if isinstance(known, _Numpy) else known


def _made(backend: Any, make: Callable[[Any], Any]) -> Any:
    try:
        return make(backend)
    except (CannotCompile, values.ValueUnknownError):  # what the backend cannot do stays where it is
        return _Numpy()


# -- kernels --------------------------------------------------------------------------------------------------------------
class _Numpy:
    """Stands for a kernel where there is none: the operation stays on NumPy."""

    used = 0


class _Kernel:
    """The compiled graph of one operation or of its gradient rule."""

    used = 0

    def __init__(self, backend: Any, operation: OperationGraph, serial: bool):
        from mindspore.backends.cpu.direct import DirectCall

        self.operation = operation._replace(graph=None)  # type: ignore[arg-type]  # the code is all that is needed
        self.call = DirectCall(lambda: backend.compile(operation.graph), serial=serial)

    def run(self, arrays: list[Any]) -> list[np.ndarray]:
        inputs = [arrays[i] for i in self.operation.inputs]
        for i, a in enumerate(inputs):
            if not a.flags.c_contiguous:
                inputs[i] = np.ascontiguousarray(a)
        return self.call(inputs)


class _ForwardKernel(_Kernel):
    def __init__(self, backend: Any, prim: Primitive, arrays: list[Any]):
        super().__init__(backend, forward_graph(prim, _abstract(arrays)), _work(prim, arrays) < _SERIAL)

    def __call__(self, arrays: list[Any]) -> Any:
        results = self.run(arrays)
        return tuple(results) if self.operation.is_tuple else results[0]


class _GradientKernel(_Kernel):
    """`bprop` on (arguments, out, dout)."""

    def __init__(self, backend: Any, prim: Primitive, given: list[Any], count: int, many: bool, needed: tuple[bool, ...]):
        graph = gradient_graph(prim, _abstract(given), count, many, needed)
        super().__init__(backend, graph, _work(prim, given[:count]) < _SERIAL)

    def __call__(self, arrays: list[Any]) -> tuple:
        grads: list[Any] = [None] * self.operation.results_in_all
        for i, array in zip(self.operation.results, self.run(arrays)):
            grads[i] = values.from_array(array)
        return tuple(grads)


class _Updates:
    """Several updates; one kernel from the step on in which it is worth its making."""

    used = 0

    def __init__(self, backend: Any, prims: list[Primitive], given: list[list[Any]]):
        self.backend, self.prims = backend, prims
        self.counts = [len(prim.writes) for prim in prims]
        self.elements = sum(arrays[0].size for arrays in given)
        self.turns = 0
        self.kernel: _Kernel | None = None

    def __call__(self, given: list[list[Any]]) -> list[list[np.ndarray]] | None:
        if self.kernel is None:
            self.turns += 1
            if self.turns <= _PATIENCE:
                return None
            graph = updates_graph(self.prims, [_abstract(arrays) for arrays in given])
            self.kernel = _Kernel(self.backend, graph, self.elements < _SERIAL)
        results = iter(self.kernel.run([a for arrays in given for a in arrays]))
        return [list(itertools.islice(results, count)) for count in self.counts]


def _abstract(arrays: list[Any]) -> list[Any]:
    return [AbstractTensor(mstype.from_numpy(a.dtype), a.shape) if type(a) is np.ndarray else a for a in arrays]
