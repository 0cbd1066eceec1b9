"""A NumPy virtual machine for graphs.

A graph is translated once into a list of steps, each of which reads slots and writes one; running it is a loop over
the steps. Slots are cleared after their last use so that memory is freed early. Cond and While run their subgraphs'
programs; recursion works because a program may call itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.compiler.parse.errors import located
from mindspore.ir import CNode, FuncGraph, Node, ValueNode
from mindspore.prims.control import Call, Cond, While


class InterpBackend:
    """Compiles graphs to step lists over NumPy."""

    name = "interp"

    def __init__(self, watch: Callable[[CNode, Callable], Callable] | None = None):
        """`watch(node, kernel)` may replace the kernel of every node: to look at values, or at the clock."""
        self.watch = watch

    def supports(self, graph: FuncGraph) -> bool:
        return True

    def compile(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> Callable[..., tuple]:
        programs: dict[int, Program] = {}
        return _program(graph, programs, self.watch)


def _program(graph: FuncGraph, programs: dict[int, Program], watch: Callable | None = None) -> Program:
    """The program of a graph, made once: recursive graphs find themselves here."""
    found = programs.get(graph.id)
    if found is None:
        found = programs[graph.id] = Program(graph.name)
        found.build(graph, programs, watch)
    return found


class Program:
    """A graph as a list of steps."""

    def __init__(self, name: str):
        self.name = name
        self.steps: list[tuple[Callable, list[int], int, list[int]]] = []
        self.nodes: list[CNode] = []  # what each step computes
        self.template: list[Any] = []  # initial slot contents: constants, None elsewhere
        self.inputs: list[int] = []
        self.result = 0
        self.early = 0  # so many steps tell whether the graph reports an error
        self.record: list[tuple[int, int]] = []  # (output number, slot) of the code and value of the error

    def build(self, graph: FuncGraph, programs: dict[int, Program], watch: Callable | None = None) -> None:
        slots: dict[int, int] = {}

        def slot(node: Node) -> int:
            if node.id not in slots:
                slots[node.id] = len(self.template)
                value = node.value if isinstance(node, ValueNode) else None
                self.template.append(_program(value, programs, watch) if isinstance(value, FuncGraph) else value)
            return slots[node.id]

        self.inputs = [slot(p) for p in graph.parameters]
        record = graph.attrs.get("record") or ()
        nodes, self.early = _record_first(graph, record)
        self.nodes = nodes
        last_use = {a.id: i for i, node in enumerate(nodes) for a in node.args if isinstance(a, CNode)}
        for i, node in enumerate(nodes):
            sources = [slot(a) for a in node.args]
            dead = [
                slots[a.id]
                for a in {a.id: a for a in node.args}.values()
                if last_use.get(a.id) == i and a is not graph.output
            ]
            kernel = _kernel(node) if watch is None else watch(node, _kernel(node))
            self.steps.append((kernel, sources, slot(node), dead))
        self.result = slot(graph.output)
        self.record = [(n, slots[graph.output.args[n].id]) for n in record]  # type: ignore[attr-defined]

    def __call__(self, *arrays: Any) -> Any:
        slots = self.template.copy()
        for index, array in zip(self.inputs, arrays):
            slots[index] = array if isinstance(array, np.ndarray) else np.asarray(array)
        with np.errstate(all="ignore"):
            self._run(self.steps[: self.early], slots)
            if self.record and slots[self.record[0][1]] != 0:  # later steps may trip over what caused the error
                known = {number: slots[place] for number, place in self.record}
                return tuple(known.get(n) for n in range(max(known) + 1))
            self._run(self.steps[self.early :], slots)
        return slots[self.result]

    @staticmethod
    def _run(steps: list[tuple[Callable, list[int], int, list[int]]], slots: list[Any]) -> None:
        for kernel, sources, target, dead in steps:
            slots[target] = kernel(*[slots[s] for s in sources])
            for d in dead:
                slots[d] = None


def _record_first(graph: FuncGraph, record: tuple[int, ...]) -> tuple[list[CNode], int]:
    """The nodes in an order in which those come first that tell of an error, and how many these are."""
    wanted: set[int] = set()
    stack: list[Node] = [graph.output.args[n] for n in record]  # type: ignore[attr-defined]
    while stack:
        node = stack.pop()
        if isinstance(node, CNode) and node.id not in wanted:
            wanted.add(node.id)
            stack.extend(node.args)
    nodes = graph.nodes()
    first = [n for n in nodes if n.id in wanted]
    return first + [n for n in nodes if n.id not in wanted], len(first)


def _kernel(node: CNode) -> Callable:
    if isinstance(node.op, Cond):
        return _run_cond
    if isinstance(node.op, While):
        carried = node.op.carried
        return lambda condition, body, *operands: _run_while(condition, body, carried, operands)
    if isinstance(node.op, Call):
        return lambda program, *operands: program(*operands)
    evaluate = node.op.eval

    def run(*args: Any) -> Any:
        try:
            out = evaluate(np, *args)
        except Exception as error:
            located(error, node.location)
            raise
        return out if isinstance(out, (np.ndarray, tuple)) else np.asarray(out)

    return run


def _run_cond(predicate: np.ndarray, then: Program, otherwise: Program, *operands: Any) -> Any:
    return (then if bool(predicate) else otherwise)(*operands)


def _run_while(condition: Program, body: Program, carried: int, operands: tuple) -> tuple:
    carry, invariants = tuple(operands[:carried]), operands[carried:]
    while bool(condition(*carry, *invariants)):
        carry = tuple(body(*carry, *invariants))
    return carry
