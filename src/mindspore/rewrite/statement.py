"""One statement of a network's construct: what it calls, which values it takes and which it gives."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.prims.primitive import Primitive
from mindspore.rewrite.flatten import operation_name
from mindspore.rewrite.values import NodeType, ScopedValue

_MATH = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)


@dataclass(eq=False)
class Statement:
    """A node of a Tree. Inputs hold an `ast.arg`, all others an `ast.stmt`; control flow has a body of its own."""

    kind: NodeType
    syntax: Any
    name: str = ""
    instance: Any = None
    tree: Any = None
    subtree: Any = None
    #: the statements of the user's method or function that is called, if its source could be read
    function: Any = None
    #: what control flow encloses; of a container of cells, the cells
    body: list[Statement] = field(default_factory=list)
    #: of a cell in a container, the container; of a container, the expression that gives it
    container: Statement | None = None
    container_expression: Any = None
    #: of control flow and its `else`, the other one
    partner: Statement | None = None
    is_else: bool = False
    #: of an `if`: its test before it was flattened, and the statements that compute it
    test: Any = None
    test_steps: list[Statement] = field(default_factory=list)

    def nodes(self) -> list[Statement]:
        """The statements inside control flow, the inputs and statements of the function called, the cells of a container."""
        return list(self.body if self.function is None else self.function.nodes())

    @property
    def node_list(self) -> list[Statement]:
        return self.nodes()

    def get_node(self, name: str) -> Statement | None:
        """One of the nodes inside, by its name."""
        return next((n for n in self.nodes() if n.name == name), None)

    def get_node_manager(self) -> Any:
        """What this one stands in: control flow, a function that is called, a container, or the network itself."""
        return self.tree.holder_of(self)

    # -- as tools below the public classes look at it --------------------------------------------------------------------
    def get_name(self) -> str:
        return self.name

    def get_ast(self) -> Any:
        return self.syntax

    def get_node_type(self) -> NodeType:
        return self.kind

    def get_instance(self) -> Any:
        return self.instance

    def get_instance_type(self) -> Any:
        """The type of the cell or primitive that is called; of a function, the function."""
        known = self.kind is NodeType.CallFunction and self.instance is not None
        return self.instance if known else type(self.instance)

    def get_args(self) -> list[ScopedValue]:
        return self.positional()

    def get_kwargs(self) -> dict[str, ScopedValue]:
        return self.keywords()

    def set_arg(self, arg: Any, index: int) -> None:
        """Replace an argument; the new one comes first here."""
        value = ScopedValue.create_naming_value(arg) if isinstance(arg, str) else arg
        self.set_argument(index, value.expression())

    def update_ast_node(self) -> None:
        """The syntax is always up to date."""

    def get_normalized_args(self) -> dict[str, ScopedValue]:
        """All arguments under the names that the callee gives them, in the order of its definition."""
        names = argument_names(self.instance, len(self.positional()))
        given = dict(zip(names, self.positional()))
        by_name = self.keywords()
        ordered = {k: by_name[k] for k in declared_names(self.instance) if k in by_name}
        return {**given, **ordered, **by_name}

    @property
    def _normalized_args(self) -> dict[str, ScopedValue]:
        return self.get_normalized_args()

    @property
    def _normalized_args_keys(self) -> list[str]:
        return list(self.get_normalized_args())

    @property
    def _args_num(self) -> int:
        return len(self.positional())

    @property
    def _kwargs_num(self) -> int:
        return len(self.keywords())

    def get_targets(self) -> list[ScopedValue]:
        return [ScopedValue.of(t) for t in self.targets()]

    def get_inputs(self) -> list[Statement]:
        return self.tree.get_node_inputs(self)

    def get_target_users(self, index: int = 0) -> list[tuple[Statement, int]]:
        """Who takes one of the results, and as which argument."""
        return [(taker, place) for giver, out, taker, place in self.tree.edges() if giver is self and out == index]

    def get_arg_providers(self) -> dict[int, tuple[Statement, int]]:
        """Where the arguments come from: a statement and which of its results."""
        return {place: (giver, out) for giver, out, taker, place in self.tree.edges() if taker is self}

    @property
    def _next(self) -> Statement | None:
        return self.tree.beside(self, 1)

    @property
    def _prev(self) -> Statement | None:
        return self.tree.beside(self, -1)

    @property
    def symbol_tree(self) -> Any:
        """The tree of the network that is called."""
        return self.subtree

    # -- operands -----------------------------------------------------------------------------------------------------
    def slots(self) -> list[tuple[Any, Any]]:
        """Where the operands stand: (list, index) or (syntax node, attribute name)."""
        if isinstance(self.syntax, ast.arg):
            return []
        value = getattr(self.syntax, "value", None)
        if isinstance(self.syntax, ast.Return):
            if isinstance(value, ast.Tuple):
                return [(value.elts, i) for i in range(len(value.elts))]
            return [] if value is None else [(self.syntax, "value")]
        if isinstance(self.syntax, (ast.If, ast.While)):
            return [(self.syntax, "test")]
        if isinstance(self.syntax, ast.For):
            return [(self.syntax, "iter")]
        return _operands(value)

    def arguments(self) -> list[ast.expr]:
        return [owner[at] if isinstance(at, int) else getattr(owner, at) for owner, at in self.slots()]

    def positional(self) -> list[ScopedValue]:
        value = getattr(self.syntax, "value", None)
        given = self.arguments()
        return [ScopedValue.of(a) for a in (given[: len(value.args)] if isinstance(value, ast.Call) else given)]

    def keywords(self) -> dict[str, ScopedValue]:
        value = getattr(self.syntax, "value", None)
        found = value.keywords if isinstance(value, ast.Call) else []
        return {k.arg or "**": ScopedValue.of(k.value) for k in found}

    def set_argument(self, index: int, value: ast.expr) -> None:
        slots = self.slots()
        if not 0 <= index < len(slots):
            raise ValueError(
                f"For 'set_arg', node '{self.name}' has {len(slots)} arguments, so index {index} is out of range."
            )
        owner, at = slots[index]
        if isinstance(at, int):
            owner[at] = value
        else:
            setattr(owner, at, value)

    def append_kwarg(self, kwargs: dict[str, ScopedValue]) -> None:
        """Give the call further keyword arguments."""
        for name, value in kwargs.items():
            self.syntax.value.keywords.append(ast.keyword(name, value.expression()))

    # -- variables ----------------------------------------------------------------------------------------------------
    def targets(self) -> list[ast.expr]:
        if isinstance(self.syntax, ast.arg):
            return [ast.Name(self.syntax.arg, ast.Load())]
        if isinstance(self.syntax, ast.Assign):
            first = self.syntax.targets[0]
            return list(first.elts) if isinstance(first, (ast.Tuple, ast.List)) else [first]
        if isinstance(self.syntax, (ast.AugAssign, ast.AnnAssign)):
            return [self.syntax.target]
        return []

    def read_names(self) -> list[str]:
        """One entry per operand: the variable it is, or ''; then the object whose method is called."""
        names = [a.id if isinstance(a, ast.Name) else "" for a in self.arguments()]
        value = getattr(self.syntax, "value", None)
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and isinstance(value.func.value, ast.Name)
        ):
            names.append(value.func.value.id)
        elif isinstance(value, (ast.Subscript, ast.Attribute)):
            names += [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]
        return names


def _signature(instance: Any) -> list[inspect.Parameter]:
    function = instance.construct if isinstance(instance, Cell) else instance
    if isinstance(instance, Primitive) or not callable(function):
        return []
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function without a signature
        return []


def declared_names(instance: Any) -> list[str]:
    """The names of a callee's arguments."""
    return [p.name for p in _signature(instance)]


