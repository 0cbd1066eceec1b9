"""Calling things from interpreted code.

- Cells: their `construct` is interpreted, inside whatever the cell wraps around it (hooks, casts).
- Python functions of the user: interpreted, with arguments bound as Python does.
- Primitives and functions of this library, NumPy and the standard library: simply called. On symbolic tensors they add
  nodes; on known values they compute.
- A call that is already being interpreted with arguments of the same types is recursion on run-time values: the function
  becomes a graph that calls itself.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._base.keys import ByIdentity, exact
from mindspore.compiler.parse.branching import RaisedByUser, ResultUnknown
from mindspore.compiler.parse.builtin_rules import BUILTIN_RULES, SEQUENCE_RULES
from mindspore.compiler.parse.errors import DecisionError
from mindspore.compiler.parse.frames import Frame, InterpretedFunction, Return
from mindspore.compiler.parse.rules import Rules
from mindspore.compiler.parse.source import is_generator, is_library, source_of
from mindspore.ir import AbstractTuple, FuncGraph, ValueNode
from mindspore.prims import explain, values
from mindspore.prims.active import ACTIVE
from mindspore.prims.control import Call
from mindspore.prims.hooks import CustomGradient, gradients_of_inputs, in_order
from mindspore.prims.mesh import laid_call
from mindspore.prims.primitive import Primitive, PrimitiveWithInfer
from mindspore.prims.structure import leaves, parts_of, rebuilt, with_parts
from mindspore.prims.values import SizeUnknownError, SymbolicScalarBase, TensorBase

if TYPE_CHECKING:
    from mindspore.compiler.builder import Builder
    from mindspore.ir import Abstract
    from mindspore.nn.cell import Cell

#: how many levels of recursion under run-time conditions are interpreted one by one
RECURSION_LEVELS = 16


class Recursion(Exception):
    """Raised through the frames of a call that turned out to be recursive."""

    def __init__(self, key: tuple):
        super().__init__("recursive call")
        self.key = key


class RecursiveGraph:
    """A function being built as a graph that calls itself."""

    def __init__(self, graph: FuncGraph):
        self.graph = graph
        self.template: Any = None  # structure of the result
        self.result: Any = None  # AbstractTuple of its leaves, when known


class CallRules(Rules):
    """Mixed into the interpreter."""

    def call(self, function: Any, args: tuple, kwargs: dict) -> Any:
        """Call anything the way Python would, building graph nodes."""
        rule = BUILTIN_RULES.get(function) if _hashable(function) else None
        if rule is not None:
            return rule(self, *args, **kwargs)
        if isinstance(function, Primitive):
            return self._call_primitive(function, args, kwargs)
        if hasattr(function, "run_around") and not isinstance(function, type):
            overridden = type(function).__call__
            if self.should_interpret(overridden):
                return self.call_function(overridden, (function, *args), kwargs)
            return self.call_cell(function, args, kwargs)
        trace = getattr(type(function), "__ms_trace__", None)
        if trace is not None:
            return trace(function, self, args, kwargs)
        if isinstance(function, InterpretedFunction):
            return self.call_interpreted(function, args, kwargs)
        if isinstance(function, types.MethodType):
            if self.should_interpret(function.__func__) or isinstance(function.__func__, InterpretedFunction):
                return self.call(function.__func__, (function.__self__, *args), kwargs)
            return self._call_library(function, args, kwargs)
        if isinstance(function, functools.partial):
            return self.call(function.func, function.args + args, {**function.keywords, **kwargs})
        if isinstance(function, types.FunctionType):
            if self.should_interpret(function):
                return self.call_function(function, args, kwargs)
            return self._call_library(function, args, kwargs)
        if isinstance(function, type):
            return self.call_class(function, args, kwargs)
        if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, (list, tuple)):
            rule = SEQUENCE_RULES.get(function.__name__)
            return rule(self, function.__self__, *args, **kwargs) if rule is not None else function(*args, **kwargs)
        method = getattr(type(function), "__call__", None)  # noqa: B004 - the method itself is wanted
        if method is not None and self.should_interpret(method):
            return self.call(method, (function, *args), kwargs)
        return function(*args, **kwargs)

    def _call_primitive(self, prim: Primitive, args: tuple, kwargs: dict) -> Any:
        """An operation. One that a user has typed (`infer_shape`) but gives no values in Python becomes a node by its types."""
        try:
            return self._call_library(prim, args, kwargs)
        except NotImplementedError:
            if not isinstance(prim, PrimitiveWithInfer) or kwargs:
                raise
            return ACTIVE.builder.apply(prim, prim.prepare(args))

    def should_interpret(self, function: Any) -> bool:
        """Whether a function's own text is interpreted: user code with available source."""
        if not isinstance(function, types.FunctionType) or is_library(function.__module__):
            return False
        return not is_generator(function) and source_of(function) is not None

    def call_class(self, cls: type, args: tuple, kwargs: dict) -> Any:
        return self._call_library(cls, args, kwargs)

    def _call_library(self, function: Any, args: tuple, kwargs: dict) -> Any:
        """Call what is not interpreted. Sizes and axes among the arguments that it must know are asked for."""
        try:
            return function(*args, **kwargs)
        except SizeUnknownError:
            positional, named = list(map(_known_size, args)), {k: _known_size(v) for k, v in kwargs.items()}
            if all(a is b for a, b in zip((*positional, *named.values()), (*args, *kwargs.values()))):
                raise
            return function(*positional, **named)

    def iterate(self, value: Any) -> Any:
        """The items of anything that can be looped over."""
        if isinstance(value, SymbolicScalarBase):
            raise TypeError(f"'{value.dtype}' object is not iterable")
        method = getattr(type(value), "__iter__", None)
        if method is not None and self.should_interpret(method):
            return self.call(method, (value,), {})
        return iter(value)

    def zero_argument_super(self) -> Any:
        frame = self.frame
        while frame is not None and "__class__" not in frame.cells:
            frame = frame.enclosing
        if frame is None:
            raise RuntimeError("super(): no arguments outside a method")
        owner = frame.cells["__class__"].cell_contents
        first = next(iter(frame.locals.values()))
        return super(owner, first)

    # -- interpreted functions ------------------------------------------------------------------------------------------
    def call_function(self, function: Any, args: tuple, kwargs: dict) -> Any:
        source = source_of(function)
        assert source is not None
        bound = _bound(function, args, kwargs)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        frame = Frame(function.__name__, source.file, function.__globals__, None, cells, self.frame)
        frame.locals.update(bound.arguments)
        self.note_defaults(function, bound.arguments)
        frame.function = function
        return self._run_or_recur(ByIdentity(function), frame, source.node)

    def call_interpreted(self, function: InterpretedFunction, args: tuple, kwargs: dict) -> Any:
        outer = function.frame
        frame = Frame(function.__name__, outer.file, outer.globals, outer, {}, self.frame)
        frame.locals.update(_bind(function, args, kwargs))
        if _yields(function.node):
            return self._run_generator(frame, function.node)
        return self._run_or_recur(ByIdentity(function), frame, function.node)

    def _run_generator(self, frame: Frame, node: Any) -> Any:
        """A generator defined in interpreted code runs to its end at once; its items are there to be taken."""
        items: list[Any] = []
        frame.yielded = (items, ACTIVE.builder)
        self._run_frame(frame, node)
        return iter(items)

    def _run_or_recur(self, identity: Any, frame: Frame, node: Any) -> Any:
        """Interpret a call, unless one with the same arguments is under way: then it is a recursive graph call."""
        self._widen_recursion(identity, frame)
        key = (identity, _argument_key(frame.locals))
        if key in self.recursion:
            return self._call_recursive(key, frame)
        one_way = self.decides and ACTIVE.builder.parent is None  # every condition has been answered: simply go on
        if self.active_calls.get(key) and not one_way:
            raise Recursion(key)
        if frame.depth > self.max_call_depth:
            raise RuntimeError(
                f"Exceed function call depth limit {self.max_call_depth}: functions call each other without end, or set a larger "
                "max_call_depth by set_context."
            )
        arguments = dict(frame.locals)
        outer = self.frame
        self.active_calls[key] = self.active_calls.get(key, 0) + 1
        levels = self.levels.setdefault(identity, [])
        levels.append((ACTIVE.builder, arguments))
        try:
            return self._run_frame(frame, node)
        except Recursion as recursion:
            if recursion.key != key:
                raise
            self.frame = outer
        finally:
            self.active_calls[key] -= 1
            levels.pop()
        frame.locals = arguments
        return self._build_recursive(key, frame, node)

    def _widen_recursion(self, identity: Any, frame: Frame) -> None:
        """Recursion that only run-time values end, with constants that change from level to level, would be interpreted for
        ever: from some level on, such constants become run-time values too.
        """
        levels = self.levels.get(identity, ())
        if len(levels) < RECURSION_LEVELS or ACTIVE.builder is levels[-1][0]:
            return
        for name, before in levels[-1][1].items():
            now = frame.locals.get(name)
            constant = values.is_number(now) or (isinstance(now, TensorBase) and not self.is_variable(now))
            if constant and not isinstance(now, bool) and now is not before:
                node = values.symbolic_number(now)._node if values.is_number(now) else ACTIVE.builder.node_of(now)
                frame.locals[name] = values.from_node(node)

    def _run_frame(self, frame: Frame, node: Any) -> Any:
        outer = self.frame
        self.frame = frame
        if isinstance(node, ast.Lambda):
            result = self.eval(node.body)
        else:
            flow = self.run_block(node.body, None)
            result = flow.value if isinstance(flow, Return) else None
        self.frame = outer  # not restored on errors: the message names the innermost frame
        return result

    # -- recursion on run-time values -------------------------------------------------------------------------------------
    def _build_recursive(self, key: tuple, frame: Frame, node: Any) -> Any:
        """Interpret a recursive function as a closed graph, refining its result type until it is stable."""
        variables = [(n, v) for n, v in frame.locals.items() if self.is_variable(v)]
        arguments = dict(frame.locals)
        provisional: Any = None
        for _ in range(6):
            builder = ACTIVE.builder.child(frame.name)
            record = RecursiveGraph(builder.graph)
            if provisional is not None:
                record.template, record.result = provisional
            self.recursion[key] = record
            frame.locals = dict(arguments)
            for name, value in variables:
                frame.locals[name] = values.from_node(builder.graph.add_parameter(name, values.abstract_of(value)))
            self._result_wanted = record
            with builder.active(), builder.unchecked():  # such a graph has no state, and so no place for a record
                try:
                    result = self._run_frame(frame, node)
                except ResultUnknown:
                    raise RuntimeError(
                        f"'{frame.name}' calls itself in an endless loop: no branch returns without recursion."
                    ) from None
                template, nodes = _flatten(result, builder)
            builder.graph.output = builder.make_tuple(nodes)
            found = AbstractTuple(tuple(n.abstract for n in nodes))
            if record.result == found or record.result is None:
                del self.recursion[key]
                return self._finish_recursive(record, template, builder, [v for _, v in variables])
            provisional = (template, found)
        raise DecisionError(f"the result type of the recursive function '{frame.name}' does not settle.")

    def _finish_recursive(self, record: RecursiveGraph, template: Any, builder: Builder, arguments: list[Any]) -> Any:
        if builder.graph.free_variables() or builder.state:
            raise DecisionError(
                "a recursive function whose depth depends on run-time values must take all tensors it uses as arguments and must not "
                "write to Parameters."
            )
        return self._emit_call(record.graph, AbstractTuple(record.graph.outputs), template, arguments)

    def _call_recursive(self, key: tuple, frame: Frame) -> Any:
        record = self.recursion[key]
        if record.result is None:
            raise ResultUnknown
        arguments = [v for v in frame.locals.values() if self.is_variable(v)]
        return self._emit_call(record.graph, record.result, record.template, arguments)

    def _emit_call(self, graph: FuncGraph, result: Abstract, template: Any, arguments: list[Any]) -> Any:
        builder = ACTIVE.builder
        node = builder.emit(Call(result), (ValueNode(graph), *(builder.node_of(a) for a in arguments)))
        return _unflatten(template, list(builder.public(node)))

    def provide_result(self, flow: Any) -> None:
        """A branch without recursion was interpreted: its result tells the type of the recursive ones."""
        record = getattr(self, "_result_wanted", None)
        if record is None or not isinstance(flow, Return):
            raise ResultUnknown
        builder = ACTIVE.builder
        template, nodes = _flatten(flow.value, builder)
        record.template, record.result = template, AbstractTuple(tuple(n.abstract for n in nodes))

    # -- cells ------------------------------------------------------------------------------------------------------------
    def call_cell(self, cell: Any, args: tuple, kwargs: dict) -> Any:
        self.note_cell(cell)
        saved = self.scope
        tag = cell.__dict__.get("_cell_tag", "")
        self.scope = f"{saved}/{tag}-{type(cell).__name__}" if tag else f"{saved}/{type(cell).__name__}"
        if cell._pipeline_stage is not None:
            ACTIVE.builder.root.graph.attrs.setdefault("stages", {})[self.scope] = cell._pipeline_stage
            ACTIVE.builder.root.graph.attrs.setdefault("segments", {})[self.scope] = cell._pipeline_segment
        if "dump" in cell._flags:
            ACTIVE.builder.root.graph.attrs.setdefault("dump_scopes", {})[self.scope] = cell._flags["dump"]
        strategy = cell._flags.get("in_strategy")
        try:
            if strategy is None:
                return self._call_construct(cell, *args, **kwargs)
            args, kwargs = in_order(cell.construct, args, kwargs)
            call = functools.partial(self._call_construct, cell)
            return laid_call(type(cell).__name__, call, args, kwargs, strategy, cell._flags["out_strategy"])
        finally:
            self.scope = saved

    def _call_construct(self, cell: Any, *args: Any, **kwargs: Any) -> Any:
        custom = getattr(type(cell), "bprop", None)
        construct = self._construct_of(cell)
        if custom is not None:
            args, kwargs = in_order(cell.construct, args, kwargs)
            return cell.run_around(lambda *a, **k: self.call_with_bprop(construct, custom, cell, a, k), args, kwargs)
        with ACTIVE.builder.recomputed() if cell._flags.get("recompute") else contextlib.nullcontext():
            return cell.run_around(construct, args, kwargs)

    def _construct_of(self, cell: Cell) -> Any:
        method = cell.construct
        if isinstance(method, types.MethodType):
            return lambda *a, **k: self.call(method.__func__, (method.__self__, *a), k)
        return lambda *a, **k: self.call(method, a, k)

    def call_with_bprop(self, construct: Callable, bprop: Callable, owner: Any, args: tuple, kwargs: dict) -> Any:
        """Interpret a call whose gradient is given by `bprop(owner, *args, out, dout)` instead of derived."""
        given = leaves(args)
        places = [i for i, leaf in enumerate(given) if self.is_variable(leaf)]
        taken = rebuilt(args, iter(given))  # what the function does to its lists is no matter of the rule
        builder = ACTIVE.builder
        result = construct(*args, **kwargs)
        template, nodes = _flatten(result, builder)
        if not nodes or not places:
            return result

        def rule(inputs: list, out: tuple, dout: tuple) -> list:
            known = dict(zip(places, inputs))
            full = rebuilt(taken, iter([known.get(i, leaf) for i, leaf in enumerate(given)]))
            _check_bprop(bprop, len(full))
            grads = self.call(
                bprop, (owner, *full, _unflatten(template, list(out)), _unflatten(template, list(dout))), {}
            )
            if not isinstance(grads, tuple):
                raise TypeError(f"For bprop function, output should be a tuple, but got {type(grads).__name__}.")
            found = gradients_of_inputs(getattr(owner, "__name__", type(owner).__name__), full, grads)
            return [found[i] for i in places]

        outputs = [values.from_node(n) for n in nodes]
        chosen = CustomGradient(rule, len(nodes))(*outputs, *(given[i] for i in places))
        return _unflatten(template, list(chosen))


