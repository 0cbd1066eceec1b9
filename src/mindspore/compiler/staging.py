"""Graphs that need values while they are compiled: a shape computed from data, a size that is an element of a tensor.

A graph is traced with arguments at hand. When the interpreted program asks for a value (`int(x)`, `range(n)`, `x[:n]`) the
`Oracle` computes it from these arguments, the trace goes on with the answer as a constant, and the question is noted.
Operations whose result shapes depend on data (`Measured`) are nodes like others, with the shapes they had.

The finished graph holds for arguments that give the same answers. `cut` divides it at the questions: stage i computes what
question i asks, and what later stages need. Whoever runs the stages compares the answers on the way (runtime/staged.py).
Everything is pure until the last stage has run, so that a graph found unfit half-way has done nothing.

Compare the guards of tracing compilers (Gal et al., "Trace-based just-in-time type specialization", 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.ir.graph import topological_order
from mindspore.prims.measured import Measured
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore.prims.values import ValueUnknownError

#: values larger than this are data, not sizes: a graph for each would be used once
MAX_ELEMENTS = 16
#: questions per graph; a program that asks more is better run as plain Python
MAX_QUESTIONS = 64


class Question(NamedTuple):
    """Something the graph is made for: the value of a node, or the shapes of a measured one."""

    node: Node
    answer: tuple

    @property
    def needs(self) -> tuple[Node, ...]:
        """The nodes that must have been computed to answer."""
        return tuple(self.node.args) if is_measured(self.node) else (self.node,)


def is_measured(node: Node) -> bool:
    return isinstance(node, CNode) and isinstance(node.op, Measured)


def value_answer(array: Any) -> tuple:
    """Equal for equal values."""
    array = np.asarray(array)
    return (array.shape, *array.ravel().tolist())


def shape_answer(arrays: Iterable[Any]) -> tuple:
    """Equal for results of the same shapes and types."""
    return tuple((a.dtype.str, a.shape) for a in arrays)


class Oracle:
    """Computes nodes of the graph being built from the arguments at hand, and notes what was asked."""

    def __init__(self, graph: FuncGraph, run: Callable[[CNode, list[Any]], Any]):
        self.graph = graph
        self.run = run  # computes one node from the values of its arguments
        self.questions: list[Question] = []
        self._known: dict[int, Any] = {}
        self._measured: tuple = ()

    def give(self, parameter: Node, array: np.ndarray) -> None:
        """State the value of a graph parameter."""
        self._known[parameter.id] = array

    def value(self, node: Node) -> Any:
        """The value of a bool or integer node with few elements as an array; None for others."""
        abstract = node.abstract
        if abstract.dtype.kind not in "biu" or abstract.size > MAX_ELEMENTS or not self._computable(node):
            return None
        array = np.asarray(self._compute(node))
        if not isinstance(node, ValueNode) and not any(q.node is node for q in self.questions):
            self._note(Question(node, value_answer(array)))
        return array

    def measure(self, prim: Measured, args: tuple[Node, ...]) -> Any:
        """The abstract result of a measured operation; None where its arguments cannot be computed."""
        if not all(map(self._computable, args)):
            return None
        self._measured = prim.eval(np, *(self._compute(a) for a in args))
        return AbstractTuple(tuple(AbstractTensor(mstype.from_numpy(a.dtype), a.shape) for a in self._measured))

    def note_measured(self, node: CNode) -> None:
        """The node made for what was measured last."""
        self._known[node.id], self._measured = self._measured, ()
        self._note(Question(node, shape_answer(self._known[node.id])))

    def _note(self, question: Question) -> None:
        if len(self.questions) >= MAX_QUESTIONS:
            raise ValueUnknownError(f"it needs the values of more than {MAX_QUESTIONS} tensors while it is compiled.")
        self.questions.append(question)

    def _computable(self, node: Node) -> bool:
        """Whether a node depends on nothing but the graph's inputs, and has no effect on the world on the way."""
        if isinstance(node, ValueNode):
            return True
        if node.graph is not self.graph:
            return False
        return all(
            n.op.effect != "io" and all(isinstance(a, ValueNode) or a.graph is self.graph for a in n.args)
            for n in topological_order(node, self.graph)
        )

    def _compute(self, node: Node) -> Any:
        if isinstance(node, ValueNode):
            return node.value
        for n in topological_order(node, self.graph):
            if n.id not in self._known:
                self._known[n.id] = self.run(n, [self._argument(a) for a in n.args])
        return self._argument(node)

    def _argument(self, node: Node) -> Any:
        if isinstance(node, ValueNode):
            return node.value
        if node.id not in self._known:  # a weight, or another value from outside
            self._known[node.id] = node.default._data  # type: ignore[attr-defined]
        return self._known[node.id]


