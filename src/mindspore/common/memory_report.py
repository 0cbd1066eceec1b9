"""How much memory compiled graphs need, against what their tensors would take side by side."""

from __future__ import annotations

from typing import Any

from mindspore.ir import AbstractTensor, AbstractTuple, FuncGraph
from mindspore.prims.structural import MakeTuple, TupleGetItem


def report(entries: list[Any], name: str) -> dict[str, float]:
    """Of the graph compiled last: bytes of working memory, bytes of all intermediate results, and their ratio."""
    if not entries:
        raise RuntimeError(
            f"'{name}' has not been compiled yet: call it once in graph mode (or call its 'compile') before asking for "
            f"its memory."
        )
    executable, graph = entries[-1].executable, entries[-1].traced.graph
    if hasattr(executable, "memory_report"):
        return executable.memory_report()
    total = _total_bytes(graph)
    analysis = getattr(executable, "memory_analysis", None)
    if analysis is None:  # the reference machine frees a result after its last use, and plans nothing
        return {"peak_bytes": total, "total_bytes": total, "ratio": 1.0}
    peak = int(analysis().temp_size_in_bytes)
    return {"peak_bytes": peak, "total_bytes": total, "ratio": peak / total if total else 1.0}


def _total_bytes(graph: FuncGraph) -> int:
    return sum(
        _nbytes(n.abstract)
        for g in graph.all_graphs()
        for n in g.nodes()
        if type(n.op) not in (MakeTuple, TupleGetItem)
    )


def _nbytes(abstract: Any) -> int:
    if isinstance(abstract, AbstractTuple):
        return sum(_nbytes(e) for e in abstract.elements)
    if not isinstance(abstract, AbstractTensor):
        return 0
    count = 1
    for d in abstract.shape:
        count *= d
    return count * abstract.dtype.itemsize