def _check_bprop(bprop: Callable, inputs: int) -> None:
    """A gradient rule takes the inputs of the call, its result and the gradient of that."""
    try:
        parameters = list(inspect.signature(bprop).parameters.values())[1:]
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    names = [p.name for p in parameters]
    if len(names) < 2:
        raise TypeError(
            f"The function 'bprop' of Primitive or Cell requires at least 2 params 'out' and 'dout', but got only {names}."
        )
    if len(names) != inputs + 2:
        raise TypeError(
            "The params of function 'bprop' of Primitive or Cell requires the forward inputs as well as the 'out' and 'dout'. "
            f"There are {inputs} inputs, but it takes {names}."
        )


def _known_size(value: Any) -> Any:
    """An argument with the ints in it that only the running graph knows replaced by their values, where they may be."""
    if type(value) in (tuple, list):
        known = [_known_size(v) for v in value]
        return value if all(a is b for a, b in zip(known, value)) else type(value)(known)
    is_size = isinstance(value, SymbolicScalarBase) or (isinstance(value, TensorBase) and value._node is not None)
    if not is_size or values.dtype_of(value).kind not in "iu" or len(value.shape) > 1:
        return value
    answer = values.answer(value)
    if answer is None:
        return value
    return values.from_array(answer) if isinstance(value, TensorBase) else answer.item()


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


