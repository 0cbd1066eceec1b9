"""The graphs of training, made from the graph of a network with its loss.

    step    inputs, weights, slots, rate            → outputs, changed weights, changed slots
    gather  inputs, weights, sums                   → outputs, weights that the network changes itself, sums + gradients
    apply   trained weights, slots, sums, rate, part → changed weights, changed slots     (gradients = part · sums)

Slots are what an optimizer keeps: the momentum, or Adam's two means and its count of steps. Only trained weights have gradients,
so the backward pass ends where the first of them is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler import driver
from mindspore.compiler.autodiff.reverse import pullback
from mindspore.compiler.builder import Builder, array_node
from mindspore.compiler.inline import inline, reapply
from mindspore.formats.program import Program
from mindspore.ir import AbstractTensor, FuncGraph, Node
from mindspore.prims import elementwise as e
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum
from mindspore.prims.norm import BatchNorm
from mindspore.prims.values import from_node
from mindspore_lite.training import precision, recomputation
from mindspore_lite.training.options import TrainOptions

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class TrainGraphs(NamedTuple):
    """`trained`: names of weights in the order of their slots. `changed`: weights that the network changes itself."""

    step: FuncGraph
    gather: FuncGraph
    apply: FuncGraph
    trained: tuple[str, ...]
    changed: tuple[str, ...]
    outputs: int


def loss_of(program: Program, name: str) -> int:
    """Which of the outputs is the loss."""
    if name:
        for place, spec in enumerate(program.outputs):
            if spec.name == name:
                return place
        raise ValueError(f"loss names '{name}', but the model's outputs are {[spec.name for spec in program.outputs]}")
    for place, spec in enumerate(program.outputs):
        if int(np.prod(spec.shape)) == 1 and spec.dtype.np.kind == "f":
            return place
    raise ValueError("none of the model's outputs is a single number: export the network together with its loss")


def trained_names(program: Program, pattern: str) -> tuple[str, ...]:
    """Weights that are trained: floats whose names match, and that the network does not change itself."""
    found = tuple(
        name
        for name, array in program.weights.items()
        if re.fullmatch(pattern, name) and array.dtype.kind == "f" and name not in program.updates
    )
    if not found:
        raise ValueError(f"trainable is {pattern!r}, but no weight has such a name; there are {sorted(program.weights)[:8]} …")
    return found


def slots(weights: Sequence[np.ndarray], options: TrainOptions) -> list[np.ndarray]:
    """What an optimizer starts with."""
    if options.optimizer == "Adam":
        return [np.zeros(w.shape, np.float32) for w in weights for _ in range(2)] + [np.zeros((), np.float32)]
    return [np.zeros(w.shape, np.float32) for w in weights] if options.momentum else []


def evaluation(program: Program) -> Program:
    """The program as it is used after training: normalisations with the statistics that training has collected."""
    making = _Making("evaluate")
    with making.builder.active():
        env: dict[int, Node] = {p.id: making.graph.add_parameter(p.name, p.abstract, p.default) for p in program.graph.parameters}
        for node in program.graph.nodes():
            arguments = tuple(env.get(a.id, a) for a in node.args)
            op = node.op
            if isinstance(op, BatchNorm) and op.is_training:
                op = BatchNorm(False, op.epsilon, op.momentum, op.data_format)
            env[node.id] = reapply(making.builder, op, arguments)
        output = env.get(program.graph.output.id, program.graph.output)
        found = [making.builder.get_item(output, n) for n in range(len(program.outputs))]
    return program._replace(graph=making.done(found), updates={}, errors=())


class _Making:
    """One graph under construction."""

    def __init__(self, name: str):
        self.graph = FuncGraph(name)
        self.builder = Builder(self.graph)

    def parameter(self, name: str, shape: tuple[int, ...], kind: Any = mstype.float32) -> Node:
        return self.graph.add_parameter(name, AbstractTensor(kind, shape))

    def done(self, results: Sequence[Any], record: Sequence[Node] = ()) -> FuncGraph:
        """`record`: what the network notes of values that are not allowed; it comes last."""
        nodes = [r if isinstance(r, Node) else self.builder.node_of(r) for r in results]
        count = len(nodes)
        self.graph.output = self.builder.make_tuple([*nodes, *record])
        updates = {str(n): n for n in range(count)} if record else {}
        self.graph.attrs.update({"updates": updates, "record": (count, count + 1) if record else None})
        driver.optimise(self.graph)
        return self.graph


def make(program: Program, options: TrainOptions) -> TrainGraphs:
    """The graphs that train a program; ValueError where it has no loss or nothing to train."""
    loss, trained = loss_of(program, options.loss), trained_names(program, options.trainable)
    changed = tuple(program.updates)
    if options.precision != "float32":
        program = precision.mixed(program, options.precision)
    arguments = (program, loss, trained, options)
    return TrainGraphs(_step(*arguments), _gather(*arguments), _apply(program, trained, options), trained, changed, len(program.outputs))


class _Forward(NamedTuple):
    kept: list[Any]  # outputs, and weights that the network changes itself
    weights: dict[str, Any]
    gradients: list[Any]
    record: list[Node]


def _forward(making: _Making, program: Program, loss: int, trained: Sequence[str], options: TrainOptions) -> _Forward:
    """The network and its gradients."""
    operands = [making.graph.add_parameter(p.name, p.abstract) for p in program.graph.parameters]
    found = inline(program.graph, operands, making.builder)
    weights = dict(zip(program.weights, operands[len(program.inputs) :]))
    if options.recompute > 1:
        recomputation.mark(making.builder, [found[loss]], options.recompute)
    back = pullback(making.builder, [found[loss]], [weights[name] for name in trained])
    spec = program.outputs[loss]
    gradients = back([from_node(array_node(np.full(spec.shape, options.loss_scale, spec.dtype.np)))])
    missing = [name for name, gradient in zip(trained, gradients) if gradient is None]
    if missing:
        raise ValueError(f"the loss does not depend on '{missing[0]}': leave it out of trainable")
    if options.loss_scale != 1:
        gradients = [e.Mul()(e.Cast()(gradient, mstype.float32), _number(1 / options.loss_scale)) for gradient in gradients]
    kept = [*found[: len(program.outputs)], *(found[place] for place in program.updates.values())]
    record = [found[place] for place in program.graph.attrs.get("record") or ()]
    return _Forward(kept, {name: from_node(weights[name]) for name in trained}, gradients, record)


def _step(program: Program, loss: int, trained: Sequence[str], options: TrainOptions) -> FuncGraph:
    making = _Making("step")
    with making.builder.active():
        forward = _forward(making, program, loss, trained, options)
        new = _updated(making, program, forward.weights, forward.gradients, options)
    return making.done([*forward.kept, *new], forward.record)


def _gather(program: Program, loss: int, trained: Sequence[str], options: TrainOptions) -> FuncGraph:
    making = _Making("gather")
    with making.builder.active():
        forward = _forward(making, program, loss, trained, options)
        sums = [from_node(making.parameter(f"sum.{name}", program.weights[name].shape)) for name in trained]
        added = [e.Add()(total, e.Cast()(gradient, mstype.float32)) for total, gradient in zip(sums, forward.gradients)]
    return making.done([*forward.kept, *added], forward.record)


def _apply(program: Program, trained: Sequence[str], options: TrainOptions) -> FuncGraph:
    making = _Making("apply")
    with making.builder.active():
        weights = {name: from_node(making.parameter(name, program.weights[name].shape)) for name in trained}
        sums = [from_node(making.parameter(f"sum.{name}", program.weights[name].shape)) for name in trained]
        part = from_node(making.parameter("part", ()))
        new = _updated(making, program, weights, [e.Mul()(total, part) for total in sums], options)
    return making.done(new)


def _updated(making: _Making, program: Program, weights: dict[str, Any], gradients: Sequence[Any], options: TrainOptions) -> list[Any]:
    """New weights, then new slots; adds the parameters for slots and the rate."""
    shapes = [program.weights[name].shape for name in weights]
    empty = [np.zeros(shape, np.float32) for shape in shapes]
    held = [from_node(making.parameter(f"slot{n}", s.shape)) for n, s in enumerate(slots(empty, options))]
    rate = from_node(making.parameter("rate", ()))
    old = [*weights.values(), *held]
    finite = _finite(gradients) if options.precision == "float16" else None
    if options.decay:
        gradients = [e.Add()(g, e.Mul()(w, _number(options.decay))) for g, w in zip(gradients, weights.values())]
    if options.optimizer == "Adam":
        new = _adam(list(weights.values()), list(gradients), held, rate)
    else:
        new = _sgd(list(weights.values()), list(gradients), held, rate, options.momentum)
    return new if finite is None else [_where(finite, fresh, kept) for fresh, kept in zip(new, old)]


def _finite(gradients: Sequence[Any]) -> Any:
    """Whether all gradients are numbers: with 16 bits large ones become infinite, and such a step is left out."""
    total = None
    for gradient in gradients:
        part = ReduceSum()(e.Mul()(gradient, _number(0)), tuple(range(len(gradient.shape))))
        total = part if total is None else e.Add()(total, part)
    return e.Equal()(total, _number(0))


def _where(finite: Any, fresh: Any, kept: Any) -> Any:
    return e.Select()(BroadcastTo(tuple(kept.shape))(finite), fresh, kept)


def _sgd(weights: list[Any], gradients: list[Any], held: list[Any], rate: Any, momentum: float) -> list[Any]:
    if momentum:
        held = [e.Add()(e.Mul()(m, _number(momentum)), g) for m, g in zip(held, gradients)]
        gradients = held
    return [*(e.Sub()(w, e.Mul()(g, rate)) for w, g in zip(weights, gradients)), *held]


def _number(value: float) -> Any:
    return from_node(array_node(np.array(value, np.float32)))


def _adam(weights: list[Any], gradients: list[Any], held: list[Any], rate: Any) -> list[Any]:
    """Kingma & Ba 2015."""
    count = e.Add()(held[-1], _number(1))
    first = e.Sub()(_number(1), e.Pow()(_number(_BETA1), count))
    second = e.Sub()(_number(1), e.Pow()(_number(_BETA2), count))
    new, kept = [], []
    for place, (weight, gradient) in enumerate(zip(weights, gradients)):
        mean, square = held[2 * place : 2 * place + 2]
        mean = e.Add()(e.Mul()(mean, _number(_BETA1)), e.Mul()(gradient, _number(1 - _BETA1)))
        square = e.Add()(e.Mul()(square, _number(_BETA2)), e.Mul()(e.Mul()(gradient, gradient), _number(1 - _BETA2)))
        spread = e.Add()(e.Sqrt()(e.RealDiv()(square, second)), _number(_EPSILON))
        new.append(e.Sub()(weight, e.Mul()(rate, e.RealDiv()(e.RealDiv()(mean, first), spread))))
        kept += [mean, square]
    return [*new, *kept, count]
