"""What eager operations note of themselves: the operation, its arguments by number, and a DeferredArray for each result.

runtime/deferred.py says what becomes of it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.interrupt import held_back
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, FuncGraph, Node
from mindspore.runtime import operation_graph

if TYPE_CHECKING:
    from mindspore.runtime.deferred import Engine, Programs

#: operations that a value may need to be computed by itself, while all else goes on waiting
FEW = 8


class DeferredArray:
    """The result of an operation that may not have run yet. `value` runs it; all else that arrays have is asked of that."""

    __slots__ = ("__weakref__", "_trace", "_value", "dtype", "kind", "number", "operation", "shape")

    def __init__(self, operation: Any, kind: tuple[tuple[int, ...], np.dtype], trace: Trace, number: int):
        self.operation = operation  # that it is a result of
        self.kind = kind
        self.shape, self.dtype = kind
        self.number = number
        self._trace: Trace | None = trace
        self._value: Any = None

    @classmethod
    def of(cls, array: np.ndarray) -> DeferredArray:
        """One that is there."""
        made = cls.__new__(cls)
        made.kind = made.shape, made.dtype = array.shape, array.dtype
        made.operation, made.number, made._trace, made._value = None, 0, None, array
        return made

    def wait(self) -> None:
        """Have it computed."""
        wait = getattr(self.value, "block_until_ready", None)
        if wait is not None:
            wait()

    @property
    def value(self) -> Any:
        """The array of the device."""
        if self._trace is not None:
            self._trace.run()
        if isinstance(self._value, BaseException):
            raise self._value
        return self._value

    @property
    def is_pending(self) -> bool:
        return self._trace is not None

    @property
    def settled(self) -> Any:
        """What operations are given: the array of the device where it is there, else this."""
        return self if self._trace is not None else self._value

    def settle(self, value: Any) -> None:
        """The array, or the error that came instead of it."""
        self._value, self._trace = value, None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.value, dtype)

    def __jax_array__(self) -> Any:
        return self.value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)


class Operation:
    """An operation, or a gradient rule, for one kind of arguments."""

    length = 1  # how many operations it stands for

    def __init__(self, emit: Callable[[Builder, list[Any]], list[Node]], graph: operation_graph.OperationGraph):
        self.emit = emit
        self.inputs, self.results = graph.inputs, graph.results
        self.count, self.is_tuple = graph.results_in_all, graph.is_tuple
        self.outputs = [(a.shape, a.dtype.np) for a in graph.graph.outputs if isinstance(a, AbstractTensor)]
        self._graph: FuncGraph | None = graph.graph
        self._alone: Callable[..., tuple] | None = None
        self._lock = threading.Lock()  # the graph is compiled once: compiling changes it

    @property
    def can_be_deferred(self) -> bool:
        return len(self.outputs) == len(self.results)

    @property
    def was_compiled(self) -> bool:
        return self._alone is not None

    def alone(self, backend: Programs) -> Callable[..., tuple]:
        """The operation as a program of its own."""
        if self._alone is None:
            with self._lock:
                if self._graph is not None:
                    self._alone, self._graph = backend.single(self._graph), None
        assert self._alone is not None
        return self._alone


class Trace:
    """Operations noted by one thread and not run yet.

    Values are numbered: results from 0 on, in order; arrays from outside -1, -2 … in order of their first use.
    """

    def __init__(self, engine: Engine):
        self._engine = engine
        self._lock = threading.RLock()
        self._turn = 0  # how often it was run
        self._reset()

    def _reset(self) -> None:
        self._turn += 1
        self.steps: list[tuple[Any, tuple[int, ...]]] = []  # an Operation, or a Passage of them
        self.length = 0  # operations in all
        self.inputs: list[Any] = []
        self.kinds: list[tuple] = []  # of inputs
        self.constants: set[int] = set()  # which inputs are numbers that the user gave
        self._numbers: dict[int, int] = {}  # id of an array in `inputs`, which holds it -> number
        self.results: list[DeferredArray] = []

    def add(self, operation: Operation | Passage, arrays: Sequence[Any]) -> list[DeferredArray]:
        with self._lock:
            if self.length >= self._engine.device.longest:
                self.run()
            before = len(self.steps), self.length, len(self.inputs), len(self.results)
            try:
                return self._add(operation, arrays)
            except BaseException:  # an interrupt
                self._forget_since(*before)
                raise

    def _add(self, operation: Operation | Passage, arrays: Sequence[Any]) -> list[DeferredArray]:
        numbers = []
        for i in operation.inputs:
            array = arrays[i]
            is_own = type(array) is DeferredArray and array._trace is self
            numbers.append(array.number if is_own else self._number(array))
        self.steps.append((operation, tuple(numbers)))
        self.length += operation.length
        results = self.results
        made = [DeferredArray(operation, kind, self, number) for number, kind in enumerate(operation.outputs, len(results))]
        results += made
        return made

    def _forget_since(self, steps: int, length: int, inputs: int, results: int) -> None:
        self.length = length
        del self.steps[steps:], self.inputs[inputs:], self.kinds[inputs:], self.results[results:]
        self._numbers = {i: number for i, number in self._numbers.items() if -number <= inputs}
        self.constants = {i for i in self.constants if i < inputs}

    def _number(self, given: Any) -> int:
        """The number of an array from outside."""
        array = given.value if type(given) is DeferredArray else given
        known = self._numbers.get(id(array))
        if known is None:
            if type(given) is np.ndarray:
                self.constants.add(len(self.inputs))
            self.inputs.append(array)
            self.kinds.append(kind_of(given))
            known = self._numbers[id(array)] = -len(self.inputs)
        return known

    # -- passages -----------------------------------------------------------------------------------------------------
    def mark(self) -> tuple[int, int, int]:
        """Where it is: the turn, and how many steps and results there are."""
        return self._turn, len(self.steps), len(self.results)

    def add_passage(self, passage: Passage, arrays: Sequence[Any]) -> list[DeferredArray] | None:
        """Note all operations of a passage; None where they would have been run in two parts."""
        with self._lock:
            fits = self.length + passage.length <= self._engine.device.longest
            return self.add(passage, arrays) if fits else None

    def passage(self, begin: tuple[int, int, int], arrays: Sequence[Any], asked: Sequence[Any]) -> Passage | None:
        """What was noted since a mark as a function of `arrays`; None where it is not, or where a part of it was run."""
        turn, at, first = begin
        with self._lock:
            if turn != self._turn:
                return None
            places: dict[int, int] = {}
            for place, array in enumerate(arrays):
                places.setdefault(self._known_number(array), place)
            used: dict[int, int] = {}  # place of an array -> its number as an input
            steps: list[tuple[Operation, tuple[int, ...]]] = []
            for operation, numbers in self.steps[at:]:
                outside = [n for n in numbers if n < first]
                if operation.length > 1 or not all(n in places for n in outside):
                    return None
                for n in outside:
                    used.setdefault(places[n], -1 - len(used))
                steps.append((operation, tuple([used[places[n]] if n < first else n - first for n in numbers])))
            results = [None if a is None else self._known_number(a) - first for a in asked]
            shown = sorted({n for n in results if n is not None})
            if not shown or shown[0] < 0 or shown[-1] >= len(self.results) - first:
                return None
            return Passage(tuple(steps), tuple(used), shown, [None if n is None else shown.index(n) for n in results])

    def _known_number(self, array: Any) -> int:
        """The number by which an array goes here."""
        if type(array) is DeferredArray:
            if array._trace is self:
                return array.number
            array = array.settled
        return self._numbers.get(id(array), _UNKNOWN)

    # -- values -------------------------------------------------------------------------------------------------------
    def look(self, array: DeferredArray) -> Any:
        """The value of a result: computed by itself where few operations lead to it, so that the others can go on waiting."""
        with self._lock:
            makers = self._makers() if array._trace is self else []
            needed = self._leading_to(array.number, makers) if makers else None
            if needed is None:
                return array.value
            known: dict[int, Any] = {-1 - i: a for i, a in enumerate(self.inputs)}
            for at in needed:
                operation, numbers = self.steps[at]
                found = operation.alone(self._engine.backend)(*[known[n] for n in numbers])
                known.update(enumerate(found, makers.index(at)))
            return known[array.number]

    def _makers(self) -> list[int]:
        """Of each result: the number of the step that gives it."""
        return [at for at, (operation, _) in enumerate(self.steps) for _ in operation.outputs]

    def _leading_to(self, number: int, makers: list[int]) -> list[int] | None:
        """The steps that a result needs, in order; None where they are many."""
        needed: set[int] = set()
        open_ends = [number]
        while open_ends:
            end = open_ends.pop()
            if end < 0 or makers[end] in needed:
                continue
            operation, numbers = self.steps[makers[end]]
            needed.add(makers[end])
            if len(needed) > FEW or operation.length > 1:
                return None
            open_ends += numbers
        return sorted(needed)

    def run(self) -> None:
        """Run all that was noted; what is still held gets its value. An interrupt waits: it is no value."""
        with held_back(), self._lock:
            if not self.steps:
                return
            steps, inputs, kinds, constants, results = tuple(self.steps), self.inputs, tuple(self.kinds), self.constants, self.results
            self._reset()
            held = _held(results)
            del results
            try:
                found = self._engine.execute(steps, inputs, kinds, constants, tuple([a.number for a in held])) if held else ()
            except BaseException as error:
                for array in held:
                    array.settle(error)
                raise
            for array, value in zip(held, found):
                array.settle(value)


class Passage:
    """Operations that are noted as one step (runtime/passages.py); to a trace, an operation of some arrays with some results."""

    def __init__(self, steps: tuple, inputs: tuple[int, ...], shown: list[int], places: list[int | None]):
        #: operations and the numbers of their arguments: results of the passage from 0 on, the passage's inputs from -1 down
        self.steps = steps
        self.length = len(steps)
        self.inputs = inputs  # which of the arrays it is a function of they are
        self.shown = shown  # the numbers of the results that are asked for
        self.places = places  # of everything that was asked for: which of those it is, None for what there is not
        kinds = [kind for operation, _ in steps for kind in operation.outputs]
        self.count = len(kinds)
        self.outputs = [kinds[n] for n in shown]


#: the number of an array that no operation was given
_UNKNOWN = sys.maxsize


def kind_of(array: Any) -> tuple[tuple[int, ...], np.dtype]:
    """What a program depends on: the shape and the element type."""
    return array.kind if type(array) is DeferredArray else (array.shape, array.dtype)


def _held(results: list[Any]) -> list[Any]:
    """Those that somebody else holds."""
    references = sys.getrefcount
    return [a for a in results if references(a) > _OWN_REFERENCES]


def _count_own_references() -> int:
    """What `getrefcount` says within `_held` of a result that nobody else holds."""
    found = []
    results = [DeferredArray.of(np.empty(1))]
    references = sys.getrefcount
    found += [references(a) for a in results]
    return found[0]


_OWN_REFERENCES = _count_own_references()
