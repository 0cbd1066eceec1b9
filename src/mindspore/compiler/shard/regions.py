"""Branches and loops under cuts.

The graphs that `Cond` and `While` run are closed: everything comes in as an operand. Each is planned like the graph around it, with its
operands laid as they arrive, and an operand that nobody has decided about (a weight) takes the layout that the inside asks for.

    branches  both must give results of one layout: of the two that they would give, the one that is cheaper to come by
    loops     what a trip gives the next one takes: the layouts of the carried values are repeated until they stay the same, so
              that a state which starts as zeros on every device and becomes a part of the batch is cut before the first trip, not in
              each; where they do not settle, every trip brings its results back into the layouts of the start

Predicates are whole, so all devices take the same way and meet in the same collectives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mindspore.compiler.shard import cost
from mindspore.compiler.shard.layout import Layout
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node
from mindspore.prims.control import Cond, While
from mindspore.prims.structural import MakeTuple

if TYPE_CHECKING:
    from mindspore.compiler.shard.plan import Plan, Planner

#: how often the layouts of a loop's carried values are tried
_ROUNDS = 4


@dataclass(frozen=True)
class Region:
    """The plan of a branch or loop."""

    plans: tuple[Plan, Plan]  #: of the two graphs, in the order of the arguments
    operands: tuple[Layout, ...]  #: as both graphs take them
    results: tuple[Layout, ...]
    targets: tuple[tuple[Layout, ...], tuple[Layout, ...]]  #: of the results of each graph
    trips: int = 1  #: how often the graphs run, as far as that is known


def is_region(node: CNode) -> bool:
    """Whether a node is a branch or loop that can be planned inside: all values that go in and come out are tensors."""
    if not isinstance(node.op, (Cond, While)):
        return False
    graphs = [a.value for a in graph_arguments(node)]
    values = [a.abstract for a in operands_of(node)] + [leaf for g in graphs for leaf in _leaves(g)]
    return all(isinstance(v, AbstractTensor) for v in values)


def graph_arguments(node: CNode) -> list[Any]:
    return list(node.args[1:3] if isinstance(node.op, Cond) else node.args[:2])


def operands_of(node: CNode) -> list[Node]:
    return list(node.args[3:] if isinstance(node.op, Cond) else node.args[2:])


def _leaves(graph: FuncGraph) -> list[Any]:
    output = graph.output
    found = output.args if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else (output,)
    return [leaf.abstract for leaf in found]


def plan_region(planner: Planner, node: CNode) -> Region:
    """Plan the inside of a branch or loop, from the layouts in which its operands lie."""
    known = [planner.plan.layout_of(a) for a in operands_of(node)]
    layouts = [layout.paid() if layout is not None else None for layout in known]
    return _branches(planner, node, layouts) if isinstance(node.op, Cond) else _loop(planner, node, layouts)


def _branches(planner: Planner, node: CNode, layouts: list[Layout | None]) -> Region:
    then, otherwise = (a.value for a in graph_arguments(node))
    first = planner.inside(then, layouts, node)
    operands = _taken(first)
    second = planner.inside(otherwise, list(operands), node)
    results = tuple(
        _cheaper(planner, one, other, abstract.nbytes)
        for one, other, abstract in zip(_given(first), _given(second), _leaves(then))
    )
    return Region((first, second), operands, results, (results, results))


def _cheaper(planner: Planner, one: Layout, other: Layout, nbytes: int) -> Layout:
    """Of two layouts, the one into which the other is brought at less cost."""
    there = cost.redistribution(one, other, nbytes, planner.mesh, planner.machine)
    back = cost.redistribution(other, one, nbytes, planner.mesh, planner.machine)
    return other if there < back else one


def _loop(planner: Planner, node: CNode, layouts: list[Layout | None]) -> Region:
    condition, body = (a.value for a in graph_arguments(node))
    count = node.op.carried
    for _ in range(_ROUNDS):
        inner = planner.inside(body, layouts, node)
        operands, results = _taken(inner), _given(inner)
        if results == operands[:count]:
            break
        layouts = [*results, *operands[count:]]
    test = planner.inside(condition, list(operands), node)
    carried = operands[:count]
    return Region((test, inner), operands, carried, ((Layout.whole(0),), carried), node.op.bound or 1)


def _taken(plan: Plan) -> tuple[Layout, ...]:
    return tuple(plan.layout_of(p) for p in plan.graph.parameters)


def _given(plan: Plan) -> tuple[Layout, ...]:
    """The layouts of a graph's results, with all sums paid."""
    output = plan.graph.output
    found = output.args if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else (output,)
    return tuple(plan.layout_of(leaf).paid() for leaf in found)
