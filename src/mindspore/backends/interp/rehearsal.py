"""N devices in one process: every step of a device's graph is run for each of them, and collectives exchange in between.

The oracle for the sharding pass: what N devices compute must be what one computes. Devices go in lock-step, so that a
collective finds the arrays of all its members when its turn comes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.backends.interp.imagined import Post, communicated
from mindspore.backends.interp.machine import Program
from mindspore.ir import CNode, FuncGraph
from mindspore.prims import world
from mindspore.prims.collective import AllGather, AllReduce, Collective, ReduceScatter
from mindspore.prims.control import Cond, While
from mindspore.prims.exchange import AlltoAll, Shift
from mindspore.prims.mesh import MeshIndex

#: what the sharding pass writes, found from the arrays of a group's members; all else is exchanged message by message
_BY_GROUP = (AllReduce, AllGather, ReduceScatter, AlltoAll, Shift)


class Rehearsal:
    """The graph of a device, run for all devices of its mesh."""

    def __init__(self, graph: FuncGraph, devices: int, watch: Callable[[CNode, Callable], Callable] | None = None):
        """`watch(node, kernel)` may replace the kernel of every node."""
        self.devices = devices
        self.program = Program(graph.name)
        self.program.build(graph, {}, watch)

    def __call__(self, arrays: list[list[Any]]) -> list[tuple]:
        """The outputs of each device, from the inputs of each."""
        self.post: Post = defaultdict(deque)
        with np.errstate(all="ignore"):
            return self._run(self.program, [[np.asarray(a) for a in given] for given in arrays])

    def _run(self, program: Program, arrays: list[Any]) -> list[Any]:
        everyone = [program.template.copy() for _ in range(self.devices)]
        for slots, given in zip(everyone, arrays):
            for place, array in zip(program.inputs, given):
                slots[place] = array
        for (kernel, sources, target, dead), node in zip(program.steps, program.nodes):
            args = [[slots[s] for s in sources] for slots in everyone]
            for slots, result in zip(everyone, self._step(node, kernel, args)):
                slots[target] = result
                for d in dead:
                    slots[d] = None
        return [slots[program.result] for slots in everyone]

    def _step(self, node: CNode, kernel: Any, args: list[list[Any]]) -> list[Any]:
        if isinstance(node.op, Collective):
            by_group = isinstance(node.op, _BY_GROUP)
            results = exchange(node.op, [a[0] for a in args]) if by_group else communicated(node.op, args, self.post)
            _check_shape(node, results[0])
            return results
        if isinstance(node.op, MeshIndex):
            return [np.asarray(node.op.of_rank(rank), np.int32) for rank in range(self.devices)]
        if isinstance(node.op, Cond):
            _, then, otherwise, *_ = args[0]
            chosen = then if _together(node, [a[0] for a in args]) else otherwise
            return self._run(chosen, [a[3:] for a in args])
        if isinstance(node.op, While):
            return self._loop(node, args)
        return [kernel(*a) for a in args]

    def _loop(self, node: CNode, args: list[list[Any]]) -> list[Any]:
        (condition, body, *_), count = args[0], node.op.carried
        carry, invariants = [tuple(a[2 : 2 + count]) for a in args], [a[2 + count :] for a in args]
        while _together(node, self._run(condition, [[*c, *i] for c, i in zip(carry, invariants)])):
            carry = [tuple(r) for r in self._run(body, [[*c, *i] for c, i in zip(carry, invariants)])]
        return carry


def _check_shape(node: CNode, result: Any) -> None:
    """A collective of the user's is compiled for the processes that there are, which is one: the rest of the graph relies on that."""
    expected, given = getattr(node.abstract, "shape", None), getattr(result, "shape", None)
    if expected is not None and given != tuple(expected):
        raise RuntimeError(
            f"{node.op.name} gives shape {given} on so many devices, but {tuple(expected)} in the one process that this graph was "
            "compiled in. Collectives that change shapes need as many processes: msrun --worker_num."
        )


def _together(node: CNode, predicates: list[Any]) -> bool:
    """The way that all devices take: they meet in the collectives there."""
    ways = {bool(p) for p in predicates}
    assert len(ways) == 1, f"the devices take different ways at '{node.op.name}'"
    return ways.pop()


def exchange(op: Collective, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The results of a collective on all devices, from the arrays of all."""
    mesh = world.mesh_of(op.group)
    found: list[Any] = [None] * len(arrays)
    for rank in range(len(arrays)):
        if found[rank] is None:
            members = world.mesh_members(*mesh, rank) if mesh is not None else tuple(range(len(arrays)))
            for member, result in zip(members, _among(op, [arrays[m] for m in members])):
                found[member] = result
    return found


def _among(op: Collective, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The results of the members of one group."""
    count = len(arrays)
    if isinstance(op, AllReduce):
        return [world.reduce_arrays(op.op, arrays)] * count
    if isinstance(op, AllGather):
        return [np.concatenate(arrays)] * count
    if isinstance(op, ReduceScatter):
        return np.split(world.reduce_arrays(op.op, arrays), count)
    if isinstance(op, AlltoAll):
        parts = [np.split(a, count, op.split_dim) for a in arrays]
        return [np.concatenate([p[i] for p in parts], op.concat_dim) for i in range(count)]
    assert isinstance(op, Shift)
    return [arrays[i - 1] for i in range(count)]
