"""From a Python function to its syntax tree.

The whole file is parsed once and the function found in it by position, so decorators, lambdas that share a line, and
functions whose text was changed by an import hook (test runners do that) all work.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import sys
import types
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_PRIVATE = re.compile(r"\b__\w+")  # or a name of Python's own
_CONDITION = re.compile(r"#\s*@jit\.cond:\s*(True|False)\b")
_LAMBDA = "<lambda>"
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Source(NamedTuple):
    node: FunctionNode
    file: str
    name: str


def source_of(function: types.FunctionType) -> Source | None:
    """The syntax tree of a function, or None when its text is not available."""
    code = function.__code__
    return _find(code, code.co_filename)  # codes of different files may be equal, hence the file


def is_generator(function: types.FunctionType) -> bool:
    return bool(function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))


@functools.lru_cache(maxsize=4096)
def _find(code: types.CodeType, file: str) -> Source | None:
    """The function in the text of its file: as it is now, or as it was read before somebody edited it."""
    known = linecache.getlines(file)
    linecache.checkcache(file)
    now = linecache.getlines(file)
    found = [node for lines in ([now, known] if now != known else [now]) if (node := _find_in("".join(lines), code))]
    if not found:
        return None
    node = next((n for n in found if set(code.co_names) <= _identifiers(n)), found[0])
    return Source(node, file, code.co_name)


def _find_in(text: str, code: types.CodeType) -> FunctionNode | None:
    candidates = [
        n for n in _functions_in(text, code.co_name == _LAMBDA).get(code.co_firstlineno, ()) if _matches(n, code)
    ]
    if len(candidates) > 1:
        candidates = [n for n in candidates if _contains_code(n, code)] or candidates
        candidates.sort(key=_extent)  # of nested ones, the innermost that holds all instructions
    return candidates[0] if candidates else None


@functools.lru_cache(maxsize=256)
def _functions_in(text: str, lambdas: bool) -> dict[int, list[FunctionNode]]:
    """The functions of a file, or its lambdas, by the line they begin in; none where it is not Python."""
    tree = _parsed(text)
    return {} if tree is None else _functions_by_line(ast.walk(tree) if lambdas else _statements(tree))


@functools.lru_cache(maxsize=128)
def _parsed(text: str) -> ast.AST | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    if any(not name.endswith("__") for name in _PRIVATE.findall(text)):
        _mangle(tree, "")
    if "@jit.cond" in text:
        _settle_conditions(tree, text.splitlines())
    return tree


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """A tree without its expressions, which are most of it: of functions, only lambdas stand there."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            stack += getattr(node, field, ())


def _settle_conditions(tree: ast.AST, lines: list[str]) -> None:
    """Take the word of comments for conditions: `if x == 2:  # @jit.cond: True` takes its first branch, always."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            told = _CONDITION.search(lines[(node.test.end_lineno or node.lineno) - 1])
            if told:
                node.test = ast.copy_location(ast.Constant(told[1] == "True"), node.test)


def _mangle(node: ast.AST, home: str) -> None:
    """Give private names the names they have at run time: `self.__x` within class C is `self._C__x`."""
    for field in ("id", "attr", "arg"):
        name = getattr(node, field, None)
        if home and isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
            setattr(node, field, f"_{home}{name}")
    inside = node.name.lstrip("_") if isinstance(node, ast.ClassDef) else home
    for child in ast.iter_child_nodes(node):
        _mangle(child, inside)


def _identifiers(node: ast.AST) -> set[str]:
    """Every name that stands in a piece of code."""
    fields = ("id", "attr", "name", "arg", "module")
    return {value for n in ast.walk(node) for f in fields if isinstance(value := getattr(n, f, None), str)}


def _functions_by_line(nodes: Iterable[ast.AST]) -> dict[int, list[FunctionNode]]:
    found: dict[int, list[FunctionNode]] = {}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(d.lineno for d in decorators)])
            found.setdefault(first, []).append(node)
            if first != node.lineno:
                found.setdefault(node.lineno, []).append(node)
    return found


def _matches(node: FunctionNode, code: types.CodeType) -> bool:
    name = _LAMBDA if isinstance(node, ast.Lambda) else node.name
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return name == code.co_name and tuple(names) == code.co_varnames[: len(names)]


def _extent(node: FunctionNode) -> tuple[int, int]:
    """How much text a function takes: lines, then columns."""
    return (node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset


def _contains_code(node: FunctionNode, code: types.CodeType) -> bool:
    """Whether the function's instructions lie within the node: tells lambdas on one line apart."""
    first, last = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or end_column == 0:
            continue
        if not (first <= (line, column) and (end_line, end_column) <= last):
            return False
    return True


_LIBRARY_ROOTS = {
    "mindspore", "numpy", "scipy", "jax", "jaxlib", "cv2", "PIL", "pandas", "pytest", "_pytest", "matplotlib", "builtins",
    "torch", "google",
}  # fmt: skip
def is_library(module: str | None) -> bool:
    """Whether functions of a module are run as they are while a graph is built, rather than interpreted."""
    if not module:
        return False
    root = module.partition(".")[0]
    known = root in _LIBRARY_ROOTS or (root in sys.stdlib_module_names and root != "__main__")
    return known and treatment(module) != "interpreted"


def treatment(module: str) -> str:
    """What a module, or else the innermost package around it that says so, states in `__ms_treatment__`:

    "interpreted": its Python is interpreted like user code, since it may branch on tensors; "refused": its functions act
    once, when they are called, and have no place in a graph; "called" (where nothing is stated).
    """
    while module:
        stated = getattr(sys.modules.get(module), "__dict__", {}).get("__ms_treatment__")
        if stated is not None:
            return stated
        module = module.rpartition(".")[0]
    return "called"
