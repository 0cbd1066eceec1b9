"""Running a model: graphs compiled for the shapes that come, each once.

A graph has fixed shapes. `resize`, or inputs of other shapes where the model leaves sizes open, build another one from the model's
source; the last few are kept. Where values of inputs decide shapes (axes, sizes given as tensors), a graph is made for the values
met: first for those of whole numbers and truths, then for all of them.
"""

from __future__ import annotations

import collections
import contextlib
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore.formats.spec import Shape, TensorSpec
from mindspore_lite.container import NeedsValuesError
from mindspore_lite.model_file import LiteModel
from mindspore_lite.plans import Runner

if TYPE_CHECKING:
    from mindspore.formats.program import Program
    from mindspore_lite.affinity import Binding
    from mindspore_lite.weight_pool import WeightPool

_KEPT = 8
_SMALL = 4096  # elements of an input whose values may decide shapes


class _Made(NamedTuple):
    """A graph for given shapes, ready to run; `program` is None if it was compiled at conversion."""

    run: Runner
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    program: Program | None = None


class Session:
    """A model with a number of threads. Calls may come from several threads at once."""

    def __init__(self, model: LiteModel, threads: int = 0, pool: WeightPool | None = None, binding: Binding | None = None):
        self.model, self.threads, self._pool, self._binding = model, threads, pool, binding
        self.shapes: dict[str, Shape] = {spec.name: spec.shape for spec in model.inputs}
        self._made: collections.OrderedDict[Any, _Made] = collections.OrderedDict()
        self._by_value = False
        self._lock = threading.Lock()
        self.weights: dict[str, np.ndarray] = {}  # new values given by the user
        if not any(size < 0 for spec in model.inputs for size in spec.shape):
            self._prepare()

    def _prepare(self) -> None:
        """Compile for the shapes at hand, if nothing but them is needed."""
        try:
            self._compiled(self._key({}), {})
        except NeedsValuesError:
            self._by_value = True

    # -- shapes ---------------------------------------------------------------------------------------------------
    def resize(self, shapes: Mapping[str, Shape]) -> None:
        """Inputs have these shapes from now on; ValueError if the model cannot take them."""
        before = dict(self.shapes)
        self.shapes.update(shapes)
        try:
            with self._lock:
                if not self._by_value:
                    self._compiled(self._key({}), {})
        except NeedsValuesError:
            self._by_value = True
        except ValueError:
            self.shapes = before
            raise

    def outputs(self) -> tuple[TensorSpec, ...]:
        """What the model gives for the shapes at hand, as far as that is known."""
        found = self._made.get(self._key({}))
        return found.outputs if found is not None else self.model.outputs

    def program(self) -> Program:
        """What runs for the shapes at hand."""
        if self._by_value:
            raise RuntimeError("the model is compiled for the values of its inputs in each run")
        with self._lock:
            return self._whole(self._compiled(self._key({}), {}))

    def _whole(self, made: _Made) -> Program:
        if made.program is not None:
            return made.program
        assert self.model.program is not None  # its plan was
        return self.model.program

    # -- running --------------------------------------------------------------------------------------------------
    def run(self, arrays: Sequence[np.ndarray]) -> list[tuple[str, np.ndarray]]:
        """The results by name."""
        given = {spec.name: array for spec, array in zip(self.model.inputs, arrays)}
        with self._lock:
            made = self._for(given)
        with self._binding.held() if self._binding is not None else contextlib.nullcontext():
            results = made.run(*(given[spec.name] for spec in made.inputs))
        return [(spec.name, value) for spec, value in zip(made.outputs, results)]

    def _for(self, given: dict[str, np.ndarray]) -> _Made:
        for name, array in given.items():
            self.shapes[name] = array.shape
        if not self._by_value:
            try:
                return self._compiled(self._key({}), {})
            except NeedsValuesError:
                self._by_value = True
        whole = {n: a for n, a in given.items() if a.dtype.kind in "iub" and a.size <= _SMALL}
        try:
            return self._compiled(self._key(whole), whole)
        except NeedsValuesError:
            return self._compiled(self._key(given), given)

    def _key(self, known: Mapping[str, np.ndarray]) -> Any:
        values = tuple((name, array.dtype.str, array.tobytes()) for name, array in known.items())
        return tuple(self.shapes.items()), values

    def _compiled(self, key: Any, known: Mapping[str, np.ndarray]) -> _Made:
        if key not in self._made:
            self._made[key] = self._from_plan(known) or self._new(known)
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]

    def _from_plan(self, known: Mapping[str, np.ndarray]) -> _Made | None:
        """What was compiled at conversion, for the model's own shapes and weights, which stay in the file (no pool is needed)."""
        own = all(self.shapes[spec.name] == spec.shape for spec in self.model.inputs)
        found = self.model.compiled(self.threads) if own and not known and not self.weights else None
        return _Made(*found) if found is not None else None

    def _new(self, known: Mapping[str, np.ndarray]) -> _Made:
        program = self._with_new_weights(self._program(known))
        run = compile_program(program, self.threads, self.model.code, self._pool)
        return _Made(run, program.inputs, program.outputs, program)

    def _program(self, known: Mapping[str, np.ndarray]) -> Program:
        stored = self.model.program
        if not known and stored is not None and all(self.shapes[s.name] == s.shape for s in stored.inputs):
            return stored
        return self.model.origin.build(self.shapes, known)

    # -- weights --------------------------------------------------------------------------------------------------
    def update_weights(self, weights: Mapping[str, np.ndarray]) -> None:
        """Use other values from now on; KeyError for a name that is no weight, ValueError for another shape."""
        with self._lock:
            program = self._whole(self._compiled(self._key({}), {}))
            for name, array in weights.items():
                if program.weights[name].shape != array.shape:
                    raise ValueError(
                        f"the weight '{name}' has the shape {program.weights[name].shape}, not {array.shape}"
                    )
            self.weights.update(weights)
            self._made.clear()

    def _with_new_weights(self, program: Program) -> Program:
        changed = {n: np.asarray(a, program.weights[n].dtype) for n, a in self.weights.items() if n in program.weights}
        return program._replace(weights={**program.weights, **changed}) if changed else program


def compiled_kernels(program: Program) -> dict[str, bytes]:
    """The machine code that a program needs on this CPU, by key; none where the native backend is not there or cannot."""
    from mindspore.backends import cpu
    from mindspore.backends.cpu import jit, runner

    if not cpu.available():
        return {}
    with jit.Shelf().open() as shelf:
        compile_program(program)
        runner.functions()
    return shelf.used


def compile_program(
    program: Program, threads: int = 0, code: Mapping[str, bytes] | None = None, pool: WeightPool | None = None
) -> Runner:
    """A function of arrays, on the native backend where it is there and can. `code`: kernels that are compiled already; `pool`: where
    weights are that several models have."""
    from mindspore.backends import cpu
    from mindspore.backends.base import CannotCompile

    if cpu.available():
        from mindspore.backends.cpu import jit, runner
        from mindspore_lite.quantise.packed import for_few_rows

        program = for_few_rows(program)
        backend = cpu.CpuBackend(threads=threads, finite=True)
        if backend.supports(program.graph):
            try:
                with jit.Shelf(code).open() if code else contextlib.nullcontext():
                    runner.functions()
                    return program.compile(backend, pool.state(program) if pool is not None else None)
            except CannotCompile as error:
                warnings.warn(f"the model runs on NumPy: {error}")
    from mindspore.backends.interp import InterpBackend

    return program.compile(InterpBackend(), pool.state(program) if pool is not None else None)
