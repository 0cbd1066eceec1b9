"""Branches and loops under cuts: eight rehearsed devices against one, and what lies cut inside."""

import numpy as np
import pytest
from rehearse import assert_same

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.prims.control import Cond, While

BATCH, WIDTH = 16, 8


def tensor(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


class Branching(nn.Cell):
    """A weight in one branch, a reduction in the other."""

    def __init__(self, strategy=None):
        super().__init__()
        self.w = Parameter(tensor(WIDTH, WIDTH, seed=1), name="w")
        self.matmul = ops.MatMul()
        if strategy:
            self.matmul.shard(strategy)

    def construct(self, x, flag):
        if flag.sum() > 0:
            y = ops.tanh(self.matmul(x, self.w))
        else:
            y = x - x.mean(0)
        return (y * y).sum()


class Looping(nn.Cell):
    """A recurrence over a state that starts as zeros."""

    def __init__(self, strategy=None):
        super().__init__()
        self.w = Parameter(tensor(WIDTH, WIDTH, seed=2) * 0.3, name="w")
        self.matmul = ops.MatMul()
        if strategy:
            self.matmul.shard(strategy)

    def construct(self, x, count):
        h, i = ops.zeros_like(x), ops.zeros((), ms.int32)
        while i < count:
            h = ops.tanh(self.matmul(h + x, self.w))
            i = i + 1
        return (h * h).mean()


def trained(net):
    """Loss and gradient of the weight."""
    return ms.value_and_grad(net, None, net.trainable_params())


def regions(plan, kind):
    return [(n, plan.regions[n.id]) for n in plan.graph.nodes() if isinstance(n.op, kind)]


@pytest.mark.parametrize("devices", [2, 3, 8])
@pytest.mark.parametrize("flag", [1.0, -1.0])
def test_branches_give_what_one_device_gives(devices, flag):
    net = Branching()
    assert_same(trained(net), tensor(24, WIDTH), Tensor(np.full((4,), flag, np.float32)), devices=devices)


@pytest.mark.parametrize("strategy", [((8, 1), (1, 1)), ((2, 2), (2, 2)), ((1, 8), (8, 1)), ((1, 1), (1, 4))])
def test_strategies_hold_within_branches(strategy):
    plan = assert_same(trained(Branching(strategy)), tensor(BATCH, WIDTH), Tensor(np.ones((4,), np.float32)))
    for _, region in regions(plan, Cond)[:1]:
        (product,) = [n for n in region.plans[0].graph.nodes() if n.op.name == "MatMul"]
        cuts = [layout.cuts(plan.mesh) for layout in region.plans[0].inputs_wanted(product)]
        assert tuple(cuts) == strategy
    weight = next(p for p in plan.graph.parameters if p.name == "w")
    assert plan.storage_of(weight).cuts(plan.mesh) == strategy[1]


@pytest.mark.parametrize("devices", [2, 6, 8])
def test_loops_give_what_one_device_gives(devices):
    plan = assert_same(trained(Looping()), tensor(24, WIDTH), Tensor(3, ms.int32), devices=devices, dataset="full_batch")
    assert regions(plan, While)


def test_the_state_of_a_loop_is_cut_before_the_first_trip():
    plan = assert_same(Looping(), tensor(BATCH, WIDTH), Tensor(3, ms.int32))
    ((node, region),) = regions(plan, While)
    states = [layout for layout, arg in zip(region.results, node.args[2:]) if arg.abstract.shape == (BATCH, WIDTH)]
    assert states and all(layout.cuts(plan.mesh) == (8, 1) for layout in states)


@pytest.mark.parametrize("strategy", [((2, 4), (4, 1)), ((1, 1), (1, 8)), ((1, 2), (2, 4))])
def test_strategies_hold_within_loops(strategy):
    assert_same(trained(Looping(strategy)), tensor(BATCH, WIDTH), Tensor(4, ms.int32))


def test_a_branch_within_a_loop():
    def function(x, count):
        i = ops.zeros((), ms.int32)
        while i < count:
            x = ops.softmax(x, 0) if x.max() > 0.5 else x + x.sum(1, keepdims=True)
            i = i + 1
        return x.sum(0)

    assert_same(function, tensor(BATCH, WIDTH), Tensor(5, ms.int32))


def test_what_a_loop_keeps_for_its_gradient_is_cut():
    plan = assert_same(trained(Looping()), tensor(BATCH, WIDTH), Tensor(3, ms.int32))
    kept = [n for inner in plan.with_inner() for n in inner.graph.nodes() if n.op.name == "StackPush" and n.abstract.ndim == 3]
    inside = {n.id: inner for inner in plan.with_inner() for n in inner.graph.nodes()}
    assert kept and all(inside[n.id].layout_of(n).cuts(plan.mesh) == (1, 8, 1) for n in kept)


def test_the_report_names_operators_within_branches():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8, full_batch=True)
    try:
        net = Branching(((2, 2), (2, 2)))
        net.compile(tensor(BATCH, WIDTH), Tensor(np.ones((4,), np.float32)))
        rows = net.explain_parallel().rows
    finally:
        ms.reset_auto_parallel_context()
    assert [r.strategy for r in rows if "MatMul" in r.name] == [[[2, 2], [2, 2]]]
    assert [r.why for r in rows if "Cond" in r.name] == ["inside"]
