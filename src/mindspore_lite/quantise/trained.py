"""Ranges that a network brings along from quantisation-aware training.

Such a network has FakeQuantise operations; so have models that come quantised (`stored.py`). Those of weights are computed at
conversion, and layers take over their steps. Those of activations become bounds: files rely on the ends of a grid to do a ReLU's
work. What else they know is the range of the value they rounded. Values that are moved, chosen from or averaged (reshaped,
transposed, pooled, bounded by a ReLU) keep the range. Layers compute with grids on which 0 is code 0: where training had such a
grid, whole numbers are those of training; another one is replaced by the one with the same ends.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mindspore.formats.program import Program
from mindspore.ir import AbstractTensor, CNode, Node
from mindspore.prims import elementwise, pooling
from mindspore.prims.fake_quantise import FakeQuantise
from mindspore_lite.quantise.full import Finder, Layer, Rewriter
from mindspore_lite.quantise.ranges import Range

_POOLS = (pooling.MaxPool, pooling.MaxPool3D, pooling.MaxPoolNd, pooling.AvgPool, pooling.AvgPool3D, pooling.AvgPoolNd)
_KEEPING = (elementwise.ReLU, *_POOLS)


class TrainedRange(Range):
    """The grid of a FakeQuantise operation."""

    def __init__(self, op: FakeQuantise, step: np.ndarray, zero: np.ndarray):
        super().__init__()
        low, high = float(((op.least - zero) * step).min()), float(((op.most - zero) * step).max())
        self.negative = low < 0
        self.low, self.high = low, high
        self.largest = max(-low, high)
        one_step = step.size == 1 and op.most - op.least >= 254
        least, most = (-128, 127) if self.negative else (0, 255)
        exact = one_step and least <= op.least - float(zero.reshape(-1)[0]) and op.most - float(zero.reshape(-1)[0]) <= most
        self._scale = float(step.reshape(-1)[0]) if exact else max(self.largest, 1e-8) / (127 if self.negative else 255)

    def scale(self, method: str) -> float:
        return float(np.float32(self._scale))

    def ends(self, method: str) -> tuple[float, float]:
        return self.low, self.high


def has_grids(program: Program) -> bool:
    """Whether a network was trained for whole numbers."""
    return any(isinstance(node.op, FakeQuantise) for node in program.graph.nodes())


def without_grids(program: Program) -> tuple[Program, dict[int, TrainedRange]]:
    """The program without the rounding of activations, and the ranges of its values by their nodes."""
    finder = Finder(program)
    found: list[tuple[Node, TrainedRange]] = []

    def passed(node: CNode) -> object:
        step, zero = finder.value(node.args[1]), finder.value(node.args[2])
        if step is None or zero is None:
            raise ValueError("a range of quantisation depends on the network's input: export the network in evaluation mode")
        assert isinstance(node.op, FakeQuantise)
        known = TrainedRange(node.op, np.asarray(step, np.float64), np.asarray(zero, np.float64))

        def make(writer: Rewriter) -> Node:
            ends = [writer.constant(np.array(end, np.float32)) for end in (known.low, known.high)]
            above = writer.emit(elementwise.Maximum(), writer(node.args[0]), ends[0])
            x = writer.emit(elementwise.Minimum(), above, ends[1])
            found.append((x, known))
            return x

        return make

    replaced = {
        node.id: passed(node)
        for node in program.graph.nodes()
        if isinstance(node.op, FakeQuantise) and finder.value(node.args[0]) is None
    }
    writer = Rewriter(program, replaced)
    graph = writer.run(program.graph.output)
    return program._replace(graph=graph), {node.id: known for node, known in reversed(found)}


def ranges_of(layers: Iterable[Layer], known: dict[int, TrainedRange]) -> dict[int, Range]:
    """The ranges of values that layers ask for, as far as they are known, by their nodes."""
    found: dict[int, Range] = {}
    for value in (value for layer in layers for value in layer.seen):
        node = value
        while node.id not in known and isinstance(node, CNode) and _keeps_range(node):
            node = node.args[0]
        if node.id in known:
            found[value.id] = known[node.id]
    return found


def _keeps_range(node: CNode) -> bool:
    """Whether the values of a result are among those of the only tensor it is made of, or between them."""
    tensors = [isinstance(argument.abstract, AbstractTensor) for argument in node.args]
    return (node.op.moves or isinstance(node.op, _KEEPING)) and sum(tensors) == 1 and tensors[0]
