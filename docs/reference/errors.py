"""The errors that a function or constructor raises, read from its code: its `raise` statements and its checks."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Any

#: checks by name: the error, and what is wrong in terms of the check's arguments (0 is the operation's name)
CHECKS = {
    "require_tensor": ("TypeError", "`{1}` is not a Tensor."),
    "require_float": ("TypeError", "`{1}` has no float elements."),
    "require_rank": ("ValueError", "`{1}` has not the number of dimensions that is needed."),
    "normal_axis": ("ValueError", "`{1}` is no dimension of the tensor."),
    "normal_axes": ("ValueError", "`{1}` are no dimensions of the tensor."),
    "axis": ("ValueError", "`{1}` is no dimension of the tensor."),
    "one_of": ("ValueError", "`{1}` is not one of {3}."),
    "integer": ("TypeError", "`{1}` is not an int."),
    "positive_int": ("ValueError", "`{1}` is not a positive int."),
    "boolean": ("TypeError", "`{1}` is not a bool."),
    "flag": ("TypeError", "`{1}` is not a bool."),
    "fraction": ("ValueError", "`{1}` is not between 0 and 1."),
    "positive": ("ValueError", "`{1}` is not positive."),
    "positive_real": ("ValueError", "`{1}` is not positive."),
    "non_negative": ("ValueError", "`{1}` is negative."),
    "non_negative_real": ("ValueError", "`{1}` is negative."),
    "broadcast": ("ValueError", "the shapes do not broadcast together."),
}
#: checks whose keyword arguments are what they look at
OF_ALL = {
    "require_tensors": ("TypeError", "{} is not a Tensor."),
    "require_operands": ("TypeError", "{} is neither a Tensor nor a number."),
    "require_numbers": ("TypeError", "{} is not a number."),
}


def raised(target: Any) -> list[tuple[str, str]]:
    """(error, when) in the order of the code, without repeats."""
    function = inspect.getattr_static(target, "__init__", None) if isinstance(target, type) else target
    function = inspect.unwrap(function) if inspect.isfunction(function) else None
    node = _definition(function) if function is not None else None
    found = [_of_statement(n) or _of_check(n) for n in ast.walk(node)] if node is not None else []
    return list(dict.fromkeys(pair for pair in found if pair))


def _definition(function: Any) -> ast.AST | None:
    return _functions(function.__code__.co_filename).get((function.__code__.co_name, function.__code__.co_firstlineno))


@cache
def _functions(filename: str) -> dict[tuple[str, int], ast.AST]:
    """The functions of a file by name and first line, which is that of the first decorator."""
    path = Path(filename)
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return {(n.name, min([n.lineno, *(d.lineno for d in n.decorator_list)])): n for n in nodes}


def _of_statement(node: ast.AST) -> tuple[str, str] | None:
    """`raise ValueError("For 'split', …")`."""
    if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)):
        return None
    text = _template(node.exc.args[0]) if node.exc.args else ""
    return (node.exc.func.id, text) if text and node.exc.func.id.endswith("Error") else None


def _template(node: ast.AST) -> str:
    """A message with an ellipsis for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


def _of_check(node: ast.AST) -> tuple[str, str] | None:
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in OF_ALL and node.keywords:
        error, text = OF_ALL[name]
        return error, text.format(" or ".join(f"`{k.arg}`" for k in node.keywords))
    if name not in CHECKS or not node.args or not isinstance(node.args[0], ast.Constant):
        return None
    error, text = CHECKS[name]
    words = [a.value if isinstance(a, ast.Constant) and isinstance(a.value, str) else ast.unparse(a) for a in node.args]
    try:
        return error, text.format(*words)
    except IndexError:
        return None
