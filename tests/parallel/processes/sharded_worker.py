"""Graphs that are cut over the processes of a run: losses and weights of 20 steps are those of one device.

The second argument `short` leaves most combinations of networks and plans out.
"""

import os
import sys

import numpy as np
from cases import case, run
from networks import NETWORKS, Odd, Plan, Ring, adam, losses, momentum

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.communication.comm_func import barrier

init()
RANK, SIZE = get_rank(), get_group_size()


def same_as_one_device(network, plan, optimizer=momentum, mode="semi_auto_parallel", **settings):
    alone, one = losses(network, optimizer)
    ms.set_auto_parallel_context(parallel_mode=mode, full_batch=True, **settings)
    try:
        together, many = losses(network, optimizer, plan=plan)
    finally:
        ms.reset_auto_parallel_context()
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    for mine, other in zip(many.get_parameters(), one.get_parameters(), strict=True):
        value = mine.asnumpy()
        np.testing.assert_allclose(value, other.asnumpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(ops.AllReduce("max")(Tensor(value)).asnumpy(), value)  # the same bits everywhere
    cuts = [int(np.prod(layout[2])) for layout in many.parameter_layout_dict.values()]
    return sum(cuts) / sum(p.size for p in many.get_parameters())  # the share of the weights that a process is given


SHORT = sys.argv[2:] == ["short"]
ZERO = {"enable_parallel_optimizer": True, "parallel_optimizer_config": {"parallel_optimizer_threshold": 0}}
PLANS = {"data": Plan(SIZE, 1), "tensor": Plan(1, SIZE)} | ({"mixed": Plan(2, SIZE // 2)} if SIZE >= 4 else {})


def combinations():
    """(name, network, plan, optimizer parallel)"""
    if SHORT:
        yield "lenet_mixed" if SIZE >= 4 else "lenet_tensor", NETWORKS["lenet"], PLANS.get("mixed", PLANS["tensor"]), False
        yield "gpt_tensor", NETWORKS["gpt"], PLANS["tensor"], False
        yield "experts_optimizer_parallel", NETWORKS["experts"], PLANS["data"], True
        yield "recurrence_tensor", NETWORKS["recurrence"], PLANS["tensor"], False
        yield "branches_tensor", NETWORKS["branches"], PLANS["tensor"], False
        return
    for name, network in NETWORKS.items():
        for kind, plan in PLANS.items():
            yield f"{name}_{kind}", network, plan, False
            yield f"{name}_{kind}_optimizer_parallel", network, plan, True


def add(name, network, plan, zero):
    def check():
        share = same_as_one_device(network, plan, *((adam,) if zero else ()), **(ZERO if zero else {}))
        assert share < (1.2 / SIZE if zero else 0.9 if plan.mp > 1 else 1.1), share

    check.__name__ = name
    case(check)


for combination in combinations():
    add(*combination)


@case
def uneven_vocabulary_and_optimizer_states():
    same_as_one_device(Odd, PLANS["tensor"], adam, **ZERO)


@case
def uneven_batches():
    same_as_one_device(Odd, PLANS["data"])


@case
def keys_in_a_ring():
    same_as_one_device(Ring, PLANS["tensor"])


@case
def deepfm_searched():
    same_as_one_device(NETWORKS["deepfm"], None, mode="auto_parallel")


@case
def each_process_has_its_part_of_the_batch():
    network = NETWORKS["deepfm"]
    alone, _ = losses(network, steps=3)
    whole = network.batch

    def part(draw):
        return tuple(np.split(a, SIZE)[RANK] for a in whole(draw))

    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    network.batch = part
    try:
        together, _ = losses(network, steps=3, plan=PLANS["data"])
    finally:
        network.batch = whole
        ms.reset_auto_parallel_context()
    np.testing.assert_allclose(together, alone, rtol=1e-6)


class Rows(nn.Cell):
    """A product whose weight is cut along its rows or columns."""

    def __init__(self, seed, cut):
        super().__init__()
        self.w = ms.Parameter(np.random.default_rng(seed).normal(size=(8, 12)).astype("f"), name="w")
        self.product = ops.MatMul().shard(((1, cut[0]), cut))

    def construct(self, x):
        return self.product(x, self.w)


@case
def parts_are_saved_transformed_to_another_cut_and_loaded():
    ms.set_context(mode=ms.GRAPH_MODE)
    folder, x = sys.argv[1], Tensor(np.eye(8, dtype="f"))
    nets = {"rows": Rows(1, (SIZE, 1)), "columns": Rows(2, (1, SIZE))}
    for name, net in nets.items():
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel", full_batch=True, strategy_ckpt_save_file=f"{folder}/{name}_{RANK}.ckpt"
        )
        net(x)
        ms.reset_auto_parallel_context()
    weight = nets["rows"].w.asnumpy()
    os.makedirs(f"{folder}/rows/rank_{RANK}", exist_ok=True)
    file = f"{folder}/rows/rank_{RANK}/net.ckpt"
    ms.save_checkpoint(nets["rows"], file, integrated_save=False)
    np.testing.assert_array_equal(ms.load_checkpoint(file)["w"].asnumpy(), np.split(weight, SIZE)[RANK])
    barrier()
    for target in ("columns", None):
        if RANK == 0:
            strategy = target and f"{folder}/{target}_0.ckpt"
            ms.transform_checkpoints(f"{folder}/rows", f"{folder}/to_{target}", "made", f"{folder}/rows_0.ckpt", strategy)
        barrier()
        made = ms.load_checkpoint(f"{folder}/to_{target}/rank_{RANK if target else 0}/made{RANK if target else 0}.ckpt")
        np.testing.assert_array_equal(made["w"].asnumpy(), np.split(weight, SIZE, 1)[RANK] if target else weight)
        nets["columns"].w.set_data(Tensor(np.zeros_like(weight)))
        ms.load_param_into_net(nets["columns"], made)
        np.testing.assert_array_equal(nets["columns"].w.asnumpy(), weight)


@case
def a_wrong_value_on_one_process_is_raised_on_all():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=True)
    try:
        _, step = losses(NETWORKS["gpt"], steps=1, plan=PLANS["data"])
        before = [p.asnumpy().copy() for p in step.get_parameters()]
        tokens, labels = NETWORKS["gpt"].batch(np.random.default_rng(0))
        tokens[-1, 0] = 99  # in the last process's part
        try:
            step(Tensor(tokens), Tensor(labels))
        except (IndexError, ValueError) as error:
            assert "99" in str(error), error
        else:
            raise AssertionError("an index out of range passed")
        for parameter, value in zip(step.get_parameters(), before):
            np.testing.assert_array_equal(parameter.asnumpy(), value)
    finally:
        ms.reset_auto_parallel_context()


run(RANK)
