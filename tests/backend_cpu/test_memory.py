"""The arena plan: tensors alive together never overlap, and memory is shared."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.backend_cpu.helpers import build

import mindspore as ms
from mindspore import nn, ops
from mindspore.backends.cpu import CpuBackend, available
from mindspore.compiler.memory.plan import ALIGNMENT, Interval, plan, round_up
from mindspore.prims import elementwise as ew
from mindspore.prims import linalg

INTERVALS = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 30), st.integers(0, 10)).map(
        lambda t: Interval(t[0], t[1], t[1] + t[2])
    ),
    max_size=40,
)


@given(INTERVALS)
def test_no_overlap(intervals):
    result = plan(intervals)
    for i, a in enumerate(intervals):
        assert result.offsets[i] % ALIGNMENT == 0
        assert result.offsets[i] + round_up(a.nbytes) <= result.peak
        for j, b in enumerate(intervals[:i]):
            if a.first <= b.last and b.first <= a.last:
                start, end = result.offsets[i], result.offsets[i] + a.nbytes
                assert end <= result.offsets[j] or result.offsets[j] + b.nbytes <= start


@given(INTERVALS)
def test_peak_is_between_the_bounds(intervals):
    result = plan(intervals)
    alive = [sum(round_up(i.nbytes) for i in intervals if i.first <= t <= i.last) for t in range(45)]
    assert max(alive, default=0) <= result.peak <= result.total


def test_a_chain_needs_two_buffers():
    result = plan([Interval(1000, i, i + 1) for i in range(10)])
    assert result.peak == 2 * round_up(1000)
    assert result.ratio == 0.2


@pytest.mark.skipif(not available(), reason="the native backend is not installed")
def test_a_residual_network_trains_in_less_than_half_of_its_tensors_memory():
    """Forward, backward and update of a small ResNet: scratch memory is in the arena, new weights in the old ones' place."""

    class Block(nn.Cell):
        def __init__(self, channels):
            super().__init__()
            self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3) for _ in range(2))
            self.norm1, self.norm2 = (nn.BatchNorm2d(channels) for _ in range(2))

        def construct(self, x):
            return ops.relu(self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x))))) + x)

    net = nn.SequentialCell([*(Block(32) for _ in range(6)), nn.Flatten(), nn.Dense(32 * 16 * 16, 4)])
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    gradient = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        loss, grads = gradient(x, y)
        optimizer(grads)
        return loss

    step(ms.Tensor(np.ones((2, 32, 16, 16), np.float32)), ms.Tensor(np.array([0, 3], np.int32)))
    report = step.memory_report()
    assert report["ratio"] <= 0.45
    assert report["peak_bytes"] > 0


@pytest.mark.skipif(not available(), reason="the native backend is not installed")
def test_graphs_share_their_memory_and_give_it_back():
    """One function for ten sizes needs the memory of the largest; graphs that run at the same time do not share."""
    arrays = [np.random.default_rng(n).standard_normal((40 + n, 50)).astype(np.float32) for n in range(10)]

    def function(x):
        return linalg.MatMul()(ew.Exp()(linalg.MatMul(transpose_b=True)(x, x)), x)

    graphs = [CpuBackend().compile(build(function, x)) for x in arrays]
    want = [g(x)[0].copy() for g, x in zip(graphs, arrays)]
    (used,) = {i.arena for g in graphs for i in g._free}
    assert used.users >= len(graphs)
    failures = []

    def work(offset):
        for i in range(40):
            n = (i + offset) % len(graphs)
            if not np.array_equal(graphs[n](arrays[n])[0], want[n]):
                failures.append(n)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not failures
    assert not used.lock.locked()
    before = used.users
    graphs.clear()
    gc.collect()
    assert used.users <= before - 10
