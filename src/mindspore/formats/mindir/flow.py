"""Where control goes in a MindIR program: which graphs a graph may end in calling, and where branches meet again.

Graphs there are in continuation-passing style: what follows a branch or a loop is a graph that both sides call last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def _resolved(program: Any, graph: Any, name: str) -> set[str] | None:
    """The graphs that a name in a graph may stand for; None when that is not known."""
    if name in program.graphs:
        return {name}
    for step in graph.steps:
        if step.target == name:
            kind = getattr(step.operator, "name", None)
            if kind == "Partial":
                return _resolved(program, graph, step.inputs[0])
            if kind == "Switch":
                sides = [_resolved(program, graph, side) for side in step.inputs[1:3]]
                return None if None in sides else sides[0] | sides[1]  # type: ignore[operator]
    return None


def _tail_targets(program: Any, name: str) -> set[str] | None:
    """The graphs that a graph may call last: none when it ends in a value; None when it is not known."""
    graph = program.graphs[name]
    for step in graph.steps:
        if step.target == graph.output:
            return set() if hasattr(step.operator, "attributes") else _resolved(program, graph, step.operator)
    return set()


def reaches(program: Any, start: str, goal: str, avoid: frozenset[str] = frozenset()) -> bool:
    """Whether `goal` may be called by `start`, directly or not, without passing a graph in `avoid`."""
    seen: set[str] = set()
    stack = [start]
    while stack:
        for step in program.graphs[stack.pop()].steps:
            used = step.inputs if hasattr(step.operator, "attributes") else (*step.inputs, step.operator)
            for name in used:
                if name == goal:
                    return True
                if name in program.graphs and name not in seen and name not in avoid:
                    seen.add(name)
                    stack.append(name)
    return False


def always_reaches(program: Any, start: str, goal: str, stops: frozenset[str]) -> bool:
    """Whether every chain of last calls from `start` leads to `goal`, before any other graph in `stops` and any end."""
    seen = {start}
    stack = [start]
    while stack:
        name = stack.pop()
        if name == goal:
            continue
        targets = _tail_targets(program, name)
        if name in stops or not targets:
            return False
        fresh = targets - seen
        seen |= fresh
        stack += fresh
    return True


def may_end(program: Any, start: str, stops: frozenset[str]) -> bool:
    """Whether a chain of last calls from `start` may end in a value before it reaches a graph in `stops`."""
    return any(name not in stops and not _tail_targets(program, name) for name in _chain(program, start, stops))


def _chain(program: Any, start: str, stops: frozenset[str]) -> Iterator[str]:
    """The graphs that chains of last calls from `start` pass, nearest first."""
    seen = {start}
    queue = [start]
    while queue:
        name = queue.pop(0)
        yield name
        if name not in stops:
            fresh = (_tail_targets(program, name) or set()) - seen
            seen |= fresh
            queue += sorted(fresh)


def join(program: Any, one: str, other: str, stops: frozenset[str]) -> str | None:
    """The first graph that both sides of a branch lead to in any case, or None."""
    reached = set(_chain(program, other, stops))
    for name in _chain(program, one, stops):
        if name in reached and all(always_reaches(program, side, name, stops) for side in (one, other)):
            return name
    return None
