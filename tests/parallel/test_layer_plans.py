"""Plans for networks of many equal layers: stages, micro-batches, recomputation, memory."""

import numpy as np
import pytest

from mindspore import Parameter, Tensor, nn, ops, parallel
from mindspore.compiler.shard.cost import Link, Machine

GB = 1e9


class Layer(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.up = Parameter(ops.zeros((width, 4 * width)), name="up")
        self.down = Parameter(ops.zeros((4 * width, width)), name="down")

    def construct(self, x):
        return x + ops.matmul(ops.relu(ops.matmul(x, self.up)), self.down)


def plans(width=64, layers=8, batch=64, devices=16, **machine):
    links = {"fast": Link(1e-6, 1e11), "slow": Link(1e-5, 1e10)}
    known = {"flops": 1e12, "memory_rate": 1e12, "launch": 0.0, "memory": 1 * GB, "node": 4, **links, **machine}
    return parallel.search_layers(Layer(width), layers, ops.zeros((1, 16, width)), batch, devices, Machine(**known))


def test_plans_come_fastest_first_and_use_all_devices():
    found = plans()
    assert [p.seconds for p in found] == sorted(p.seconds for p in found)
    for plan in found:
        assert plan.stages * plan.devices == 16 and plan.micro_batch * plan.micro_batches == 64
        assert 8 % plan.stages == 0 and plan.memory <= 1 * GB


def test_without_need_nothing_is_recomputed_and_no_stage_waits():
    best = plans(batch=1024, fast=Link(0.0, 1e14), slow=Link(0.0, 1e14))[0]
    assert (best.stages, best.recompute) == (1, False)
    slow = plans(batch=1024, slow=Link(1e-5, 1e9))[0]  # sums of gradients between nodes cost more than handing results on
    assert slow.stages > 1 and slow.devices <= 4


def test_less_memory_means_slower_plans_that_keep_less():
    least = [plans(memory=m)[0] for m in (1 * GB, 8e5, 4e5)]
    assert least[0].seconds <= least[1].seconds <= least[2].seconds
    assert least[2].memory <= 4e5 < least[0].memory
    with pytest.raises(ValueError, match=r"No plan .* fits"):
        plans(memory=1e3)


def test_weights_are_cut_where_links_are_fast_and_samples_where_they_are_slow():
    best = plans(width=512, batch=64, memory=20e6)[0]
    assert best.weight_parts > 1 or best.stages > 1
    cuts = best.cuts["MatMul-1"] if "MatMul-1" in best.cuts else next(c for n, c in best.cuts.items() if "MatMul" in n)
    assert np.prod(cuts[0]) > 1 or np.prod(cuts[1]) > 1


def test_time_of_one_device_is_the_work_divided_by_its_speed():
    """Against a closed form: one device, no communication, three passes over two products."""
    (best, *_) = plans(width=64, layers=4, batch=8, devices=1, memory_rate=1e30)
    products = 2 * 2 * 8 * 16 * 64 * 256
    others = 8 * 16 * 256 + 8 * 16 * 64  # ReLU and the sum
    assert best.seconds == pytest.approx(3 * 4 * (products + others) / 1e12, rel=0.01)


@pytest.mark.parametrize("wrong", [{"layers": 0}, {"batch": -1}, {"devices": 2.0}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="must be a positive int"):
        parallel.search_layers(nn.Dense(4, 4), **{"layers": 2, "batch": 4, "devices": 2, **wrong}, sample=Tensor(np.ones((1, 4), "f")))


def test_a_sample_is_one_sample():
    with pytest.raises(ValueError, match="first dimension is 1"):
        parallel.search_layers(nn.Dense(4, 4), 2, Tensor(np.ones((2, 4), "f")), 4, 2)
