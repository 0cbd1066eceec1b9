"""Full and dynamic quantisation: convolutions and products compute with whole numbers of 8 bits.

A *layer* is a convolution or product with fixed filters and what follows it as its only user: factors and summands per channel
(normalisations), another tensor added, bounds, and a curve (`curves.py`). Calibration runs the float model and looks at every layer's input
(`ranges.py`). Then the graph is written anew, layer by layer: filters become whole numbers per channel, and a layer whose
result only layers read hands on whole numbers, so that between two of them nothing is converted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.dtype import from_numpy
from mindspore.compiler.builder import Builder
from mindspore.formats.program import Program
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.ir.graph import Parameter
from mindspore.prims import broadcasting, conv, elementwise, linalg, norm, reduction
from mindspore.prims.fake_quantise import FakeQuantise
from mindspore.prims.quantised import QuantisedConv2D, QuantisedMatMul, QuantiseLinear, TableLookup
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore_lite.quantise import curves
from mindspore_lite.quantise.curves import Curve, Grid
from mindspore_lite.quantise.ranges import Range

_LIMIT = 3.4e38


class FullOptions(NamedTuple):
    """`[full_quant_param]`, and what of `[common_quant_param]` concerns layers."""

    method: str = "MAX_MIN"
    per_channel: bool = True
    bias_correction: bool = True
    skip: frozenset[str] = frozenset()
    dynamic: bool = False


@dataclasses.dataclass
class Layer:
    """One convolution or product: `nodes` are replaced, the last one's value is the layer's result."""

    head: CNode
    filters: np.ndarray
    axis: int  # of the filters' output channels
    factor: np.ndarray
    bias: np.ndarray
    nodes: list[CNode]
    added: Node | None = None
    low: float = -_LIMIT
    high: float = _LIMIT
    name: str = ""
    steps: np.ndarray | None = None  # of the filters per channel, where training has chosen them
    curve: Curve | None = None  # whose nodes are the last ones

    @property
    def seen(self) -> list[Node]:
        """The values whose ranges the layer needs."""
        return [self.source] if self.curve is None else [self.source, self.curve.source, self.result]

    def without_curve(self) -> Layer:
        return self if self.curve is None else dataclasses.replace(self, nodes=self.nodes[: -len(self.curve.nodes)], curve=None)

    @property
    def source(self) -> Node:
        return self.head.args[0]

    @property
    def result(self) -> CNode:
        return self.nodes[-1]

    @property
    def is_product(self) -> bool:
        return not isinstance(self.head.op, conv.Conv2D)

    @property
    def channel_axis(self) -> int:
        """Of the layer's input and result."""
        return -1 if self.is_product or self.head.op.channels_last else 1


