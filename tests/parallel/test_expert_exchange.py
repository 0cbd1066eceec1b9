"""Experts on different devices than their tokens: tokens travel by AllToAll, there and back, and nothing is gathered."""

import numpy as np
import pytest
from rehearse import assert_same

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compiler.shard.cost import Machine
from mindspore.compiler.shard.partition import partition

TOKENS, WIDTH, EXPERTS, CAPACITY = 16, 4, 8, 4


class Mixture(nn.Cell):
    """Every group of tokens sends up to CAPACITY of them to each expert (GShard, Lepikhin et al. 2020)."""

    def __init__(self, devices):
        super().__init__()
        draw = np.random.default_rng(0).standard_normal
        self.gate = Parameter(Tensor(draw((WIDTH, EXPERTS)).astype("f")), name="gate")
        self.up = Parameter(Tensor(draw((EXPERTS, WIDTH, 8)).astype("f")), name="up")
        self.down = Parameter(Tensor(draw((EXPERTS, 8, WIDTH)).astype("f")), name="down")
        self.choose = ops.BatchMatMul().shard(((devices, 1, 1), (1, 1)))
        self.send = ops.BatchMatMul(transpose_a=True).shard(((devices, 1, 1), (devices, 1, 1)))
        self.first = ops.BatchMatMul().shard(((devices, 1, 1), (devices, 1, 1)))
        self.second = ops.BatchMatMul().shard(((devices, 1, 1), (devices, 1, 1)))
        self.back = ops.BatchMatMul().shard(((devices, 1, 1), (devices, 1, 1)))

    def construct(self, x):
        groups = x.shape[0]
        shares = ops.softmax(self.choose(x, self.gate), -1)
        hot = ops.one_hot(shares.argmax(-1), EXPERTS, Tensor(1.0), Tensor(0.0))
        place = (ops.cumsum(hot, 1) - 1) * hot
        slots = ops.one_hot(place.sum(-1).astype(ms.int32), CAPACITY, Tensor(1.0), Tensor(0.0))
        spread = (hot.expand_dims(-1) * slots.expand_dims(2)).reshape(groups, TOKENS, EXPERTS * CAPACITY)
        sent = self.send(spread, x).reshape(groups, EXPERTS, CAPACITY, WIDTH)
        by_expert = sent.swapaxes(0, 1).reshape(EXPERTS, groups * CAPACITY, WIDTH)  # group by group: here tokens travel
        out = self.second(ops.relu(self.first(by_expert, self.up)), self.down)
        home = out.reshape(EXPERTS, groups, CAPACITY, WIDTH).swapaxes(0, 1).reshape(groups, EXPERTS * CAPACITY, WIDTH)
        weight = (shares * hot).sum(-1).expand_dims(-1)
        return ((x + self.back(spread, home) * weight) ** 2).mean()


@pytest.mark.parametrize("devices", [2, 8])
def test_tokens_go_to_their_experts_and_back(devices):
    x = Tensor(np.random.default_rng(1).standard_normal((8, TOKENS, WIDTH)).astype("f"))
    net = Mixture(devices)
    step = ms.value_and_grad(net, None, net.trainable_params())
    plan = assert_same(step, x, devices=devices, dataset=((devices, 1, 1),), machine=Machine().with_free_work())
    forward = [n for n in partition(plan).nodes() if n.scope.startswith("Default")]
    assert [n.op.name for n in forward].count("AlltoAll") == 2  # one exchange each, however many axes the devices have
    assert all(n.abstract.size <= WIDTH * EXPERTS for n in forward if n.op.name == "AllGather")  # the gate's weight at most
    held = {p.name: plan.storage_of(p).cuts(plan.mesh) for p in plan.graph.parameters if p.default is not None}
    assert held["up"] == held["down"] == (devices, 1, 1)