#: of functions: their signatures, and whether all their parameters are positional
_signatures: weakref.WeakKeyDictionary[types.FunctionType, tuple[inspect.Signature, bool]] = weakref.WeakKeyDictionary()


def _signature(function: types.FunctionType) -> tuple[inspect.Signature, bool]:
    found = _signatures.get(function)
    if found is None:
        signature = inspect.signature(function, follow_wrapped=False)
        positional = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in signature.parameters.values())
        found = _signatures[function] = signature, positional
    return found


def _bound(function: types.FunctionType, args: tuple, kwargs: dict) -> inspect.BoundArguments:
    signature, positional = _signature(function)
    if positional and not kwargs and len(args) == len(signature.parameters):  # the common case, told cheaply
        return inspect.BoundArguments(signature, dict(zip(signature.parameters, args)))  # type: ignore[arg-type]
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise explain.misfit(function, signature, args, kwargs, error) from None
    bound.apply_defaults()
    return bound


@functools.lru_cache(maxsize=1024)
def _yields(node: ast.AST) -> bool:
    """Whether a function is a generator: it has a `yield` of its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and _yields(child):
            return True
    return False


def _bind(function: InterpretedFunction, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Bind arguments to the parameters of a nested function or lambda, as Python does."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    kinds = inspect.Parameter
    parameters = []
    first_default = len(positional) - len(function.defaults)
    for i, a in enumerate(positional):
        kind = kinds.POSITIONAL_ONLY if i < len(spec.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        default = function.defaults[i - first_default] if i >= first_default else kinds.empty
        parameters.append(kinds(a.arg, kind, default=default))
    if spec.vararg:
        parameters.append(kinds(spec.vararg.arg, kinds.VAR_POSITIONAL))
    for a in spec.kwonlyargs:
        parameters.append(kinds(a.arg, kinds.KEYWORD_ONLY, default=function.kw_defaults.get(a.arg, kinds.empty)))
    if spec.kwarg:
        parameters.append(kinds(spec.kwarg.arg, kinds.VAR_KEYWORD))
    try:
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{function.__name__}() {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _argument_key(arguments: dict[str, Any]) -> Any:
    return tuple((name, _value_key(value)) for name, value in arguments.items())


def _value_key(value: Any) -> Any:
    """Equal for arguments that would make the interpretation of a call go the same way."""
    if isinstance(value, (TensorBase, SymbolicScalarBase)):
        if value._node is not None:
            return values.abstract_of(value)
        return ByIdentity(value)
    if isinstance(value, (bool, int, float, str, type(None), tuple, list, dict)):
        return exact(value, _value_key)
    return ByIdentity(value)


class _Place:
    def __init__(self, index: int):
        self.index = index


def _flatten(value: Any, builder: Builder) -> tuple[Any, list[Any]]:
    """A structure as (template, nodes): every tensor and number becomes a node."""
    nodes: list[Any] = []

    def walk(item: Any) -> Any:
        if isinstance(item, (TensorBase, SymbolicScalarBase)):
            nodes.append(builder.node_of(item))
            return _Place(len(nodes) - 1)
        if values.is_number(item):
            nodes.append(values.symbolic_number(item)._node)
            return _Place(len(nodes) - 1)
        parts = parts_of(item)
        return item if parts is None else with_parts(item, [walk(part) for part in parts])

    return walk(value), nodes


def _unflatten(template: Any, outputs: list[Any]) -> Any:
    if isinstance(template, _Place):
        return outputs[template.index]
    parts = parts_of(template)
    return template if parts is None else with_parts(template, [_unflatten(part, outputs) for part in parts])


flatten, unflatten = _flatten, _unflatten
__all__ = ["CallRules", "RaisedByUser", "flatten", "unflatten"]