class Finder:
    """Finds the layers of a program."""

    def __init__(self, program: Program):
        self.program = program
        first = len(program.inputs)
        known = dict(zip((p.id for p in program.graph.parameters[first:]), program.weights.items()))
        self.names = {i: name for i, (name, _) in known.items()}
        self._values: dict[int, np.ndarray | None] = {i: np.asarray(array) for i, (_, array) in known.items()}
        self.users: dict[int, list[CNode]] = {}
        self._order: dict[int, int] = {}
        for place, node in enumerate(program.graph.nodes()):
            self._order[node.id] = place
            for argument in node.args:
                self.users.setdefault(argument.id, []).append(node)

    def value(self, node: Node) -> np.ndarray | None:
        """What a node is, if it depends on weights and constants alone."""
        if node.id not in self._values:
            self._values[node.id] = self._computed(node)
        return self._values[node.id]

    def _computed(self, node: Node) -> np.ndarray | None:
        if isinstance(node, ValueNode):
            return np.asarray(node.value) if isinstance(node.abstract, AbstractTensor) else None
        if not isinstance(node, CNode) or not isinstance(node.abstract, AbstractTensor) or node.op.effect:
            return None
        arguments: list[Any] = []
        for argument in node.args:
            if isinstance(argument.abstract, AbstractTensor):
                found = self.value(argument)
                if found is None:
                    return None
                arguments.append(found)
            elif isinstance(argument, ValueNode):
                arguments.append(argument.value)
            else:
                return None
        return np.asarray(node.op.eval(np, *arguments))

    def layers(self, options: FullOptions) -> list[Layer]:
        found, taken = [], set[int]()
        for node in self.program.graph.nodes():
            layer = self._layer(node) if node.id not in taken else None
            if layer is None or layer.name in options.skip or (options.dynamic and not layer.is_product):
                continue
            self._grow(layer, taken, plain=options.dynamic)
            if not options.dynamic:
                self._bend(layer)
            taken |= {n.id for n in layer.nodes}
            found.append(layer)
        return found

    def _layer(self, node: CNode) -> Layer | None:
        op = node.op
        image = type(op) is conv.Conv2D
        if not image and type(op) not in (linalg.MatMul, linalg.BatchMatMul):
            return None
        filters = self.value(node.args[1])
        if filters is None or filters.dtype != np.float32 or self.value(node.args[0]) is not None:
            return None
        if not image:
            if filters.ndim != 2 or op.transpose_a:
                return None
            filters = filters.T if op.transpose_b else filters
        axis = 0 if image else 1
        count = filters.shape[axis]
        one, zero = np.ones(count, np.float32), np.zeros(count, np.float32)
        name, steps = self._name(node.args[1]) or f"{op.name}{node.id}", self._steps(node.args[1], count)
        return Layer(node, filters, axis, one, zero, [node], name=name, steps=steps)

    def _name(self, filters: Node) -> str:
        """Of the weight that filters are made of."""
        while isinstance(filters, CNode) and filters.args:
            filters = filters.args[0]
        return self.names.get(filters.id, "")

    def _steps(self, filters: Node, count: int) -> np.ndarray | None:
        """What one step stands for per channel, where filters were rounded to 8 bits around zero in training."""
        while isinstance(filters, CNode) and filters.op.moves:
            filters = filters.args[0]
        if not isinstance(filters, CNode) or not isinstance(filters.op, FakeQuantise):
            return None
        step, zero = self.value(filters.args[1]), self.value(filters.args[2])
        if step is None or zero is None or np.any(zero != 0) or not -128 <= filters.op.least < filters.op.most <= 127:
            return None
        return np.broadcast_to(step.reshape(-1), (count,)).astype(np.float32) if step.size in (1, count) else None

    # -- what follows ---------------------------------------------------------------------------------------------
    def _grow(self, layer: Layer, taken: set[int], plain: bool) -> None:
        while len(users := self.users.get(layer.result.id, [])) == 1:
            user = users[0]
            if user.id in taken or not (self._per_channel(layer, user) or (not plain and self._rest(layer, user))):
                return
            layer.nodes.append(user)

    def _bend(self, layer: Layer) -> None:
        """A curve at the end."""
        layer.curve = curves.follow(layer.result, self.program.graph.output, self.users, self._order, self.value)
        layer.nodes += layer.curve.nodes if layer.curve is not None else []

    def _per_channel(self, layer: Layer, user: CNode) -> bool:
        """A factor or summand per channel, before anything else."""
        if layer.added is not None or layer.low > -_LIMIT or layer.high < _LIMIT:
            return False
        if isinstance(user.op, norm.BatchNorm) and not user.op.is_training:
            values = [self.value(a) for a in user.args[1:5]]
            if any(v is None for v in values):
                return False
            gamma, beta, mean, variance = (np.asarray(v, np.float64) for v in values)
            scale = gamma / np.sqrt(variance + user.op.epsilon)
            self._scale(layer, scale, beta - mean * scale)
            return True
        if type(user.op) is TupleGetItem and isinstance(layer.result.op, norm.BatchNorm):
            return bool(user.args[1].value == 0)  # type: ignore[attr-defined]
        if type(user.op) not in (elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Div, elementwise.RealDiv):
            return False
        return self._arithmetic(layer, user)

    def _arithmetic(self, layer: Layer, user: CNode) -> bool:
        left = user.args[0] is layer.result
        other = self.value(user.args[1] if left else user.args[0])
        if other is None or user.abstract.shape != layer.result.abstract.shape:
            return False
        row = _per_channel(other, layer, len(user.abstract.shape))
        if row is None:
            return False
        one, zero = np.ones_like(row), np.zeros_like(row)
        kind = type(user.op)
        if kind is elementwise.Add:
            self._scale(layer, one, row)
        elif kind is elementwise.Mul:
            self._scale(layer, row, zero)
        elif left and kind is elementwise.Sub:
            self._scale(layer, one, -row)
        elif left and kind in (elementwise.Div, elementwise.RealDiv) and np.all(row != 0):
            self._scale(layer, 1 / row, zero)
        else:
            return False
        return True

    @staticmethod
    def _scale(layer: Layer, scale: np.ndarray, shift: np.ndarray) -> None:
        layer.factor = (layer.factor * scale).astype(np.float32)
        layer.bias = (layer.bias * scale + shift).astype(np.float32)

    def _rest(self, layer: Layer, user: CNode) -> bool:
        """Another tensor added, then bounds."""
        bounded = layer.low > -_LIMIT or layer.high < _LIMIT
        kind = type(user.op)
        if kind is elementwise.Add and not bounded and layer.added is None:
            other = user.args[1] if user.args[0] is layer.result else user.args[0]
            whole = other.abstract.shape == layer.result.abstract.shape and self.value(other) is None
            if whole and other is not layer.result and not _after(layer.head, other):
                layer.added = other
                return True
            return False
        if kind is elementwise.ReLU and layer.high == _LIMIT:
            layer.low = max(layer.low, 0.0)
            return True
        if user.op.name == "ReLU6" and not bounded:
            layer.low, layer.high = 0.0, 6.0
            return True
        if kind in (elementwise.Maximum, elementwise.Minimum):
            limit = self.value(user.args[1] if user.args[0] is layer.result else user.args[0])
            if limit is None or limit.size != 1 or not np.isfinite(limit).all():
                return False
            bound = float(limit.reshape(()))
            if kind is elementwise.Maximum and layer.high == _LIMIT:
                layer.low = max(layer.low, bound)
                return True
            if kind is elementwise.Minimum and bound >= layer.low:
                layer.high = min(layer.high, bound)
                return True
        return False


