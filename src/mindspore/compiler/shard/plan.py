"""Deciding how every value of a graph lies on the mesh.

The graph holds the forward pass, the gradients and the optimizer, so there is one rule for all communication: a weight
gradient contracts the batch, comes out owing a sum, and whoever uses it pays.

1. Operators with a strategy are fixed, and so are the weights that they use.
2. The others follow in topological order: each takes, among the cuts that its arguments suggest, the cheapest by the cost model
   (redistribution of arguments, sums owed by results, the work itself).
3. Weights, constants and what is computed from them alone float: they take the layout that their first user asks for. States of an
   optimizer lie as their weights do.
4. With optimizer parallelism, weights and states are stored in further parts along devices that would hold copies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mindspore.compiler.builder import infer_argument
from mindspore.compiler.shard import cost
from mindspore.compiler.shard.layout import Axes, Layout, Mesh
from mindspore.compiler.shard.regions import Region, is_region, operands_of, plan_region
from mindspore.compiler.shard.strategy import (
    Assignment,
    StrategyError,
    assignment_of,
    is_interleaved,
    is_placed,
    layout_of_cuts,
    refuse,
)
from mindspore.ir import AbstractTuple, CNode, FuncGraph, Node, Parameter, ValueNode
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.factors import DONE, WHOLE, Factors
from mindspore.prims.mesh import Laid
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore.prims.update import Update

Layouts = Layout | tuple["Layouts", ...]


class StrategyFiles(NamedTuple):
    """Files to and from which plans go; empty: none."""

    save_parameters: str = ""
    load_parameters: str = ""
    save_operators: str = ""
    load_operators: str = ""
    only_trainable: bool = True  #: of the parameters, those that are trained are saved


class Given(NamedTuple):
    """What is known before planning, besides the user's strategies: read from files."""

    parameters: dict[str, Layout] = {}  #: by name
    operators: dict[str, list[list[int]]] = {}  #: cuts of inputs, by the operator's name in `operator_names`


@dataclass(frozen=True)
class Options:
    """What the user's settings say."""

    devices: int
    search: bool = False  #: choose everything (auto_parallel); else operators without strategy that use weights cut the batch
    dataset: Any = "data_parallel"  #: "data_parallel", "full_batch", or a strategy for each input
    optimizer_parallel: bool = False
    optimizer_threshold: int = 64 * 1024  #: bytes; smaller weights are not cut for the optimizer
    propagate: bool = False  #: of a search: by least communication alone ("sharding_propagation")
    machine: cost.Machine = field(default_factory=cost.Machine)
    stages: int = 1  #: of a pipeline; each has `devices` of its own
    spare: int = 0  #: devices that are left over when each stage has its share; there must be none
    schedule: str = "1f1b"
    files: StrategyFiles = field(default_factory=StrategyFiles)


@dataclass
class Plan:
    """Layouts for all nodes of a graph, and how each operator is cut."""

    graph: FuncGraph
    mesh: Mesh
    options: Options
    rules: dict[int, Factors | None] = field(default_factory=dict)
    assignments: dict[int, Assignment] = field(default_factory=dict)
    layouts: dict[int, Layouts] = field(default_factory=dict)  #: of parameters and nodes; absent while they float
    fixed: set[int] = field(default_factory=set)  #: operators cut as the user said
    stored: dict[int, Layout] = field(default_factory=dict)  #: how weights lie between steps, where it is not their layout
    regions: dict[int, Region] = field(default_factory=dict)  #: the insides of branches and loops

    def layout_of(self, node: Node) -> Any:
        """The layout of a value; None while it floats."""
        if isinstance(node, ValueNode):
            return Layout.whole(len(getattr(node.abstract, "shape", ())))
        return self.layouts.get(node.id)

    def storage_of(self, parameter: Parameter) -> Layout:
        return self.stored[parameter.id] if parameter.id in self.stored else self.layout_of(parameter)

    def inputs_wanted(self, node: CNode) -> list[Layout | None]:
        """The layout in which an operator takes each argument; None: as it comes."""
        if node.id in self.regions:
            operands: dict[int, Layout] = dict(zip(range(len(node.args) - 1, -1, -1), reversed(self.regions[node.id].operands)))
            return [
                operands.get(i, Layout.whole(0) if hasattr(a.abstract, "shape") else None) for i, a in enumerate(node.args)
            ]
        rule = self.rules[node.id]
        if rule is None:
            return [Layout.whole(len(a.abstract.shape)) if hasattr(a.abstract, "shape") else None for a in node.args]
        chosen, owed = self.assignments[node.id], self.owed(node)
        return [
            Layout(tuple(chosen.get(label, ()) for label in labels), owed if any(labels) or owed else ())
            if labels is not None
            else None
            for labels in _spread(rule.inputs, len(node.args))
        ]

    def with_inner(self) -> Iterator[Plan]:
        """This plan and those of all branches and loops in it."""
        yield self
        for region in self.regions.values():
            for plan in region.plans:
                yield from plan.with_inner()

    def owed(self, node: CNode) -> tuple[tuple[int, str], ...]:
        """Sums that the arguments owe and that an operator hands on, being linear."""
        rule = self.rules[node.id]
        if rule is None or not rule.linear:
            return ()
        used = {a for axes in self.assignments.get(node.id, {}).values() for a in axes}
        found = set()
        for arg, labels in zip(node.args, rule.inputs):
            if labels is None:
                continue
            layout = self.layout_of(arg)
            if not isinstance(layout, Layout):
                return ()
            found.add(layout.partial)
        if len(found) != 1:
            return ()
        return tuple((a, op) for a, op in found.pop() if op in ("sum", "avg") and a not in used)


