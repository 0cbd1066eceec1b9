"""Hybrid kernels as operations: compiled for the shapes and types they are called with, and differentiated.

On a GPU they are Pallas' kernels within XLA's program, if nothing in them needs checking; else the host is called. A kernel that the
compiler does not understand runs as Python, element by element, and a warning says why. Where there is no native backend, all of them do.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.backends import cpu
from mindspore.compiler.hybrid.program import Array, Program, named
from mindspore.compiler.hybrid.reader import Unreadable, read
from mindspore.compiler.hybrid.reverse import NotDifferentiable, gradient
from mindspore.ir import Abstract, AbstractTensor, AbstractTuple
from mindspore.ops._hybrid_names import INTRINSICS

_KEPT = 64  # sets of shapes of one kernel


class Hybrid:
    """A kernel for all shapes: programs and their machine code, made when they are first needed."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.programs: dict[Any, Program | None] = {}
        self.compiled: dict[Any, Any] = {}
        self.on_device: dict[Any, Callable[..., tuple] | None] = {}
        self.warned = False

    def program(self, key: tuple[tuple[tuple[int, ...], str], ...]) -> Program | None:
        """The program for arguments of these shapes and types; None where the compiler does not understand the kernel."""
        if key not in self.programs:
            try:
                found = read(self.function, key, INTRINSICS)
            except Unreadable as reason:
                found = None
                self._warn(str(reason))
            _bounded(self.programs)[key] = found
        return self.programs[key]

    def _warn(self, reason: str) -> None:
        if not self.warned:
            self.warned = True
            name = getattr(self.function, "__name__", "kernel")
            warnings.warn(f"The kernel '{name}' runs as Python, which is slow: the compiler does not know {reason}.", stacklevel=2)

    def __call__(self, *arrays: np.ndarray) -> Any:
        key = _key(arrays)
        program = self.program(key)
        if program is None or not cpu.available():
            return self.function(*(np.array(a) for a in arrays))
        return self.run(key, program, arrays)

    def fill(self, arrays: Sequence[np.ndarray], places: Mapping[int, np.ndarray]) -> None:
        """Write results, by number, to where they belong."""
        key = _key(arrays)
        program = self.program(key)
        if program is None or not cpu.available():
            out = self.function(*(np.array(a) for a in arrays))
            found = out if isinstance(out, (tuple, list)) else (out,)
        else:
            found = self.run(key, program, arrays, [places.get(n) for n in range(len(program.results))])
        for number, place in places.items():
            if found[number] is not place:
                np.copyto(place, np.asarray(found[number]).reshape(place.shape), casting="unsafe")

    def run(
        self, key: Any, program: Program, arrays: Sequence[np.ndarray], places: Sequence[np.ndarray | None] = ()
    ) -> tuple[np.ndarray, ...]:
        if key not in self.compiled:
            from mindspore.backends.cpu.hybrid import Tuned  # LLVM is loaded when it is needed

            _bounded(self.compiled)[key] = Tuned(program)
        return self.compiled[key](arrays, places)

    def for_device(self, arrays: Sequence[Any]) -> Callable[..., tuple] | None:
        """The kernel as a function of JAX's arrays like these; None if the host has to be called."""
        return self._for_device(_key(arrays), self.program)

    def _for_device(self, key: Any, make: Callable[[Any], Program | None]) -> Callable[..., tuple] | None:
        if key not in self.on_device:
            from mindspore.backends.xla.hybrid import Tuned, suits  # JAX is loaded when it is needed

            program = make(key)
            _bounded(self.on_device)[key] = Tuned(program) if program is not None and suits(program) else None
        return self.on_device[key]

    def results(self, *args: Any) -> Any:
        """What comes out, from the program or, failing that, by a trial run on zeros."""
        self._check(args)
        program = self.program(tuple((tuple(a.shape), named(np.dtype(a.dtype.np))) for a in args))
        if program is not None:
            made = [_abstract(program.arrays[r]) for r in program.results]
            return made[0] if len(made) == 1 else AbstractTuple(tuple(made))
        out = self._tried(*(np.zeros(a.shape, a.dtype.np) for a in args))
        arrays = [np.asarray(o) for o in (out if isinstance(out, (tuple, list)) else [out])]
        found = [AbstractTensor(mstype.from_numpy(a.dtype), a.shape) for a in arrays]
        return AbstractTuple(tuple(found)) if isinstance(out, (tuple, list)) else found[0]

    def _check(self, args: Sequence[Any]) -> None:
        """Whether there are as many arguments as the kernel takes, and all of them tensors."""
        parameters = list(inspect.signature(self.function).parameters.values())
        if any(p.kind is p.VAR_POSITIONAL or p.default is not p.empty for p in parameters):
            return
        name, names = self.function.__name__, [p.name for p in parameters]
        if len(args) != len(names):
            wanted = f"{len(names)} argument{'s' * (len(names) != 1)} ({', '.join(names)})"
            raise TypeError(f"The kernel '{name}' takes {wanted}, but got {len(args)}.")
        for parameter, given in zip(names, args):
            if not isinstance(given, AbstractTensor):
                raise TypeError(f"The kernel '{name}' takes tensors, but '{parameter}' is {given}.")

    def _tried(self, *arrays: np.ndarray) -> Any:
        """The kernel run as Python; its mistakes say in which line of it they are."""
        try:
            return self.function(*arrays)
        except (NameError, AttributeError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
            lines = [s.lineno for s in traceback.extract_tb(error.__traceback__) if s.name == self.function.__name__]
            where = f"In the kernel '{self.function.__name__}'" + (f", line {lines[-1]}" if lines else "")
            raise type(error)(f"{where}: {error}") from None

    # -- the gradient -------------------------------------------------------------------------------------------------
    def gradient_program(self, key: Any) -> Program:
        """The gradient's program for arguments of a kernel; a key is ("gradient", key of those)."""
        if key in self.programs:
            return self.programs[key]  # type: ignore[return-value]
        _bounded(self.programs)[key] = made = self._gradient_program(key[1])
        return made

    def _gradient_program(self, key: Any) -> Program:
        name = getattr(self.function, "__name__", "kernel")
        program = self.program(key)
        if program is None:
            raise TypeError(f"The kernel '{name}' has no gradient of its own, because it is not compiled; give one as 'bprop'.")
        try:
            return gradient(program)
        except NotDifferentiable as reason:
            raise TypeError(f"The kernel '{name}' has no gradient of its own: {reason}; give one as 'bprop'.") from None

    def gradient_of(self, count: int, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The sensitivities of the first `count` arrays, from them and those of the results; whole numbers get zeros."""
        key = ("gradient", _key(arrays[:count]))
        program = self.gradient_program(key)
        if not cpu.available():
            raise TypeError(f"The gradient of the kernel '{program.name}' needs the native backend: pip install pymindspore[cpu].")
        return _with_zeros(arrays[:count], self.run(key, program, arrays))

    def gradient_for_device(self, count: int, arrays: Sequence[Any]) -> Callable[..., tuple] | None:
        """As `gradient_of`, for JAX's arrays; None if the host has to be called."""
        found = self._for_device(("gradient", _key(arrays[:count])), self.gradient_program)
        return None if found is None else lambda *given: _with_zeros(given[:count], found(*given))


def _with_zeros(arrays: Sequence[Any], gradients: Sequence[Any]) -> tuple[Any, ...]:
    """Zeros among the gradients, which floating-point arrays have, for the others."""
    found = iter(gradients)
    return tuple(next(found) if np.issubdtype(a.dtype, np.floating) else a ^ a for a in arrays)


def _key(arrays: Sequence[Any]) -> tuple[tuple[tuple[int, ...], str], ...]:
    return tuple((tuple(a.shape), named(np.dtype(a.dtype))) for a in arrays)


def _bounded(kept: dict[Any, Any]) -> dict[Any, Any]:
    """Make room for one more by forgetting the oldest."""
    while len(kept) >= _KEPT:
        del kept[next(iter(kept))]
    return kept


def _abstract(array: Array) -> Abstract:
    return AbstractTensor(mstype.from_numpy(np.dtype("bool" if array.dtype == "bool_" else array.dtype)), array.shape)
