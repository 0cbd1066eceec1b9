"""Data parallel training on real processes: the losses of each step are those of one device with the whole batch."""

import json
import os
import sys
from pathlib import Path

import numpy as np
from cases import case, run

import mindspore as ms
from mindspore import Tensor, mint, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.parallel.distributed import DistributedDataParallel
from mindspore.runtime import sharding
from mindspore.train import Callback, Model

init()
RANK, SIZE = get_rank(), get_group_size()
STEPS, BATCH = 20, 8


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()
        self.dense1, self.dense2, self.dense3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.flatten(self.pool(ops.relu(self.conv2(x))))
        return self.dense3(ops.relu(self.dense2(ops.relu(self.dense1(x)))))


class Residual(nn.Cell):
    """Convolutions with shortcuts; normalised per sample, so that a part of the batch is normalised like the whole."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3)
        self.convs = nn.CellList([nn.Conv2d(8, 8, 3) for _ in range(4)])
        self.norms = nn.CellList([nn.GroupNorm(2, 8) for _ in range(4)])
        self.head = nn.Dense(8, 10)

    def construct(self, x):
        x = self.stem(x)
        for conv, norm in zip(self.convs, self.norms):
            x = x + ops.relu(norm(conv(x)))
        return self.head(x.mean((2, 3)))


class Attention(nn.Cell):
    """One block of a language model over 14 tokens of the image's rows."""

    def __init__(self, width=28):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down, self.head = nn.Dense(width, 64), nn.Dense(64, width), nn.Dense(width, 10)

    def construct(self, x):
        x = x.reshape(x.shape[0], 28, 28)
        q, k, v = ops.split(self.qkv(self.norm1(x)), 28, -1)
        scores = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) / 5.3)
        x = x + self.out(ops.matmul(scores, v))
        x = x + self.down(ops.gelu(self.up(self.norm2(x))))
        return self.head(x.mean(1))


def data(seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(STEPS, BATCH, 1, 28, 28)).astype("f"), draw.integers(0, 10, (STEPS, BATCH)).astype("i")


