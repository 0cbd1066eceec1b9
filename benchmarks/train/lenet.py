"""The training step that the benchmarks use: LeNet-5 on batches of 32."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, nn


class LeNet(nn.Cell):
    """LeNet-5 for images of 28 x 28."""

    def __init__(self):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        )  # fmt: skip
        self.head = nn.SequentialCell(nn.Dense(256, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))

    def construct(self, x):
        return self.head(self.features(x))


def training_step():
    """A function that makes one step and waits for its loss."""
    net = LeNet()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
    images = Tensor(np.random.default_rng(0).random((32, 1, 28, 28)).astype(np.float32))
    labels = Tensor(np.arange(32, dtype=np.int32) % 10)
    return lambda: step(images, labels).asnumpy()
