"""A device's graph on a mesh of JAX's devices: `jax.shard_map` runs it on all of them, collectives are XLA's own.

Real devices, or one CPU that stands for several (`XLA_FLAGS=--xla_force_host_platform_device_count=8`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.backends.xla.lowering import Lowering
from mindspore.ir import FuncGraph
from mindspore.prims.collective import Collective, Place
from mindspore.prims.world import MESH_AXIS, mesh_of

#: for each dimension of a tensor the axes of the mesh that cut it
Dims = tuple[tuple[int, ...], ...]


def devices() -> int:
    """How many devices JAX has."""
    return len(require("jax", "xla", "the XLA backend").devices())


class MeshProgram:
    """A compiled graph that all devices of a mesh run, on whole arrays that JAX cuts and joins."""

    def __init__(self, graph: FuncGraph, shape: tuple[int, ...], inputs: list[Dims], outputs: list[Dims]):
        jax = require("jax", "xla", "the XLA backend")
        jax.config.update("jax_enable_x64", True)
        count = int(np.prod(shape))
        axes = tuple(MESH_AXIS(i) for i in range(len(shape)))
        self.mesh = jax.sharding.Mesh(np.array(jax.devices()[:count]).reshape(shape), axes)
        lowering = Lowering(jax)
        lowering.place = _place

        def run(*arrays: Any) -> tuple:
            return tuple(lowering._typed(lowering.run(graph, arrays), graph))

        # The graph is differentiated already: what JAX would learn by tracking replicated values is of no use.
        self.function = jax.jit(
            jax.shard_map(
                run,
                mesh=self.mesh,
                in_specs=tuple(_spec(jax, dims) for dims in inputs),
                out_specs=tuple(_spec(jax, dims) for dims in outputs),
                check_vma=False,
            )
        )

    def __call__(self, *arrays: Any) -> tuple:
        return tuple(np.asarray(a) for a in self.function(*arrays))


def _place(op: Collective) -> Place | None:
    mesh = mesh_of(op.group)
    return None if mesh is None else Place(tuple(map(MESH_AXIS, mesh[1])))


def _spec(jax: Any, dims: Dims) -> Any:
    return jax.sharding.PartitionSpec(*(tuple(MESH_AXIS(a) for a in axes) or None for axes in dims))
