"""Where two runs part: the first iteration and the first node, in the order of execution, whose values differ."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from mindinsight.debugger.analyzer import DumpAnalyzer
from mindinsight.debugger.dump import DumpFile, Rank, load, ranks


class Difference(NamedTuple):
    """A tensor that differs between two dumps."""

    rank: int
    graph: int
    iteration: int
    name: str
    io: str
    slot: int
    largest: float  #: the largest difference of two values; infinite where shapes differ or one side is not finite
    number: int  #: how many values differ
    stack: tuple[str, ...] = ()  #: the lines of the program that it comes from, the innermost first, where the dump has graphs

    def __str__(self) -> str:
        where = "".join(f"\n  {line}" for line in self.stack)
        return (f"iteration {self.iteration}, rank {self.rank}: {self.io} {self.slot} of {self.name} differs in {self.number} values, by "
                f"{self.largest:g} at most{where}")  # fmt: skip


def compare(first: str, second: str, rtol: float = 0.0, atol: float = 0.0) -> Difference | None:
    """The first difference of two dump folders, or None.

    Iterations come in their order, tensors in the order in which the first run computed them. With both tolerances 0, values
    must be the same bits, NaN included.
    """
    left, right = ({rank.number: rank for rank in ranks(Path(folder))} for folder in (first, second))
    found = (_first_of(left[number], right[number], rtol, atol) for number in sorted(left.keys() & right.keys()))
    parted = min((one for one in found if one is not None), key=lambda one: (one.iteration, one.rank), default=None)
    return parted and parted._replace(stack=_lines(DumpAnalyzer(first), parted))


def _lines(run: DumpAnalyzer, parted: Difference) -> tuple[str, ...]:
    """The source lines of the node that wrote a file."""
    for node in run.select_nodes("", ranks=parted.rank):
        dumped = node.file_of(parted.iteration, parted.io, parted.slot)
        if node.root_graph_id == parted.graph and dumped is not None and dumped.name == parted.name:
            return tuple(node.stack)
    return ()


def _first_of(left: Rank, right: Rank, rtol: float, atol: float) -> Difference | None:
    steps = [(step, graph) for graph, found in left.iterations.items() for step in found if step in right.iterations.get(graph, [])]
    for step, graph in sorted(steps):
        others = {(file.kind, file.name, file.io, file.slot): file for file in right.files(graph, step)}
        for file in sorted(left.files(graph, step), key=lambda one: one.time):
            other = others.get((file.kind, file.name, file.io, file.slot))
            gap = _gap(file, other, rtol, atol) if other else None
            if gap:
                return Difference(left.number, graph, step, file.name, file.io, file.slot, *gap)
    return None


def _gap(a: DumpFile, b: DumpFile, rtol: float, atol: float) -> tuple[float, int] | None:
    """The largest difference and how many there are; None if the tensors are the same."""
    one, two = load(a), load(b)
    if one.shape != two.shape:
        return np.inf, max(one.size, two.size)
    x, y = np.asarray(one, np.float64), np.asarray(two, np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.abs(x - y)
        differ = ~((x == y) | (np.isnan(x) & np.isnan(y)) | (apart <= atol + rtol * np.abs(y)))
    if not differ.any():
        return None
    worst = apart[differ]
    return (float(worst.max()) if np.isfinite(worst).all() else np.inf), int(differ.sum())
