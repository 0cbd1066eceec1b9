"""The part of a network that one device runs, for files: what `export` writes when graphs are cut over devices.

Every rank has a file of its own, with its slices of the weights and the collectives that bring results together. Inputs and results are
whole on every rank, so that whoever serves the model can give all of them the same request.
"""

from __future__ import annotations

from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compiler import driver
from mindspore.compiler.parse.entry import Traced
from mindspore.compiler.shard.partition import partition, specialised
from mindspore.compiler.shard.search import find_plan
from mindspore.runtime.sharded import part_of


def device_part(traced: Traced, options: Any, rank: int) -> Traced:
    """`traced` as device `rank` of a cut by `options` runs it."""
    if options.stages > 1:
        raise NotImplementedError("For 'export', pipeline stages cannot be written yet: set pipeline_stages=1.")
    if not 0 <= rank < options.devices:
        raise ValueError(f"For 'export', the rank must be 0 to {options.devices - 1}, but is {rank}.")
    plan = find_plan(traced.graph, options)
    storage = [plan.storage_of(parameter) for parameter in plan.graph.parameters]
    for parameter, layout in zip(plan.graph.parameters[: traced.arguments], storage):
        if any(plan.mesh.parts(axes) > 1 for axes in layout.dims):
            raise ValueError(
                f"For 'export', the input '{parameter.name}' would be cut over devices; inputs of a file must be whole: "
                "set_auto_parallel_context(full_batch=True)."
            )
    graph = driver.optimise(specialised(partition(plan, whole_outputs=True), rank))
    weights = [
        Parameter(Tensor(part_of(weight.asnumpy(), layout, plan.mesh, rank)), name=weight.name)
        for weight, layout in zip(traced.weights, storage[traced.arguments :])
    ]
    return traced._replace(graph=graph, weights=weights)


__all__ = ["device_part"]
