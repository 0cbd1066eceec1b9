"""Programs of loops: typed expressions, statements, arrays.

Types follow NumPy's rules for scalars: an element of an array has its array's type; numbers written in the source, loop variables and
results of `math` are weak and take the type of what they meet (NEP 50).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np


@dataclasses.dataclass(frozen=True)
class Type:
    name: str  # of NumPy, bool_ for truth values
    weak: bool = False

    @property
    def is_float(self) -> bool:
        return self.name.startswith("float")


INT, FLOAT, BOOL = Type("int64", True), Type("float64", True), Type("bool_")


def promote(a: Type, b: Type) -> Type:
    """The type of a sum of both."""
    if a == b:
        return a
    if a.weak and b.weak:
        return FLOAT
    if not a.weak and not b.weak:
        return Type(named(np.result_type(plain(a), plain(b))))
    strong, weak = (b, a) if a.weak else (a, b)
    if strong.is_float or (weak == INT and strong != BOOL):
        return strong
    return Type("float64") if weak == FLOAT else Type("int64")


def plain(kind: Type) -> np.dtype:
    return np.dtype("bool" if kind.name == "bool_" else kind.name)


def named(dtype: np.dtype) -> str:
    return "bool_" if dtype == np.bool_ else dtype.name


@dataclasses.dataclass(frozen=True)
class Const:
    value: float
    type: Type


@dataclasses.dataclass(frozen=True)
class Var:
    name: str
    type: Type


@dataclasses.dataclass(frozen=True)
class Load:
    array: str
    index: tuple[Expr, ...]
    type: Type
    line: int = dataclasses.field(compare=False, default=0)


@dataclasses.dataclass(frozen=True)
class Op:
    """`name` is one of the backend's scalar operations, or "cast", "select"."""

    name: str
    args: tuple[Expr, ...]
    type: Type
    line: int = dataclasses.field(compare=False, default=0)


Expr = Const | Var | Load | Op


@dataclasses.dataclass(frozen=True)
class Let:
    name: str
    value: Expr


@dataclasses.dataclass(frozen=True)
class Store:
    array: str
    index: tuple[Expr, ...]
    value: Expr
    line: int = dataclasses.field(compare=False, default=0)


@dataclasses.dataclass(frozen=True)
class For:
    var: str
    low: Expr
    high: Expr
    step: int
    body: tuple[Statement, ...]


@dataclasses.dataclass(frozen=True)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


Statement = Let | Store | For | If


@dataclasses.dataclass(frozen=True)
class Array:
    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str  # input, made

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        steps = [1]
        for extent in self.shape[:0:-1]:
            steps.append(steps[-1] * extent)
        return tuple(reversed(steps)) if self.shape else ()


@dataclasses.dataclass(frozen=True)
class Program:
    """Arrays that are made begin with zeros. `results` names those that are returned."""

    name: str
    arrays: Mapping[str, Array]
    variables: Mapping[str, Type]
    body: tuple[Statement, ...]
    results: tuple[str, ...]

    @property
    def inputs(self) -> list[Array]:
        return [a for a in self.arrays.values() if a.kind == "input"]

    @property
    def made(self) -> list[Array]:
        return [a for a in self.arrays.values() if a.kind != "input"]


def parts(expr: Expr) -> tuple[Expr, ...]:
    return expr.index if isinstance(expr, Load) else expr.args if isinstance(expr, Op) else ()


def walk(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in parts(expr):
        yield from walk(part)


def rebuilt(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with parts replaced where `change` gives something, from the outside in."""
    new = change(expr)
    if new is not None:
        return new
    if isinstance(expr, Load):
        return dataclasses.replace(expr, index=tuple(rebuilt(i, change) for i in expr.index))
    if isinstance(expr, Op):
        return dataclasses.replace(expr, args=tuple(rebuilt(a, change) for a in expr.args))
    return expr


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """All statements, also those within others."""
    for statement in body:
        yield statement
        if isinstance(statement, For):
            yield from statements(statement.body)
        elif isinstance(statement, If):
            yield from statements(statement.then)
            yield from statements(statement.other)


def expressions(statement: Statement) -> tuple[Expr, ...]:
    """The expressions of a statement itself."""
    match statement:
        case Let(value=value):
            return (value,)
        case Store(index=index, value=value):
            return (*index, value)
        case For(low=low, high=high):
            return (low, high)
        case If(condition=condition):
            return (condition,)


def names(expr: Expr) -> set[str]:
    return {e.name for e in walk(expr) if isinstance(e, Var)}