def _after(head: CNode, other: Node) -> bool:
    """Whether a value depends on a layer's own convolution."""
    stack, seen = [other], set[int]()
    while stack:
        node = stack.pop()
        if node is head:
            return True
        if node.id not in seen and node.id > head.id:
            seen.add(node.id)
            stack.extend(node.args)
    return False


def _per_channel(other: np.ndarray, layer: Layer, rank: int) -> np.ndarray | None:
    """A fixed operand as one number per channel."""
    count = layer.filters.shape[layer.axis]
    if other.size == 1:
        return np.full(count, other.reshape(()), np.float32)
    shape = (1,) * (rank - other.ndim) + other.shape
    place = layer.channel_axis % rank
    return other.reshape(-1) if all(d == (count if i == place else 1) for i, d in enumerate(shape)) else None


# -- calibration --------------------------------------------------------------------------------------------------------
def observed(program: Program, layers: Sequence[Layer]) -> tuple[Program, list[Node]]:
    """The program with every value that whole numbers are to stand for among its outputs, and these values."""
    wanted = {node.id: node for layer in layers for node in layer.seen}
    nodes = list(wanted.values())
    graph = program.graph
    outputs = graph.output.args if isinstance(graph.output, CNode) and type(graph.output.op) is MakeTuple else (graph.output,)
    made = MakeTuple()
    old = graph.output
    taps = [n for n in nodes if not isinstance(n, Parameter)]
    graph.output = Builder(graph).emit(made, (*outputs, *taps))
    try:
        copied = Rewriter(program, {}).run(graph.output)
    finally:
        graph.output = old
    before = [*program.outputs, *program.outputs[:1] * (len(outputs) - len(program.outputs))]  # what checks of values tell is there, too
    specs = (*before, *(program.outputs[0]._replace(name=f"tap{n}") for n in range(len(taps))))
    return program._replace(graph=copied, outputs=specs), nodes


