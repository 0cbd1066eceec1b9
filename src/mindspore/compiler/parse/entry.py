"""Where interpretation starts: a function and example arguments become a graph.

Tensors among the arguments become graph inputs; everything else is part of what the graph is specialised to. Parameters
that the function reads become further inputs, those it writes further outputs.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore._base import flags
from mindspore._base.recursion import deep_recursion
from mindspore.compiler.builder import Builder
from mindspore.compiler.parse.attributes import Key, Read
from mindspore.compiler.parse.branching import RaisedByUser
from mindspore.compiler.parse.errors import located, mark_raised
from mindspore.compiler.parse.frames import InterpretedFunction, Undefined
from mindspore.compiler.parse.given import Copies, Given
from mindspore.compiler.parse.interpreter import Interpreter
from mindspore.compiler.parse.outside import Left
from mindspore.compiler.reports import Report, Reports
from mindspore.compiler.staging import Oracle, Question
from mindspore.ir import AbstractScalar, FuncGraph, Node
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.structure import parts_of, with_parts
from mindspore.prims.values import SymbolicScalarBase, TensorBase

if TYPE_CHECKING:
    from mindspore.ir import Abstract

_RECURSION_LIMIT = 50_000


class Place(NamedTuple):
    """Stands in a structure for graph output number `index`."""

    index: int  # type: ignore[assignment]


class Traced(NamedTuple):
    """A function as a graph, with what is needed to call it."""

    graph: FuncGraph
    arguments: int  # the first so many graph parameters are tensors from the arguments, in order of `tensors_in`
    weights: list[Any]  # Parameters feeding the remaining graph parameters
    result: Any  # the result's structure with Places for tensors
    written: list[tuple[Any, int]]  # (Parameter, output index): new values
    attributes: list[tuple[Any, str, Any]]  # (object, name, structure with Places): attribute stores
    errors: list[Report]  # what the graph may report, by code - 1
    record: tuple[int, int] | None  # output indices of the error's code and the offending value, if it may report any
    cells: list[tuple[Any, tuple]]  # the cells met, and the signature of each that the graph is made for
    reads: dict[Key, Read]  # attributes that the graph is specialised to
    dictionaries: list[dict]  # from outside, of which more than single items were used
    questions: list[Question]  # values and shapes that the graph is specialised to
    left: list[tuple[Given, Any]]  # lists and dicts among the arguments, and what the function leaves there
    own: Any  # the result's structure with marks for lists and dicts that the caller has; None: it has none of them

    @property
    def fills(self) -> bool:
        """Whether the function leaves something in lists or dicts from outside."""
        return any(isinstance(owner, Left) for owner, _, _ in self.attributes)


def tensors_in(value: Any, found: list[Any] | None = None) -> list[Any]:
    """The tensors (and mutable numbers) of an argument structure, in order."""
    found = [] if found is None else found
    if isinstance(value, TensorBase):
        if not isinstance(value, values.parameter_class()):
            found.append(value)
    elif isinstance(value, (tuple, list)):
        for v in value:
            tensors_in(v, found)
    elif getattr(value, "__ms_mutable__", False):
        found.append(value)
    else:
        for v in parts_of(value) or ():
            tensors_in(v, found)
    return found


def trace(
    function: Any,
    args: tuple,
    kwargs: dict,
    name: str = "",
    max_call_depth: int = 1000,
    variable: frozenset[Key] = frozenset(),
    run_node: Callable | None = None,
    decides: bool = False,
    checked: bool = True,
) -> Traced:
    """Interpret `function(*args, **kwargs)` into a graph. Attributes in `variable` become inputs instead of constants.

    With `run_node`, which computes a node, the graph may be made for values that the arguments have (staging.py); if it
    `decides`, also for the way they take through branches and loops. `checked`: the graph reports values of arguments that its
    operations do not allow; without, it is what other programs expect to read.
    """
    interpreter = Interpreter(max_call_depth, variable, decides)
    interpreter.outside.begin(function, (*args, *kwargs.values()))
    names = argument_names(function, len(args))
    return run_trace(
        interpreter,
        lambda a, k: interpreter.call(function, a, k),
        args,
        kwargs,
        name or _name(function),
        names,
        run_node,
        checked,
    )


def run_trace(
    interpreter: Interpreter,
    run: Callable,
    args: tuple,
    kwargs: dict,
    name: str,
    names: list[str] | None = None,
    run_node: Callable | None = None,
    checked: bool = True,
) -> Traced:
    builder = Builder(FuncGraph(name))
    builder.reports = Reports()
    builder.pauses = 0 if checked and flags.checks_values() else 1
    builder.oracle = Oracle(builder.graph, run_node) if run_node is not None else None
    builder.interpreter = interpreter  # type: ignore[attr-defined]
    builder.location_source = interpreter.origin
    with deep_recursion(_RECURSION_LIMIT), builder.active():
        inputs = _Inputs(builder)
        names = names or [f"x{i}" for i in range(len(args))]
        symbolic_args = tuple(inputs.replace(a, n, Given(i, ())) for i, (a, n) in enumerate(zip(args, names)))
        symbolic_kwargs = {k: inputs.replace(v, k, Given(k, ())) for k, v in kwargs.items()}
        try:
            result = _guard(interpreter, lambda: run(symbolic_args, symbolic_kwargs))
            return _finish(interpreter, builder, inputs, result)
        finally:
            interpreter.outside.put_back()


def call(function: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
    """Call from library code while a graph is built: user functions are interpreted, others simply called."""
    interpreter = getattr(ACTIVE.builder.root, "interpreter", None)
    if interpreter is None:
        return function(*args, **(kwargs or {}))
    return interpreter.call(function, tuple(args), kwargs or {})


def call_cell(cell: Any, args: tuple, kwargs: dict) -> Any:
    """The part of `Cell.__call__` that builds graphs: interpret `construct`, within what the cell wraps around it."""
    return ACTIVE.builder.root.interpreter.call_cell(cell, args, kwargs)


def argument_names(function: Any, count: int) -> list[str]:
    """What the user calls the arguments: the parameter names of the function or of a cell's `construct`."""
    target = getattr(function, "construct", None) or getattr(function, "fn", None) or function
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for p in parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
        elif p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}{i}" for i in range(count - len(names))]
    return (names + [f"x{i}" for i in range(len(names), count)])[:count]


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _guard(interpreter: Interpreter, run: Callable[[], Any]) -> Any:
    """Errors leave with the user's position and without the interpreter's own frames."""
    try:
        return run()
    except RaisedByUser as raised:
        error: BaseException = mark_raised(raised.error)
    except Exception as raised_error:  # raised again below, with the position
        error = raised_error
    located(error, interpreter.origin()[0])
    raise error.with_traceback(None if not _debugging() else error.__traceback__) from error.__cause__


