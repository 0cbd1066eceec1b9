"""Making images like those of a folder, or of another kind: values from −1 to 1, without classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import context
from mindspore.common.tensor import Tensor
from mindspore.dataset import vision
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.images import ENDINGS, fitted, source
from mindspore.model_zoo.tasks.task import SYNTHETIC, OwnLoss, Task, decoded, existing, pixels
from mindspore.nn.cell import Cell


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
        channels, size, _ = net.shape
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
            return unlike(net.generate(256).asnumpy(), real)

    def predict(self, net: Cell, file: str) -> str:
        """Sixteen new images, side by side in the file, which must not be there yet."""
        if Path(file).exists() or Path(file).suffix.lower() != ".png":
            raise ValueError(f"Networks for {self.name} write what they make: '{file}' must end in .png and not be there yet.")
        net.set_train(False)
        with context.local_context(mode=context.PYNATIVE_MODE):
            made = net.generate(16).asnumpy()
        sheet = np.concatenate([np.concatenate([pixels(image) for image in made[i : i + 4]], 1) for i in range(0, 16, 4)])
        vision.write_png(file, sheet)
        return f"wrote {file}"


def unlike(made: np.ndarray, real: np.ndarray) -> float:
    """How far, per pixel, a made image is from the nearest real one, plus the same the other way round."""
    distances = np.array([np.abs(real - image).mean((1, 2, 3)) for image in made])
    return float(distances.min(1).mean() + distances.min(0).mean())


class ImageTranslation(Task):
    """Images of one kind made into another kind, without pairs. The figure is that of image generation."""

    name = "image translation"
    wanted = "folders trainA, trainB, testA and testB of image files"
    figure = "nearest images"
    higher_is_better = False

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return OwnLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        channels, size, _ = net.shape
        if place == SYNTHETIC:
            first, second = (discs(limit or 512, channels, size, 2 * int(training) + i) for i in range(2))
            columns = (first, -second)
        else:
            columns = self._read(place, channels, size, "train" if training else "test", limit)
        return ds.NumpySlicesDataset(columns, ["first", "second"], shuffle=training).batch(batch, drop_remainder=training)

    def _read(self, place: str, channels: int, size: int, part: str, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """As many of each kind: the longer list is cut."""
        kinds = []
        for kind in "AB":
            folder = self.folder(place) / f"{part}{kind}"
            files = sorted(f for f in folder.iterdir() if f.suffix.lower() in ENDINGS) if folder.is_dir() else []
            if not files:
                raise ValueError(f"In '{place}' there must be {self.wanted}.")
            kinds.append([fitted(decoded(f), channels, size) for f in files[: limit or None]])
        count = min(map(len, kinds))
        return np.stack(kinds[0][:count]), np.stack(kinds[1][:count])

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        made, real = [], []
        for first, second in data.create_tuple_iterator(num_epochs=1):
            made.append(net(first).asnumpy())
            real.append(second.asnumpy())
        return unlike(np.concatenate(made)[:256], np.concatenate(real)[:512])

    def predict(self, net: Cell, file: str) -> str:
        """The image as one of the other kind, written beside it."""
        source, (channels, size, _) = existing(file), net.shape
        net.set_train(False)
        target = source.with_suffix(".translated.png")
        vision.write_png(str(target), pixels(net(Tensor(fitted(decoded(source), channels, size)[None])).asnumpy()[0]))
        return f"wrote {target}"


def discs(count: int, channels: int, size: int, seed: int) -> np.ndarray:
    """A bright disc anywhere in the dark."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size]
    place, radius = rng.uniform(0.3, 0.7, (2, count, 1, 1)) * size, rng.uniform(0.2, 0.3, (count, 1, 1)) * size
    inside = (y - place[0]) ** 2 + (x - place[1]) ** 2 < radius**2
    return np.where(inside, 0.8, -0.8).astype(np.float32)[:, None].repeat(channels, 1)


def spots(count: int, channels: int, size: int, seed: int) -> np.ndarray:
    """The left or the right half is bright."""
    rng = np.random.default_rng(seed)
    image = np.full((count, channels, size, size), -1, np.float32)
    left = rng.random(count) < 0.5
    image[left, :, :, : size // 2] = 1
    image[~left, :, :, size // 2 :] = 1
    return np.clip(image * 0.8 + 0.05 * rng.standard_normal(image.shape), -1, 1).astype(np.float32)
