"""Names of nodes as people meet them: in the dashboard's graphs, in dumps and in profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mindspore.ir.graph import CNode


def shown_scope(scope: str) -> str:
    """A scope without the segment of the outermost cell, which no attribute names."""
    parts = scope.split("/")
    start = 2 if parts[0] == "Gradients" else 1
    if len(parts) > start and "-" not in parts[start]:
        del parts[start]
    return "/".join(p for p in parts if p) or "Default"


def full_names(nodes: Iterable[CNode]) -> dict[int, str]:
    """Names such as "Default/fc-Dense/MatMul-op0" by the ids of nodes, counted per scope and operation."""
    seen: Counter[str] = Counter()
    names = {}
    for node in nodes:
        stem = f"{shown_scope(node.scope)}/{node.op.name}"
        names[node.id] = f"{stem}-op{seen[stem]}"
        seen[stem] += 1
    return names
