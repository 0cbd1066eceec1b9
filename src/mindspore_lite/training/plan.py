"""How a batch fits into the memory there is: in one piece, or in pieces whose gradients are added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mindspore.backends import cpu
from mindspore.backends.cpu.executable import CpuExecutable
from mindspore.formats.program import Program
from mindspore.ir import FuncGraph
from mindspore_lite.training import gradients
from mindspore_lite.training.gradients import TrainGraphs
from mindspore_lite.training.options import TrainOptions


class TrainPlan(NamedTuple):
    """A program for pieces of `1 / pieces` of the batch, its graphs, and the bytes that training takes."""

    program: Program
    graphs: TrainGraphs
    pieces: int
    needed: int


def arena_bytes(graph: FuncGraph) -> int:
    """Memory for what lives only while a graph runs."""
    compiled = cpu.CpuBackend(finite=False).compile(graph)
    assert isinstance(compiled, CpuExecutable)
    return compiled.blueprint.plan.peak


def state_bytes(program: Program, graphs: TrainGraphs, options: TrainOptions, gathered: bool) -> int:
    """Weights, slots, and sums of gradients."""
    trained = [program.weights[name] for name in graphs.trained]
    kept = [*program.weights.values(), *gradients.slots(trained, options), *(trained if gathered else ())]
    return sum(int(np.asarray(array).nbytes) for array in kept)


def plan(build: Callable[[int], Program | None], options: TrainOptions) -> TrainPlan:
    """`build(pieces)`: the program for a part of the batch, or None where the batch cannot be cut so.

    ValueError says how much the smallest piece needs if that is more than there is.
    """
    least: int | None = None
    pieces = 1
    while (program := build(pieces)) is not None:
        graphs = gradients.make(program, options)
        needed = 0
        if options.memory:
            gathered = pieces > 1 or options.virtual_batch > 1
            needed = state_bytes(program, graphs, options, gathered) + arena_bytes(graphs.gather if gathered else graphs.step)
        if needed <= options.memory or not options.memory:
            return TrainPlan(program, graphs, pieces, needed)
        least = needed if least is None else min(least, needed)
        pieces *= 2
    if least is None:
        raise ValueError("training needs fixed shapes: give input_shape")
    raise ValueError(
        f"memory_limit is {options.memory} bytes, but training takes at least {least}, with the batch in pieces as small as they "
        "get; allow more, train fewer weights (trainable), or choose SGD with momentum = 0"
    )
