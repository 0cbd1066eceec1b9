"""A graph compiled for one kind of arguments, and how it is called: inputs gathered, state stored, results rebuilt."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

from mindspore import context
from mindspore._base.interrupt import held_back
from mindspore._base.recursion import deep_recursion
from mindspore.common.guards import Guards
from mindspore.compiler import driver
from mindspore.compiler.parse.attributes import AttributeInput
from mindspore.compiler.parse.entry import Place, Traced
from mindspore.compiler.parse.errors import located
from mindspore.compiler.parse.given import resolved, store
from mindspore.ir import AbstractScalar
from mindspore.prims import values
from mindspore.prims.control import Call, While
from mindspore.prims.structure import parts_of, with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, executor
from mindspore.runtime.programs import tick
from mindspore.runtime.staged import StagedExecutable

#: weights as they were at some time: key -> (the weight, its array). The weights are held, so that ids in keys stay theirs
Past = dict[Any, tuple[Any, Any]]
#: Python calls under way while a graph that calls itself runs: well within the stack of a thread
RECURSION_LIMIT = 10_000


_NONE: dict[str, Any] = {}


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
        #: whether operations of the host may wait to be run when it is called
        self.after_operations = self.device is None and devices.deferring() is not None
        operations = [n.op for g in traced.graph.all_graphs() for n in g.nodes()]
        self.recursive = any(isinstance(op, Call) for op in operations)
        endless = any(isinstance(op, While) and op.bound is None for op in operations)
        options = driver.Options(level, path)
        self.answers = [q.answer for q in traced.questions]  # the values and shapes it is made for
        if traced.questions:  # found unfit half-way it must have changed nothing: no input is given away
            self.donated = ()
            self.executable: Any = StagedExecutable(traced.graph, traced.questions, options)
        else:
            self.executable = executor.compile_graph(traced.graph, donated, options)
            if getattr(self.executable, "keeps_inputs", False):  # somebody may look at them after the call
                self.donated = ()
        #: whether a call comes to its end by itself: then an interrupt is raised when all is stored. Until then weights are torn: new
        #: values may be in the memory of other weights, in that of XLA's arrays there is nothing
        self.at_once = bool(self.donated) and not endless and not getattr(self.executable, "waits", False)
        self.kept = getattr(self.executable, "kept_inputs", ())  # weights that the executable keeps copies of
        self.used = tick()
        self.gradients: dict[Any, Any] = {}  # the compiled gradients of calls with this graph: see graph_gradient.py

    def run_plain(self, tensors: list[Any], args: tuple = (), kwargs: dict = _NONE) -> Any:
        """Run the graph on the tensors found in the arguments."""
        if self.after_operations:
            self._settle(tensors)
        arrays = self._arrays(tensors)
        if self.device is not None:
            self.device.reports.check(wait=False)
            self._move_to_device(tensors, arrays)
        self._copy_what_others_hold(arrays)
        if not self.at_once:
            return self.finish(self._run(arrays), args, kwargs)
        with held_back():
            return self.finish(self._run(arrays), args, kwargs)

    def _run(self, arrays: list[Any]) -> Any:
        if self.recursive:
            return self._run_deep(arrays)
        if self.kept:
            return self.executable(*arrays, own=all(sys.getrefcount(arrays[i]) <= _OWN_REFERENCES for i in self.kept))
        return self.executable(*arrays)

    def _copy_what_others_hold(self, arrays: list[Any]) -> None:
        """Give the graph copies of arrays that it may overwrite where somebody else holds them, or the memory they are views of."""
        for i in self.donated:
            if sys.getrefcount(arrays[i]) > _OWN_REFERENCES or getattr(arrays[i], "base", None) is not None:
                arrays[i] = arrays[i].copy()

    # -- several steps at once --------------------------------------------------------------------------------------
    @property
    def state(self) -> dict[int, int]:
        """Which inputs of the graph the next call gets from which outputs of this one."""
        places = {id(w): n for n, w in enumerate(self.traced.weights, self.traced.arguments)}
        return {places[id(p)]: index for p, index in self.traced.written if id(p) in places}

    def may_repeat(self) -> bool:
        """Whether calls one after the other can be one call of the executable: nothing happens in Python between them."""
        may_repeat = getattr(self.executable, "may_repeat", None)
        traced = self.traced
        if may_repeat is None or traced.attributes or traced.left or traced.own is not None:
            return False
        if self.recursive or self.device is not None:
            return False
        state = self.state
        return len(state) == len(self.traced.written) and set(state) <= set(self.donated) and may_repeat(state)

    def repeat(self, batches: list[list[Any]]) -> Any:
        """Run the graph on the tensors of each batch, one after the other; the result of the last run."""
        for batch in batches if self.after_operations else ():
            self._settle(batch)
        arrays = self._arrays(batches[0])
        self._copy_what_others_hold(arrays)
        others = arrays[self.traced.arguments :]
        with held_back():
            outputs = self.executable.repeat([self._arrays(b)[: self.traced.arguments] for b in batches], others, self.state)
            for parameter, index in self.traced.written:  # also where a run met an error: those before it count
                parameter._data = outputs[index]
        return self.finish(outputs)

    def weights_of_now(self) -> Past:
        """The weights with the arrays they have."""
        return {_place(w): (w, w._data) for w in self.traced.weights}

    def run_as_of(self, past: Past, tensors: list[Any]) -> Any:
        """Run the graph on the weights of an earlier time. New values of weights and attributes are not stored."""
        arrays = self._arrays(tensors)
        for i, weight in enumerate(self.traced.weights, self.traced.arguments):
            arrays[i] = past.get(_place(weight), (weight, arrays[i]))[1]
        if self.device is not None:
            arrays = [self.device.place(a) if type(a) is np.ndarray else a for a in arrays]
        for i in self.donated:
            arrays[i] = arrays[i].copy()
        outputs = self._run_deep(arrays) if self.recursive else self.executable(*arrays)
        if (error := self._error_in(outputs)) is not None:
            raise error
        return rebuild(self.traced.result, outputs, self)

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

    def _move_to_device(self, tensors: list[Any], arrays: list[Any]) -> None:
        """Tensors that are still on the host, or not computed yet, are on the accelerator from now on."""
        for i in self.device.elsewhere(arrays):
            first = i - self.traced.arguments
            holder = self.traced.weights[first] if first >= 0 else tensors[i]
            if isinstance(holder, TensorBase):
                arrays[i] = holder._data = self.device.place(arrays[i])

    def _settle(self, tensors: list[Any]) -> None:
        """Have what waits computed: tensors and weights are plain arrays from now on, of which can be told who else holds them."""
        for holder in (*tensors, *self.traced.weights):
            if isinstance(holder, TensorBase) and type(holder._data) is not np.ndarray:
                holder._data = devices.on_host(holder._data)

    def finish(self, outputs: Any, args: tuple = (), kwargs: dict = _NONE) -> Any:
        """Raise what the graph reported, or store new values of Parameters, attributes, lists … and rebuild the result."""
        traced = self.traced
        if (error := self._error_in(outputs)) is not None:
            self._keep_given_away(outputs)
            raise error
        if traced.written or traced.attributes:
            with held_back():
                self._store(outputs)
        if traced.own is None and not traced.left:
            return rebuild(traced.result, outputs, self)
        result = resolved(rebuild(traced.result if traced.own is None else traced.own, outputs, self), args, kwargs)
        store([(given, rebuild(items, outputs, self)) for given, items in traced.left], args, kwargs)
        return result

    def _store(self, outputs: Any) -> None:
        for parameter, index in self.traced.written:
            parameter._data = outputs[index]
        for owner, name, template in self.traced.attributes:
            setattr(owner, name, rebuild(template, outputs, self))

    def _error_in(self, outputs: Any) -> BaseException | None:
        """The error that the graph has noted, if any.

        An accelerator may not be done yet: its record is read later (runtime/late_reports.py).
        """
        if self.traced.record is None:
            return None
        code, value = (outputs[i] for i in self.traced.record)  # not `outputs`, which would hold all weights of this step
        if self.device is not None:
            self.device.reports.add(code, lambda number: self._reported(number, float(value)))
            return None
        number = int(code)
        return self._reported(number, float(value)) if number else None

    def _keep_given_away(self, outputs: Any) -> None:
        """XLA has taken the memory of weights that are its own arrays: their old values are among the results of a failed run.

        Other backends end the run where the error is met, and may have fewer results.
        """
        given = {id(self.traced.weights[i - self.traced.arguments]) for i in self.donated}
        for parameter, index in self.traced.written:
            taken = id(parameter) in given and index < len(outputs)
            if taken and type(outputs[index]) not in (np.ndarray, type(None)):
                parameter._data = outputs[index]

    def _reported(self, number: int, value: float) -> BaseException:
        report = self.traced.errors[number - 1]
        return located(report.error(value), report.locations)


def _place(weight: Any) -> Any:
    """What tells weights apart, the same in every graph that reads them."""
    return weight.place if isinstance(weight, AttributeInput) else id(weight)


def _count_own_references() -> int:
    """What `getrefcount` says in `run_plain` of an array that nobody but its Parameter and the call at hand holds.

    Which references the interpreter itself counts is its own affair, so it is asked, with an array that nobody else can hold.
    """
    holder = types.SimpleNamespace(_data=np.empty(1))
    arrays = [w._data for w in (holder,)]
    return sys.getrefcount(arrays[0])


_OWN_REFERENCES = _count_own_references()


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
