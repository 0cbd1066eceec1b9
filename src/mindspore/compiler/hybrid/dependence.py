"""Which loops may run in any order, and which variables only gather a sum or an extreme.

A loop is independent if what one iteration writes no other one touches: every array written in it is always accessed, in one dimension, at
the same expression of the loop's variable; and its scalar variables are assigned before they are read, and not needed afterwards.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

from mindspore.compiler.hybrid.program import (
    INT,
    Array,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Op,
    Statement,
    Store,
    Var,
    expressions,
    names,
    rebuilt,
    statements,
    walk,
)


def exposed(body: Iterable[Statement]) -> set[str]:
    """Variables that are read before they are surely assigned."""
    found: set[str] = set()
    assigned: set[str] = set()
    for statement in body:
        for expr in expressions(statement):
            found |= names(expr) - assigned
        match statement:
            case Let(name=name):
                assigned.add(name)
            case For(var=var, body=inner):
                found |= exposed(inner) - assigned - {var}
            case If(then=then, other=other):
                found |= (exposed(then) | exposed(other)) - assigned
                assigned |= _surely(then) & _surely(other)
    return found


def _surely(body: Iterable[Statement]) -> set[str]:
    return {s.name for s in body if isinstance(s, Let)}


def assigned(body: tuple[Statement, ...]) -> set[str]:
    return {s.name for s in statements(body) if isinstance(s, Let)}


def loops_in(body: tuple[Statement, ...]) -> set[str]:
    return {s.var for s in statements(body) if isinstance(s, For)}


def accesses(body: tuple[Statement, ...]) -> Iterator[tuple[str, tuple[Expr, ...], bool]]:
    """(array, index, whether it is written)."""
    for statement in statements(body):
        if isinstance(statement, Store):
            yield statement.array, statement.index, True
        for expr in expressions(statement):
            yield from ((e.array, e.index, False) for e in walk(expr) if isinstance(e, Load))


def reread(loop: For) -> dict[For, set[tuple[str, tuple[Expr, ...]]]]:
    """For each loop directly inside one: the elements (array, index) it reads that just one loop before it read as well."""
    times: Counter[tuple[str, tuple[Expr, ...]]] = Counter()
    found: dict[For, set[tuple[str, tuple[Expr, ...]]]] = {}
    for inner in loop.body:
        if not isinstance(inner, For):
            continue
        own = {(array, index) for array, index, written in accesses(inner.body) if not written}
        common = {(array, index): (array, _by_place(index, inner.var)) for array, index in own}
        found[inner] = {key for key, place in common.items() if times[place] == 1}
        times.update(set(common.values()))
    return found


def _by_place(index: tuple[Expr, ...], var: str) -> tuple[Expr, ...]:
    """An index with a name for the variable that is the same in all loops."""
    return tuple(rebuilt(i, lambda e: dataclasses.replace(e, name="") if isinstance(e, Var) and e.name == var else None) for i in index)


def coefficient(expr: Expr, var: str) -> int | None:
    """By how much an expression grows with a variable; None if that is no fixed number."""
    match expr:
        case Var(name=name):
            return int(name == var)
        case Const():
            return 0
        case Op(name="add" | "sub" as name, args=(a, b)):
            first, second = coefficient(a, var), coefficient(b, var)
            if first is None or second is None:
                return None
            return first + second if name == "add" else first - second
        case Op(name="mul", args=(a, b)):
            first, second = coefficient(a, var), coefficient(b, var)
            if first == 0 and second == 0:
                return 0
            if isinstance(a, Const) and second is not None:
                return int(a.value) * second
            return int(b.value) * first if isinstance(b, Const) and first is not None else None
        case Op(name="cast", args=(a,)) if not a.type.is_float:
            return coefficient(a, var)
    return 0 if var not in names(expr) else None


def independent(loop: For, live: set[str]) -> bool:
    """Whether the iterations may run in any order. `live` are the variables needed after the loop."""
    own = assigned(loop.body)
    return not own & (exposed(loop.body) | live) and _apart(loop)


def _apart(loop: For) -> bool:
    """Whether no iteration touches what another one writes."""
    found = list(accesses(loop.body))
    changing = assigned(loop.body) | loops_in(loop.body)
    for array in {name for name, _, written in found if written}:
        every = [index for name, index, _ in found if name == array]
        if not any(separates({index[d] for index in every}, loop.var, changing) for d in range(len(every[0]))):
            return False
    return True


def separates(at: set[Expr], var: str, changing: set[str]) -> bool:
    """Whether an index of all accesses tells iterations apart: one expression that follows the loop's variable alone."""
    if len(at) != 1:
        return False
    (expr,) = at
    return bool(coefficient(expr, var)) and not names(expr) & changing and not any(isinstance(e, Load) for e in walk(expr))


