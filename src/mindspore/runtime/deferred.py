"""Deferred execution: eager operations, run many at a time.

Launching a program on an accelerator costs the host tens of microseconds, more than most operations take to compute; on a CPU
(`set_context(pynative_deferred=True)`) one native program moves less memory than a kernel for each operation. So an eager
operation only notes itself: its result is a `DeferredArray`, of known shape and type but without data. What was
noted runs when a value is looked at, when a backward pass ends, or when much has gathered: as one compiled program where
the same sequence of operations has come before, and operation by operation where it is new. Results that nobody holds any
more by then are not computed for keeping. (LazyTensor: Suhan et al. 2021.)

The user sees no difference: shapes and types are checked when an operation is called, in-place updates replace values
(a DeferredArray never changes), and looking at a tensor waits for it. `pynative_synchronize` runs each operation at once.

Numbers beside tensors (`x * 0.5`) are constants of a program. Those that turn out to change become its inputs, so that a
learning rate that decays compiles twice, not at every step.
"""

from __future__ import annotations

import math
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.backends.interp import InterpBackend
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, AbstractTuple, FuncGraph, Node
from mindspore.prims import explain, values
from mindspore.prims.measured import Measured
from mindspore.prims.primitive import Primitive
from mindspore.prims.requirements import Requirement, Violation
from mindspore.prims.values import TensorBase, from_array
from mindspore.runtime import operation_graph
from mindspore.runtime.passages import Passages, spelled_out
from mindspore.runtime.trace import DeferredArray, Operation, Trace

#: kinds of operations, and sequences, that are kept; a process that meets more has shapes that never come again
MOST_KINDS = 1 << 14
MOST_PLANS = 512
#: a new sequence with more operations than this that were never compiled alone is compiled as a whole at once
MANY_NEW = 16

#: results that come back as inputs, from which on a program is made again so that they keep their memory
MANY_RETURNING = 16

#: elements up to which an operation that comes alone is left to NumPy
SMALL = 1 << 14

_HOST = object()  # of a kind of operation: it cannot be compiled
_UNKNOWN = object()


class Programs(Protocol):
    """What makes programs for a device."""

    #: whether a result can be written where an input was
    gives_memory: bool

    def supports(self, graph: FuncGraph) -> bool: ...
    def program(self, graph: FuncGraph, replaced: Mapping[int, int] = ...) -> Callable[..., tuple]:
        """`replaced`: number of an input → number of the result that takes its memory."""

    def single(self, graph: FuncGraph) -> Callable[..., tuple]:
        """Of one operation, which may never come again."""


class _Host:
    """How graphs are compiled on the host; set by the module that chooses backends, which stands above this one."""

    backend: Callable[[], Any]
    compile: Callable[[FuncGraph, frozenset[int]], Callable[..., tuple]]


def set_host(backend: Callable[[], Any], compile: Callable[[FuncGraph, frozenset[int]], Callable[..., tuple]]) -> None:
    _Host.backend, _Host.compile = staticmethod(backend), staticmethod(compile)


class NativePrograms:
    """Those of the host, by the backend that the settings choose."""

    gives_memory = False

    def __init__(self) -> None:
        _Host.backend()  # loads its libraries

    def supports(self, graph: FuncGraph) -> bool:
        return _Host.backend().supports(graph)

    def program(self, graph: FuncGraph, replaced: Mapping[int, int] = MappingProxyType({})) -> Callable[..., tuple]:
        return _Host.compile(graph, frozenset())

    def single(self, graph: FuncGraph) -> Callable[..., tuple]:
        return InterpBackend().compile(graph) if _is_small(graph) else self.program(graph)


def _is_small(graph: FuncGraph) -> bool:
    """Whether NumPy is done with an operation before native code for it is made."""
    sizes = [math.prod(n.abstract.shape) for n in graph.nodes() if isinstance(n.abstract, AbstractTensor)]
    return max(sizes, default=0) <= SMALL


