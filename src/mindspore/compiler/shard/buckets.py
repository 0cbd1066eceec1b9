"""Where to cut a list of gradients into buckets that are summed over devices while the backward pass goes on.

A gradient is there when all operators before it have run; a bucket is sent when its last gradient is there and the bucket before it has
arrived. Many small buckets pay the latency often, large ones begin late and leave the last one uncovered. With the times of operators
and links known, the cut whose last bucket arrives first follows by dynamic programming over the buckets' ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.compiler.shard import cost
from mindspore.compiler.shard.layout import Mesh
from mindspore.compiler.shard.plan import flops_of, rule_of
from mindspore.ir import CNode, Node


def ready_times(gradients: Sequence[Node], machine: cost.Machine) -> list[float]:
    """Seconds after which each gradient is there, if operators run one after the other as they were written."""
    found: dict[int, CNode] = {}
    pending = [g for g in gradients if isinstance(g, CNode)]
    while pending:
        node = pending.pop()
        if node.id not in found:
            found[node.id] = node
            pending += [a for a in node.args if isinstance(a, CNode)]
    time, ends = 0.0, {}
    for number in sorted(found):
        node = found[number]
        rule = rule_of(node)
        nbytes = sum(getattr(a.abstract, "nbytes", 0) for a in (node, *node.args))
        time += machine.operation(flops_of(node, rule) if rule is not None else 0.0, nbytes)
        ends[number] = time
    return [ends.get(g.id, 0.0) for g in gradients]


def best_cut(ready: Sequence[float], nbytes: Sequence[int], kinds: Sequence[Any], devices: int, machine: cost.Machine) -> list[int]:
    """How many gradients each bucket has, in the order given; gradients of one bucket have one element type."""
    mesh = Mesh.of(devices)
    ways = machine.ways("all_reduce", mesh, mesh.axes)
    count = len(ready)
    starts = np.concatenate([[0.0], np.cumsum(nbytes, dtype=float)])
    arrived, begins = np.zeros(count + 1), [0] * (count + 1)
    for end in range(1, count + 1):
        first = end - 1
        while first and kinds[first - 1] == kinds[end - 1]:
            first -= 1
        complete = np.maximum.accumulate(np.asarray(ready[first:end])[::-1])[::-1]  # of a bucket from here to the end
        summing = np.minimum.reduce([start + each * (starts[end] - starts[first:end]) for start, each in ways])
        times = np.maximum(arrived[first:end], complete) + summing
        begins[end] = first + int(np.argmin(times))  # of equal ones the fewest buckets
        arrived[end] = times[begins[end] - first]
    found, end = [], count
    while end:
        found.append(end - begins[end])
        end = begins[end]
    return found[::-1]


__all__ = ["best_cut", "ready_times"]
