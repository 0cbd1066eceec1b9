"""Measuring a machine for the cost model that plans are made by."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base.files import atomic_write
from mindspore.compiler.shard.cost import Link, Machine, algorithms
from mindspore.prims import world

__all__ = ["calibrate"]


def calibrate(path: str | None = None, node: int | None = None) -> dict[str, Any]:
    """Measure this device and the links of the run it belongs to; write the figures to a JSON file if one is named.

    Products and copies are timed on the host. In a run of several processes all of them must call it: an all-reduce of a small
    and of a large array gives latency and bandwidth, and all get the figures of rank 0. `MS_PARALLEL_MACHINE=path` has plans made, and
    buckets of gradients cut, for the machine measured.

    Examples:
        >>> from mindspore import parallel
        >>> sorted(parallel.calibrate())
        ['fast', 'flops', 'launch', 'memory', 'memory_rate', 'node', 'slow']
    """
    machine = Machine()
    size = world.transport().size
    found: dict[str, Any] = dataclasses.asdict(machine)
    a = np.ones((512, 512), np.float32)
    found["flops"] = 2 * 512**3 / _best(lambda: a @ a)
    block = np.ones(4_000_000, np.float32)
    found["memory_rate"] = 2 * block.nbytes / _best(block.copy)
    found["launch"] = _best(lambda: np.add(1.0, 1.0))
    found["node"] = node or max(size, 1)
    if size > 1:
        found["fast"] = dataclasses.asdict(_link(size))
        found = _as_rank_0_found(found, size)
    if path is not None:
        with atomic_write(path, "w") as stream:
            json.dump(found, stream, indent=1)
    return found


def _as_rank_0_found(found: dict[str, Any], size: int) -> dict[str, Any]:
    """The figures of rank 0: what is planned by them must be the same on all processes."""
    plain = ("flops", "memory_rate", "launch")
    mine = np.array([*(found[name] for name in plain), *found["fast"].values()])
    common = world.transport().broadcast(mine, 0, tuple(range(size))).tolist()
    return {**found, **dict(zip(plain, common)), "fast": dict(zip(found["fast"], common[len(plain) :]))}


def _link(size: int) -> Link:
    """Latency and bandwidth by which the cost model comes to the times of a small and a large all-reduce."""
    ranks = tuple(range(size))
    (few, _), (rounds, share) = algorithms("all_reduce", size)
    small, large = np.zeros(1, np.float32), np.zeros(1_000_000, np.float32)
    latency = _best(lambda: world.transport().all_reduce(small, "sum", ranks)) / few
    seconds = _best(lambda: world.transport().all_reduce(large, "sum", ranks)) - rounds * latency
    return Link(latency, share * large.nbytes / max(seconds, 1e-9))


def _best(work: Callable[[], Any], tries: int = 5) -> float:
    """The shortest of several times; the first is not counted."""
    work()
    times = []
    for _ in range(tries):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return max(min(times), 1e-9)