def _spread(labels: tuple, count: int) -> list:
    return list(labels) + [None] * (count - len(labels))


def arguments(node: CNode) -> list[Any]:
    return [infer_argument(a) for a in node.args]


def shapes_of(node: CNode) -> list[Any]:
    return [tuple(a.abstract.shape) if hasattr(a.abstract, "shape") else None for a in node.args]


def outputs_of(node: Node) -> list[tuple[int, ...]]:
    out = node.abstract
    leaves = out.elements if isinstance(out, AbstractTuple) else (out,)
    return [tuple(getattr(a, "shape", ())) for a in leaves]


def flops_of(node: CNode, rule: Factors) -> float:
    """The work of an operator, on all devices together."""
    return node.op.flops(*arguments(node)) or cost.flops_of(rule, shapes_of(node), outputs_of(node))


def input_layouts(rule: Factors, chosen: Assignment) -> list[Layout | None]:
    return [
        Layout(tuple(chosen.get(label, ()) for label in labels)) if labels is not None else None for labels in rule.inputs
    ]


def output_layouts(rule: Factors, chosen: Assignment, owed: tuple[tuple[int, str], ...] = ()) -> list[Layout]:
    found = []
    for labels in rule.outputs:
        partial = list(owed)
        for label, axes in chosen.items():
            how = rule.reductions.get(label, "sum")
            if label not in labels and how != DONE:
                partial += [(axis, how) for axis in axes]
        found.append(Layout(tuple(chosen.get(label, ()) for label in labels), tuple(sorted(partial))))
    return found


def fits(rule: Factors, chosen: Assignment, shapes: list[Any], outputs: list[tuple[int, ...]], mesh: Mesh) -> bool:
    """Whether all dimensions divide, or parts may be filled up and less than half of what devices do is for nothing."""
    sizes = _sizes_of(rule, shapes, outputs)
    for label, axes in chosen.items():
        parts, found = mesh.parts(axes), sizes.get(label, set())
        if parts == 1 or all(n and n % parts == 0 for n in found):
            continue
        if label not in rule.filled or len(found) != 1 or min(found) < parts:
            return False
    return True


def _sizes_of(rule: Factors, shapes: list[Any], outputs: list[tuple[int, ...]]) -> dict[str, set[int]]:
    """The sizes that each label stands for."""
    sizes: dict[str, set[int]] = {}
    for labels, shape in (*zip(rule.inputs, shapes), *zip(rule.outputs, outputs)):
        for label, size in zip(labels or (), shape or ()):
            sizes.setdefault(label, set()).add(size)
    return sizes


