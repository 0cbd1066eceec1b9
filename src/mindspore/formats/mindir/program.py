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
from mindspore.formats.mindir import flow as flow
from mindspore.formats.mindir.messages import GraphProto, ModelProto, NodeProto
from mindspore.formats.mindir.values import MONAD, read_tensor, read_value

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
        self._sides: list[str] = []  # graphs of the choices under way

    def call(self, target: Any, arguments: tuple) -> Any:
        """The result of a closure, a graph by name, or a choice."""
        result = self._advance(target, arguments, frozenset())
        if not isinstance(result, TailCall):
            return result
        choice, arguments = result  # one of two continuations that have nothing in common
        return self.operations.branch(
            choice.predicate,
            lambda: self._side(choice.then, arguments),
            lambda: self._side(choice.otherwise, arguments),
        )

    def _side(self, closure: Any, arguments: tuple) -> Any:
        """The result of one side of a choice. A side within itself is a function that calls itself until a value says stop."""
        if closure.graph in self._sides:
            raise self.operations.not_compiled(f"the function of '{closure.graph}' calls itself")
        self._sides.append(closure.graph)
        try:
            return self.call(closure, arguments)
        finally:
            self._sides.pop()

    def _advance(self, target: Any, arguments: tuple, stops: frozenset[str]) -> Any:
        """Carry out tail calls, one after the other, up to a result, a graph in `stops`, or a choice without a join."""
        while True:
            if isinstance(target, Choice):
                if self.operations.is_known(target.predicate):
                    target = target.then if bool(target.predicate) else target.otherwise
                else:
                    join = flow.join(self.program, target.then.graph, target.otherwise.graph, stops)
                    if join is None:
                        return TailCall(target, arguments)
                    target, arguments = self._joined(target, arguments, join, stops)
            if isinstance(target, Closure):
                target, arguments = target.graph, (*target.arguments, *arguments)
            if target in stops:
                return TailCall(target, arguments)
            if self._is_symbolic_loop(target, arguments, stops):
                result = self._loop(target, arguments, stops)
            else:
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
    def _joined(self, choice: Choice, arguments: tuple, join: str, stops: frozenset[str]) -> TailCall:
        """Both sides up to the graph where they meet; what they call it with is joined."""

        def side(closure: Any) -> tuple:
            result = self._advance(closure, arguments, stops | {join})
            if not isinstance(result, TailCall) or result.target != join:
                raise self.operations.not_compiled(f"a branch does not lead to '{join}'")
            return result.arguments

        found = self.operations.branch(choice.predicate, lambda: side(choice.then), lambda: side(choice.otherwise))
        return TailCall(join, tuple(found))

    def _is_symbolic_loop(self, name: str, arguments: tuple, stops: frozenset[str]) -> bool:
        """Whether a graph is the header of a loop whose condition is not known now."""
        graph = self.program.graphs[name]
        if not graph.steps or not flow.reaches(self.program, name, name, stops):
            return False
        result = self.evaluate(graph, arguments)
        if not isinstance(result, TailCall) or not isinstance(result.target, Choice):
            return False
        return not self.operations.is_known(result.target.predicate)

    def _loop(self, name: str, arguments: tuple, stops: frozenset[str]) -> Any:
        """Run a loop; returns the call that follows it, or the result when the loop is left by returning one."""
        loop = _Loop(self, name, arguments, stops)
        if flow.always_reaches(self.program, loop.again, name, loop.stops):
            final = self.operations.loop(loop.test, loop.step, arguments)
            return TailCall(loop.after, loop.leaving(final))
        if not flow.may_end(self.program, loop.again, loop.stops):
            return TailCall(loop.after, loop.run_until_left(arguments, loop.leaving(arguments), lambda given: given))
        if stops:
            raise self.operations.not_compiled(f"the loop '{name}' returns from inside another loop or branch")
        first = _leaves(self.call(loop.after, loop.leaving(arguments)))
        found = loop.run_until_left(arguments, first.items, lambda given: _leaves(self.call(loop.after, given)).items)
        return first.rebuilt(found)


