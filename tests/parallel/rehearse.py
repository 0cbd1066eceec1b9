"""N devices against one: a function traced, cut over a mesh, and run for all devices in one process."""

import numpy as np

from mindspore.backends.interp import InterpBackend
from mindspore.backends.interp.rehearsal import Rehearsal
from mindspore.compiler.parse.entry import tensors_in, trace
from mindspore.compiler.shard.partition import partition
from mindspore.compiler.shard.plan import Options, make_plan
from mindspore.ir.verify import verify
from mindspore.runtime.sharded import joined, part_of


def traced_graph(function, *args):
    """The graph of a function, and the arrays that are its inputs."""
    found = trace(function, args, {}, checked=False)
    return found.graph, [np.asarray(t._data) for t in (*tensors_in(args), *found.weights)]


def outputs_of_one(graph, arrays):
    return InterpBackend().compile(graph)(*arrays)


def outputs_of_many(plan, arrays):
    """What the devices together compute."""
    graph, mesh = partition(plan), plan.mesh
    verify(graph, "partition")
    storage = [plan.storage_of(p) for p in plan.graph.parameters]
    given = [[part_of(a, layout, mesh, r) for a, layout in zip(arrays, storage)] for r in range(mesh.size)]
    everyone = Rehearsal(graph, mesh.size)(given)
    updated = {target: source for source, target in plan.graph.attrs.get("updates", {}).items()}
    found = []
    for i in range(len(everyone[0])):
        if i in updated:
            layout = plan.storage_of(plan.graph.parameters[updated[i]])
            found.append(joined([out[i] for out in everyone], layout, mesh, plan.graph.parameters[updated[i]].abstract.shape))
        else:
            for other in everyone[1:]:
                np.testing.assert_array_equal(other[i], everyone[0][i])  # whole results are the same on all devices
            found.append(everyone[0][i])
    return tuple(found)


def outputs_on_xla(plan, arrays):
    """What as many devices of XLA's compute, whole."""
    from mindspore.backends.xla.mesh_program import MeshProgram

    graph = partition(plan, whole_outputs=True)
    inputs = [plan.storage_of(p).dims for p in plan.graph.parameters]
    outputs = [((),) * len(a.shape) for a in graph.outputs]
    return MeshProgram(graph, plan.mesh.shape, inputs, outputs)(*arrays)


def assert_same(function, *args, devices=8, preset=None, rtol=1e-5, atol=2e-6, **options):
    """Check that devices compute together what one computes; the plan.

    Sums are added up in another order: an element may differ by a millionth of the largest one.
    """
    graph, arrays = traced_graph(function, *args)
    plan = make_plan(graph, Options(devices, **options), preset(graph) if preset else None)
    for one, many in zip(outputs_of_one(graph, arrays), outputs_of_many(plan, arrays), strict=True):
        assert one.shape == many.shape and one.dtype == many.dtype
        largest = np.abs(one).max(initial=0.0) if np.issubdtype(one.dtype, np.floating) else 0.0
        np.testing.assert_allclose(many, one, rtol=rtol, atol=max(atol, 1e-6 * float(largest)))
    return plan
