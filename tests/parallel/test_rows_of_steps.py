"""Steps and samples that are merged for a product: devices with other samples need not gather them."""

import dataclasses
import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compiler.shard.cost import Machine

DEVICES, STEPS, SAMPLES, WIDTH = 4, 3, 8, 5
DRAW = np.random.default_rng(7)
X = DRAW.normal(size=(STEPS, SAMPLES, WIDTH)).astype(np.float32)
Y = DRAW.normal(size=(STEPS, SAMPLES, 6)).astype(np.float32)
W = DRAW.normal(size=(WIDTH, 6)).astype(np.float32)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(WIDTH, 6)

    def construct(self, x):
        return self.layer(x)[0]


class Merged(nn.Cell):
    """A product of merged rows; `between` is done with them before they are taken apart."""

    def __init__(self, between):
        super().__init__()
        self.weight, self.between = Parameter(Tensor(W), name="weight"), between
        self.cut = ops.Neg().shard(((1, DEVICES, 1),))

    def construct(self, x):
        rows = ops.tanh(ops.matmul(self.cut(x).reshape(-1, WIDTH), self.weight))
        return self.between(rows).reshape(STEPS, -1, 6)


def step_of(make):
    ms.set_seed(2)
    net = make()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    return net, step


PARTS = ((1, DEVICES, 1), (1, DEVICES, 1))  # every device has samples of its own: in a rehearsal, the same ones


def trained(make, **settings):
    """The losses of three steps, the weights, and what the plan says."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net, step = step_of(make)
    if settings:
        ms.set_auto_parallel_context(device_num=DEVICES, **settings)
    try:
        losses = [float(step(Tensor(X), Tensor(Y))) for _ in range(3)]
        plan = step.explain_parallel() if settings else None
    finally:
        ms.reset_auto_parallel_context()
    return losses, [p.asnumpy() for p in net.trainable_params()], plan


@pytest.fixture(autouse=True)
def only_bytes_take_time(monkeypatch, tmp_path):
    """What is sent is so little here that latencies would decide."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(dataclasses.asdict(Machine().with_free_work())))
    monkeypatch.setenv("MS_PARALLEL_MACHINE", str(path))


def gathers(plan):
    return [row.name for row in plan.rows for collective in row.collectives if not collective.startswith("all_reduce")]


@pytest.mark.parametrize("make", [Recurrent, lambda: Merged(lambda rows: rows * 2)], ids=["GRU", "product"])
@pytest.mark.parametrize("mode", ["semi_auto_parallel", "auto_parallel"])
def test_nothing_but_gradients_is_sent(make, mode):
    losses, weights, _ = trained(make)
    cut_losses, cut_weights, plan = trained(make, parallel_mode=mode, dataset_strategy=PARTS)
    assert mode == "auto_parallel" or not gathers(plan)
    np.testing.assert_allclose(cut_losses, losses, rtol=1e-6)
    for one, other in zip(weights, cut_weights):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "between",
    [lambda rows: rows.cumsum(0), lambda rows: rows[::-1], lambda rows: rows + Tensor(Y.reshape(-1, 6))],
    ids=["sum so far", "reversed", "with a constant"],
)
def test_rows_whose_order_matters_keep_it(between):
    losses, weights, _ = trained(lambda: Merged(between))
    cut_losses, cut_weights, plan = trained(lambda: Merged(between), parallel_mode="semi_auto_parallel", full_batch=True)
    assert gathers(plan)
    np.testing.assert_allclose(cut_losses, losses, rtol=1e-6)
    np.testing.assert_allclose(cut_weights[0], weights[0], rtol=1e-5, atol=1e-6)