def calibrate(program: Program, layers: Sequence[Layer], data: Iterable[list[np.ndarray]], compile_program: Any) -> dict[int, Range]:
    """The range of every layer's input, by its node."""
    tapped, nodes = observed(program, layers)
    run = compile_program(tapped)
    axes = {node.id: layer.channel_axis for layer in layers for node in layer.seen[::-1]}
    ranges = {node.id: Range() for node in nodes}
    given = {p.id: i for i, p in enumerate(program.graph.parameters[: len(program.inputs)])}
    for arrays_ in data:
        found = iter(run(*arrays_)[len(tapped.outputs) - sum(not isinstance(n, Parameter) for n in nodes) :])
        for node in nodes:
            ranges[node.id].see(arrays_[given[node.id]] if node.id in given else next(found), axes[node.id])
    return ranges


# -- writing the graph anew -----------------------------------------------------------------------------------------------
class Rewriter:
    """Copies a graph; `replaced`: last node of a layer -> what makes it."""

    def __init__(self, program: Program, replaced: dict[int, Any]):
        self.program, self.replaced = program, replaced
        self.graph = FuncGraph(program.graph.name)
        self.graph.attrs.update(program.graph.attrs)
        self.builder = Builder(self.graph)
        self.made: dict[int, Node] = {}
        self.weights = dict(program.weights)
        for parameter in program.graph.parameters:
            self.made[parameter.id] = self.graph.add_parameter(parameter.name, parameter.abstract, parameter.default)
        self.coded: dict[tuple[int, str], Node] = {}
        self.inner: frozenset[int] = frozenset()  # nodes of layers, which are not copied

    def emit(self, op: Any, *arguments: Node) -> Node:
        return self.builder.emit(op, arguments)

    def constant(self, array: np.ndarray) -> Node:
        return ValueNode(array, AbstractTensor(from_numpy(array.dtype), array.shape))

    def weight(self, name: str, array: np.ndarray) -> Node:
        """A new weight: backends prepare these once."""
        while name in self.weights:
            name += "_"
        self.weights[name] = array
        return self.graph.add_parameter(name, AbstractTensor(from_numpy(array.dtype), array.shape), default=name)

    def __call__(self, node: Node) -> Node:
        return self.made.get(node.id, node)

    def run(self, output: Node) -> FuncGraph:
        old, self.program.graph.output = self.program.graph.output, output
        try:
            nodes = list(self.program.graph.nodes())
        finally:
            self.program.graph.output = old
        for node in nodes:
            make = self.replaced.get(node.id, None)
            if make is not None:
                self.made[node.id] = make(self)
            elif node.id not in self.inner:
                self.made[node.id] = self.emit(node.op, *(self(a) for a in node.args))
        self.graph.output = self(output)
        return self.graph


def quantise(program: Program, layers: Sequence[Layer], ranges: dict[int, Range], options: FullOptions) -> Program:
    """The program with its layers in whole numbers."""
    plan = _Plan(program, layers, ranges, options)
    writer = Rewriter(program, {layer.result.id: plan.maker(layer) for layer in layers})
    writer.inner = frozenset(n.id for layer in layers for n in layer.nodes[:-1])
    graph = writer.run(program.graph.output)
    return without_unused(program._replace(graph=graph, weights=writer.weights))


