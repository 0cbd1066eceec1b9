"""MindCV: networks are made by name, and learn with its losses and optimizers."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindcv import create_loss, create_model, create_optimizer

    rng = np.random.default_rng(0)
    x, y = ms.Tensor(rng.standard_normal((4, 3, 64, 64)), ms.float32), ms.Tensor([0, 1, 2, 3], ms.int32)
    for name in ("resnet18", "mobilenet_v2_035_128", "vit_b_32_224"):
        size = 224 if "vit" in name else 64
        data = ms.Tensor(rng.standard_normal((2, 3, size, size)), ms.float32) if size != 64 else x
        net = create_model(name, num_classes=4)
        loss = create_loss(name="CE")
        optimizer = create_optimizer(net.trainable_params(), opt="momentum", lr=0.01)
        cell = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
        cell.set_train()
        losses = [float(cell(data, y[: data.shape[0]])) for _ in range(3)]
        assert np.isfinite(losses).all() and losses[-1] < losses[0] * 1.5, (name, losses)
