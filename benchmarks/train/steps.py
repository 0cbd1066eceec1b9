"""The training steps that the benchmarks use: LeNet-5 on batches of 32, ResNet-18 on batches of 8."""

from __future__ import annotations

import sys
from pathlib import Path

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


def resnet18() -> nn.Cell:
    """ResNet-18 for ten classes, from the examples."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "models"))
    import resnet

    return resnet.resnet18(10)


#: network, shape of a batch
NETWORKS = {"lenet": (LeNet, (32, 1, 28, 28)), "resnet18": (resnet18, (8, 3, 64, 64))}


def training_step(network: str = "lenet"):
    """A function that makes one step and waits for its loss."""
    step, images, labels = training_cell(network)
    return lambda: step(images, labels).asnumpy()


def training_cell(network: str) -> tuple[nn.Cell, Tensor, Tensor]:
    """The step as a Cell, and a batch."""
    make, shape = NETWORKS[network]
    net = make()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
    images = Tensor(np.random.default_rng(0).random(shape).astype(np.float32))
    return step, images, Tensor(np.arange(shape[0], dtype=np.int32) % 10)