def losses(network, optimizer, parallel, mode, **settings):
    """Of 20 steps; in a parallel run each process has its part of the batch, and losses are averaged."""
    ms.set_context(mode=mode)
    ms.set_auto_parallel_context(parallel_mode="data_parallel" if parallel else "stand_alone", gradients_mean=True, **settings)
    ms.set_seed(3)
    net = network()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer(net.trainable_params())
    ).set_train()
    images, labels = data()
    part = slice(RANK * BATCH // SIZE, (RANK + 1) * BATCH // SIZE) if parallel else slice(None)
    found = [step(Tensor(x[part]), Tensor(y[part])) for x, y in zip(images, labels)]
    ms.reset_auto_parallel_context()
    return np.array([float(ops.AllReduce("avg")(loss) if parallel else loss) for loss in found]), net


def momentum(parameters):
    return nn.Momentum(parameters, 0.05, 0.9)


def adam(parameters):
    return nn.AdamWeightDecay(parameters, 1e-3, weight_decay=0.01)


def same_as_one_device(network, optimizer, mode=ms.GRAPH_MODE, **settings):
    alone, _ = losses(network, optimizer, False, mode)
    together, net = losses(network, optimizer, True, mode, **settings)
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    for parameter in net.get_parameters():  # the same bits everywhere
        value = parameter.asnumpy()
        np.testing.assert_array_equal(ops.AllReduce("max")(Tensor(value)).asnumpy(), value)


@case
def lenet():
    same_as_one_device(LeNet, momentum)


@case
def lenet_in_pynative_mode():
    same_as_one_device(LeNet, momentum, ms.PYNATIVE_MODE)


@case
def residual_network():
    same_as_one_device(Residual, adam)


@case
def attention():
    same_as_one_device(Attention, adam)


@case
def buckets_by_index_and_size():
    same_as_one_device(LeNet, momentum, all_reduce_fusion_config=[2, 5])
    same_as_one_device(LeNet, momentum, comm_fusion={"allreduce": {"mode": "size", "config": 1}})
    same_as_one_device(LeNet, momentum, comm_fusion={"openstate": False})


def steps_of_native_graphs(work):
    """The names of the native steps of the largest graph that is compiled meanwhile."""
    from mindspore.backends.cpu import executable

    made = []
    begin = executable.CpuExecutable.__init__

    def noted(self, *args, **named):
        begin(self, *args, **named)
        made.append(self)

    executable.CpuExecutable.__init__ = noted
    try:
        work()
    finally:
        executable.CpuExecutable.__init__ = begin
    return max((e.steps() for e in made), key=len)


@case
def buckets_by_measured_times():
    """If messages cost much, all gradients go together; if they cost nothing, most go by themselves; the losses stay."""
    file = f"{sys.argv[1]}/machine_{RANK}.json"
    machine = ms.parallel.calibrate(file)
    np.testing.assert_array_equal(ops.AllReduce("max")(Tensor(machine["flops"])).asnumpy(), np.float32(machine["flops"]))
    sums = []
    for fast in (machine["fast"], {"latency": 10.0, "bandwidth": 1e9}, {"latency": 0.0, "bandwidth": 1e12}):
        Path(file).write_text(json.dumps({**machine, "fast": fast}))
        os.environ["MS_PARALLEL_MACHINE"] = file
        sharding._machine.cache_clear()
        try:
            sums.append(steps_of_native_graphs(lambda: same_as_one_device(LeNet, momentum)).count("begin:AllReduce"))
        finally:
            del os.environ["MS_PARALLEL_MACHINE"]
    assert 1 <= sums[0] <= 10 and sums[1] == 1 and sums[2] > 4, sums


@case
def batches_normalised_together():
    """Outputs, gradients and running statistics are those of one process with the whole batch."""
    images = np.random.default_rng(4).standard_normal((2 * SIZE, 3, 4, 4)).astype("f")
    own = images[2 * RANK : 2 * RANK + 2]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        for together, alone in (
            (nn.SyncBatchNorm(3), nn.BatchNorm2d(3)), (mint.nn.SyncBatchNorm(3), mint.nn.BatchNorm2d(3)),
            (mint.nn.SyncBatchNorm(3, momentum=None), mint.nn.BatchNorm2d(3, momentum=None)),
        ):  # fmt: skip
            outs, slopes = [], []
            for net, batch in ((together, own), (alone, images)):
                net.set_train()
                outs.append([net(Tensor(batch * 2)).asnumpy(), net(Tensor(batch)).asnumpy()][1])
                slopes.append(ms.grad(lambda x, net=net: (net(x) ** 3).sum())(Tensor(batch)).asnumpy())
            mine = slice(2 * RANK, 2 * RANK + 2)
            np.testing.assert_allclose(outs[0], outs[1][mine], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(slopes[0], slopes[1][mine], rtol=1e-3, atol=1e-4)
            for a, b in zip(together.get_parameters(), alone.get_parameters()):
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6, err_msg=a.name)


@case
def sums_instead_of_means():
    grads = (Tensor(np.full(3, RANK + 1.0, "f")), Tensor(np.full((2, 2), 2.0, "f")))
    for mean, factor in ((True, 1 / SIZE), (False, 1.0)):
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            got = nn.DistributedGradReducer([], mean=mean)(grads)
            np.testing.assert_allclose(got[0].asnumpy(), SIZE * (SIZE + 1) / 2 * factor)
            np.testing.assert_allclose(got[1].asnumpy(), 2.0 * SIZE * factor)


@case
def a_step_of_the_users_own():
    class Step(nn.Cell):
        def __init__(self, net, optimizer):
            super().__init__(auto_prefix=False)
            self.net, self.optimizer = net, optimizer
            self.weights = optimizer.parameters
            self.grad = ops.GradOperation(get_by_list=True)
            self.reducer = nn.DistributedGradReducer(self.weights, True, SIZE)

        def construct(self, x):
            loss = self.net(x)
            return ops.depend(loss, self.optimizer(self.reducer(self.grad(self.net, self.weights)(x))))

    net = nn.Dense(1, 1, "ones", has_bias=False)
    Step(net, nn.SGD(net.trainable_params(), 0.5))(Tensor([[RANK + 1.0]]))
    np.testing.assert_allclose(net.weight.asnumpy().item(), 1 - 0.5 * np.mean(np.arange(1, SIZE + 1)), rtol=1e-6)


@case
def parameters_are_broadcast():
    ms.set_seed(RANK)  # different initial weights
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, parameter_broadcast=True)
    net = nn.Dense(4, 2)
    rows = np.random.default_rng(0).normal(size=(16, 4)).astype("f"), np.zeros((16, 2), "f")
    part = NumpySlicesDataset(rows, ["x", "y"], shuffle=False, num_shards=SIZE, shard_id=RANK).batch(2)
    seen = []

    class Losses(Callback):
        def on_train_step_end(self, run_context):
            seen.append(float(run_context.original_args().net_outputs))

    Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)).train(2, part, Losses(), dataset_sink_mode=False)
    ms.reset_auto_parallel_context()
    assert len(seen) == 2 * 16 // SIZE // 2
    value = net.weight.asnumpy()
    np.testing.assert_array_equal(ops.AllReduce("max")(Tensor(value)).asnumpy(), value)


@case
def distributed_data_parallel():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(RANK)
    net = DistributedDataParallel(nn.Dense(3, 1))
    weight = net.module.weight
    np.testing.assert_array_equal(ops.AllReduce("max")(weight).asnumpy(), weight.asnumpy())
    x = np.full((2, 3), RANK + 1.0, "f")
    grads = ms.value_and_grad(lambda t: net(t).sum(), None, net.trainable_params())(Tensor(x))[1]
    np.testing.assert_allclose(grads[0].asnumpy(), np.full((1, 3), 2 * np.mean(np.arange(1, SIZE + 1))), rtol=1e-6)
    with net.no_sync():
        grads = ms.value_and_grad(lambda t: net(t).sum(), None, net.trainable_params())(Tensor(x))[1]
    np.testing.assert_allclose(grads[0].asnumpy(), np.full((1, 3), 2.0 * (RANK + 1)))


@case
def the_backward_pass_goes_on_while_a_bucket_travels():
    """The native steps: a bucket's sum begins before the last gradients are computed."""
    names = steps_of_native_graphs(lambda: losses(LeNet, momentum, True, ms.GRAPH_MODE, all_reduce_fusion_config=[3]))
    started = names.index("begin:AllReduce")
    assert any("conv" in name for name in names[started : names.index("await:AllReduce")])


run(RANK)