class _Plan:
    def __init__(self, program: Program, layers: Sequence[Layer], ranges: dict[int, Range], options: FullOptions):
        self.ranges, self.options = ranges, options
        self.steps = {i: r.scale(options.method) for i, r in ranges.items()}
        heads = {layer.head.id for layer in layers}
        self.sources = {layer.source.id for layer in layers}
        outside = {program.graph.output.id}
        for node in program.graph.nodes():
            for place, argument in enumerate(node.args):
                if node.id not in heads or place != 0:
                    outside.add(argument.id)
        #: results that nobody but layers reads
        self.whole = {layer.result.id for layer in layers if layer.result.id not in outside and layer.result.id in ranges}

    def maker(self, layer: Layer) -> Any:
        return lambda writer: self.made(writer, layer)

    def made(self, writer: Rewriter, layer: Layer) -> Node:
        codes, steps = self._filters(layer)
        if self.options.dynamic:
            x, scale = self._measured(writer, layer, steps)
            bias = layer.bias
        else:
            x = self._coded(writer, layer.source)
            scale = writer.weight(f"{layer.name}.scale", (steps * self.steps[layer.source.id]).astype(np.float32))
            bias = self._bias(layer, codes, steps)
        grid = self._operand_grid(layer)
        kinds = self._kinds(layer, grid)
        if grid is not None:
            bias = bias - np.float32(grid.low)
        like = layer.head.op
        op = QuantisedConv2D(like, **kinds) if isinstance(like, conv.Conv2D) else QuantisedMatMul(**kinds)
        more = [writer(layer.added)] if layer.added is not None else []
        filters = writer.weight(f"{layer.name}.codes", codes)
        result = writer.emit(op, x, filters, scale, writer.weight(f"{layer.name}.bias", bias.astype(np.float32)), *more)
        shape = layer.result.abstract.shape
        if result.abstract.shape != shape:
            result = writer.emit(broadcasting.Reshape(), result, ValueNode(tuple(shape)))
        return result if grid is None else self._looked_up(writer, layer, result, grid)

    def _kinds(self, layer: Layer, grid: Grid | None) -> dict[str, Any]:
        """How sums are handed on. The grid of a curve's operand lies within the bounds, which therefore have no effect."""
        if grid is not None:
            return {"out": grid.kind, "step": grid.step}
        if layer.result.id not in self.whole:
            return {"out": "float32", "low": layer.low, "high": layer.high}
        kind, step = self.ranges[layer.result.id].kind, self.steps[layer.result.id]
        least, most = (np.float32(end * step) for end in (np.iinfo(kind).min, np.iinfo(kind).max))
        if layer.low <= least and layer.high >= most:
            return {"out": kind, "step": step}  # rounding to bytes keeps within the bounds
        return {"out": kind, "step": step, "low": layer.low, "high": layer.high}

    def _operand_grid(self, layer: Layer) -> Grid | None:
        if layer.curve is None:
            return None
        return curves.operand_grid(layer.curve, self.ranges[layer.curve.source.id], self.options.method, self._result_grid(layer))

    def _result_grid(self, layer: Layer) -> Grid:
        """Of a curve: around zero for layers, and all of its range where others read it, too."""
        span = self.ranges[layer.result.id]
        if layer.result.id in self.whole:
            return Grid(span.kind, self.steps[layer.result.id])
        return Grid.between(*span.ends(self.options.method))

    def _looked_up(self, writer: Rewriter, layer: Layer, codes: Node, operand: Grid) -> Node:
        """The curve's result: in whole numbers for layers, in floats if others read it, too."""
        assert layer.curve is not None
        grid, span, number = self._result_grid(layer), self.ranges[layer.result.id], layer.result.id
        if number in self.sources:
            table = curves.entries(layer.curve, operand, Grid(span.kind, self.steps[number]))
            writer.coded[number, span.kind] = writer.emit(TableLookup(), codes, writer.constant(table))
        if number in self.whole:
            return writer.coded[number, span.kind]
        found = writer.emit(TableLookup(), codes, writer.constant(curves.entries(layer.curve, operand, grid)))
        step, low = (writer.constant(np.array(number, np.float32)) for number in (grid.step, grid.low))
        scaled = writer.emit(elementwise.Mul(), writer.emit(elementwise.Cast(), found, ValueNode(mstype.float32)), step)
        return writer.emit(elementwise.Add(), scaled, low)

    def _filters(self, layer: Layer) -> tuple[np.ndarray, np.ndarray]:
        """Codes, and what one step stands for per channel; factors are part of the filters."""
        along = [1] * layer.filters.ndim
        along[layer.axis] = -1
        scaled = layer.filters * layer.factor.reshape(along)
        others = tuple(d for d in range(scaled.ndim) if d != layer.axis)
        if layer.steps is not None and np.all(layer.factor != 0):
            chosen = (layer.steps * np.abs(layer.factor)).astype(np.float32)
            return np.clip(np.rint(scaled / chosen.reshape(along)), -128, 127).astype(np.int8), chosen
        largest = np.abs(scaled).max(axis=others if self.options.per_channel else None, keepdims=True)
        steps = np.where(largest > 0, largest / 127, 1).astype(np.float32)
        codes = np.clip(np.rint(scaled / steps), -127, 127).astype(np.int8)
        return np.ascontiguousarray(codes), np.broadcast_to(steps.reshape(-1), (scaled.shape[layer.axis],)).astype(np.float32)

    def _bias(self, layer: Layer, codes: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """The bias, with what rounding the filters takes from the mean of each channel's results given back."""
        if not self.options.bias_correction:
            return layer.bias
        along = [1] * layer.filters.ndim
        along[layer.axis] = -1
        lost = layer.filters * layer.factor.reshape(along) - codes * steps.reshape(along)
        means = self.ranges[layer.source.id].means().astype(np.float32)
        if layer.is_product:
            return layer.bias + means @ lost if means.size == lost.shape[0] else layer.bias
        groups = layer.head.op.group
        inner = lost.sum(axis=(1, 2) if layer.head.op.channels_last else (2, 3))  # (outputs, inputs of a group)
        per_group = means.reshape(groups, -1).repeat(inner.shape[0] // groups, axis=0)
        return np.asarray(layer.bias + (inner * per_group).sum(axis=1))

    def _coded(self, writer: Rewriter, source: Node) -> Node:
        """A layer's input in whole numbers; made once for all layers that read it."""
        if source.id in self.whole:
            return writer(source)
        kind = self.ranges[source.id].kind
        if (source.id, kind) not in writer.coded:
            step = writer.constant(np.array(self.steps[source.id], np.float32))
            writer.coded[source.id, kind] = writer.emit(QuantiseLinear(kind), writer(source), step)
        return writer.coded[source.id, kind]

    @staticmethod
    def _measured(writer: Rewriter, layer: Layer, steps: np.ndarray) -> tuple[Node, Node]:
        """The input by its largest magnitude in this run."""
        x = writer(layer.source)
        axes = tuple(range(len(layer.source.abstract.shape)))
        largest = writer.emit(reduction.ReduceMax(), writer.emit(elementwise.Abs(), x), ValueNode(axes))
        floor = writer.emit(elementwise.Maximum(), largest, writer.constant(np.array(1e-8, np.float32)))
        step = writer.emit(elementwise.Mul(), floor, writer.constant(np.array(1 / 127, np.float32)))
        coded = writer.emit(QuantiseLinear("int8"), x, step)
        return coded, writer.emit(elementwise.Mul(), writer.constant(steps), step)


def without_unused(program: Program) -> Program:
    """Without weights that nothing reads any more."""
    used = {a.id for node in program.graph.nodes() for a in node.args}
    first = len(program.inputs)
    parameters = program.graph.parameters
    kept = [p for n, p in enumerate(parameters) if n < first or p.id in used]
    weights = {name: array for p, (name, array) in zip(parameters[first:], program.weights.items()) if p.id in used}
    program.graph.parameters[:] = kept
    return program._replace(weights=weights)
