"""From graphs to MindIR: a traced network as a model of messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore.compiler.parse.entry import Place, Traced, tensors_in
from mindspore.formats.mindir.lowering import lower
from mindspore.formats.mindir.writer import GraphWriter, ModelWriter
from mindspore.ir import CNode
from mindspore.ir.abstract import Abstract, AbstractNone, AbstractTuple
from mindspore.prims import values
from mindspore.prims.collective import Collective
from mindspore.prims.values import TensorBase

_VERSION = "2.10.0"
_RANDOM = "rng_state"


def write_model(traced: Traced, inputs: tuple, name: str) -> ModelWriter:
    """A network, traced with these inputs, as a MindIR model."""
    owner = ModelWriter(lower, _VERSION)
    writer = GraphWriter(owner, f"{name}_{owner.number()}")
    graph = traced.graph
    nodes = iter(graph.parameters[: traced.arguments])
    for value in inputs:
        _declare_input(writer, value, nodes)
    for node, weight in zip(graph.parameters[traced.arguments :], traced.weights):
        value = np.asarray(weight.asnumpy())
        # the state of random numbers is no part of a model: official operations have their own
        writer.bind(node, writer.constant(value) if weight.name == _RANDOM else writer.parameter(weight.name, value))
    outputs = graph.output.args if isinstance(graph.output.abstract, AbstractTuple) else (graph.output,)
    result, kind = _structure(writer, traced.result, outputs)
    if any(parameter.name != _RANDOM for parameter, _ in traced.written):
        result = _with_writes(writer, traced, outputs, result, kind)
    messages = [writer.name_of(n) for n in outputs if isinstance(n, CNode) and isinstance(n.op, Collective) and n.op.must_happen]
    if messages:  # to other stages of a pipeline; nobody here needs their results
        result = writer.after(result, kind, messages)
    writer.finish(result, kind)
    owner.model.graph = writer.proto
    return owner


def _declare_input(writer: GraphWriter, value: Any, nodes: Iterator[Any]) -> None:
    """Declare one argument: a tensor as it is, a sequence as a tuple whose items are taken out in the graph."""
    if not isinstance(value, (tuple, list)):
        for _ in tensors_in(value):
            node = next(nodes)
            writer.bind(node, writer.input(node.name, node.abstract))
        return
    held: list[Any] = []

    def kind_of(item: Any) -> AbstractTuple:
        parts: list[Abstract] = []
        for part in item:
            if isinstance(part, (tuple, list)):
                parts.append(kind_of(part))
            elif tensors_in(part):
                held.append(next(nodes))
                parts.append(held[-1].abstract)
        return AbstractTuple(tuple(parts))

    kind = kind_of(value)
    if held:
        dynamic = bool(getattr(value, "__ms_dynamic__", False))
        _take_apart(writer, writer.input(held[0].name, kind, dynamic_length=dynamic), kind, iter(held))


def _take_apart(writer: GraphWriter, name: str, kind: AbstractTuple, nodes: Iterator[Any]) -> None:
    for place, part in enumerate(kind.elements):
        item = writer.get_item(name, place, part)
        if isinstance(part, AbstractTuple):
            _take_apart(writer, item, part, nodes)
        else:
            writer.bind(next(nodes), item)


def _structure(writer: GraphWriter, template: Any, outputs: Any) -> tuple[str, Abstract]:
    """Emit the result: tensors at their places, sequences as tuples."""
    if type(template) is Place:
        node = outputs[template.index]
        return writer.name_of(node), node.abstract
    if isinstance(template, dict):
        template = tuple(template.values())
    if isinstance(template, (tuple, list)):
        parts = [_structure(writer, item, outputs) for item in template]
        kind = AbstractTuple(tuple(k for _, k in parts))
        return writer.make_tuple([n for n, _ in parts], kind), kind
    if isinstance(template, TensorBase):
        return writer.constant(np.asarray(template._data)), values.abstract_of(template)
    return writer.constant(template), AbstractNone()


def _with_writes(writer: GraphWriter, traced: Traced, outputs: Any, result: str, kind: Abstract) -> str:
    """The result after the new values of Parameters have been assigned."""
    names = {id(w): n for n, w in zip(traced.graph.parameters[traced.arguments :], traced.weights)}
    effects = []
    for parameter, index in traced.written:
        if parameter.name == _RANDOM:
            continue
        target, value = writer.name_of(names[id(parameter)]), writer.name_of(outputs[index])
        effects.append(writer.emit("Assign", [target, value], outputs[index].abstract))
    return writer.after(result, kind, effects)