class Plan:
    """A sequence of operations that has been met, and the program made of it.

    A training step's new weights, moments and gradients are the next step's inputs. Once that is seen, the program is made again and
    each writes its result where the value before it was. So all stay at the same addresses, which a GPU's recorded programs (CUDA graphs)
    contain, and need memory once. What somebody else holds is copied first.
    """

    def __init__(self, steps: tuple, wanted: tuple[int, ...], inputs: Sequence[Any], constants: set[int]):
        self.steps, self.wanted = steps, wanted
        self.constants = {i: inputs[i].item() for i in sorted(constants)}
        self.program: Callable[..., tuple] | None = None
        self.met = 0
        self.replaced: dict[int, int] = {}  # number of an input -> number of the result that takes its memory
        self._last: list[weakref.ref] = []  # results of the last call, until that is known
        self._lock = threading.Lock()  # held while it is decided which program to call with what

    def run(self, backend: Programs, inputs: list[Any]) -> tuple:
        with self._lock:
            program, given = self._program_for(backend, inputs)
            replaced = self.replaced
        for i in replaced:
            if sys.getrefcount(inputs[i]) > _OWN_REFERENCES:
                inputs[i] = inputs[i].copy()
        found = program(*[inputs[i] for i in given])
        self._last = [] if self.replaced or not backend.gives_memory else [weakref.ref(array) for array in found]
        return found

    def _program_for(self, backend: Programs, inputs: list[Any]) -> tuple[Callable[..., tuple], list[int]]:
        """The program for these inputs, and which of them it is given; other threads' numbers may have been others."""
        changed = [i for i, c in self.constants.items() if not _same(c, inputs[i].item())]
        for i in changed:
            del self.constants[i]
        learned = backend.gives_memory and self._learn(inputs)
        given = [i for i in range(len(inputs)) if i not in self.constants]
        if self.program is None or changed or learned:
            self.program = backend.program(self._graph(inputs), {given.index(i): j for i, j in self.replaced.items()})
        return self.program, given

    def _learn(self, inputs: list[Any]) -> bool:
        """Find which results of the last call come back and are held by nobody else; whether they are many."""
        results = {id(ref()): j for j, ref in enumerate(self._last)}
        free = {
            i: results[id(inputs[i])]
            for i in range(len(inputs))
            if id(inputs[i]) in results and sys.getrefcount(inputs[i]) <= _OWN_REFERENCES
        }
        if len(free) < MANY_RETURNING:
            return False
        self.replaced, self._last = free, []
        return True

    def _graph(self, inputs: Sequence[Any]) -> FuncGraph:
        builder = Builder(FuncGraph("eager"))
        known: dict[int, Any] = {}
        for i, array in enumerate(inputs):
            if i in self.constants:
                known[-1 - i] = from_array(array)
            else:
                known[-1 - i] = values.from_node(builder.graph.add_parameter(f"x{i}", abstract_of(array)))
        count = 0
        for operation, numbers in self.steps:
            for node in operation.emit(builder, [known[n] for n in numbers]):
                known[count] = values.from_node(node)
                count += 1
        return operation_graph.finish(builder, [known[n]._node for n in self.wanted])


