"""What the modules of this repository import, however they say it.

Counted are import statements at any depth, and strings that name a module: `importlib.import_module("mindspore.x")`, tables
of lazy names, f-strings that begin with a package. What only type checkers see is left out, and so are docstrings.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


class Import(NamedTuple):
    """One import of one module."""

    target: str
    line: int
    deferred: bool  # within a function, or by a string


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((SOURCE / package).rglob("*.py")):
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path


MODULES = dict(modules())


@functools.cache
def imports(name: str) -> list[Import]:
    """The imports of a module from the packages of this repository."""
    return list(_Collector(name, MODULES[name]))


class _Collector:
    def __init__(self, name: str, path: Path):
        self.tree = ast.parse(path.read_text())
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.texts = {id(text) for text in (*_docstrings(self.tree), *_said_to_be_of(self.tree))}

    def __iter__(self) -> Iterator[Import]:
        return self._visit(self.tree, False)

    def _visit(self, node: ast.AST, deferred: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in PACKAGES:
                    yield Import(alias.name, node.lineno, deferred)
        elif isinstance(node, ast.ImportFrom):
            yield from (Import(target, node.lineno, deferred) for target in self._from(node))
        elif isinstance(node, ast.Constant) and id(node) not in self.texts:
            target = _named(node.value)
            if target:
                yield Import(target, node.lineno, True)
        inner = deferred or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        unseen = node.body if isinstance(node, ast.If) and _is_for_type_checkers(node.test) else ()
        for child in ast.iter_child_nodes(node):
            if child not in unseen:
                yield from self._visit(child, inner)

    def _from(self, node: ast.ImportFrom) -> Iterator[str]:
        base = node.module or ""
        if node.level:
            parts = self.package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
        if base.partition(".")[0] in PACKAGES:
            for alias in node.names:
                child = f"{base}.{alias.name}"
                yield child if child in MODULES else base


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr):
                yield first.value


def _said_to_be_of(tree: ast.Module) -> Iterator[ast.expr]:
    """What is assigned to `__module__` or `json_module`: where users find a thing, which is not where it is made."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names = (getattr(target, "attr", getattr(target, "id", "")) for target in node.targets)
            if any(name in ("__module__", "json_module") for name in names):
                yield node.value
        elif isinstance(node, ast.Dict):
            yield from (v for k, v in zip(node.keys, node.values) if getattr(k, "value", None) == "__module__")


def _is_for_type_checkers(test: ast.expr) -> bool:
    name = getattr(test, "id", getattr(test, "attr", ""))
    return name.lstrip("_") == "TYPE_CHECKING"


def _named(text: object) -> str:
    """The module that a string names: "mindspore.nn.Cell" names mindspore.nn; "" if it is another kind of string."""
    if not isinstance(text, str) or text.partition(".")[0] not in PACKAGES or not text.replace(".", "").isidentifier():
        return ""
    found = text.rstrip(".")
    while found not in MODULES:
        found = found.rpartition(".")[0]
    return found if "." in found else ""