def _debugging() -> bool:
    from mindspore._base import flags

    return flags.switch("MS_DEV_FULL_TRACEBACK")


class _Inputs:
    """Replaces tensors in arguments by symbolic ones bound to graph parameters."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.count = 0
        self.copies = Copies()

    def replace(self, value: Any, name: str, given: Given, in_sequence: bool = False) -> Any:
        if isinstance(value, TensorBase):
            if isinstance(value, values.parameter_class()):
                return value
            symbolic = self._parameter(values.abstract_of(value), name, value._data)
            if in_sequence and not getattr(value, "_mutable", False):
                symbolic._fixed = True  # see `mutable.is_constant`
            hooks = getattr(value, "_hooks", None)
            if hooks:  # those of its value now, which is the one the graph gets
                symbolic._hooks = {0: hooks.get(value._value, {})}
            return symbolic
        if getattr(value, "__ms_mutable__", False):
            plain = value.plain()
            return self._parameter(AbstractScalar(values.scalar_dtype(plain)), name, plain)
        parts = parts_of(value)
        if parts is None:
            return value
        keys = value if isinstance(value, dict) else range(len(parts))
        is_sequence = isinstance(value, (tuple, list, dict)) and not getattr(value, "__ms_dynamic__", False)
        made = with_parts(
            value,
            [
                self.replace(part, f"{name}_{key}", Given(given.name, (*given.path, i)), is_sequence)
                for i, (key, part) in enumerate(zip(keys, parts))
            ],
        )
        self.copies.note(made, given)
        return made

    def _parameter(self, abstract: Abstract, name: str, value: Any) -> Any:
        self.count += 1
        node = self.builder.graph.add_parameter(name, abstract)
        if self.builder.oracle is not None:
            self.builder.oracle.give(node, value)
        return values.from_node(node)


def _finish(interpreter: Interpreter, builder: Builder, inputs: _Inputs, result: Any) -> Traced:
    """Collect the outputs: results, new parameter values, attribute stores, error code, ordering token."""
    outputs: list[Node] = []
    outside, copies = interpreter.outside, inputs.copies
    marked = copies.marked(result, outside, builder.is_variable)
    own = _extract(_result(marked), builder, outputs)
    attributes = [(o, n, _extract(_defined(v), builder, outputs)) for o, n, v in interpreter.attributes.values()]
    attributes += [(left, "items", _extract(items, builder, outputs)) for left, items in outside.left()]
    left = [(given, _extract(items, builder, outputs)) for given, items in copies.left(outside)]
    reports: Any = builder.reports
    written = []
    record: dict[int, int] = {}
    for target, node in _in_order_of_inputs(builder):
        if isinstance(target, values.parameter_class()):
            written.append((target, len(outputs)))
            outputs.append(node)
        elif reports.holds(target):
            record[id(target)] = len(outputs)
            outputs.append(node)
        elif getattr(target, "_ms_keep", False):
            outputs.append(node)
    builder.graph.output = builder.make_tuple(outputs)
    place = {id(p.default): i for i, p in enumerate(builder.graph.parameters) if p.default is not None}
    builder.graph.attrs["updates"] = {place[id(p)]: index for p, index in written if id(p) in place}  # input -> output
    places = (record[id(reports.code)], record[id(reports.value)]) if record else None
    builder.graph.attrs["record"] = places  # nothing may be overwritten before it is known
    weights = [p.default for p in builder.graph.parameters if p.default is not None]
    cells = list(interpreter.cells.values())
    reads = {k: r for k, r in interpreter.reads.items() if k not in interpreter.attribute_inputs}
    dictionaries = [found for found, uses in interpreter.dictionaries.values() if uses > 0]
    questions = builder.oracle.questions if builder.oracle is not None else []
    return Traced(
        builder.graph, inputs.count, weights, copies.unmarked(own), written, attributes, reports.errors, places, cells, reads,
        dictionaries, questions, left, None if marked is result else own,
    )  # fmt: skip


def _in_order_of_inputs(builder: Builder) -> list[tuple[Any, Node]]:
    """The state at the end: new values in the order of the old ones among the inputs.

    XLA gives the memory of an overwritten input to the first result of its shape; in this order that is its own new
    value, and nothing has to be copied.
    """
    place = {id(p.default): i for i, p in enumerate(builder.graph.parameters) if p.default is not None}
    return sorted(builder.state.values(), key=lambda item: place.get(id(item[0]), len(place)))


def _result(value: Any) -> Any:
    """What a compiled function may return: what iterators and ranges run through, but no functions."""
    if isinstance(value, (types.FunctionType, types.MethodType, InterpretedFunction)):
        raise RuntimeError(
            f"Function in output is not supported. Return the values it gives instead of {value.__name__!r}."
        )
    if isinstance(value, (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)):
        raise _unfinished(value)
    if isinstance(value, (_TUPLE_ITERATOR, range, KeysView, ValuesView)):
        value = tuple(value)
    elif isinstance(value, (_LIST_ITERATOR, ItemsView)):
        value = list(value)
    parts = parts_of(value) if isinstance(value, (list, tuple)) else None
    return value if parts is None else with_parts(value, [_result(part) for part in parts])


_LIST_ITERATOR: Any = type(iter([]))
_TUPLE_ITERATOR: Any = type(iter(()))


def _unfinished(value: Any) -> Exception:
    """What to say about a function that has not run when it returns."""
    code = next(c for c in (getattr(value, f"{kind}_code", None) for kind in ("gi", "cr", "ag")) if c is not None)
    if isinstance(value, types.CoroutineType):
        value.close()
    return RuntimeError(
        f"'{value.__name__}' contains 'yield' or is 'async', which cannot be compiled. Return a tuple or list of all results.\n\n"
        f"  In file {code.co_filename}:{code.co_firstlineno}"
    )


def _defined(value: Any) -> Any:
    if type(value) is Undefined:
        raise value.error(AttributeError)
    return value


def _extract(value: Any, builder: Builder, outputs: list[Node]) -> Any:
    """A structure with Places where the graph supplies the value; constants stay."""
    if isinstance(value, (TensorBase, SymbolicScalarBase)):
        if isinstance(value, TensorBase) and not builder.is_variable(value):
            return value
        outputs.append(builder.node_of(value))
        return Place(len(outputs) - 1)
    parts = parts_of(value)
    if parts is not None and not isinstance(value, Place):
        return with_parts(value, [_extract(part, builder, outputs) for part in parts])
    return value