def argument_names(instance: Any, count: int) -> list[str]:
    """What a callee calls its first arguments; those of `*args` and of the unknown are numbered."""
    names: list[str] = []
    rest = "arg"
    for parameter in _signature(instance):
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            break
        names.append(parameter.name)
    return [*names[:count], *(f"{rest}_{i}" for i in range(len(names), count))]


def _operands(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, ast.Call):
        return [(value.args, i) for i in range(len(value.args))] + [(k, "value") for k in value.keywords]
    if isinstance(value, ast.BinOp):
        return [(value, "left"), (value, "right")]
    if isinstance(value, ast.UnaryOp):
        return [(value, "operand")]
    if isinstance(value, ast.BoolOp):
        return [(value.values, i) for i in range(len(value.values))]
    if isinstance(value, ast.Compare):
        return [(value, "left"), *((value.comparators, i) for i in range(len(value.comparators)))]
    if isinstance(value, (ast.Tuple, ast.List)):
        return [(value.elts, i) for i in range(len(value.elts))]
    return []


def describe(stmt: ast.stmt) -> tuple[NodeType, str]:
    """The kind and the natural name of a statement that calls no cell."""
    value = getattr(stmt, "value", None)
    if isinstance(stmt, ast.Return):
        return NodeType.Output, "return"
    if isinstance(value, ast.Call):
        return NodeType.CallFunction, operation_name(value)
    if isinstance(value, _MATH):
        word = operation_name(value)
        prefix = {ast.BinOp: "binop_", ast.UnaryOp: "unaryop_", ast.BoolOp: "boolop_"}.get(type(value), "")
        if isinstance(value, ast.Compare):
            prefix, word = "compare_", type(value.ops[0]).__name__.lower()
        return NodeType.MathOps, prefix + word
    if isinstance(value, (ast.Tuple, ast.List, ast.Subscript, ast.Dict)):
        return NodeType.CallMethod, type(value).__name__.lower()
    return NodeType.Python, type(stmt).__name__.lower()
