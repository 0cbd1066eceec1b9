"""A MindIR model made ready to run: graphs as lists of steps over named values.

Running is independent of which primitives exist: an `Operations` object applies primitives and decides branches and
loops, so that the same program runs eagerly or adds nodes to a graph being built.

Graphs are values in MindIR, and loops are graphs that call themselves in tail position. `run` therefore returns a
TailCall for an output that is a call, and whoever asked carries it out in a loop instead of by recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from mindspore._base.protobuf import DecodeError
from mindspore.ir.mindir_proto import GraphProto, ModelProto, NodeProto
from mindspore.ir.mindir_values import MONAD, read_tensor, read_value

_REFERENCE = "REF::"
_MAKE_TUPLE = frozenset(("MakeTuple", "make_list", "MakeList"))
_GET_ITEM = frozenset(("TupleGetItem", "list_getitem", "ListGetItem"))
_SILENT = frozenset(("UpdateState", "Load", "Depend", "Partial", "Switch")) | _MAKE_TUPLE | _GET_ITEM


class PrimitiveUse(NamedTuple):
    """A primitive as the file spells it."""

    name: str
    attributes: dict[str, Any]
    is_function: bool


class Step(NamedTuple):
    """One node: what to apply, to which names, under which name the result is kept."""

    target: str
    operator: Any  # PrimitiveUse, or the name of a graph or closure
    inputs: tuple[str, ...]


class Graph(NamedTuple):
    """One function of the program."""

    name: str
    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    output: str


class Closure(NamedTuple):
    """A graph with arguments bound to it."""

    graph: str
    arguments: tuple

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError("a closure is run by its program")


class Choice(NamedTuple):
    """One of two closures, chosen when called."""

    predicate: Any
    then: Any
    otherwise: Any


class TailCall(NamedTuple):
    """The output of a graph is the result of this call."""

    target: Any
    arguments: tuple


class Operations(Protocol):
    """How primitives, branches and loops are carried out."""

    def apply(self, use: PrimitiveUse, arguments: list[Any]) -> Any: ...
    def constant(self, array: np.ndarray) -> Any: ...
    def is_known(self, predicate: Any) -> bool: ...
    def branch(self, predicate: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any: ...
    def loop(self, test: Callable, body: Callable, state: tuple) -> tuple: ...
    def not_compiled(self, reason: str) -> Exception: ...


class Program:
    """The graphs of a model."""

    def __init__(self, model: ModelProto, load_external: Callable[[Any], Any] | None = None):
        if model.graph is None or not model.graph.name:
            raise DecodeError("the model has no graph")
        self.constants: dict[str, Any] = {}
        primitives = {p.name: p for p in model.primitives}
        self._uses = {
            name: PrimitiveUse(p.op_type or "", {a.name: read_value(a) for a in p.attribute}, p.prim_type == 2)
            for name, p in primitives.items()
        }
        self.weights: dict[str, tuple[str, np.ndarray]] = {}
        for parameter in model.graph.parameter:
            data = load_external(parameter) if parameter.external_data is not None and load_external else None
            label = parameter.ref_key or (parameter.name or "").partition(":")[2] or parameter.name or ""
            self.weights[parameter.name or ""] = (label, read_tensor(parameter, data))
        self.input_types = [(i.name or "", i) for i in model.graph.input]
        self.main = model.graph.name
        self.graphs: dict[str, Graph] = {}
        for graph in (model.graph, *model.functions):
            self.graphs[graph.name or ""] = self._graph(graph)
        self._check_names()

    # -- reading --------------------------------------------------------------------------------------------------
    def _graph(self, graph: GraphProto) -> Graph:
        steps: list[Step] = []
        for node in graph.node:
            if not node.output or not node.op_type:
                raise DecodeError(f"a node of graph '{graph.name}' has no name or operator")
            if node.op_type == "Constant":
                self.constants[node.output[0]] = self._constant(node)
            else:
                steps.append(Step(node.output[0], self._operator(node), tuple(node.input)))
        if len(graph.output) != 1 or not graph.output[0].name:
            raise DecodeError(f"graph '{graph.name}' must have one output")
        return Graph(graph.name or "", tuple(i.name or "" for i in graph.input), tuple(steps), graph.output[0].name)

    @staticmethod
    def _constant(node: NodeProto) -> Any:
        for attribute in node.attribute:
            if attribute.name == "value":
                return read_value(attribute)
        raise DecodeError(f"the constant '{node.output[0]}' has no value")

    def _operator(self, node: NodeProto) -> Any:
        name = node.op_type or ""
        if not name.startswith(_REFERENCE):
            own = [a for a in node.attribute if a.name not in ("shape", None, "") and a.name != "value"]
            return PrimitiveUse(name, {a.name: read_value(a) for a in own}, False)
        name = name.removeprefix(_REFERENCE)
        return self._uses.get(name, name)

    def _check_names(self) -> None:
        """Every name must be known before it is used."""
        for graph in self.graphs.values():
            known = {*self.constants, *self.graphs, *graph.inputs}
            if graph.name == self.main:
                known |= set(self.weights)
            for step in graph.steps:
                used = step.inputs if isinstance(step.operator, PrimitiveUse) else (*step.inputs, step.operator)
                for name in used:
                    if name not in known:
                        raise DecodeError(f"graph '{graph.name}' uses '{name}' before it is computed")
                known.add(step.target)
            if graph.output not in known:
                raise DecodeError(f"the output '{graph.output}' of graph '{graph.name}' is not computed")

    # -- running --------------------------------------------------------------------------------------------------
    def run(self, operations: Operations, weights: dict[str, Any], arguments: tuple) -> Any:
        """The result of the main graph. `weights` maps the names in `self.weights` to tensors."""
        return _Run(self, operations, weights).call(Closure(self.main, ()), arguments)


class _Run:
    """One run of a program."""

    def __init__(self, program: Program, operations: Operations, weights: dict[str, Any]):
        self.program = program
        self.operations = operations
        self.weights = weights
        self.constants: dict[str, Any] = {}

    def call(self, target: Any, arguments: tuple) -> Any:
        """Call a closure, a graph by name, or a choice; tail calls are carried out here, one after the other."""
        while True:
            if isinstance(target, Choice):
                if not self.operations.is_known(target.predicate):
                    return self._branch(target, arguments)
                target = target.then if bool(target.predicate) else target.otherwise
            if isinstance(target, Closure):
                target, arguments = target.graph, (*target.arguments, *arguments)
            if self._is_symbolic_loop(target, arguments):
                return self._loop(target, arguments)
            result = self.evaluate(self.program.graphs[target], arguments)
            if not isinstance(result, TailCall):
                return result
            target, arguments = result

    def evaluate(self, graph: Graph, arguments: tuple) -> Any:
        """Run the steps of a graph; a call in tail position is handed back."""
        if len(graph.inputs) != len(arguments):
            raise ValueError(f"graph '{graph.name}' takes {len(graph.inputs)} inputs, but got {len(arguments)}")
        values: dict[str, Any] = dict(zip(graph.inputs, arguments))
        if graph.name == self.program.main:
            values.update(self.weights)
        for step in graph.steps:
            if isinstance(step.operator, PrimitiveUse):
                inputs = [self._value(name, values) for name in step.inputs]
                values[step.target] = self._apply(step.operator, inputs)
            else:
                target = self._value(step.operator, values)
                inputs = [self._value(name, values) for name in step.inputs]
                if step.target == graph.output:
                    return TailCall(target, tuple(inputs))
                values[step.target] = self.call(target, tuple(inputs))
        return self._value(graph.output, values)

    def _value(self, name: str, values: dict[str, Any]) -> Any:
        if name in values:
            return values[name]
        if name in self.constants:
            return self.constants[name]
        if name in self.program.constants:
            value = self.program.constants[name]
            self.constants[name] = self._wrapped(value)
            return self.constants[name]
        return Closure(name, ())

    def _wrapped(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.operations.constant(value)
        if isinstance(value, (tuple, list)):
            return tuple(self._wrapped(v) for v in value)
        return value

    def _apply(self, use: PrimitiveUse, inputs: list[Any]) -> Any:
        if use.name not in _SILENT:
            return self.operations.apply(use, [i for i in inputs if i is not MONAD])
        if use.name == "UpdateState":
            return MONAD
        if use.name in ("Load", "Depend"):
            return inputs[0]
        if use.name in _MAKE_TUPLE:
            return tuple(inputs)
        if use.name in _GET_ITEM:
            return inputs[0][int(inputs[1])]
        if use.name == "Partial":
            bound = inputs[0]
            return Closure(bound.graph, (*bound.arguments, *inputs[1:]))
        return Choice(*inputs[:3])

    # -- branches and loops whose condition is only known when the graph runs ---------------------------------------
    def _branch(self, choice: Choice, arguments: tuple) -> Any:
        return self.operations.branch(
            choice.predicate,
            lambda: self.call(choice.then, arguments),
            lambda: self.call(choice.otherwise, arguments),
        )

    def _is_symbolic_loop(self, name: str, arguments: tuple) -> bool:
        """Whether a graph is the header of a loop whose condition is not known now."""
        graph = self.program.graphs[name]
        if not _reaches(self.program, name) or not graph.steps:
            return False
        result = self.evaluate(graph, arguments)
        if not isinstance(result, TailCall) or not isinstance(result.target, Choice):
            return False
        return not self.operations.is_known(result.target.predicate)

    def _loop(self, name: str, arguments: tuple) -> Any:
        graph = self.program.graphs[name]

        def choice(state: tuple) -> Choice:
            tail = self.evaluate(graph, state)
            assert isinstance(tail, TailCall) and isinstance(tail.target, Choice)
            return tail.target

        first = choice(arguments)
        again, leave = first.then, first.otherwise
        turned = not _reaches_from(self.program, again.graph, name)
        if turned:
            again, leave = leave, again

        def test(*state: Any) -> Any:
            predicate = choice(state).predicate
            return self.operations.apply(PrimitiveUse("LogicalNot", {}, True), [predicate]) if turned else predicate

        def body(*state: Any) -> tuple:
            chosen = choice(state)
            target: Any = chosen.otherwise if turned else chosen.then
            tail: Any = TailCall(target, ())
            while isinstance(tail, TailCall):
                target, extra = tail
                if isinstance(target, Choice):
                    raise self.operations.not_compiled(f"the loop '{name}' ends its body in a branch")
                if isinstance(target, Closure):
                    target, extra = target.graph, (*target.arguments, *extra)
                if target == name:
                    return extra
                tail = self.evaluate(self.program.graphs[target], extra)
            raise self.operations.not_compiled(f"the loop '{name}' does not return to its start")

        final = self.operations.loop(test, body, arguments)
        last = choice(final)
        return self.call(last.then if turned else last.otherwise, ())


def _reaches(program: Program, name: str) -> bool:
    return _reaches_from(program, name, name)


def _reaches_from(program: Program, start: str, goal: str) -> bool:
    """Whether `goal` may be called by `start`, directly or not."""
    seen: set[str] = set()
    stack = [start]
    while stack:
        for step in program.graphs[stack.pop()].steps:
            used = step.inputs if isinstance(step.operator, PrimitiveUse) else (*step.inputs, step.operator)
            for name in used:
                if name == goal:
                    return True
                if name in program.graphs and name not in seen:
                    seen.add(name)
                    stack.append(name)
    return False
