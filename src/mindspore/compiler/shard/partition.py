"""Writing the graph that each device runs.

The plan's layouts give every node its local shape. Nodes are built anew on the devices' parts: arguments are brought into the
layout that an operator wants (redistribute.py), then the operator is applied, by its `on_device` rule if it has one.
Inputs are the parts of the graph's inputs; weights come and go as they are stored, other results leave whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.compiler.builder import Builder, array_node
from mindspore.compiler.rewrite.passes import substitute
from mindspore.compiler.shard import redistribute
from mindspore.compiler.shard.device import Device
from mindspore.compiler.shard.layout import Layout
from mindspore.compiler.shard.plan import Plan, output_layouts, outputs_of, shapes_of
from mindspore.compiler.shard.regions import graph_arguments
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.mesh import MeshIndex
from mindspore.prims.structural import MakeTuple, TupleGetItem


def partition(plan: Plan, whole_outputs: bool = False) -> FuncGraph:
    """The graph of one device; `plan.graph` stays as it is. `whole_outputs`: new weights leave whole, too."""
    return _Partition(plan, _targets(plan, whole_outputs)).run()


def _targets(plan: Plan, whole_outputs: bool) -> list[Layout | None]:
    """How the results leave: new values of weights as they are stored, all else whole."""
    updated = {target: source for source, target in plan.graph.attrs.get("updates", {}).items()}
    return [
        plan.storage_of(plan.graph.parameters[updated[number]])
        if number in updated and not whole_outputs
        else Layout.whole(len(leaf.abstract.shape)) if hasattr(leaf.abstract, "shape") else None
        for number, leaf in enumerate(_results(plan.graph))
    ]  # fmt: skip


def _results(graph: FuncGraph) -> tuple[Node, ...]:
    output = graph.output
    return output.args if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else (output,)


class _Partition:
    def __init__(self, plan: Plan, targets: Sequence[Layout | None]):
        self.plan, self.mesh, self.targets = plan, plan.mesh, targets
        self.graph = FuncGraph(plan.graph.name)
        self.builder = Builder(self.graph)
        self.done: dict[int, Node] = {}  # node of the whole graph -> node of the device's
        self.moved: dict[tuple[int, Layout], Node] = {}  # a value in another layout than its own

    def run(self) -> FuncGraph:
        plan = self.plan
        with self.builder.active():
            for parameter in plan.graph.parameters:
                self._input(parameter)
            for node in plan.graph.nodes():
                if node is not plan.graph.output or not isinstance(node.op, MakeTuple):
                    with self.builder.at(node.location, node.scope):
                        self.done[node.id] = self._node(node)
            self.graph.output = self._output()
        self.graph.attrs = dict(plan.graph.attrs)
        return self.graph

    def _input(self, parameter: Any) -> None:
        abstract = parameter.abstract
        stored = self.plan.storage_of(parameter)
        if isinstance(abstract, AbstractTensor):
            abstract = AbstractTensor(abstract.dtype, stored.local(abstract.shape, self.mesh))
        node: Node = self.graph.add_parameter(parameter.name, abstract, parameter.default)
        layout = self.plan.layouts[parameter.id]
        if layout != stored:
            node = self._redistributed(node, stored, layout, tuple(parameter.abstract.shape))  # type: ignore[arg-type]
        self.done[parameter.id] = node

    def _node(self, node: CNode) -> Node:
        plan = self.plan
        if isinstance(node.op, (MakeTuple, TupleGetItem)):
            return self.builder.emit(node.op, tuple(self._as_is(a) for a in node.args))
        args = tuple(self._argument(a, w) for a, w in zip(node.args, plan.inputs_wanted(node)))
        if node.id in plan.regions:
            return self.builder.emit(node.op, self._with_parts(node, args))
        rule = plan.rules[node.id]
        if rule is None:
            return self.builder.emit(node.op, args)
        chosen = plan.assignments[node.id]
        made = self._applied(node, args)
        computed = output_layouts(rule, chosen, plan.owed(node))
        wanted = plan.layouts[node.id]
        if isinstance(wanted, Layout) and wanted != computed[0]:  # an out_strategy
            made = self._redistributed(made, computed[0], wanted, outputs_of(node)[0])
        elif isinstance(wanted, tuple) and list(wanted) != computed:
            parts = [self.builder.get_item(made, i) for i in range(len(computed))]
            made = self.builder.make_tuple(
                [self._redistributed(p, c, w, s) for p, c, w, s in zip(parts, computed, wanted, outputs_of(node))]  # type: ignore[arg-type]
            )
        return made

    def _with_parts(self, node: CNode, args: tuple[Node, ...]) -> tuple[Node, ...]:
        """The arguments of a branch or loop, its graphs being those of a device."""
        region = self.plan.regions[node.id]
        graphs = {
            graph.id: ValueNode(_Partition(plan, targets).run())
            for graph, plan, targets in zip(graph_arguments(node), region.plans, region.targets)
        }
        return tuple(graphs.get(whole.id, arg) for whole, arg in zip(node.args, args))

    def _applied(self, node: CNode, args: tuple[Node, ...]) -> Node:
        plan, op = self.plan, node.op
        rule, chosen = plan.rules[node.id], plan.assignments[node.id]
        if not any(chosen.values()):
            return self.builder.emit(op, args)
        device = Device(self.mesh, rule, chosen, shapes_of(node), outputs_of(node))  # type: ignore[arg-type]
        if op.on_device is None and not device.uneven:
            return self.builder.emit(op, args)
        plain = [a.value if isinstance(a, ValueNode) and not _is_array(a) else self.builder.public(a) for a in args]
        given = device.neutralised(plain)
        if op.on_device is not None:
            result = op.on_device(device, *given)
        else:
            made = self.builder.emit(op, tuple(self.builder.node_of(g) for g in given))
            if isinstance(node.abstract, AbstractTuple):
                return made
            result = device.mean_of_all(self.builder.public(made))
        if isinstance(node.abstract, AbstractTuple):
            return self.builder.make_tuple([self.builder.node_of(r) for r in result])
        return self.builder.node_of(result)

    def _argument(self, node: Node, wanted: Layout | None) -> Node:
        if wanted is None:
            return self._as_is(node)
        layout = self.plan.layout_of(node)
        if layout == wanted:
            return self._as_is(node)
        key = (node.id, wanted)
        if key not in self.moved:
            self.moved[key] = self._redistributed(self._as_is(node), layout, wanted, tuple(node.abstract.shape))
        return self.moved[key]

    def _as_is(self, node: Node) -> Node:
        return node if isinstance(node, ValueNode) else self.done[node.id]

    def _redistributed(self, node: Node, source: Layout, target: Layout, shape: tuple[int, ...]) -> Node:
        """`shape`: of the whole tensor."""
        if source == target:
            return node
        return self.builder.node_of(redistribute.apply(self.builder.public(node), source, target, shape, self.mesh))

    def _output(self) -> Node:
        leaves = [self._argument(leaf, wanted) for leaf, wanted in zip(_results(self.plan.graph), self.targets)]
        output = self.plan.graph.output
        return self.builder.make_tuple(leaves) if isinstance(output, CNode) and isinstance(output.op, MakeTuple) else leaves[0]


def _is_array(node: ValueNode) -> bool:
    return isinstance(node.abstract, AbstractTensor)


def specialised(graph: FuncGraph, rank: int) -> FuncGraph:
    """The same graph for one rank: `MeshIndex` becomes a number. In place."""
    for part in graph.all_graphs():
        indices = [n for n in part.nodes() if isinstance(n.op, MeshIndex)]
        substitute(part, {n.id: array_node(np.asarray(n.op.of_rank(rank), np.int32)) for n in indices})
    return graph
