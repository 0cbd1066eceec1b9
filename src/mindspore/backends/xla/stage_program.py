"""A stage of a pipeline on XLA: programs of what lies between messages, and a host that passes the messages on.

The processes of different stages run different graphs, and XLA's programs are common to all devices of a mesh, so a stage has programs of
its own, over its own devices only. Its graph (compiler/shard/pipeline.py) is taken apart at its messages: every run of operators between
two of them is one program. Nothing calls back from within a program; JAX runs programs in the background, so a stage computes while the
host waits for the next message. Micro-batches do the same work: programs that are alike are compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindspore.backends.xla.mesh_program import MeshProgram
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.prims import world
from mindspore.prims.exchange import Receive, Send
from mindspore.prims.structural import MakeTuple, TupleGetItem

Compile = Callable[[FuncGraph], Callable[..., Any]]


class Piece(NamedTuple):
    """Operators between messages: which values they take, the program, and which values it gives."""

    inputs: tuple[int, ...]
    program: Callable[..., Any]
    outputs: tuple[int, ...]


class Message(NamedTuple):
    """A message, and the value that is sent or received."""

    op: Send | Receive
    value: int


class StageProgram:
    """A stage's graph, which may send and receive."""

    def __init__(self, graph: FuncGraph, compile_piece: Compile):
        self.graph, self.compile_piece = graph, compile_piece
        self.programs: dict[str, Callable[..., Any]] = {}
        self.results = _leaves(graph.output)
        self.actions: list[Piece | Message] = []
        self._take_apart()

    def _take_apart(self) -> None:
        nodes = _ordered(self.graph)
        last_use = self._last_uses(nodes)
        waiting: list[CNode] = []

        def flush(place: int) -> None:
            if waiting:
                self.actions.append(self._piece(waiting, place, last_use))
                waiting.clear()

        for place, node in enumerate(nodes):
            if isinstance(node.op, (Send, Receive)):
                flush(place)
                value = node.args[0].id if isinstance(node.op, Send) else node.id
                self.actions.append(Message(node.op, value))
            elif not isinstance(node.op, MakeTuple):
                waiting.append(node)
        flush(len(nodes))

    def _last_uses(self, nodes: list[CNode]) -> dict[int, int]:
        """For each value the place of the last operator that takes it; results are taken at the end."""
        found = {leaf.id: len(nodes) for leaf in self.results}
        for place, node in enumerate(nodes):
            for arg in _arguments(node):
                found[arg.id] = max(found.get(arg.id, 0), place)
        return found

    def _piece(self, nodes: list[CNode], end: int, last_use: dict[int, int]) -> Piece:
        """A program of some nodes; `end`: the place of what comes after them."""
        graph = FuncGraph(self.graph.name)
        builder = Builder(graph)
        done: dict[int, Node] = {}
        inputs: list[int] = []

        def value(node: Node) -> Node:
            if isinstance(node, ValueNode):
                return node
            if node.id not in done:
                if isinstance(node, CNode) and isinstance(node.op, MakeTuple):
                    return builder.make_tuple([value(a) for a in node.args])
                inputs.append(node.id)
                done[node.id] = graph.add_parameter(f"v{len(inputs)}", node.abstract, None)
            return done[node.id]

        with builder.active():
            for node in nodes:
                with builder.at(node.location, node.scope):
                    done[node.id] = builder.emit(node.op, tuple(value(a) for a in node.args))
            kept = [n for n in nodes if last_use.get(n.id, -1) >= end and isinstance(n.abstract, AbstractTensor)]
            graph.output = builder.make_tuple([done[n.id] for n in kept])
        return Piece(tuple(inputs), self._program(graph), tuple(n.id for n in kept))

    def _program(self, graph: FuncGraph) -> Callable[..., Any]:
        key = signature(graph)
        if key not in self.programs:
            self.programs[key] = self.compile_piece(graph)
        return self.programs[key]

    def __call__(self, *arrays: Any) -> tuple:
        values: dict[int, Any] = {p.id: a for p, a in zip(self.graph.parameters, arrays)}
        transport = world.transport()
        for action in self.actions:
            if isinstance(action, Piece):
                values.update(zip(action.outputs, action.program(*(values[i] for i in action.inputs))))
            elif isinstance(action.op, Send):
                message = world.Message(action.op.dest_rank, np.asarray(values[action.value]))
                transport.start_exchange([message], [], action.op.sr_tag)
            else:
                values[action.value] = action.op.communicate()
        return tuple(_constant(leaf) if isinstance(leaf, ValueNode) else values[leaf.id] for leaf in self.results)


def _constant(leaf: ValueNode) -> np.ndarray:
    return np.asarray(leaf.value)


def _leaves(output: Node) -> tuple[Node, ...]:
    """The results of a stage; behind those of the graph come messages, whose values nobody wants."""
    leaves = output.args if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else (output,)
    return tuple(leaf for leaf in leaves if not (isinstance(leaf, CNode) and isinstance(leaf.op, Send)))


def _arguments(node: CNode) -> list[Node]:
    """The values that an operator takes, those within tuples included; what a message only comes after is none."""
    if isinstance(node.op, Receive):
        return []
    found: list[Node] = []
    for arg in node.args:
        inner = isinstance(arg, CNode) and isinstance(arg.op, MakeTuple)
        found += _arguments(arg) if inner else [arg]  # type: ignore[arg-type]
    return found


def _ordered(graph: FuncGraph) -> list[CNode]:
    """The nodes, elements of tuples right behind them: only tensors go from program to program."""
    nodes = graph.nodes()
    elements: dict[int, list[CNode]] = {}
    for node in nodes:
        if isinstance(node.op, TupleGetItem):
            elements.setdefault(node.args[0].id, []).append(node)
    return [n for node in nodes if not isinstance(node.op, TupleGetItem) for n in (node, *elements.get(node.id, ()))]


def signature(graph: FuncGraph) -> str:
    """A text that is the same for graphs that compute the same."""
    number = {node.id: f"%{i}" for i, node in enumerate((*graph.parameters, *graph.nodes()))}

    def shown(node: Node) -> str:
        if not isinstance(node, ValueNode):
            return number[node.id]
        if isinstance(node.value, FuncGraph):
            return f"{{{signature(node.value)}}}"
        value = node.value
        data = getattr(value, "_data", value)
        return f"{data.dtype}{data.shape}{np.asarray(data).tobytes().hex()}" if hasattr(data, "tobytes") else repr(value)

    lines = [str(p.abstract) for p in graph.parameters]
    for node in graph.nodes():
        attrs = sorted((k, repr(v)) for k, v in node.op.attrs.items())
        lines.append(f"{type(node.op).__name__}{attrs}({', '.join(map(shown, node.args))}): {node.abstract}")
    return "\n".join((*lines, shown(graph.output)))


def on_mesh(graph: FuncGraph, shape: tuple[int, ...], ranks: range | None) -> Callable[..., Any]:
    """A piece as a program of the processes `ranks` (None: of all), which form a mesh; each gives and gets its own arrays."""
    axes = tuple(range(len(shape)))

    def dims(kind: Any) -> tuple[tuple[int, ...], ...]:
        return (axes, *((),) * (len(kind.shape) - 1)) if kind.shape else ()

    inputs, outputs = [dims(p.abstract) for p in graph.parameters], [dims(o) for o in graph.outputs]
    return MeshProgram(graph, shape, inputs, outputs, ranks).on_parts