# -- cutting ------------------------------------------------------------------------------------------------------------
class Stage(NamedTuple):
    """A closed part of a graph. Values travel between stages under the ids of the nodes of the whole graph."""

    graph: FuncGraph
    inputs: list[int]
    outputs: list[int]


#: owner of what the host computes between stages
_HOST = -1


def cut(graph: FuncGraph, questions: list[Question]) -> list[Stage]:
    """One stage per question, and a last one for the rest. The whole graph stays as it was."""
    order = topological_order(graph.output, graph)
    owner: dict[int, int] = {}
    nodes: dict[int, CNode] = {}
    for i, question in enumerate(questions):
        for needed in question.needs:
            for n in topological_order(needed, graph):
                nodes[n.id] = n
                owner.setdefault(n.id, _HOST if is_measured(n) else i)
    for n in order:
        nodes[n.id] = n
        owner.setdefault(n.id, _HOST if is_measured(n) else len(questions))
    for n in nodes.values():  # elements stay with the tuple they are taken from
        if type(n.op) is TupleGetItem:
            owner[n.id] = owner[n.args[0].id]
    members: list[list[CNode]] = [[] for _ in range(len(questions) + 1)]
    for n in nodes.values():
        if owner[n.id] != _HOST:
            members[owner[n.id]].append(n)
    wanted: list[dict[int, Node]] = [{} for _ in members]
    for question in questions:
        for needed in question.needs:
            if owner.get(needed.id, _HOST) != _HOST:
                wanted[owner[needed.id]][needed.id] = needed
    for i, part in enumerate(members):
        for a in _border(part, i, owner):
            if owner.get(a.id, _HOST) not in (_HOST, i):
                wanted[owner[a.id]][a.id] = a
    wanted[-1] = {graph.output.id: graph.output}
    return [
        _stage(f"{graph.name}_{i}", part, list(_border(part, i, owner)), list(wanted[i].values()))
        for i, part in enumerate(members)
    ]


def _border(part: list[CNode], stage: int, owner: dict[int, int]) -> list[Node]:
    """What a stage takes from outside, each once."""
    found: dict[int, Node] = {}
    for n in part:
        for a in n.args:
            if not isinstance(a, ValueNode) and owner.get(a.id) != stage:
                found.setdefault(a.id, a)
    return list(found.values())


def _stage(name: str, part: list[CNode], inputs: list[Node], outputs: list[Node]) -> Stage:
    """Copies of some nodes as a graph of their own."""
    graph = FuncGraph(name)
    copies: dict[int, Node] = {}
    for i, node in enumerate(inputs):
        if isinstance(node.abstract, AbstractTuple):
            raise ValueUnknownError("a value is needed in the middle of an operation with several results.")
        copies[node.id] = graph.add_parameter(getattr(node, "name", f"v{i}"), node.abstract)
    for n in part:
        copies[n.id] = CNode(n.op, (copies.get(a.id, a) for a in n.args), n.abstract, graph, n.location, n.scope)
    if len(outputs) == 1 and isinstance(outputs[0], CNode) and type(outputs[0].op) is MakeTuple:
        graph.output = copies[outputs[0].id]  # the last stage
    else:
        results = [copies[o.id] for o in outputs]
        graph.output = CNode(MakeTuple(), results, AbstractTuple(tuple(r.abstract for r in results)), graph)
    return Stage(graph, [n.id for n in inputs], [n.id for n in outputs])
