"""Containers of cells as nodes: a statement whose body are the cells held.

An element has no statement of its own in construct. Its syntax says how it is called, `x = self.blocks[1](x)`, so that
names, arguments and results are there to look at. What is inserted and erased is noted as a line of `__init__`, in the order
of the changes: positions are those at the time of the change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellDict, CellList, SequentialCell
from mindspore.rewrite.statement import Statement


def is_container(value: Any) -> bool:
    """Whether a value holds cells, and nothing else."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(v, Cell) for v in value)
    return isinstance(value, (SequentialCell, CellList, CellDict))


def items(container: Any) -> Iterator[tuple[Any, Cell]]:
    """The places and cells of a container."""
    return iter(container.items() if isinstance(container, CellDict) else enumerate(container))


def call_of(path: str, place: Any, around: ast.stmt) -> ast.Assign:
    """How an element is called: like its container, or as the value the container is given to."""
    target, value = (around.targets[0], around.value) if isinstance(around, ast.Assign) else (ast.Name("_"), None)
    arguments = value.args if isinstance(value, ast.Call) else []
    function = ast.parse(f"{path}[{place!r}]", mode="eval").body
    return ast.Assign([target], ast.Call(function, list(arguments), []), lineno=0)


def path_of(element: Statement) -> str:
    """Where a container is found from the network: `self.blocks`, `self.blocks[0]` for one inside another."""
    if element.container is None:
        return ast.unparse(element.container_expression)
    outer = element.container
    place = next(i for i, n in enumerate(outer.body) if n is element)
    return f"{path_of(outer)}[{place}]"


def insertion(container: Statement, at: int, name: str) -> str:
    """The line that puts a new cell into a container."""
    if isinstance(container.instance, (CellDict, tuple)):
        raise TypeError(f"For 'insert', a {type(container.instance).__name__} of cells takes no further ones.")
    return f"{path_of(container)}.insert({at}, self.{name})"


def deletion(container: Statement, at: int) -> str:
    """The line that takes a cell out of a container."""
    if isinstance(container.instance, tuple):
        raise TypeError("For 'erase', the cells of a tuple cannot be taken out.")
    place = list(container.instance)[at] if isinstance(container.instance, CellDict) else at
    return f"del {path_of(container)}[{place!r}]"


def is_chain(container: Statement) -> bool:
    """Whether each cell takes the result of the one before."""
    return isinstance(container.instance, SequentialCell)