class Engine:
    """What one device was asked to do: kinds of operations, sequences met, and the traces of the threads."""

    def __init__(self, device: Any):
        self.device = device
        self.backend: Programs = device.compiler()
        self.passages = Passages(self)
        self._kinds: dict[tuple, Any] = {}
        self._plans: dict[tuple, Plan] = {}
        self._local = threading.local()
        self._arrays = (np.ndarray, DeferredArray, type(device.place(np.zeros(1, np.float32))))

    # -- noting -------------------------------------------------------------------------------------------------------
    def forward(self, prim: Primitive, args: tuple) -> Any:
        """The results of an operation as tensors, deferred; None where it cannot be compiled."""
        if prim.effect not in ("", "random") or isinstance(prim, Measured):
            return None
        arrays = [a._data if isinstance(a, TensorBase) else a for a in args]
        try:
            key = self._kind_of(prim, arrays)
            operation = self._kinds.get(key, _UNKNOWN)
        except TypeError:  # an argument that cannot be a key
            return None
        if operation is _UNKNOWN:
            operation = self._forward_operation(key, prim, arrays)
        if operation is _HOST:
            return None
        if prim.requirements is not None:
            self._require(prim, args)
        found = self._note(operation, args, arrays)
        return tuple([from_array(a) for a in found]) if operation.is_tuple else from_array(found[0])

    def _require(self, prim: Primitive, args: tuple) -> None:
        """Test what the values of arguments must satisfy: on the host now, on an accelerator with all that is noted."""
        for requirement in prim.requirements(*args):
            subject = args[requirement.argument]
            data = getattr(subject, "_data", subject)
            if type(data) is DeferredArray and self.device.is_host:
                requirement.enforce(np.asarray(data._trace.look(data) if data._trace is not None else data.value))
            elif not isinstance(subject, TensorBase) or type(data) is np.ndarray:
                requirement.enforce(np.asarray(data))
            elif 0 not in subject._data.shape:
                bad, worst = self.forward(Violation(requirement.test), (subject,))
                self.device.reports.add(bad._data, _late(requirement, worst._data, _line_of_user()))

    def gradient(self, prim: Primitive, args: tuple, out: Any, dout: Any, needed: tuple[bool, ...]) -> tuple | None:
        """The gradients that `prim.bprop` gives, for the needed arguments; None to have them computed by the rule.

        Gradients of results may be None: they are zero.
        """
        if prim.effect or isinstance(prim, Measured):
            return None
        many = isinstance(out, tuple)
        given = (*args, *out, *dout) if many else (*args, out, dout)
        arrays = [a._data if isinstance(a, TensorBase) else a for a in given]
        try:
            key = (self._kind_of(prim, arrays), needed, many)
            operation = self._kinds.get(key, _UNKNOWN)
        except TypeError:
            return None
        if operation is _UNKNOWN:
            operation = self._gradient_operation(key, prim, arrays, len(args), many, needed)
        if operation is _HOST:
            return None
        found = self._note(operation, given, arrays)
        grads: list[Any] = [None] * operation.count
        for i, array in zip(operation.results, found):
            grads[i] = from_array(array)
        return tuple(grads)

    def _note(self, operation: Operation, args: tuple, arrays: list[Any]) -> list[DeferredArray]:
        for i in operation.inputs:
            array = arrays[i]
            if type(array) is np.ndarray and array.ndim:  # a tensor on the host moves to the device for good
                arrays[i] = args[i]._data = self.device.place(array)
        return self.trace().add(operation, arrays)

    def trace(self) -> Trace:
        """The trace of this thread."""
        try:
            return self._local.trace
        except AttributeError:
            self._local.trace = Trace(self)
            return self._local.trace

    # -- kinds of operations ------------------------------------------------------------------------------------------
    def _kind_of(self, prim: Primitive, arrays: list[Any]) -> tuple:
        """What a program depends on: the operation, the arrays' shapes and types, and all other arguments."""
        kinds: list[Any] = [prim.cached_key()]
        for value in arrays:
            if type(value) is DeferredArray:
                kinds.append(value.kind)
            elif type(value) in self._arrays:
                kinds.append((value.shape, value.dtype))
            else:
                kinds.append((type(value), value))
        return tuple(kinds)

    def _forward_operation(self, key: tuple, prim: Primitive, arrays: list[Any]) -> Any:
        arguments = [abstract_of(a) if type(a) in self._arrays else a for a in arrays]
        found = prim.infer(*arguments)  # says what is wrong with the arguments
        leaves = found.elements if isinstance(found, AbstractTuple) else (found,)
        if not all(isinstance(a, AbstractTensor) for a in leaves):
            return self._remember(key, _HOST)
        graph = operation_graph.forward_graph(prim, arguments)

        def emit(builder: Builder, tensors: list[Any]) -> list[Node]:
            return operation_graph.emit_forward(builder, prim, _filled(arguments, graph.inputs, tensors))[0]

        return self._remember(key, Operation(emit, graph))

    def _gradient_operation(
        self, key: tuple, prim: Primitive, arrays: list[Any], count: int, many: bool, needed: tuple[bool, ...]
    ) -> Any:
        arguments = [abstract_of(a) if type(a) in self._arrays else a for a in arrays]
        graph = operation_graph.gradient_graph(prim, arguments, count, many, needed)

        def emit(builder: Builder, tensors: list[Any]) -> list[Node]:
            symbols = _filled(arguments, graph.inputs, tensors)
            return operation_graph.emit_gradient(builder, prim, symbols, count, many, needed)[0]

        return self._remember(key, Operation(emit, graph))

    def _remember(self, key: tuple, operation: Any) -> Any:
        if operation is not _HOST and (not operation.can_be_deferred or not self.backend.supports(operation._graph)):
            operation = _HOST
        if len(self._kinds) >= MOST_KINDS:
            self._kinds.clear()
        self._kinds[key] = operation
        return operation

    # -- running ------------------------------------------------------------------------------------------------------
    def execute(
        self, steps: tuple, inputs: list[Any], kinds: tuple, constants: set[int], wanted: tuple[int, ...]
    ) -> Sequence[Any]:
        """The wanted results of a sequence of operations."""
        key = (steps, wanted, kinds)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            whole = (*spelled_out(steps, wanted), kinds)
            plan = self._plans.get(whole) or Plan(*whole[:2], inputs, constants)
            self._plans[key] = self._plans[whole] = plan
        plan.met += 1
        if plan.program is None and not self._is_worth_a_program(plan):
            return self._one_by_one(plan.steps, inputs, plan.wanted)
        return plan.run(self.backend, inputs)

    def _is_worth_a_program(self, plan: Plan) -> bool:
        if plan.met == 1:
            return sum(not operation.was_compiled for operation in {s[0] for s in plan.steps}) > MANY_NEW
        return plan.met * len(plan.steps) >= self.device.patience

    def _one_by_one(self, steps: tuple, inputs: list[Any], wanted: tuple[int, ...]) -> list[Any]:
        last = {n: at for at, (_, numbers) in enumerate(steps) for n in numbers}
        last.update(dict.fromkeys(wanted, len(steps)))
        known: dict[int, Any] = {-1 - i: a for i, a in enumerate(inputs)}
        count = 0
        for at, (operation, numbers) in enumerate(steps):
            for value in operation.alone(self.backend)(*[known[n] for n in numbers]):
                if last.get(count, -1) > at:
                    known[count] = value
                count += 1
            for n in numbers:
                if last[n] == at:
                    known.pop(n, None)
        return [known[n] for n in wanted]


