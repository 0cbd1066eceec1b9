"""LoRA of MindPET: only the small matrices learn."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindpet.delta.lora import LoRADense
    from mindpet.graph.freeze_utils import freeze_delta

    net = nn.SequentialCell(LoRADense(6, 8, lora_rank=2, lora_alpha=4), nn.ReLU(), nn.Dense(8, 1))
    freeze_delta(net, mode="lora")
    names = [p.name for p in net.trainable_params()]
    assert names and all("delta_lora" in n for n in names), names
    rng = np.random.default_rng(0)
    x, y = (ms.Tensor(rng.standard_normal(s), ms.float32) for s in ((16, 6), (16, 1)))
    before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    optimizer = nn.Adam(net.trainable_params(), 1e-2)
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    losses = [float(cell(x, y)) for _ in range(30)]
    assert losses[-1] < losses[0], losses
    for p in net.get_parameters():
        assert (p.asnumpy() == before[p.name]).all() != ("delta_lora" in p.name), p.name
