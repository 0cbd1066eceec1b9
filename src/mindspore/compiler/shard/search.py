"""Choosing a plan: exact search over the operators of the forward pass.

A variable for each operator of the forward pass; its choices lay the links between nodes and the links within a node on labels
of its index rule. The cost of a choice is the operator's time (three times over, with gradients), the sums that its results owe,
and the sum over devices of its weights' gradients; the cost of two neighbours is the redistribution between them, there and
back. The least total is found by elimination (eliminate.py). The gradients and the optimizer follow by propagation (plan.py).

Memory: weights and states that do not fit are priced by a multiplier, raised until the plan fits. Multipliers reach the convex part of
the frontier only, so a plan that fits may exist that is a little faster than the one found.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from mindspore.compiler.rewrite.passes import substitute
from mindspore.compiler.shard import cost
from mindspore.compiler.shard.eliminate import Problem
from mindspore.compiler.shard.layout import Axes, Layout, Mesh
from mindspore.compiler.shard.plan import (
    Given,
    Options,
    Plan,
    Planner,
    fits,
    flops_of,
    input_layouts,
    is_forward,
    make_plan,
    output_layouts,
    outputs_of,
    parts_worked,
    rule_of,
    shapes_of,
)
from mindspore.compiler.shard.report import Report
from mindspore.compiler.shard.rows import exchange, misplaced
from mindspore.compiler.shard.strategy import Assignment, assignment_of
from mindspore.ir import AbstractTuple, CNode, FuncGraph, Node, Parameter
from mindspore.prims.factors import Factors
from mindspore.prims.structural import MakeTuple, TupleGetItem

#: bytes kept per byte of a trained weight: the weight, its gradient, two states
_KEPT = 4.0
#: choices of one operator
_MOST_CHOICES = 48


def find_plan(graph: FuncGraph, options: Options, given: Given = Given()) -> Plan:
    """The plan for a graph: searched for, or by propagation from what the user said. The graph may be changed to suit it."""
    plan = _plan_of(graph, options, given)
    found = [] if given.operators or options.files.save_operators else misplaced(plan)
    if not found:
        return plan
    before, undone = Report(plan).waiting, exchange(graph, found)
    plan = _plan_of(graph, options, given)
    if Report(plan).waiting < before:
        return plan
    substitute(graph, undone)
    return _plan_of(graph, options, given)


def _plan_of(graph: FuncGraph, options: Options, given: Given) -> Plan:
    if not options.search or given.operators:
        return make_plan(graph, options, given=given)
    searched = Search(graph, options, given).run()
    if options.propagate:
        return searched
    # The search is exact for the forward pass, and gradients follow it; what is to be little is the whole step.
    batch = make_plan(graph, replace(options, search=False), given=given)
    batch.options = options
    reports = [Report(plan) for plan in (searched, batch)]
    fits = reports[1].weights <= max(options.machine.memory, reports[0].weights)
    return batch if fits and _seconds(reports[1]) < _seconds(reports[0]) else searched


def _seconds(report: Report) -> float:
    """Of a step, nothing of it hidden."""
    return report.seconds + report.waiting


def super_axes(mesh: Mesh, machine: cost.Machine) -> list[Axes]:
    """The mesh's axes by class of links: between nodes, within a node."""
    far = tuple(a for a in mesh.axes if machine.link(mesh, (a,)) is machine.slow)
    near = tuple(a for a in mesh.axes if a not in far)
    return [axes for axes in (far, near) if axes] if far else _halves(near)


def _halves(axes: Axes) -> list[Axes]:
    """Devices of one node: two groups of axes, so that two labels can be cut."""
    middle = len(axes) // 2
    return [part for part in (axes[:middle], axes[middle:]) if part]