def _count_own_references() -> int:
    """What `getrefcount` says of an array that nobody but a list of inputs holds."""
    inputs = [np.empty(1)]
    return sys.getrefcount(inputs[0])


_OWN_REFERENCES = _count_own_references()


def abstract_of(array: Any) -> AbstractTensor:
    return AbstractTensor(mstype.from_numpy(np.dtype(array.dtype)), tuple(array.shape))


def _filled(arguments: Sequence[Any], inputs: Sequence[int], tensors: Sequence[Any]) -> list[Any]:
    """Arguments with their tensors in place."""
    filled = list(arguments)
    for i, tensor in zip(inputs, tensors):
        filled[i] = tensor
    return filled


def _late(requirement: Requirement, worst: Any, line: str) -> Callable[[int], BaseException]:
    """The error of a requirement, with the line that it belongs to: the host is somewhere else by then."""

    def error(code: int) -> BaseException:
        found = requirement.error(float(np.asarray(worst)))
        found.add_note(line)
        explain.mark_pointed(found)
        return found

    return error


def _line_of_user() -> str:
    """The innermost line that is not of this library."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("mindspore."):
        frame = frame.f_back
    return f"  In file {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def _same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same constant: NaN is itself, and zeros have signs."""
    return (a == b and str(a) == str(b)) or (a != a and b != b)
