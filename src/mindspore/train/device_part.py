"""The part of a network that one device runs, for files: what `export` writes when graphs are cut over devices.

Every rank has a file of its own, with its slices of the weights and the collectives that bring results together; of a pipeline with
the layers and weights of its stage, and the messages to other stages. Inputs and results are whole on every rank, so that whoever
serves the model can give all of them the same request.
"""

from __future__ import annotations

from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compiler import driver
from mindspore.compiler.parse.entry import Traced
from mindspore.compiler.shard.partition import partition, specialised
from mindspore.compiler.shard.pipeline import Stages
from mindspore.compiler.shard.search import find_plan
from mindspore.ir import FuncGraph
from mindspore.runtime.sharded import part_of


def device_part(traced: Traced, options: Any, rank: int) -> Traced:
    """`traced` as process `rank` runs it, with a cut by `options`."""
    if not 0 <= rank < options.devices * options.stages:
        raise ValueError(f"For 'export', the rank must be 0 to {options.devices * options.stages - 1}, but is {rank}.")
    stage, device = divmod(rank, options.devices)
    plan = find_plan(traced.graph, options)
    storage = [plan.storage_of(parameter) for parameter in plan.graph.parameters]
    for parameter, layout in zip(plan.graph.parameters[: traced.arguments], storage):
        if any(plan.mesh.parts(axes) > 1 for axes in layout.dims):
            raise ValueError(
                f"For 'export', the input '{parameter.name}' would be cut over devices; inputs of a file must be whole: "
                "set_auto_parallel_context(full_batch=True)."
            )
    graph = specialised(partition(plan, whole_outputs=True), device)
    if options.stages > 1:
        stages = Stages(graph, options.stages, options.schedule)
        graph = stages.graph_of(stage, lambda other: other * options.devices + device)
    graph = driver.optimise(graph)
    weights = [
        Parameter(Tensor(part_of(weight.asnumpy(), layout, plan.mesh, device)), name=weight.name)
        for weight, layout in zip(traced.weights, storage[traced.arguments :])
    ]
    return traced._replace(graph=graph, weights=_only_used(graph, traced.arguments, weights))


def _only_used(graph: FuncGraph, arguments: int, weights: list[Parameter]) -> list[Parameter]:
    """The weights that the graph uses; the others are taken out of it."""
    used = {a.id for node in graph.nodes() for a in node.args} | {graph.output.id}
    places = [i for i, node in enumerate(graph.parameters[arguments:]) if node.id in used]
    graph.parameters = [*graph.parameters[:arguments], *(graph.parameters[arguments + i] for i in places)]
    return [weights[i] for i in places]


__all__ = ["device_part"]
