"""Making images like those of a folder: data as for `images`, with values from −1 to 1 and without classes."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import context
from mindspore.common.tensor import Tensor
from mindspore.dataset import vision
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.images import source
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task
from mindspore.nn.cell import Cell


class OwnLoss(Cell):
    """The network's own loss."""

    def __init__(self, net: Cell):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, image: Tensor) -> Tensor:
        return self.net.loss(image)


class Generation(Task):
    """The figure: how far, per pixel, a generated image is from the nearest one of the data, plus the same the other way round.

    The first is large for images that look like none, the second if some kinds of images are never generated.
    """

    name = "image generation"
    wanted = "MNIST's idx files, CIFAR-10's binary files, or folders train/CLASS/… of image files"
    figure = "nearest images"
    higher_is_better = False

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return OwnLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        channels, size, _ = net.takes[0].shape
        if place == SYNTHETIC:
            rows = ds.NumpySlicesDataset((spots(limit or 2048, channels, size, int(training)),), ["image"], shuffle=training)
            return rows.batch(batch, drop_remainder=training)
        rows = source(self.folder(place), training).project(["image"])
        rows = rows.take(limit) if limit else rows
        steps = [vision.Resize((size, size)), vision.Rescale(2 / 255, -1.0), vision.HWC2CHW()]
        return rows.map(steps, "image").batch(batch, drop_remainder=training)

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        real = np.concatenate([image.asnumpy() for (image,) in data.create_tuple_iterator(num_epochs=1)])[:512]
        with context.local_context(mode=context.PYNATIVE_MODE):
            made = net.generate(256).asnumpy()
        distances = np.array([np.abs(real - image).mean((1, 2, 3)) for image in made])
        return float(distances.min(1).mean() + distances.min(0).mean())


def spots(count: int, channels: int, size: int, seed: int) -> np.ndarray:
    """The left or the right half is bright."""
    rng = np.random.default_rng(seed)
    image = np.full((count, channels, size, size), -1, np.float32)
    left = rng.random(count) < 0.5
    image[left, :, :, : size // 2] = 1
    image[~left, :, :, size // 2 :] = 1
    return np.clip(image * 0.8 + 0.05 * rng.standard_normal(image.shape), -1, 1).astype(np.float32)
