"""`obfuscator --modelFile=net.ms --outputFile=other.ms --obfDegree=0.2`: a model that runs as before and tells less.

Names go (of the graph and of weights; inputs and outputs keep theirs), the messages the model was made from go, and so do the notes of the
converter. `obfDegree` is the share of pairs of layers (convolutions or products that follow one another) whose hidden channels change
places, in the weights of both: the function stays what it was, the weights are no longer those of a published network. Without the source a
model takes the shapes it was converted for alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from mindspore.formats.program import Program
from mindspore.ir import CNode, FuncGraph, Node, ValueNode
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.conv import Conv2D
from mindspore.prims.linalg import MatMul
from mindspore_lite import model_file
from mindspore_lite.arrays import ArrayWriter
from mindspore_lite.model_file import LiteModel
from mindspore_lite.source import FixedSource
from mindspore_lite.tools import options


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the model was written."""
    parser = options.parser("obfuscator", "Writes a model that runs as before and tells less.")
    parser.add_argument("--modelFile", required=True)
    parser.add_argument("--outputFile", required=True)
    options.add(parser, "obfDegree", 0.2, "share of the hidden layers whose channels change places, from 0 to 1", float)
    options.add(parser, "seed", 0, "for the choice; 0 takes another one each time", int)
    given = parser.parse_args(arguments)
    try:
        if not 0 <= given.obfDegree <= 1:
            raise ValueError(f"obfDegree must be from 0 to 1, but got {given.obfDegree}")
        count = obfuscate(given.modelFile, given.outputFile, given.obfDegree, given.seed or None)
    except (ValueError, OSError) as error:
        print(f"OBFUSCATE RESULT FAILED:1 {error}", file=sys.stderr)
        return 1
    print(f"{count} layers have their channels in another order\nOBFUSCATE RESULT SUCCESS:0")
    return 0


def obfuscate(path: str, target: str, degree: float, seed: int | None = None) -> int:
    """Write the other model; returns the layers whose channels changed places."""
    model = model_file.read(path)
    if model.program is None:
        raise ValueError(f"{path} leaves sizes open: convert it with inputShape")
    random = np.random.default_rng(seed)
    program, count = _permuted(model.program, degree, random)
    weights = {f"w{n}": array for n, array in enumerate(program.weights.values())}
    names = dict(zip(program.weights, weights))
    updates = {names[name]: place for name, place in program.updates.items()}
    graph = program.graph
    graph.name = "net"
    for parameter, name in zip(graph.parameters[len(program.inputs) :], weights):
        parameter.name = name
        parameter.default = name
    other = LiteModel(
        model.inputs, model.outputs, model.layout, program._replace(weights=weights, updates=updates), FixedSource(model.inputs), {}
    )
    path = target if target.endswith(".ms") else f"{target}.ms"
    model_file.write(path, other, ArrayWriter())
    return count


# -- channels -----------------------------------------------------------------------------------------------------------
class _Pair:
    """A layer, what lies between, and the layer that reads it: parameters of the weights, and the axes of the hidden channels."""

    def __init__(self, first: int, biases: list[int], second: int, axes: tuple[int, int]):
        self.first, self.biases, self.second, self.axes = first, biases, second, axes


def _permuted(program: Program, degree: float, random: np.random.Generator) -> tuple[Program, int]:
    """The program with hidden channels in another order in some pairs of layers."""
    pairs = _pairs(program.graph, len(program.inputs))
    chosen = [pairs[n] for n in sorted(random.permutation(len(pairs))[: round(degree * len(pairs))])]
    arrays = list(program.weights.values())
    first = len(program.inputs)
    for pair in chosen:
        one, two = arrays[pair.first - first], arrays[pair.second - first]
        order = random.permutation(one.shape[pair.axes[0]])
        arrays[pair.first - first] = np.take(one, order, pair.axes[0])
        arrays[pair.second - first] = np.take(two, order, pair.axes[1])
        for bias in pair.biases:
            arrays[bias - first] = arrays[bias - first].reshape(-1)[order].reshape(arrays[bias - first].shape)
    return program._replace(weights=dict(zip(program.weights, arrays))), len(chosen)


def _pairs(graph: FuncGraph, inputs: int) -> list[_Pair]:
    users: dict[int, list[CNode]] = {}
    nodes = list(graph.nodes())
    for node in nodes:
        for argument in node.args:
            users.setdefault(argument.id, []).append(node)
    users.setdefault(graph.output.id, []).append(nodes[-1])  # what is given back keeps its order
    numbers = {p.id: n for n, p in enumerate(graph.parameters) if n >= inputs}
    found: list[_Pair] = []
    for node in nodes:
        pair = _pair(node, users, numbers)
        if pair is not None:
            found.append(pair)
    return found


def _weight(node: Node, users: dict[int, list[CNode]], numbers: dict[int, int]) -> int | None:
    """The number of a parameter that one operation alone reads."""
    return numbers.get(node.id) if len(users.get(node.id, ())) == 1 else None


def _channel_axes(node: CNode) -> tuple[int, int] | None:
    """The axes of (results, inputs) of a layer's weight."""
    if isinstance(node.op, Conv2D) and node.op.group == 1 and not node.op.channels_last:
        return 0, 1
    if isinstance(node.op, MatMul) and not node.op.transpose_a:
        return (0, 1) if node.op.transpose_b else (1, 0)
    return None


def _pair(node: CNode, users: dict[int, list[CNode]], numbers: dict[int, int]) -> _Pair | None:
    axes = _channel_axes(node)
    first = _weight(node.args[1], users, numbers) if axes else None
    if axes is None or first is None:
        return None
    biases: list[int] = []
    here: CNode = node
    while True:
        readers = users.get(here.id, [])
        if len(readers) != 1:
            return None
        (reader,) = readers
        if reader.args[0].id == here.id and type(reader.op) is type(node.op) and (own := _channel_axes(reader)):
            second = _weight(reader.args[1], users, numbers)
            return _Pair(first, biases, second, (axes[0], own[1])) if second is not None and second != first else None
        if not reader.op.elementwise or tuple(reader.abstract.shape) != tuple(node.abstract.shape):
            return None
        for other in (a for a in reader.args if a.id != here.id):
            if getattr(other.abstract, "size", 1) == 1 or (isinstance(other, ValueNode) and np.size(other.value) == 1):
                continue  # the same for all channels
            bias = _per_channel(other, node, users, numbers)
            if bias is None:
                return None
            biases.append(bias)
        here = reader


def _per_channel(node: Node, layer: CNode, users: dict[int, list[CNode]], numbers: dict[int, int]) -> int | None:
    """The number of a parameter that has one number for each channel of a layer's result."""
    images = isinstance(layer.op, Conv2D)
    channels = layer.abstract.shape[1] if images else layer.abstract.shape[-1]
    while isinstance(node, CNode) and isinstance(node.op, Reshape) and len(users.get(node.id, ())) == 1:
        if int(np.prod(node.abstract.shape)) != channels:
            return None
        node = node.args[0]
    own = _weight(node, users, numbers)
    shape = [n for n in node.abstract.shape if n != 1]
    return own if own is not None and shape == [channels] else None


if __name__ == "__main__":
    sys.exit(main())
