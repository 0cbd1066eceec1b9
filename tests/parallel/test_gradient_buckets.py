"""Buckets of gradients by time: the best of all cuts, and times that follow the graph."""

import itertools

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.compiler.parse.entry import trace
from mindspore.compiler.shard.buckets import best_cut, ready_times
from mindspore.compiler.shard.cost import Link, Machine
from mindspore.compiler.shard.layout import Mesh


def arrival(counts, ready, nbytes, devices, machine):
    """When the last bucket is there, step by step."""
    mesh, time, start = Mesh.of(devices), 0.0, 0
    for count in counts:
        members = slice(start, start + count)
        time = max(time, *ready[members]) + machine.collective("all_reduce", sum(nbytes[members]), mesh, mesh.axes)
        start += count
    return time


@pytest.mark.parametrize("seed", range(12))
def test_no_cut_arrives_earlier(seed):
    draw = np.random.default_rng(seed)
    count, devices = 8, int(draw.choice([2, 4, 6]))
    machine = Machine(fast=Link(float(draw.choice([0, 1e-5, 1e-3])), 1e9))
    ready, nbytes = sorted(draw.uniform(0, 5e-3, count)), draw.integers(1, 2_000_000, count).tolist()
    kinds = ["f"] * count if seed % 2 else [*"fffhhfff"]
    found = best_cut(ready, nbytes, kinds, devices, machine)
    assert sum(found) == count
    ends = np.cumsum([0, *found])
    assert all(len(set(kinds[a:b])) == 1 for a, b in itertools.pairwise(ends))
    allowed = []
    for inner in itertools.product([False, True], repeat=count - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(inner) if cut), count]
        if all(len(set(kinds[a:b])) == 1 for a, b in itertools.pairwise(edges)):
            allowed.append(arrival([b - a for a, b in itertools.pairwise(edges)], ready, nbytes, devices, machine))
    assert arrival(found, ready, nbytes, devices, machine) == pytest.approx(min(allowed), rel=1e-12)


def test_gradients_of_the_last_layers_are_there_first():
    net = nn.SequentialCell(*(nn.Dense(32, 32, has_bias=False) for _ in range(4)))
    gradients = ms.grad(lambda x: ops.square(net(x)).sum(), None, net.trainable_params())
    graph = trace(gradients, (Tensor(np.ones((8, 32), np.float32)),), {}, checked=False).graph
    times = ready_times(graph.output.args, Machine())
    assert sorted(times, reverse=True) == times
    assert times[-1] > 0
