"""Where the time of a run goes, and what memory its operators touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mindspore.backends import cpu
from mindspore.backends.cpu.executable import CpuExecutable
from mindspore.backends.cpu.layout import Buffer
from mindspore.backends.cpu.steps import Step
from mindspore.formats.program import Program


class OperatorTime(NamedTuple):
    """One operator of a run. `kind`: what it does, without the implementation's name."""

    name: str
    kind: str
    shape: tuple[int, ...]
    seconds: float
    nbytes: int  # that it writes
    reads: tuple[int, ...] = ()  # operators whose results it reads, by number; -1 - n is input n
    weights: int = 0  # bytes of weights and constants that it reads
    alive: int = 0  # bytes of intermediate results in use while it runs


def profile(program: Program, arrays: Sequence[np.ndarray], threads: int = 0, runs: int = 10) -> list[OperatorTime]:
    """The operators in order, with the least time of several runs; RuntimeError where the native backend is not there."""
    if not cpu.available():
        raise RuntimeError("operators are timed on the native backend, which is not available here")
    executable = cpu.CpuBackend(threads=threads, finite=True).compile(program.graph)
    assert isinstance(executable, CpuExecutable)
    state = [np.array(array) for array in program.weights.values()]
    least: list[float] = []
    for _ in range(max(runs, 1)):
        steps = executable.step_seconds(*arrays, *state, own=True)
        times = [seconds for _, seconds in steps]
        least = times if not least else [min(a, b) for a, b in zip(least, times)]
    return _rows([step for step, _ in steps], least, len(program.inputs))


def _rows(steps: Sequence[Step], seconds: Sequence[float], inputs: int) -> list[OperatorTime]:
    makers: dict[int, int] = {}  # of buffers: the last operator that wrote there
    uses: dict[int, tuple[int, int, int]] = {}  # of intermediate results: bytes, and the operators between which they are in use
    for place, step in enumerate(steps):
        for buffer in (view.buffer for view in step.views if view.buffer.kind == "arena"):
            uses[id(buffer)] = buffer.nbytes, uses.get(id(buffer), (0, place))[1], place
    rows = []
    for place, (step, time) in enumerate(zip(steps, seconds)):
        given = [view.buffer for view in step.reads]
        reads = [makers[id(b)] if id(b) in makers else -1 - b.source for b in given if id(b) in makers or _is_input(b, inputs)]
        fixed = {id(b): b for b in given if b.kind == "constant" or (b.kind == "input" and not _is_input(b, inputs))}
        held = sum(b.nbytes for b in fixed.values())
        alive = sum(nbytes for nbytes, first, last in uses.values() if first <= place <= last)
        shape = step.writes[0].shape if step.writes else ()
        written = sum(view.buffer.nbytes for view in step.writes)
        rows.append(OperatorTime(step.name, step.name.split(" ")[0], shape, time, written, tuple(dict.fromkeys(reads)), held, alive))
        makers.update({id(view.buffer): place for view in step.writes})
    return rows


def _is_input(buffer: Buffer, inputs: int) -> bool:
    """Whether a buffer is an input of the model; those behind them are weights."""
    return buffer.kind == "input" and isinstance(buffer.source, int) and buffer.source < inputs


def by_kind(rows: Sequence[OperatorTime]) -> list[tuple[str, float, int]]:
    """(kind, seconds, how many), the longest first."""
    found: dict[str, tuple[float, int]] = {}
    for row in rows:
        seconds, count = found.get(row.kind, (0.0, 0))
        found[row.kind] = seconds + row.seconds, count + 1
    return sorted(((kind, s, n) for kind, (s, n) in found.items()), key=lambda item: -item[1])
