"""How training fits into the memory there is: the batch in pieces whose gradients are added up, the forward pass computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from mindspore.backends import cpu
from mindspore.backends.cpu.executable import CpuExecutable
from mindspore.compiler.flops import count_flops
from mindspore.formats.program import Program
from mindspore.ir import FuncGraph
from mindspore.prims.norm import BatchNorm
from mindspore_lite.training import gradients
from mindspore_lite.training.gradients import TrainGraphs
from mindspore_lite.training.options import TrainOptions

_SEGMENTS = (2, 4, 8)


class TrainPlan(NamedTuple):
    """A program for pieces of `1 / pieces` of the batch, its graphs, and the bytes that training takes."""

    program: Program
    graphs: TrainGraphs
    pieces: int
    needed: int
    segments: int = 1  # of the forward pass; more than one: the backward pass computes it again
    extra: float = 0.0  # what that costs, as a part of the operations of a step


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

    ValueError says how much the smallest way needs if that is more than there is.
    """
    least: int | None = None
    whole = build(1)
    if whole is None:
        raise ValueError("training needs fixed shapes: give input_shape")
    flops = 0.0
    for pieces, segments in _ways(build, whole, options):
        program = whole if pieces == 1 else build(pieces)
        assert program is not None
        chosen = options._replace(recompute=segments)
        graphs = gradients.make(program, chosen)
        gathered = pieces > 1 or options.virtual_batch > 1
        work = count_flops(graphs.gather) * pieces
        flops = flops or work
        needed = 0
        if options.memory:
            needed = state_bytes(program, graphs, options, gathered) + arena_bytes(graphs.gather if gathered else graphs.step)
        if needed <= options.memory or not options.memory:
            return TrainPlan(program, graphs, pieces, needed, segments, work / max(flops, 1.0) - 1)
        least = needed if least is None else min(least, needed)
    raise ValueError(
        f"memory_limit is {options.memory} bytes, but training takes at least {least}, with the batch in pieces as small as they "
        "get and the forward pass computed twice; allow more, train fewer weights (trainable), choose SGD with momentum = 0, "
        "or mixed_precision = bfloat16"
    )


def _ways(build: Callable[[int], Program | None], whole: Program, options: TrainOptions) -> Iterator[tuple[int, int]]:
    """Pieces and segments, the cheapest first. Pieces cost no operations, but a network that normalises by its batch then normalises by
    pieces; such a one rather computes its forward pass twice."""
    if options.recompute or not options.memory:
        yield 1, options.recompute or 1
        segments = [options.recompute or 1]
    elif any(isinstance(node.op, BatchNorm) and node.op.is_training for node in whole.graph.nodes()):
        yield from ((1, n) for n in (1, *_SEGMENTS))
        segments = [1, *_SEGMENTS]
    else:
        yield 1, 1
        segments = [1]
    pieces = 2
    while options.memory and build(pieces) is not None:
        yield from ((pieces, n) for n in segments)
        pieces *= 2
    if options.memory and segments == [1] and not options.recompute:
        yield from ((pieces // 2, n) for n in _SEGMENTS)
