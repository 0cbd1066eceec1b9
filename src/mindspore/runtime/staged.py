"""Running a graph in stages, between which answers are compared (compiler/staging.py says why)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.backends.interp import InterpBackend
from mindspore.compiler import driver, staging
from mindspore.ir import CNode, FuncGraph, ValueNode
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.structural import TupleGetItem
from mindspore.runtime import devices, eager_kernels, executor


class OtherAnswers(Exception):
    """The values met on the way are not those the graph is made for. Nothing has been changed."""

    def __init__(self, answers: list[tuple]):
        super().__init__("the graph is made for other values")
        self.answers = answers  # up to and with the first that differs


def run_node(node: CNode, args: list[Any]) -> Any:
    """One node of a graph, now."""
    if isinstance(node.op, (Cond, While, Call)):
        return _run_control(node, args)
    prim = node.op
    kernel = eager_kernels.forward(prim, args) if prim.native_from else None
    with np.errstate(all="ignore"):
        return kernel(args) if kernel is not None else devices.current().evaluate(prim, args)


def _run_control(node: CNode, args: list[Any]) -> Any:
    graph = FuncGraph(node.op.name)
    operands = [
        a if isinstance(a, ValueNode) else graph.add_parameter(f"x{i}", a.abstract) for i, a in enumerate(node.args)
    ]
    graph.output = CNode(node.op, operands, node.abstract, graph)
    return InterpBackend().compile(graph)(*(v for v, a in zip(args, node.args) if not isinstance(a, ValueNode)))


class StagedExecutable:
    """The stages of a graph, called like the whole."""

    def __init__(self, graph: FuncGraph, questions: list[staging.Question], options: driver.Options):
        self.inputs = [p.id for p in graph.parameters]
        self.questions = questions
        self.answers = [q.answer for q in questions]
        self.stages: list[tuple[Any, list[int], list[int]]] = [
            (executor.compile_graph(s.graph, frozenset(), options) if s.outputs else None, s.inputs, s.outputs)
            for s in staging.cut(graph, questions)
        ]
        self._elements = _elements_of_measured(graph, questions)

    def __call__(self, *arrays: Any) -> Any:
        known = dict(zip(self.inputs, arrays))
        met: list[tuple] = []
        for question, (run, inputs, outputs) in zip(self.questions, self.stages):
            if run is not None:
                known.update(zip(outputs, run(*[known[i] for i in inputs])))
            met.append(self._answer(question, known))
            if met[-1] != question.answer:
                raise OtherAnswers(met)
        run, inputs, _ = self.stages[-1]
        return run(*[known[i] for i in inputs])

    def _answer(self, question: staging.Question, known: dict[int, Any]) -> tuple:
        node = question.node
        if not staging.is_measured(node):
            return staging.value_answer(known[node.id])
        given = [a.value if isinstance(a, ValueNode) else known[a.id] for a in node.args]
        results = node.op.eval(np, *given)  # type: ignore[attr-defined]
        known.update((element.id, results[element.args[1].value]) for element in self._elements[node.id])
        return staging.shape_answer(results)


def _elements_of_measured(graph: FuncGraph, questions: list[staging.Question]) -> dict[int, list[Any]]:
    """For each measured node, the nodes that stand for one of its results."""
    found: dict[int, dict[int, Any]] = {q.node.id: {} for q in questions if staging.is_measured(q.node)}
    for root in (graph.output, *(n for q in questions for n in q.needs)):
        for n in staging.topological_order(root, graph):
            if type(n.op) is TupleGetItem and n.args[0].id in found:
                found[n.args[0].id][n.id] = n
    return {k: list(v.values()) for k, v in found.items()}
