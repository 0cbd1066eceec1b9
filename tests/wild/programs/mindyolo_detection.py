"""MindYOLO: YOLOv8's smallest network trains on boxes and its loss goes down."""

from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    import mindyolo
    from mindyolo.models import create_loss, create_model
    from mindyolo.utils.config import Config, load_config

    folder = Path(mindyolo.__file__).parent.parent / "configs" / "yolov8"
    cfg = Config(next(found for found in load_config(str(folder / "yolov8n.yaml")) if isinstance(found, dict)))
    net = create_model(model_name=cfg.network.model_name, model_cfg=cfg.network, num_classes=3, sync_bn=False)
    loss = create_loss(name=cfg.loss.name, box=7.5, cls=0.5, dfl=1.5, stride=[8, 16, 32], nc=3, reg_max=16)
    x = ms.Tensor(np.random.default_rng(0).random((1, 3, 64, 64)), ms.float32)
    labels = ms.Tensor([[[0, 1, 0.5, 0.5, 0.4, 0.4], [0, 2, 0.3, 0.6, 0.2, 0.3]]], ms.float32)
    net.set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.002)

    def loss_of(x, labels):
        total, _ = loss(net(x), labels, x)
        return total

    step = ms.jit(ms.value_and_grad(loss_of, None, optimizer.parameters))  # as its own trainer does
    losses = []
    for _ in range(4):
        value, gradients = step(x, labels)
        optimizer(gradients)
        losses.append(float(value))
    assert np.isfinite(losses).all() and losses[-1] < losses[0], losses