def gathered(loop: For, live: set[str]) -> dict[str, str] | None:
    """Variables that a loop only adds to or takes extremes of → "add", "gt" (max) or "lt" (min).

    None if the loop carries something else from one iteration to the next.
    """
    carried = assigned(loop.body) & (exposed(loop.body) | live)
    found: dict[str, str] = {}
    for name in carried:
        kinds = {gathering(s) for s in statements(loop.body) if isinstance(s, Let) and s.name == name}
        reads = sum(isinstance(e, Var) and e.name == name for s in statements(loop.body) for x in expressions(s) for e in walk(x))
        writes = sum(isinstance(s, Let) and s.name == name for s in statements(loop.body))
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None or reads != (1 if kind == "add" else 2) * writes:
            return None
        found[name] = kind
    return found if _apart(loop) else None


def gathering(let: Let) -> str | None:
    """How `s = s + e` or `s = max(s, e)` gathers."""
    match let.value:
        case Op(name="add", args=(Var(name=first), _)) if first == let.name:
            return "add"
        case Op(name="add", args=(_, Var(name=second))) if second == let.name:
            return "add"
        case Op(name="select", args=(Op(name="gt" | "lt" as test, args=(a, b)), yes, no)):
            if (a, b) == (yes, no) and Var(let.name, let.value.type) in (yes, no):
                return test
    return None


def paths(body: tuple[Statement, ...], around: tuple[For, ...] = ()) -> Iterator[tuple[Statement, tuple[For, ...]]]:
    """Each statement with the loops around it."""
    for statement in body:
        yield statement, around
        if isinstance(statement, For):
            yield from paths(statement.body, (*around, statement))
        elif isinstance(statement, If):
            yield from paths(statement.then, around)
            yield from paths(statement.other, around)


def covers(statement: Statement, array: Array, by: Store | None = None) -> bool:
    """Whether a statement surely writes every element of an array: one store (`by`, if given) at the variables of loops over all of it."""
    conditional = {id(s) for found in statements((statement,)) if isinstance(found, If) for s in statements((*found.then, *found.other))}
    for found, around in paths((statement,)):
        if isinstance(found, Store) and found.array == array.name and id(found) not in conditional and (by is None or found is by):
            loops = {loop.var: loop for loop in around}
            used = [_whole_range(index, extent, loops) for index, extent in zip(found.index, array.shape)]
            others = [loop for loop in around if loop.var not in used]
            if None not in used and len(set(used) - {""}) == len(used) - used.count("") and all(map(_surely_runs, others)):
                return True
    return False


def _surely_runs(loop: For) -> bool:
    low, high = loop.low, loop.high
    return isinstance(low, Const) and isinstance(high, Const) and (low.value < high.value if loop.step > 0 else low.value > high.value)


def _whole_range(index: Expr, extent: int, loops: dict[str, For]) -> str | None:
    """The loop whose variable, or that minus its first value, goes through a whole dimension; "": the dimension has one element."""
    match index:
        case Const(value=0) if extent == 1:
            return ""
        case Var(name=name):
            first: Expr = Const(0, INT)
        case Op(name="sub", args=(Var(name=name), Const() as first)):
            pass
        case _:
            return None
    loop = loops.get(name)
    if loop is None or not isinstance(first, Const) or (loop.low, loop.step) != (first, 1) or loop.high != Const(first.value + extent, INT):
        return None
    return name


def needs_zeros(body: tuple[Statement, ...], array: Array) -> bool:
    """Whether an array must begin with zeros: unless the first statement about it writes all of it before it reads."""
    first = next((s for s in body if any(name == array.name for name, _, _ in accesses((s,)))), None)
    if not isinstance(first, For) or not covers(first, array):
        return True
    accessed = next(s for s, _ in paths((first,)) if _touches(s, array.name))
    around = [s for s in statements((first,)) if isinstance(s, For) and any(n == array.name for n, _, _ in accesses((s,)))]
    whole = isinstance(accessed, Store) and not _reads(accessed, array.name)
    return not whole or not all(_apart(loop) for loop in around)


def _reads(statement: Statement, array: str) -> bool:
    return any(isinstance(e, Load) and e.array == array for x in expressions(statement) for e in walk(x))


def _touches(statement: Statement, array: str) -> bool:
    return _reads(statement, array) or (isinstance(statement, Store) and statement.array == array)
