"""A class for each pixel: a folder `images` and a folder `masks` of files with the same names, whose values are the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.dataset import vision
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task, decoded, existing
from mindspore.nn.cell import Cell


class PixelLoss(Cell):
    """Cross entropy of each pixel."""

    def __init__(self, net: Cell, smoothing: float):
        super().__init__(auto_prefix=False)
        self.net, self.smoothing = net, smoothing

    def construct(self, image: Tensor, mask: Tensor) -> Tensor:
        scores = self.net(image).transpose(0, 2, 3, 1)
        return ops.cross_entropy(scores.reshape(-1, scores.shape[-1]), mask.reshape(-1), label_smoothing=self.smoothing)


class Segmentation(Task):
    name = "segmentation"
    wanted = "folders 'images' and 'masks' of PNG files with the same names; a mask's values are the classes"
    figure = "mean overlap"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return PixelLoss(net, recipe.label_smoothing)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        channels, size, _ = net.takes[0].shape
        if place == SYNTHETIC:
            columns = discs(limit or 512, net.num_classes, channels, size, int(training))
        else:
            columns = self._read(place, net.num_classes, channels, size, training, limit)
        return ds.NumpySlicesDataset(columns, ["image", "mask"], shuffle=training).batch(batch, drop_remainder=training)

    def _read(self, place: str, classes: int, channels: int, size: int, training: bool, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Every tenth file is for testing."""
        folder = self.folder(place)
        files = sorted((folder / "images").glob("*.png"))
        if not files or any(not (folder / "masks" / f.name).is_file() for f in files):
            raise ValueError(f"In '{place}' there must be {self.wanted}.")
        chosen = [f for i, f in enumerate(files) if (i % 10 == 9) != training][: limit or None]
        images, masks = [], []
        for file in chosen:
            mask = decoded(folder / "masks" / file.name)
            mask = vision.Resize((size, size), vision.Inter.NEAREST)(mask)[:, :, 0]
            if mask.max() >= classes:
                raise ValueError(f"The mask {file.name} has the class {mask.max()}, but the network has {classes} classes.")
            images.append(_fitted(decoded(file), channels, size))
            masks.append(mask.astype(np.int32))
        return np.stack(images), np.stack(masks)

    def evaluate(self, net: Cell, data: Any) -> float:
        """The mean over the classes of intersection by union."""
        net.set_train(False)
        both, either = np.zeros(net.num_classes), np.zeros(net.num_classes)
        for image, mask in data.create_tuple_iterator(num_epochs=1):
            found, wanted = net(image).asnumpy().argmax(1), mask.asnumpy()
            for c in range(net.num_classes):
                both[c] += ((found == c) & (wanted == c)).sum()
                either[c] += ((found == c) | (wanted == c)).sum()
        return float((both[either > 0] / either[either > 0]).mean())

    def predict(self, net: Cell, file: str) -> str:
        """The share of each class; the mask, a grey level for each class, is written beside the file."""
        channels, size, _ = net.takes[0].shape
        source = existing(file)
        net.set_train(False)
        mask = net(Tensor(_fitted(decoded(source), channels, size)[None])).asnumpy()[0].argmax(0)
        target = source.with_suffix(".mask.png")
        vision.write_png(str(target), (mask * (255 // max(1, net.num_classes - 1))).astype(np.uint8))
        shares = [f"class {c}: {(mask == c).mean():.3f} of the pixels" for c in range(net.num_classes) if (mask == c).any()]
        return "\n".join([*shares, f"wrote {target}"])


def _fitted(image: np.ndarray, channels: int, size: int) -> np.ndarray:
    image = vision.Resize((size, size))(image)
    return (image[:, :, :channels].transpose(2, 0, 1) / np.float32(127.5) - 1).astype(np.float32)


def discs(count: int, classes: int, channels: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A disc of each class but the background's, as bright as the class says, in noise; later ones cover earlier ones."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size]
    mask = np.zeros((count, size, size), np.int32)
    for c in range(1, classes):
        centre, radius = rng.uniform(0.2, 0.8, (2, count, 1, 1)) * size, rng.uniform(0.12, 0.25, (count, 1, 1)) * size
        mask = np.where((y - centre[0]) ** 2 + (x - centre[1]) ** 2 < radius**2, c, mask)
    bright = (mask / max(1, classes - 1))[:, None].repeat(channels, 1)
    image = bright + 0.15 * rng.standard_normal((count, channels, size, size))
    return image.astype(np.float32), mask.astype(np.int32)
