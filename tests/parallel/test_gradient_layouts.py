"""What training steps send besides their gradients: nothing, where only samples are cut."""

import dataclasses
import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.compiler.shard.cost import Machine

DEVICES = 8
DRAW = np.random.default_rng(11)
X, Y = (Tensor(DRAW.normal(size=(2, 4, 16)).astype(np.float32)) for _ in range(2))


class Block(nn.Cell):
    """Its gradients by the normalisation's weights are known to every device as soon as they are computed."""

    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm((16,)), nn.Dense(16, 32), nn.Dense(32, 16)

    def construct(self, x):
        return x + self.down(ops.gelu(self.up(self.norm(x))))


def plan_of(monkeypatch, tmp_path, **settings):
    """The plan of a training step for a machine on which only bytes take time."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(dataclasses.asdict(Machine().with_free_work())))
    monkeypatch.setenv("MS_PARALLEL_MACHINE", str(path))
    net = nn.SequentialCell(Block(), Block())
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(device_num=DEVICES, dataset_strategy=((DEVICES, 1, 1),) * 2, **settings)
    try:
        step.compile(X, Y)
        return step.explain_parallel()
    finally:
        ms.reset_auto_parallel_context()


def test_a_gradient_that_every_device_knows_is_not_cut(monkeypatch, tmp_path):
    plan = plan_of(monkeypatch, tmp_path, parallel_mode="semi_auto_parallel")
    assert {c for row in plan.rows for c in row.collectives} == {"all_reduce(8)"}


@pytest.mark.parametrize("mode", ["dynamic_programming", "recursive_programming"])
def test_a_search_is_no_worse_than_cutting_samples(monkeypatch, tmp_path, mode):
    searched = plan_of(monkeypatch, tmp_path, parallel_mode="auto_parallel", search_mode=mode)
    samples = plan_of(monkeypatch, tmp_path, parallel_mode="semi_auto_parallel")
    assert searched.waiting <= samples.waiting
