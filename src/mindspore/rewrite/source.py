"""The syntax of functions and classes of a network, made independent of the class that they stand in.

A function of class `Net` is written again into a class derived from it, where `super()` and names like `self.__x` would
mean something else. Both are spelled out here: `super(Net, self)`, `self._Net__x`.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import types
from typing import Any

from mindspore.nn.cell import Cell


def definition_of(owner: str, function: Any, home: type | None = None) -> tuple[ast.FunctionDef, Any]:
    """The syntax of a function, without decorators, annotations and docstring, and the function itself."""
    function = inspect.unwrap(function)
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise RuntimeError(f"For 'SymbolTree', the source of {owner} cannot be read.") from error
    try:
        definition = ast.parse(source).body[0]
    except SyntaxError:  # a lambda within a larger expression
        definition = ast.Pass()
    if not isinstance(definition, ast.FunctionDef):
        raise RuntimeError(f"For 'SymbolTree', {owner} is not a function definition.")
    definition.decorator_list, definition.returns = [], None
    for argument in all_arguments(definition):
        argument.annotation = None
    first = definition.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        definition.body = definition.body[1:] or [ast.Pass()]
    if home is not None:
        _SpellOut(home.__name__).visit(definition)
    return ast.fix_missing_locations(definition), function


def all_arguments(definition: ast.FunctionDef) -> list[ast.arg]:
    """The arguments in the order of the text, `self` too."""
    given = definition.args
    head = [*given.posonlyargs, *given.args]
    return [
        *head, *([given.vararg] if given.vararg else []), *given.kwonlyargs, *([given.kwarg] if given.kwarg else []),
    ]  # fmt: skip


def globals_of(function: Any) -> dict[str, Any]:
    """What the names of a function mean outside of it."""
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


class _SpellOut(ast.NodeTransformer):
    """Names whose meaning depends on the class around them."""

    def __init__(self, home: str):
        self.home = home

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [ast.Name(self.home, ast.Load()), ast.Name("self", ast.Load())]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self.home.lstrip('_')}{node.attr}"
        return node


def is_users(thing: Any) -> bool:
    """Whether a class or function belongs to the user's program, not to a library."""
    package = (getattr(thing, "__module__", None) or "").partition(".")[0]
    return (
        bool(package) and package != "mindspore" and package not in sys.stdlib_module_names
    ) or package == "__main__"


def home_of(cls: type, name: str) -> type:
    """The class that defines a method."""
    return next(c for c in cls.__mro__ if name in vars(c))


def own_methods(cls: type) -> dict[str, types.FunctionType]:
    """The plain methods that a class defines itself."""
    return {
        name: value
        for name, value in vars(cls).items()
        if isinstance(value, types.FunctionType)
        and not name.startswith("__")
        and value.__qualname__ == f"{cls.__qualname__}.{name}"
    }


def class_variables(cls: type) -> list[str]:
    """The names that a class binds to something else than methods of its own."""
    methods = (staticmethod, classmethod, property)
    return [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and name not in own_methods(cls) and not isinstance(value, methods)
    ]


def users_bases(cls: type) -> list[type]:
    """The classes of the user's program that a class is derived from directly."""
    return [base for base in cls.__bases__ if base is not object and is_users(base)]


def derives_from_cell(cls: type) -> bool:
    """Whether one of the direct bases is a cell of the library's."""
    return any(issubclass(base, Cell) and not is_users(base) for base in cls.__bases__)


def import_lines(cls: type) -> list[str]:
    """The imports of the file that defines a class, those under `try` as they stand."""
    try:
        tree = ast.parse(inspect.getsource(inspect.getmodule(cls)))  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError):
        return []
    imports = (ast.Import, ast.ImportFrom)
    return [
        ast.unparse(n)
        for n in tree.body
        if isinstance(n, imports) or (isinstance(n, ast.Try) and all(isinstance(s, imports) for s in n.body))
    ]