class _Leaves(NamedTuple):
    """The tensors of a nested result, and its form."""

    items: tuple
    form: Any

    def rebuilt(self, items: tuple) -> Any:
        rest = iter(items)

        def build(form: Any) -> Any:
            return tuple(build(part) for part in form) if isinstance(form, tuple) else next(rest)

        return build(self.form)


def _leaves(value: Any) -> _Leaves:
    if not isinstance(value, tuple):
        return _Leaves((value,), None)
    parts = [_leaves(item) for item in value]
    return _Leaves(tuple(leaf for part in parts for leaf in part.items), tuple(part.form for part in parts))


class _Loop:
    """A loop: a header that chooses between a body, which comes back to it, and what follows."""

    def __init__(self, run: _Run, name: str, arguments: tuple, stops: frozenset[str]):
        self.run, self.name = run, name
        first = self._choice(arguments)
        self.turned = not flow.reaches(run.program, first.then.graph, name, stops)
        again, leave = (first.otherwise, first.then) if self.turned else (first.then, first.otherwise)
        self.again, self.after = again.graph, leave.graph
        self.stops = stops | {name, self.after}

    def _choice(self, state: tuple) -> Choice:
        tail = self.run.evaluate(self.run.program.graphs[self.name], state)
        assert isinstance(tail, TailCall) and isinstance(tail.target, Choice)
        return tail.target

    def _apply(self, name: str, *arguments: Any) -> Any:
        return self.run.operations.apply(PrimitiveUse(name, {}, True), list(arguments))

    def test(self, *state: Any) -> Any:
        """Whether the body runs once more."""
        predicate = self._choice(state).predicate
        return self._apply("LogicalNot", predicate) if self.turned else predicate

    def leaving(self, state: tuple) -> tuple:
        """What the graph after the loop is called with."""
        chosen = self._choice(state)
        return (chosen.then if self.turned else chosen.otherwise).arguments

    def _body(self, state: tuple) -> Any:
        chosen = self._choice(state)
        return self.run._advance(chosen.otherwise if self.turned else chosen.then, (), self.stops)

    def step(self, *state: Any) -> tuple:
        """The state after the body, when it always comes back."""
        result = self._body(state)
        if not isinstance(result, TailCall) or result.target != self.name:
            raise self.run.operations.not_compiled(f"the loop '{self.name}' does not return to its start")
        return result.arguments

    def run_until_left(self, arguments: tuple, first: tuple, finish: Callable[[tuple], tuple]) -> tuple:
        """A loop that its body may leave. Its state has a flag for that, and what it was left with.

        `finish` makes that from what the graph after the loop is called with; `first` has the same types.
        """
        operations, count = self.run.operations, len(arguments)
        flag = {value: operations.constant(np.array(value)) for value in (True, False)}

        def test(left: Any, *state: Any) -> Any:
            return self._apply("LogicalAnd", self._apply("LogicalNot", left), self.test(*state[:count]))

        def step(left: Any, *state: Any) -> tuple:
            header, kept = state[:count], state[count:]

            def outcome(result: Any) -> tuple:
                if not isinstance(result, TailCall):
                    return (flag[True], *header, *_leaves(result).items)
                target, given = result
                if target == self.name:
                    return (flag[False], *given, *kept)
                if target == self.after:
                    return (flag[True], *header, *finish(given))
                if not isinstance(target, Choice):
                    raise operations.not_compiled(f"the loop '{self.name}' is left in more than one way")
                then, otherwise = (
                    lambda side=side: outcome(self.run._advance(side, given, self.stops))
                    for side in (target.then, target.otherwise)
                )
                return tuple(operations.branch(target.predicate, then, otherwise))

            return outcome(self._body(header))

        left, *state = operations.loop(test, step, (flag[False], *arguments, *first))
        header, kept = tuple(state[:count]), tuple(state[count:])
        return tuple(operations.branch(left, lambda: kept, lambda: finish(self.leaving(header))))
