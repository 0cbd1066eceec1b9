"""Graphs with collectives on XLA: one program of all processes, each with one device of a mesh.

An array of ours is a process's part of a global array that is cut along its first dimension, so nothing is copied; scalars
get a dimension for it. The program runs under `jax.shard_map`, where collectives are XLA's own (Gloo between CPUs, NCCL
between GPUs). Graphs with operations that differ between processes, or whose groups do not divide the processes evenly, have no
such form; their collectives stay host callbacks.
"""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.backends.xla import coordination
from mindspore.ir import AbstractTensor, FuncGraph
from mindspore.prims import world
from mindspore.prims.collective import Collective, Place

AXIS = "processes"
#: bytes of a process's description of its collectives
_TEXT = 512


def join(jax: Any) -> None:
    """Make JAX of this process part of the run, before it looks for devices."""
    transport = world.transport()
    if not isinstance(transport, world.NativeTransport) or jax.distributed.is_initialized():
        return
    coordination.join(jax, _meeting_point(transport), transport.size, transport.rank)


def _meeting_point(transport: world.Transport) -> str:
    """An address of rank 0 that is free, told to all."""
    text = np.zeros(128, np.uint8)
    if transport.rank == 0:
        with socket.socket() as probe:
            probe.bind(("", 0))
            port = probe.getsockname()[1]
        name = f"{socket.gethostbyname(socket.gethostname())}:{port}".encode()
        text[: len(name)] = np.frombuffer(name, np.uint8)
    return bytes(transport.broadcast(text, 0, tuple(range(transport.size)))).rstrip(b"\0").decode()


def is_common(graph: FuncGraph) -> bool:
    """Whether a graph has collectives, and all of them have a form in the program of all processes."""
    found = [n.op for g in graph.all_graphs() for n in g.nodes() if isinstance(n.op, Collective)]
    return bool(found) and world.transport().size > 1 and all(place(op) is not None for op in found)


def compare(graph: FuncGraph) -> None:
    """Raise unless all processes are about to compile the same collectives: otherwise they would wait for each other forever."""
    found = [
        f"{n.op.name} of {', '.join(str(a.abstract) for a in n.args if isinstance(a.abstract, AbstractTensor))}"
        for g in graph.all_graphs()
        for n in g.nodes()
        if isinstance(n.op, Collective)
    ]
    digest = hashlib.blake2b(repr(found).encode(), digest_size=8).digest()
    shown = f"{len(found)} collectives: {', '.join(found[:8])}{', …' if len(found) > 8 else ''}"
    mine = np.frombuffer(digest + shown.encode()[:_TEXT].ljust(_TEXT), np.uint8)
    transport = world.transport()
    everyone = transport.all_gather(mine, tuple(range(transport.size)))
    if any(not np.array_equal(one[:8], everyone[0][:8]) for one in everyone):
        lines = [f"  rank {rank}: {bytes(one[8:]).decode(errors='replace').rstrip()}" for rank, one in enumerate(everyone)]
        raise RuntimeError(f"The processes have different collectives in the graph '{graph.name}':\n" + "\n".join(lines))


def place(op: Collective) -> Place | None:
    """Where the members of a collective's group are in the program of all processes."""
    return op.place_among_processes(AXIS)


class CommonProgram:
    """Calls the program of all processes with this one's arrays."""

    def __init__(self, jax: Any, run: Callable[..., tuple], graph: FuncGraph, donated: frozenset[int], device: Any, options: dict):
        self.device = device
        by_process = {d.process_index: d for d in reversed(jax.devices(device.platform))}
        mesh = jax.sharding.Mesh(np.array([by_process[p] for p in sorted(by_process)]), (AXIS,))
        self.make = jax.make_array_from_single_device_arrays
        self.put = jax.device_put
        self.sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
        size = len(by_process)
        local = [(tuple(p.abstract.shape), p.abstract.dtype.np) for p in graph.parameters]
        self.scalars = [not shape for shape, _ in local]
        self.shapes = [(size * shape[0], *shape[1:]) if shape else (size,) for shape, _ in local]
        self.results = [not o.shape for o in graph.outputs]

        def body(*parts: Any) -> tuple:
            outputs = run(*(p.reshape(()) if scalar else p for p, scalar in zip(parts, self.scalars)))
            return tuple(jax.numpy.reshape(o, (1,)) if not jax.numpy.shape(o) else o for o in outputs)

        spec = jax.sharding.PartitionSpec(AXIS)
        mapped = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
        kinds = [jax.ShapeDtypeStruct(s, d, sharding=self.sharding) for s, (_, d) in zip(self.shapes, local)]
        self.program = jax.jit(mapped, donate_argnums=tuple(sorted(donated))).lower(*kinds).compile(options)

    def __call__(self, *arrays: Any) -> tuple:
        given = [self._part(*each) for each in zip(arrays, self.shapes, self.scalars)]
        outputs = [o.addressable_shards[0].data for o in self.program(*given)]
        # Behind the graph's results come numbers about the run, such as the trips of its loops.
        scalars = self.results + [True] * (len(outputs) - len(self.results))
        return tuple(o.reshape(()) if scalar else o for o, scalar in zip(outputs, scalars))

    def _part(self, array: Any, shape: tuple[int, ...], scalar: bool) -> Any:
        local = self.put(array.reshape((1,)) if scalar else array, self.device)
        return self.make(shape, self.sharding, [local])