def parts_worked(
    rule: Factors, chosen: Assignment, shapes: list[Any], outputs: list[tuple[int, ...]], mesh: Mesh
) -> float:
    """By how much a cut divides the work of a device: less than by the number of parts where these are filled up."""
    parts = float(mesh.parts(a for axes in chosen.values() for a in axes))
    for label, size in cost.label_sizes(rule, shapes, outputs).items():
        count = mesh.parts(chosen.get(label, ()))
        if size % count:
            parts *= size / (-(-size // count) * count)
    return parts


class Planner:
    """Fills a Plan."""

    def __init__(
        self, graph: FuncGraph, options: Options, given: Given = Given(), operands: Sequence[Layout | None] | None = None
    ):
        """`operands`: of the graph of a branch or loop, how its inputs lie; None for those that it may choose about."""
        self.graph, self.options, self.given, self.operands = graph, options, given, operands
        self.mesh = Mesh.of(options.devices)
        self.machine = options.machine
        self.plan = Plan(graph, self.mesh, options)
        self.after_gradients: set[int] = set()  # operators of the backward pass and of the optimizer
        self.states = _states_of(graph.parameters)
        self.moved: dict[int, list[Layout]] = {}  # further layouts in which operators take a value: made once, then free

    def run(self, preset: dict[int, Assignment] | None = None) -> Plan:
        """`preset`: what a search chose for operators, by node id."""
        plan = self.plan
        nodes = self.graph.nodes()
        self._lay_inputs()
        for node in nodes:
            plan.rules[node.id] = rule_of(node)
            problem = node.op.strategy_problem(*arguments(node))
            if problem is not None:
                raise refuse(node, problem)
            if "Grad_" in node.scope or node.op.writes or any(a.id in self.after_gradients for a in node.args):
                self.after_gradients.add(node.id)
        names = operator_names(self.graph) if self.given.operators else {}
        for node in nodes:
            if "in_strategy" in node.op.attrs:
                self._fix(node)
            elif self.given.operators.get(names.get(node.id, "")) is not None and plan.rules[node.id] is not None:
                self._fix(node, tuple(map(tuple, self.given.operators[names[node.id]])))
            elif preset and node.id in preset:
                plan.assignments[node.id] = dict(preset[node.id])
        self._check_shared_weights(nodes)
        for node in nodes:
            self._check_composed(node)
            if node.id in plan.assignments:
                self._claim_weights(node)
        for weight in self.graph.parameters:
            self._lay_states(weight)
        for node in nodes:
            self._place(node)
        for value in (*self.graph.parameters, *nodes):
            if plan.layout_of(value) is None:
                self._settle(value, Layout.whole(len(getattr(value.abstract, "shape", ()))))
        self._store_constant_weights()
        return plan

    def inside(self, graph: FuncGraph, operands: Sequence[Layout | None], node: CNode) -> Plan:
        """The plan of a graph that a branch or loop `node` runs."""
        planner = Planner(graph, self.options, operands=operands)
        if node.id in self.after_gradients:
            planner.after_gradients.update(n.id for n in graph.nodes())
        return planner.run()

    # -- inputs -----------------------------------------------------------------------------------------------------
    def _lay_inputs(self) -> None:
        if self.operands is not None:
            self.plan.layouts.update({p.id: o for p, o in zip(self.graph.parameters, self.operands) if o is not None})
            return
        given = [p for p in self.graph.parameters if p.default is None]
        for parameter in self.graph.parameters:
            wish = parameter.default.param_info.strategy if parameter.default is not None else None
            if wish is not None:  # `parallel.shard(net, …, parameter_plan)`
                self.plan.layouts[parameter.id] = layout_of_cuts(wish, len(parameter.abstract.shape), self.mesh)
            elif parameter.default is not None and parameter.name in self.given.parameters:
                self.plan.layouts[parameter.id] = self._as_loaded(parameter)
        for number, parameter in enumerate(given):
            self.plan.layouts[parameter.id] = self._dataset_layout(number, tuple(getattr(parameter.abstract, "shape", ())))

    def _as_loaded(self, parameter: Parameter) -> Layout:
        """The layout that a strategy file has for a weight."""
        layout, shape = self.given.parameters[parameter.name], tuple(parameter.abstract.shape)
        if len(layout.dims) != len(shape) or not layout.fits(shape, self.mesh):
            raise StrategyError(
                f"The strategy file cuts '{parameter.name}' into {layout.cuts(self.mesh)} parts, but its shape is {shape}."
            )
        return layout

    def _dataset_layout(self, number: int, shape: tuple[int, ...]) -> Layout:
        dataset, mesh = self.options.dataset, self.mesh
        if isinstance(dataset, (tuple, list)):
            if number < len(dataset) and shape:
                try:
                    found = layout_of_cuts(dataset[number], len(shape), mesh)
                except (StrategyError, ValueError) as error:
                    raise StrategyError(f"dataset_strategy of input {number}: {error}") from None
                if not found.fits(shape, mesh):
                    raise StrategyError(
                        f"dataset_strategy {tuple(dataset[number])} does not divide input {number} of shape {shape}."
                    )
                return found
        elif dataset == "data_parallel" and shape and shape[0] >= mesh.size:
            return Layout((mesh.axes, *((),) * (len(shape) - 1)))
        return Layout.whole(len(shape))

    # -- operators that the user cut ----------------------------------------------------------------------------------
    def _fix(self, node: CNode, loaded: Any = None) -> None:
        """Cut an operator as the user says, or as a file does."""
        plan, rule = self.plan, self.plan.rules[node.id]
        if isinstance(node.op, Laid) and node.op.strict and any(node.op.whole_strategy[node.op.entries :]):
            raise refuse(
                node,
                f"it has {len(node.op.whole_strategy)} entries, but there are {node.op.entries} tensors among the inputs.",
            )
        if rule is None:
            self._check_unknown(node)
            return
        shapes = shapes_of(node)
        chosen = assignment_of(node, rule, shapes, self.mesh, loaded)
        if not fits(rule, chosen, shapes, outputs_of(node), self.mesh):
            raise refuse(node, f"the results {outputs_of(node)} cannot be divided so.")
        plan.assignments[node.id] = chosen
        plan.fixed.add(node.id)

    def _check_unknown(self, node: CNode) -> None:
        """An operator without an index rule is computed whole on every device; its strategy is checked for sense."""
        tensors = [a for a in arguments(node) if hasattr(a, "shape")]
        names = [tuple(f"a{i}d{d}" for d in range(len(a.shape))) for i, a in enumerate(tensors)]
        supply = iter(names)
        labels = tuple(next(supply) if hasattr(a, "shape") else None for a in arguments(node))
        assignment_of(node, Factors(labels, ()), shapes_of(node), self.mesh)

    def _check_composed(self, node: CNode) -> None:
        """The strategy of an operation that is made of others must suit these: no cut along what they need whole, equal cuts
        of dimensions that run together.
        """
        rule = self.plan.rules[node.id]
        if node.id in self.after_gradients or isinstance(node.op, (Laid, MakeTuple, TupleGetItem)) or is_region(node):
            return
        if rule is None:
            for arg in node.args:
                found = self._laid(arg)
                if found is not None and any(found[0]):
                    raise refuse(found[1], f"'{node.op.name}', of which it is made, cannot be cut; all parts must be 1.")
            return
        cut: dict[str, tuple[Axes, CNode]] = {}
        for arg, labels in zip(node.args, rule.inputs):
            if labels is None:
                continue
            found = self._laid(arg)
            if found is not None:
                self._check_whole(labels, *found, tuple(arg.abstract.shape))
            found = self._laid(arg, through_several=True)
            for label, axes in zip(labels, found[0]) if found is not None else ():
                laid = found[1]  # type: ignore[index]
                if label != WHOLE and axes is not None and not self._alike(cut.setdefault(label, (axes, laid)), (axes, laid)):
                    raise refuse(
                        laid, "dimensions that run together must be cut alike, and over the same devices; "
                        f"they are cut into {self.mesh.parts(cut[label][0])} and {self.mesh.parts(axes)} parts.",
                    )  # fmt: skip

    def _check_whole(self, labels: tuple[str, ...], cut: tuple[Axes | None, ...], laid: CNode, shape: tuple[int, ...]) -> None:
        for dim, (label, axes) in enumerate(zip(labels, cut)):
            if label == WHOLE and axes:
                raise refuse(laid, f"dimension {dim} of shape {shape} cannot be cut: it is needed whole.")

    def _alike(self, one: tuple[Axes, CNode], other: tuple[Axes, CNode]) -> bool:
        """Whether one operation cuts two dimensions alike; only layouts say which devices do, numbers of parts do not."""
        if one[1].op.owner != other[1].op.owner:
            return True
        if all(is_placed(laid.op.attrs["in_strategy"][0]) for _, laid in (one, other)):
            return one[0] == other[0]
        return self.mesh.parts(one[0]) == self.mesh.parts(other[0])

    def _laid(self, node: Node, through_several: bool = False) -> tuple[tuple[Axes | None, ...], CNode] | None:
        """The axes that cut each dimension of a value as an operation's strategy says, perhaps in another shape, and the node that says
        so; None for dimensions of which it says nothing.

        `through_several`: also where operators of several tensors stand between them. These may belong to the next operation of the user's.
        """
        if not isinstance(node, CNode):
            return None
        rule = self.plan.rules[node.id]
        if isinstance(node.op, Laid):
            # A dimension that is cut into interleaved parts is taken apart by the operation itself.
            if not node.op.strict or rule is None or is_interleaved(node.op.attrs["in_strategy"][0]):
                return None
            dims = input_layouts(rule, self.plan.assignments[node.id])[0].dims  # type: ignore[union-attr]
            return (tuple(axes or None for axes in dims) if node.op.may_be_whole else dims), node
        if rule is None or len(rule.outputs) != 1 or rule.contracted:
            return None
        tensors = [(arg, labels) for arg, labels in zip(node.args, rule.inputs) if labels is not None]
        if len(tensors) > 1 and not through_several:
            return None
        axes_of_label: dict[str, Axes] = {}
        says: CNode | None = None
        for arg, labels in tensors:
            found = self._laid(arg, through_several)
            if found is not None:
                says = says or found[1]
                for label, axes, size in zip(labels, found[0], arg.abstract.shape):
                    if label != WHOLE and axes:
                        axes_of_label[label] = axes
                    elif label != WHOLE and axes is not None and size != 1:
                        axes_of_label.setdefault(label, ())
        return None if says is None else (tuple(axes_of_label.get(label) for label in rule.outputs[0]), says)

    def _check_shared_weights(self, nodes: list[CNode]) -> None:
        """Operators that use one weight must cut it alike."""
        first: dict[int, tuple[Layout, CNode]] = {}
        for node in nodes:
            if node.id not in self.plan.fixed or node.id in self.after_gradients:
                continue
            layouts = input_layouts(self.plan.rules[node.id], self.plan.assignments[node.id])  # type: ignore[arg-type]
            for arg, layout in zip(node.args, layouts):
                if not isinstance(arg, Parameter) or arg.default is None or layout is None:
                    continue
                other, user = first.setdefault(arg.id, (layout, node))
                if other != layout:
                    name = user.op.attrs.get("owner", user.op.name)
                    raise refuse(
                        node,
                        f"it lays the weight '{arg.name}' in {layout.cuts(self.mesh)} parts along axes {layout} of the mesh, "
                        f"but '{name}' lays it in {other.cuts(self.mesh)} parts along {other}; operators that share a weight "
                        "must cut it alike.",
                    )

    def _claim_weights(self, node: CNode) -> None:
        """Weights take the layout in which a decided operator uses them, through casts and the like."""
        rule = self.plan.rules[node.id]
        if rule is None:
            return
        for arg, layout in zip(node.args, input_layouts(rule, self.plan.assignments[node.id])):
            if layout is not None:
                self._claim(arg, layout)

    def _is_weight(self, node: Node) -> bool:
        """Whether a value is a weight; within branches and loops: whether its layout may be chosen, as a weight's may."""
        return isinstance(node, Parameter) and (node.default is not None or self.operands is not None)

    def _claim(self, node: Node, layout: Layout) -> None:
        if self._is_weight(node):
            self.plan.layouts.setdefault(node.id, layout)
        elif isinstance(node, CNode) and node.id not in self.plan.assignments:
            rule = self.plan.rules[node.id]
            tensors = [i for i, labels in enumerate(rule.inputs) if labels] if rule is not None else []
            if rule is not None and len(tensors) == 1 and len(rule.outputs) == 1 and not rule.contracted:
                chosen = self._from_output(node, rule, layout)
                source = input_layouts(rule, chosen)[tensors[0]]
                self._claim(node.args[tensors[0]], source)  # type: ignore[arg-type]

    def _lay_states(self, weight: Node) -> None:
        """States of a weight that lies somewhere take its layout, along the dimensions that they have."""
        layout: Any = self.plan.layout_of(weight)
        if layout is not None and weight.id in self.states and not self._is_cut_for_optimizer(weight):
            for state, dims in self.states[weight.id]:
                self.plan.layouts.setdefault(state.id, Layout(tuple(layout.dims[d] for d in dims)))

    # -- the others ---------------------------------------------------------------------------------------------------
    def _place(self, node: CNode) -> None:
        plan, op = self.plan, node.op
        if isinstance(op, MakeTuple):
            for arg in node.args:
                self._ensure(arg)
            plan.layouts[node.id] = tuple(plan.layout_of(a) for a in node.args)
            return
        if isinstance(op, TupleGetItem):
            self._ensure(node.args[0])
            plan.layouts[node.id] = plan.layout_of(node.args[0])[node.args[1].value]  # type: ignore[attr-defined]
            return
        if is_region(node):
            plan.regions[node.id] = region = plan_region(self, node)
            for arg, layout in zip(operands_of(node), region.operands):
                if plan.layout_of(arg) is None:
                    self._settle(arg, layout)
            self._ensure(node.args[0])
            plan.layouts[node.id] = region.results
            return
        rule = plan.rules[node.id]
        if rule is None:
            for arg in node.args:
                self._ensure(arg)
            plan.layouts[node.id] = _whole(node.abstract)
            return
        if node.id not in plan.assignments:
            if self._floats(node, rule):
                return
            plan.assignments[node.id] = self._choose(node, rule)
        self._conclude(node, rule)

    def _ensure(self, node: Node) -> None:
        if self.plan.layout_of(node) is None:
            self._settle(node, Layout.whole(len(node.abstract.shape)))

    def _floats(self, node: CNode, rule: Factors) -> bool:
        """Whether an operator works on floating values alone, and may wait for its user's wish."""
        if rule.contracted or len(rule.outputs) != 1 or isinstance(node.abstract, AbstractTuple) or node.op.writes:
            return False
        return all(
            not labels or not any(labels) or self.plan.layout_of(arg) is None for arg, labels in zip(node.args, rule.inputs)
        )

    def _conclude(self, node: CNode, rule: Factors) -> None:
        """Settle floating arguments, note the layouts of the results."""
        plan, chosen = self.plan, self.plan.assignments[node.id]
        for arg, layout in zip(node.args, input_layouts(rule, chosen)):
            if plan.layout_of(arg) is None:
                self._settle(arg, layout if layout is not None else Layout.whole(len(arg.abstract.shape)))
            elif layout is not None and layout not in (plan.layout_of(arg), *self.moved.get(arg.id, ())):
                self.moved.setdefault(arg.id, []).append(layout)
        found = output_layouts(rule, chosen, plan.owed(node))
        wish = node.op.attrs.get("out_strategy")
        if wish is not None and node.id in plan.fixed:
            found = self._as_wished(node, found, wish)
        plan.layouts[node.id] = tuple(found) if isinstance(node.abstract, AbstractTuple) else found[0]

    def _as_wished(self, node: CNode, found: list[Layout], wish: Any) -> list[Layout]:
        """The results as `out_strategy` says."""
        shapes = outputs_of(node)
        for i, entry in enumerate(wish[: len(found)]):
            if entry is None:
                continue
            try:
                wanted = layout_of_cuts(entry, len(shapes[i]), self.mesh)
            except (StrategyError, ValueError) as error:
                raise refuse(node, f"out_strategy: {error}") from None
            if not wanted.fits(shapes[i], self.mesh):
                raise refuse(node, f"out_strategy does not divide the result of shape {shapes[i]}.")
            found[i] = wanted
        return found

    def _settle(self, node: Node, layout: Layout) -> None:
        """Give a floating value, and what it is computed from, a layout near the one wished for."""
        plan = self.plan
        if not isinstance(node, CNode):
            plan.layouts[node.id] = layout if hasattr(node.abstract, "shape") else Layout(())
            self._lay_states(node)
            return
        rule = plan.rules[node.id]
        if rule is None:
            plan.layouts[node.id] = _whole(node.abstract)
            return
        plan.assignments[node.id] = self._from_output(node, rule, layout)
        self._conclude(node, rule)

    def _from_output(self, node: CNode, rule: Factors, layout: Layout) -> Assignment:
        """The cut that gives the wished layout, as far as sizes allow."""
        chosen: Assignment = {}
        for label, axes in zip(rule.outputs[0], layout.dims):
            if label != WHOLE and axes and label not in rule.on_request:
                chosen[label] = axes
                if not fits(rule, chosen, shapes_of(node), outputs_of(node), self.mesh):
                    del chosen[label]
        return chosen

    # -- choice ---------------------------------------------------------------------------------------------------------
    def _choose(self, node: CNode, rule: Factors) -> Assignment:
        shapes, outputs = shapes_of(node), outputs_of(node)
        if isinstance(node.op, Update):
            chosen = self._cut_for_optimizer(node, rule)
            if chosen is not None:
                return chosen
        if not self.options.search and self._uses_weight(node):
            batch = self._batch(rule, shapes, outputs)
            if batch is not None:
                return batch
        candidates = self._candidates(node, rule, shapes, outputs)
        return min(candidates, key=lambda chosen: self._price(node, rule, chosen, shapes, outputs))

    def _uses_weight(self, node: CNode) -> bool:
        """Whether an operator of the forward pass takes a weight that nobody has decided about."""
        return node.id not in self.after_gradients and any(
            self._is_weight(a) and self.plan.layout_of(a) is None for a in node.args
        )

    def _batch(self, rule: Factors, shapes: list[Any], outputs: list[tuple[int, ...]]) -> Assignment | None:
        """Cut the first dimension of the first tensor over all devices: what an operator without a strategy does."""
        first = next((labels for labels in rule.inputs if labels), None)
        if first is None or first[0] == WHOLE:
            return None
        chosen = {first[0]: self.mesh.axes}
        return chosen if fits(rule, chosen, shapes, outputs, self.mesh) else None

    def _candidates(
        self, node: CNode, rule: Factors, shapes: list[Any], outputs: list[tuple[int, ...]]
    ) -> list[Assignment]:
        """What each argument suggests, completed by the others; and not to cut at all."""
        known = [
            (labels, layout)
            for arg, labels in zip(node.args, rule.inputs)
            if labels and isinstance(self.plan.layout_of(arg), Layout)
            for layout in (self.plan.layout_of(arg), *self.moved.get(arg.id, ()))
        ]
        found: list[Assignment] = [{}]
        # Gradients follow the forward pass, which a strategy may have cut where nothing is cut unasked.
        barred = () if node.id in self.after_gradients else rule.on_request
        for start in range(len(known)):
            chosen: Assignment = {}
            for labels, layout in known[start:] + known[:start]:
                for label, axes in zip(labels, layout.dims):
                    used = {a for taken in chosen.values() for a in taken}
                    free = tuple(a for a in axes if a not in used)
                    if label == WHOLE or label in barred or label in chosen or not free or free != axes[: len(free)]:
                        continue
                    chosen[label] = free
                    if not fits(rule, chosen, shapes, outputs, self.mesh):
                        del chosen[label]
            if chosen not in found:
                found.append(chosen)
        if node.id in self.after_gradients:  # what is whole there ends in a weight: cut for less work, it would be gathered again
            return found
        batch = self._batch(rule, shapes, outputs)
        return found if batch is None or batch in found else [*found, batch]

    def _price(
        self, node: CNode, rule: Factors, chosen: Assignment, shapes: list[Any], outputs: list[tuple[int, ...]]
    ) -> float:
        """Seconds: bringing the arguments into place, the work, paying what the results owe, and storing new values."""
        mesh, machine = self.mesh, self.machine
        seconds = 0.0
        for arg, wanted in zip(node.args, input_layouts(rule, chosen)):
            layout = self.plan.layout_of(arg)
            if wanted is not None and isinstance(layout, Layout) and wanted not in self.moved.get(arg.id, ()):
                seconds += cost.redistribution(layout, wanted, arg.abstract.nbytes, mesh, machine)
        parts = parts_worked(rule, chosen, shapes, outputs, mesh)
        leaves = node.abstract.elements if isinstance(node.abstract, AbstractTuple) else (node.abstract,)
        nbytes = sum(getattr(a, "nbytes", 0) for a in (*leaves, *(a.abstract for a in node.args)))
        seconds += machine.operation(flops_of(node, rule) / parts, nbytes / parts)
        made = output_layouts(rule, chosen)
        for leaf, layout in zip(leaves, made):
            seconds += cost.redistribution(layout, layout.paid(), getattr(leaf, "nbytes", 0), mesh, machine)
        for argument, output in node.op.writes:  # a new value goes back to where the old one lies
            kept = self.plan.layout_of(node.args[argument])
            if isinstance(kept, Layout):
                seconds += cost.redistribution(made[output].paid(), kept, getattr(leaves[output], "nbytes", 0), mesh, machine)
        return seconds

    # -- optimizer parallelism --------------------------------------------------------------------------------------------
    def _is_cut_for_optimizer(self, weight: Node) -> bool:
        """Whether a weight and its states are to be stored in further parts, if they divide."""
        return (
            self.options.optimizer_parallel
            and isinstance(weight, Parameter)
            and bool(weight.abstract.shape)
            and getattr(weight.default, "parallel_optimizer", True)
            and weight.abstract.nbytes >= self.options.optimizer_threshold
        )

    def _cut_for_optimizer(self, node: CNode, rule: Factors) -> Assignment | None:
        """Cut an update, and store its weight, in further parts along the devices that would hold copies (Rajbhandari 2020)."""
        weight = node.args[node.op.arguments.index(node.op.state[0])]
        if not isinstance(weight, Parameter) or not self._is_cut_for_optimizer(weight):
            return None
        self._ensure(weight)
        layout: Any = self.plan.layouts[weight.id]
        further = self._in_further_parts(layout)
        chosen = {label: axes for label, axes in zip(rule.outputs[0], further.dims) if axes}
        if further == layout or not fits(rule, chosen, shapes_of(node), outputs_of(node), self.mesh):
            return None
        self.plan.stored[weight.id] = further
        return chosen

    def _in_further_parts(self, layout: Layout) -> Layout:
        """The first dimension cut by the devices that would hold copies as well."""
        free = tuple(a for a in self.mesh.axes if a not in layout.used)
        return Layout((layout.dims[0] + free, *layout.dims[1:]))

    def _store_constant_weights(self) -> None:
        """Weights that are not trained are stored in further parts, too: they take as much memory."""
        written = self.graph.attrs.get("updates", {})
        for number, weight in enumerate(self.graph.parameters):
            if weight.default is None or number in written or not self._is_cut_for_optimizer(weight):
                continue
            further = self._in_further_parts(self.plan.layouts[weight.id])  # type: ignore[arg-type]
            if further.fits(tuple(weight.abstract.shape), self.mesh):
                self.plan.stored[weight.id] = further


def _states_of(parameters: Sequence[Parameter]) -> dict[int, list[tuple[Parameter, tuple[int, ...]]]]:
    """For each weight, by node id, the states that follow it and the dimensions of the weight that they have."""
    weights = {p.default.param_info.key: p for p in parameters if p.default is not None}
    found: dict[int, list[tuple[Parameter, tuple[int, ...]]]] = {}
    for state in parameters:
        follows = state.default.param_info.follows if state.default is not None else None
        if follows is not None and follows[0] in weights:
            found.setdefault(weights[follows[0]].id, []).append((state, follows[1]))
    return found


def rule_of(node: CNode) -> Factors | None:
    """An operator's index rule; None for control flow and what has none."""
    if isinstance(node.op, (Cond, While, Call, MakeTuple, TupleGetItem)):
        return None
    if any(isinstance(a.abstract, AbstractTuple) for a in node.args):
        return None
    rule = node.op.factors(*arguments(node))
    if rule is None or node.op.on_device is not None:
        return rule
    free = dict.fromkeys(label for label in rule.kept if label not in rule.on_request)
    return rule._replace(filled={**free, **rule.filled})  # parts of labels that stay are computed by themselves


def _whole(abstract: Any) -> Layouts:
    if isinstance(abstract, AbstractTuple):
        return tuple(_whole(e) for e in abstract.elements)
    return Layout.whole(len(getattr(abstract, "shape", ())))


def is_forward(node: CNode) -> bool:
    """Whether an operator is one that the network is written with: no gradient, no update."""
    return "Grad_" not in node.scope and not node.op.writes


def operator_names(graph: FuncGraph) -> dict[int, str]:
    """The name of each operator: its scope within the network, its kind, and its number among those of its kind, counted from
    the result back; the operators of the forward pass before those of gradients and updates.
    """
    counts: Counter[str] = Counter()
    found: dict[int, str] = {}
    backwards = graph.nodes()[::-1]
    for node in sorted(backwards, key=lambda node: not is_forward(node)):
        if not isinstance(node.op, (MakeTuple, TupleGetItem)):
            outer, _, inner = (node.scope or "Default").partition("/")
            scope = "/".join((outer, *inner.split("/")[1:]))  # without the class of the network itself
            found[node.id] = f"{scope}/{node.op.name}-op{counts[node.op.name]}"
            counts[node.op.name] += 1
    return found


def make_plan(
    graph: FuncGraph, options: Options, preset: dict[int, Assignment] | None = None, given: Given = Given()
) -> Plan:
    return Planner(graph, options, given).run(preset)


def parts_of(mesh: Mesh, chosen: Assignment, labels: tuple[str, ...]) -> int:
    return math.prod(mesh.parts(chosen.get(label, ())) for label in labels)


def axes_of(chosen: Assignment, labels: tuple[str, ...]) -> Axes:
    return tuple(dict.fromkeys(a for label in labels for a in chosen.get(label, ())))
