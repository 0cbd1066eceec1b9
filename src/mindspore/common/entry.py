"""A graph compiled for one kind of arguments, and how it is called: inputs gathered, state stored, results rebuilt."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindspore import context
from mindspore._base.recursion import deep_recursion
from mindspore.common.guards import Guards
from mindspore.compiler import driver
from mindspore.compiler.parse.entry import Place, Traced
from mindspore.ir import AbstractScalar
from mindspore.prims import values
from mindspore.prims.control import Call
from mindspore.prims.structure import parts_of, with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, executor
from mindspore.runtime.staged import StagedExecutable

#: references to a Parameter's array when nobody but the Parameter and the call at hand holds it
_OWN_REFERENCES = 3
#: Python calls under way while a graph that calls itself runs: well within the stack of a thread
RECURSION_LIMIT = 10_000


class Entry:
    """One compiled kind of arguments."""

    def __init__(self, traced: Traced, name: str):
        self.traced = traced
        self.name = name
        level, path = context.dump_options()
        written = {id(p) for p, _ in traced.written}
        first = traced.arguments
        donated = frozenset(first + i for i, w in enumerate(traced.weights) if id(w) in written)
        self.donated = tuple(donated)
        self.scalar_outputs = _scalar_outputs(traced)
        self.guards = Guards(traced)
        self.device = devices.accelerator()
        self.recursive = any(isinstance(n.op, Call) for g in traced.graph.all_graphs() for n in g.nodes())
        options = driver.Options(level, path)
        self.answers = [q.answer for q in traced.questions]  # the values and shapes it is made for
        if traced.questions:  # found unfit half-way it must have changed nothing: no input is given away
            self.donated = ()
            self.executable: Any = StagedExecutable(traced.graph, traced.questions, options)
        else:
            self.executable = executor.compile_graph(traced.graph, donated, options)
        self.kept = getattr(self.executable, "kept_inputs", ())  # weights that the executable keeps copies of

    def run_plain(self, tensors: list[Any]) -> Any:
        """Run the graph on the tensors found in the arguments."""
        arrays = self._arrays(tensors)
        if self.device is not None and np.ndarray in map(type, arrays):
            self._move_to_device(tensors)
            arrays = self._arrays(tensors)
        for i in self.donated:
            if sys.getrefcount(arrays[i]) > _OWN_REFERENCES:  # somebody else holds it: give the graph a copy
                arrays[i] = arrays[i].copy()
        if self.recursive:
            return self.finish(self._run_deep(arrays))
        if self.kept:
            own = all(sys.getrefcount(arrays[i]) <= _OWN_REFERENCES for i in self.kept)
            return self.finish(self.executable(*arrays, own=own))
        return self.finish(self.executable(*arrays))

    def _run_deep(self, arrays: list[Any]) -> Any:
        with deep_recursion(RECURSION_LIMIT):
            try:
                return self.executable(*arrays)
            except RecursionError:
                raise RuntimeError(
                    f"Exceed function call depth limit: a function in '{self.name}' calls itself too often. Does its recursion end?"
                ) from None

    def _arrays(self, tensors: list[Any]) -> list[Any]:
        """The graph's inputs."""
        arrays = [t._data if isinstance(t, TensorBase) else np.asarray(t.plain()) for t in tensors]
        return arrays + [w._data for w in self.traced.weights]

    def _move_to_device(self, tensors: list[Any]) -> None:
        """Tensors that are still on the host move to the accelerator for good: the next call finds them there."""
        for holder in (*tensors, *self.traced.weights):
            if type(getattr(holder, "_data", None)) is np.ndarray:
                holder._data = self.device.place(holder._data)

    def finish(self, outputs: Any) -> Any:
        """Store new parameter values, raise what the graph reported, and rebuild the result."""
        traced = self.traced
        for parameter, index in traced.written:
            parameter._data = outputs[index]
        if traced.error_output >= 0:
            code = int(np.asarray(outputs[traced.error_output]))
            if code:
                raise traced.errors[code - 1]
        for owner, name, template in traced.attributes:
            setattr(owner, name, rebuild(template, outputs, self))
        return rebuild(traced.result, outputs, self)


def rebuild(template: Any, outputs: Any, entry: Any) -> Any:
    """A result structure with its tensors filled in."""
    if type(template) is Place:
        return _public(outputs[template.index], entry, template.index)
    if isinstance(template, TensorBase) and type(template) is values.tensor_class():
        return values.from_array(template._data)
    parts = parts_of(template)
    return template if parts is None else with_parts(template, [rebuild(part, outputs, entry) for part in parts])


def _public(array: Any, entry: Any, index: int) -> Any:
    if index in entry.scalar_outputs:
        return np.asarray(array).item()
    return values.from_array(array)


def _scalar_outputs(traced: Traced) -> frozenset[int]:
    return frozenset(i for i, a in enumerate(traced.graph.outputs) if isinstance(a, AbstractScalar))