class Search:
    """One graph."""

    counts_all = False  #: operators that have no choice are variables, too

    def __init__(self, graph: FuncGraph, options: Options, known: Given = Given()):
        self.graph, self.options, self.given = graph, options, known
        self.mesh = Mesh.of(options.devices)
        # Propagation is the search for the least communication: work counts only to tell plans apart that move as much.
        self.machine = options.machine.with_free_work() if options.propagate else options.machine
        self.groups = super_axes(self.mesh, self.machine)
        self.trains = bool(graph.attrs.get("updates"))
        self.inputs = Planner(graph, options)
        self.inputs._lay_inputs()
        self.choices: dict[int, list[Assignment]] = {}
        self.rules: dict[int, Factors] = {}
        self._moves: dict[Any, float] = {}
        self._kinds: dict[int, Any] = {}  # operators of one kind have the same choices and costs: equal layers are priced once
        self._known: dict[Any, Any] = {}
        self.exact, self.problem, self.least = True, Problem(), 0.0

    def run(self) -> Plan:
        searched = self._searched()
        preset = self._solve(searched, 0.0)
        if self._memory(searched, preset) > self.machine.memory:
            preset = self._within_memory(searched)
        given = {n.id for n in searched if "in_strategy" in n.op.attrs}
        chosen = {i: a for i, a in preset.items() if i not in given}
        return make_plan(self.graph, self.options, chosen, self.given)

    def _searched(self) -> list[CNode]:
        """The operators that have a choice, with their choices."""
        nodes = [n for n in self.graph.nodes() if is_forward(n)]
        for node in nodes:
            rule = rule_of(node)
            if rule is not None and rule.inputs:
                kind = self._kinds[node.id] = self._kind(node, rule)
                found = list(self._once(("choices", kind), lambda node=node, rule=rule: self._choices(node, rule)))
                if len(found) > 1 or "in_strategy" in node.op.attrs or self.counts_all:
                    self.rules[node.id], self.choices[node.id] = rule, found
        searched = [n for n in nodes if n.id in self.choices]
        self._spread_given(searched)
        return searched

    def _kind(self, node: CNode, rule: Factors) -> Any:
        """What the choices of an operator and their costs depend on."""
        if "in_strategy" in node.op.attrs:
            return node.id
        types = tuple((a.abstract.shape, a.abstract.nbytes) if hasattr(a.abstract, "nbytes") else None for a in node.args)
        weights = tuple(_weight(a) is not None for a in node.args)
        return (*rule[:2], tuple(rule.reductions.items()), types, tuple(outputs_of(node)), weights)

    def _once(self, key: Any, make: Any) -> Any:
        """What `make()` gave for this key."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    # -- choices --------------------------------------------------------------------------------------------------------
    def _choices(self, node: CNode, rule: Factors) -> list[Assignment]:
        shapes, outputs = shapes_of(node), outputs_of(node)
        if "in_strategy" in node.op.attrs:
            return [assignment_of(node, rule, shapes, self.mesh)]
        found: list[Assignment] = []
        free = tuple(label for label in rule.labels if label not in rule.on_request)
        for labels in itertools.product(("", *free), repeat=len(self.groups)):
            chosen: Assignment = {}
            for label, axes in zip(labels, self.groups):
                if label:
                    chosen[label] = chosen.get(label, ()) + axes
            if chosen not in found and fits(rule, chosen, shapes, outputs, self.mesh):
                found.append(chosen)
        return found

    def _spread_given(self, nodes: list[CNode]) -> None:
        """Let operators choose, too, what the strategies of others suggest, from neighbour to neighbour."""
        users: dict[int, list[tuple[CNode, int, int]]] = {}
        for node in nodes:
            for place, arg in enumerate(node.args):
                maker, output = _maker(arg)
                if maker is not None and maker.id in self.choices and self._is_moved(node, place):
                    users.setdefault(maker.id, []).append((node, place, output))
        work = [(n, self.choices[n.id][0]) for n in nodes if "in_strategy" in n.op.attrs]
        while work:
            node, chosen = work.pop()
            rule = self.rules[node.id]
            for user, place, output in users.get(node.id, ()):
                work += self._suggest(user, self.rules[user.id].inputs[place], output_layouts(rule, chosen)[output])
            for place, (arg, layout) in enumerate(zip(node.args, input_layouts(rule, chosen))):
                maker, output = _maker(arg)
                if maker is not None and maker.id in self.choices and self._is_moved(node, place):
                    work += self._suggest(maker, self.rules[maker.id].outputs[output], layout)

    def _suggest(self, node: CNode, labels: Any, layout: Layout | None) -> list[tuple[CNode, Assignment]]:
        """Add the choice that gives a tensor this layout, if it is new; with the operator, to be spread further."""
        known = self.choices[node.id]
        if "in_strategy" in node.op.attrs or layout is None or len(known) >= _MOST_CHOICES:
            return []
        barred = self.rules[node.id].on_request
        chosen = {label: axes for label, axes in zip(labels, layout.dims) if label and axes and label not in barred}
        sound = fits(self.rules[node.id], chosen, shapes_of(node), outputs_of(node), self.mesh)
        if not sound or chosen in known:
            return []
        known.append(chosen)
        self._kinds[node.id] = node.id  # no longer like the others
        return [(node, chosen)]

    # -- costs ------------------------------------------------------------------------------------------------------------
    def _node_cost(self, node: CNode, chosen: Assignment, weight_price: float) -> float:
        rule, mesh, machine = self.rules[node.id], self.mesh, self.machine
        leaves = node.abstract.elements if isinstance(node.abstract, AbstractTuple) else (node.abstract,)
        seconds = (3 if self.trains else 1) * self._work(node, chosen)
        for leaf, layout in zip(leaves, output_layouts(rule, chosen)):
            seconds += self._move(layout, layout.paid(), getattr(leaf, "nbytes", 0))
        used = {a for axes in chosen.values() for a in axes}
        for arg, wanted in zip(node.args, input_layouts(rule, chosen)):
            weight = _weight(arg)
            if weight is None or wanted is None:
                continue
            stored = weight.abstract.nbytes / max(1, math.prod(wanted.cuts(mesh)))
            seconds += weight_price * stored * _KEPT
            if self.trains:
                axes = tuple(sorted(used - wanted.used))
                seconds += self._sum_of_gradients(machine.collective("all_reduce", stored, mesh, axes))
        return seconds

    def _sum_of_gradients(self, seconds: float) -> float:
        """What a sum of gradients over devices costs, beside work that is done as often."""
        return seconds

    def _work(self, node: CNode, chosen: Assignment) -> float:
        """Seconds of an operator's forward pass on a device."""
        rule = self.rules[node.id]
        parts = parts_worked(rule, chosen, shapes_of(node), outputs_of(node), self.mesh)
        leaves = node.abstract.elements if isinstance(node.abstract, AbstractTuple) else (node.abstract,)
        nbytes = sum(getattr(a, "nbytes", 0) for a in (*leaves, *(a.abstract for a in node.args)))
        flops = flops_of(node, rule)
        return self.machine.operation(flops / parts, nbytes / parts)

    def _move(self, source: Layout, target: Layout, nbytes: int) -> float:
        key = (source, target, nbytes)
        if key not in self._moves:
            self._moves[key] = cost.redistribution(source, target, nbytes, self.mesh, self.machine)
        return self._moves[key]

    def _edge(self, user: CNode, place: int, maker: CNode, output: int) -> np.ndarray:
        """Redistribution from each choice of a maker to each of a user, there and (for gradients) back."""
        arg = user.args[place]
        made = [output_layouts(self.rules[maker.id], c)[output].paid() for c in self.choices[maker.id]]
        wanted = [input_layouts(self.rules[user.id], c)[place] for c in self.choices[user.id]]
        nbytes = arg.abstract.nbytes
        back = self.trains and arg.abstract.dtype.kind == "f"
        kinds = {
            (m, w): self._move(m, w, nbytes) + (self._move(w, m, nbytes) if back else 0.0)  # type: ignore[arg-type]
            for m, w in itertools.product(set(made), set(wanted))
        }
        return np.array([[kinds[m, w] for w in wanted] for m in made])

    # -- solving -----------------------------------------------------------------------------------------------------------
    def _solve(self, nodes: list[CNode], weight_price: float) -> dict[int, Assignment]:
        problem = Problem()
        number: dict[int, int] = {}
        for node in nodes:
            costs = self._once(
                ("costs", weight_price, self._kinds[node.id]),
                lambda node=node: np.array([self._node_cost(node, c, weight_price) for c in self.choices[node.id]]),
            )
            for place, arg in enumerate(node.args):
                costs = costs + self._from_input(node, place, arg)
            number[node.id] = problem.variable(costs)
        for node in nodes:
            for place in range(len(node.args)):
                edge = self._edge_of(node, place)
                if edge is not None:
                    maker, output = edge
                    problem.add(number[maker.id], number[node.id], self._table(maker, output, node, place))
        best = problem.solve()
        self.exact, self.problem, self.least = best.exact, problem, best.cost
        return {node.id: self.choices[node.id][best.values[number[node.id]]] for node in nodes}

    def _edge_of(self, node: CNode, place: int) -> tuple[CNode, int] | None:
        """The operator whose choice matters for an argument, and which of its results that is."""
        maker, output = _maker(node.args[place])
        return (maker, output) if maker is not None and maker.id in self.choices and self._is_moved(node, place) else None

    def _table(self, maker: CNode, output: int, node: CNode, place: int) -> np.ndarray:
        return self._once(
            ("edge", self._kinds[maker.id], output, self._kinds[node.id], place),
            lambda: self._edge(node, place, maker, output),
        )

    def _is_moved(self, node: CNode, place: int) -> bool:
        labels = self.rules[node.id].inputs
        return place < len(labels) and labels[place] is not None

    def _from_input(self, node: CNode, place: int, arg: Node) -> np.ndarray | float:
        """The cost of taking a graph's input as the data set lays it."""
        layout = self.inputs.plan.layouts.get(arg.id) if isinstance(arg, Parameter) else None
        if not isinstance(layout, Layout) or not self._is_moved(node, place):
            return 0.0
        wanted = [input_layouts(self.rules[node.id], c)[place] for c in self.choices[node.id]]
        return np.array([self._move(layout, w, arg.abstract.nbytes) for w in wanted])  # type: ignore[arg-type]

    # -- memory ------------------------------------------------------------------------------------------------------------
    def _memory(self, nodes: list[CNode], preset: dict[int, Assignment]) -> float:
        """Bytes of weights, gradients and states per device."""
        kept: dict[int, float] = {}
        for node in nodes:
            for arg, layout in zip(node.args, input_layouts(self.rules[node.id], preset[node.id])):
                weight = _weight(arg)
                if weight is not None and layout is not None:
                    parts = max(1, math.prod(layout.cuts(self.mesh)))
                    kept.setdefault(weight.id, weight.abstract.nbytes / parts * (_KEPT if self.trains else 1.0))
        return sum(kept.values())

    def _within_memory(self, nodes: list[CNode]) -> dict[int, Assignment]:
        """The least multiplier, to a factor of 1.2, with which the plan fits; the smallest plan there is, if none does."""
        low, high = 1e-15, 1e-3
        best = self._solve(nodes, high)
        while high / low > 1.2:
            middle = (low * high) ** 0.5
            found = self._solve(nodes, middle)
            if self._memory(nodes, found) <= self.machine.memory:
                best, high = found, middle
            else:
                low = middle
        return best


def _maker(node: Node) -> tuple[CNode | None, int]:
    """The operator that computes a value, and which of its results it is."""
    if not isinstance(node, CNode):
        return None, 0
    if isinstance(node.op, TupleGetItem):
        maker, index = node.args[0], node.args[1].value  # type: ignore[attr-defined]
        if isinstance(maker, CNode) and isinstance(maker.op, MakeTuple):
            return _maker(maker.args[index])
        return (maker, index) if isinstance(maker, CNode) else (None, 0)
    return node, 0


def _weight(node: Node) -> Parameter | None:
    """The weight that a value is, perhaps under another name or type."""
    while isinstance(node, CNode) and node.op.elementwise and len(node.args) in (1, 2) and isinstance(node.args[0], Node):
        node = node.args[0]
    return node if isinstance(node, Parameter) and node.default is not None else None
