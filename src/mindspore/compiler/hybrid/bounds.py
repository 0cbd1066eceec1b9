"""What values whole numbers can have: intervals, by which indices are proven to be inside their arrays, and loops are weighed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from mindspore.compiler.hybrid.program import Const, Expr, For, If, Op, Statement, Var, expressions, walk

Interval = tuple[float, float]
ANY: Interval = (-math.inf, math.inf)


def interval(expr: Expr, known: Mapping[str, Interval]) -> Interval:
    """The least and the largest value."""
    match expr:
        case Const(value=value):
            return value, value
        case Var(name=name):
            return known.get(name, ANY)
        case Op(name="cast", args=(inner,)) if not inner.type.is_float:
            return interval(inner, known)
        case Op(name=name, args=(first, second)) if name in _RULES:
            return _RULES[name](interval(first, known), interval(second, known))
        case Op(name="neg", args=(inner,)):
            low, high = interval(inner, known)
            return -high, -low
        case Op(name="select", args=(_, first, second)):
            a, b = interval(first, known), interval(second, known)
            return min(a[0], b[0]), max(a[1], b[1])
    return ANY


def _product(a: Interval, b: Interval) -> Interval:
    found = [0.0 if 0 in (x, y) else x * y for x in a for y in b]
    return min(found), max(found)


def _quotient(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0 or math.inf in (a[1], -a[0], b[1]):
        return ANY
    found = [x // y for x in a for y in b]
    return min(found), max(found)


def _remainder(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0:
        return ANY
    if a[0] >= 0 and a[1] < b[0]:
        return a
    return 0, b[1] - 1


_RULES = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "floordiv": _quotient,
    "floormod": _remainder,
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
}


def of_loop(loop: For, known: Mapping[str, Interval]) -> Interval:
    """What a loop's variable goes through; a loop that never runs has no values, so any answer is right."""
    low, high = interval(loop.low, known), interval(loop.high, known)
    return (low[0], max(low[0], high[1] - 1)) if loop.step > 0 else (min(high[0] + 1, low[1]), low[1])


def given(condition: Expr, known: Mapping[str, Interval], holds: bool = True) -> dict[str, Interval]:
    """What is known where a condition holds: comparisons of a variable with something, and several of them joined."""
    result = dict(known)
    match condition:
        case Op(name="and_", args=(first, second)) if holds:
            return given(second, given(first, known))
        case Op(name="or_", args=(first, second)) if not holds:
            return given(second, given(first, known, False), False)
        case Op(name="not_", args=(inner,)):
            return given(inner, known, not holds)
        case Op(name="lt" | "le" | "gt" | "ge" | "eq" as name, args=(first, second)):
            said = name if holds else _OPPOSITE.get(name, "")
            for a, b, test in ((first, second, said), (second, first, _TURNED.get(said, ""))):
                if isinstance(a, Var) and a.name in result:
                    result[a.name] = _narrowed(result[a.name], test, interval(b, known))
    return result


_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq"}


def _narrowed(own: Interval, test: str, other: Interval) -> Interval:
    low, high = own
    if test in ("lt", "le", "eq"):
        high = min(high, other[1] - (test == "lt"))
    if test in ("gt", "ge", "eq"):
        low = max(low, other[0] + (test == "gt"))
    return (low, high) if low <= high else own


@dataclasses.dataclass(frozen=True)
class Proof:
    """What is known of an index of a dimension: whether it may be negative, which counts from the end, and whether it may be outside."""

    negative: bool
    outside: bool


def proof(index: Expr, extent: int, known: Mapping[str, Interval]) -> Proof:
    low, high = interval(index, known)
    return Proof(low < 0, low < -extent or high >= extent)


def work(body: tuple[Statement, ...], known: Mapping[str, Interval] | None = None) -> float:
    """About how many operations statements take."""
    known, total = known or {}, 0.0
    for statement in body:
        match statement:
            case For(var=var, body=inner):
                low, high = of_loop(statement, known)
                trips = min(1e9, max(0.0, (high - low + 1) / abs(statement.step)))
                total += trips * work(inner, {**known, var: (low, high)})
            case If(then=then, other=other):
                total += 1 + max(work(then, known), work(other, known))
            case _:
                total += sum(1 for e in expressions(statement) for _ in walk(e))
    return total
