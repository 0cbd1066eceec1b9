"""Where the time of a run goes, and what memory its operators touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mindspore.backends import cpu
from mindspore.backends.cpu.executable import CpuExecutable
from mindspore.formats.program import Program


class OperatorTime(NamedTuple):
    """One operator of a run. `kind`: what it does, without the implementation's name."""

    name: str
    kind: str
    shape: tuple[int, ...]
    seconds: float
    nbytes: int  # that it writes


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
    rows = []
    for (step, _), seconds in zip(steps, least):
        written = sum(view.buffer.nbytes for view in step.writes)
        shape = step.writes[0].shape if step.writes else ()
        rows.append(OperatorTime(step.name, step.name.split(" ")[0], shape, seconds, written))
    return rows


def by_kind(rows: Sequence[OperatorTime]) -> list[tuple[str, float, int]]:
    """(kind, seconds, how many), the longest first."""
    found: dict[str, tuple[float, int]] = {}
    for row in rows:
        seconds, count = found.get(row.kind, (0.0, 0))
        found[row.kind] = seconds + row.seconds, count + 1
    return sorted(((kind, s, n) for kind, (s, n) in found.items()), key=lambda item: -item[1])
