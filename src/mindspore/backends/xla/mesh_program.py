"""A device's graph on a mesh of JAX's devices: `jax.shard_map` runs it on all of them, collectives are XLA's own.

Real devices, or one CPU that stands for several (`XLA_FLAGS=--xla_force_host_platform_device_count=8`), of one process; or the
devices of as many processes, each of which gives and gets its own parts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.backends.xla.lowering import Lowering, is_unbounded
from mindspore.ir import FuncGraph
from mindspore.prims.collective import Collective, Place
from mindspore.prims.stack import DEFAULT_CAPACITY
from mindspore.prims.world import MESH_AXIS, mesh_of

#: for each dimension of a tensor the axes of the mesh that cut it
Dims = tuple[tuple[int, ...], ...]


def devices() -> int:
    """How many devices JAX has."""
    return len(require("jax", "xla", "the XLA backend").devices())


class MeshProgram:
    """A compiled graph that all devices of a mesh run."""

    def __init__(
        self, graph: FuncGraph, shape: tuple[int, ...], inputs: list[Dims], outputs: list[Dims], ranks: range | None = None
    ):
        """`ranks`: the processes whose devices the mesh has, if not all."""
        self.jax = jax = require("jax", "xla", "the XLA backend")
        jax.config.update("jax_enable_x64", True)
        axes = tuple(MESH_AXIS(i) for i in range(len(shape)))
        self.mesh = jax.sharding.Mesh(np.array(_devices(jax, math.prod(shape), ranks)).reshape(shape), axes)
        self.inputs = [
            (jax.sharding.NamedSharding(self.mesh, _spec(jax, dims)), _whole_shape(p.abstract.shape, dims, shape))
            for dims, p in zip(inputs, graph.parameters)
        ]
        self.graph, self.specs = graph, [tuple(_spec(jax, dims) for dims in group) for group in (inputs, outputs)]
        self.counters = [n for n in graph.nodes() if is_unbounded(n)]
        self.capacity = DEFAULT_CAPACITY
        self.function = self._compiled()

    def _compiled(self) -> Any:
        jax, graph = self.jax, self.graph
        lowering = Lowering(jax, self.capacity)
        lowering.place = _place

        def run(*arrays: Any) -> tuple:
            outputs = tuple(lowering._typed(lowering.run(graph, arrays), graph))
            return (*outputs, lowering.most_trips(self.counters)) if self.counters else outputs

        given, found = self.specs
        found += (jax.sharding.PartitionSpec(),) * bool(self.counters)
        # The graph is differentiated already: what JAX would learn by tracking replicated values is of no use.
        mapped = jax.shard_map(run, mesh=self.mesh, in_specs=given, out_specs=found, check_vma=False)
        return jax.jit(mapped, donate_argnums=() if self.counters else self._replaced())

    def _replaced(self) -> tuple[int, ...]:
        """The inputs whose memory new values of the same weights take; loops that may run again need theirs."""
        given, found = self.specs
        return tuple(i for i, o in self.graph.attrs.get("updates", {}).items() if given[i] == found[o])

    def _run(self, arrays: Any) -> Any:
        """Loops that save their carry an unknown number of times run again with more room where it was too little."""
        while self.counters:
            *outputs, trips = self.function(*arrays)
            needed = int(np.asarray(trips.addressable_shards[0].data))
            if needed <= self.capacity:
                return outputs
            while self.capacity < needed:
                self.capacity *= 2
            self.function = self._compiled()
        return self.function(*arrays)

    def __call__(self, *arrays: Any) -> tuple:
        """On whole arrays, which JAX cuts and joins: for the devices of one process."""
        return tuple(np.asarray(a) for a in self._run(arrays))

    def on_parts(self, *arrays: Any) -> tuple:
        """On the parts of this process, whose one device is of the mesh; its parts of the results."""
        jax = self.jax
        device = jax.local_devices()[0]
        given = [
            jax.make_array_from_single_device_arrays(shape, sharding, [jax.device_put(array, device)])
            for array, (sharding, shape) in zip(arrays, self.inputs)
        ]
        return tuple(np.asarray(a.addressable_shards[0].data) for a in self._run(given))


def _devices(jax: Any, count: int, ranks: range | None) -> list[Any]:
    """The devices of a mesh: one of each process, if there are so many processes, else those of this one."""
    if jax.process_count() == 1:
        return jax.devices()[:count]
    by_process = {d.process_index: d for d in reversed(jax.devices())}
    return [by_process[p] for p in ranks or sorted(by_process)]


def _whole_shape(part: tuple[int, ...], dims: Dims, mesh: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array whose parts have this one."""
    return tuple(n * math.prod(mesh[a] for a in axes) for n, axes in zip(part, dims))


def _place(op: Collective) -> Place | None:
    mesh = mesh_of(op.group)
    return None if mesh is None else Place(tuple(map(MESH_AXIS, mesh[1])))


def _spec(jax: Any, dims: Dims) -> Any:
    return jax.sharding.PartitionSpec(*(tuple(MESH_AXIS(a) for a in axes) or None for axes in dims))
