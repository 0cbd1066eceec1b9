"""Classes of images: MNIST's or CIFAR-10's files, or a folder of images for each class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import context, ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.dataset import transforms, vision
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task, decoded, existing
from mindspore.nn.cell import Cell

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".webp"}


class Classification(Cell):
    """Softmax cross entropy; auxiliary results of a network in training count 0.3, and its penalty is added if it has one."""

    def __init__(self, net: Cell, smoothing: float):
        super().__init__(auto_prefix=False)
        self.net, self.smoothing, self.penalised = net, smoothing, hasattr(net, "penalty")

    def construct(self, image: Tensor, label: Tensor) -> Tensor:
        outputs = self.net(image)
        if not isinstance(outputs, tuple):
            loss = ops.cross_entropy(outputs, label, label_smoothing=self.smoothing)
            return loss + self.net.penalty() if self.penalised else loss
        first, *others = (ops.cross_entropy(o, label, label_smoothing=self.smoothing) for o in outputs)
        return first + 0.3 * sum(others)


class Images(Task):
    name = "images"
    wanted = "MNIST's idx files, CIFAR-10's binary files, or folders train/CLASS/… and val/CLASS/… of image files"
    figure = "accuracy"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return Classification(net, recipe.label_smoothing)

    def options(self, place: str) -> dict[str, Any]:
        if place == SYNTHETIC:
            return {}
        classes, channels = _described(self.folder(place))
        return {"num_classes": classes, "in_channels": channels}

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        channels, size, _ = net.takes[0].shape
        if place == SYNTHETIC:
            columns = gratings(limit or 2048, net.num_classes, channels, size, seed=int(training))
            rows = ds.NumpySlicesDataset(columns, ["image", "label"], shuffle=training)
            return rows.batch(batch, drop_remainder=training)
        folder = self.folder(place)
        classes, stored = _described(folder)
        if classes != net.num_classes:
            raise ValueError(f"The data at '{place}' has {classes} classes, but the network was made for {net.num_classes}.")
        rows = source(folder, training)
        if limit:
            rows = rows.take(limit)
        rows = rows.map(_transforms(folder, stored, channels, size, training), "image")
        rows = rows.map(transforms.TypeCast(mstype.int32), "label")
        return rows.batch(batch, drop_remainder=training)

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        right = total = 0
        for image, label in data.create_tuple_iterator(num_epochs=1):
            guessed = net(image).asnumpy().argmax(1)
            right, total = right + int((guessed == label.asnumpy()).sum()), total + len(guessed)
        if not total:
            raise ValueError("There is nothing to evaluate: the data has no rows.")
        return right / total

    def predict(self, net: Cell, file: str) -> str:
        channels, size, _ = net.takes[0].shape
        image = decoded(existing(file))
        for step in [vision.Resize((size, size)), *_scaled(channels)]:
            image = step(image)
        net.set_train(False)
        with context.local_context(mode=context.PYNATIVE_MODE):
            shares = ops.softmax(net(Tensor(image[None])), 1).asnumpy()[0]
        best = shares.argsort()[::-1][:5]
        return "\n".join(f"class {c}: {shares[c]:.3f}" for c in best)


def gratings(count: int, classes: int, channels: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Stripes whose direction is the class, at a random phase and wavelength, with noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, count).astype(np.int32)
    angle = np.pi * label / classes
    y, x = np.mgrid[:size, :size].astype(np.float32)
    along = np.cos(angle)[:, None, None] * x + np.sin(angle)[:, None, None] * y
    wave = rng.uniform(5, 8, (count, 1, 1))
    image = np.sin(2 * np.pi * (along / wave + rng.random((count, 1, 1))))
    image = image[:, None].repeat(channels, 1) + 0.3 * rng.standard_normal((count, channels, size, size))
    return image.astype(np.float32), label


def _part(folder: Path, training: bool) -> Path:
    """The folder of the classes: `train` or `val` within, or the folder itself."""
    for name in ("train",) if training else ("val", "test", "valid"):
        if (folder / name).is_dir():
            return folder / name
    return folder


def is_mnist(folder: Path) -> bool:
    return any(folder.glob("t10k-images*")) or any(folder.glob("train-images*"))


def _described(folder: Path) -> tuple[int, int]:
    """The number of classes and of channels of the stored images."""
    if is_mnist(folder):
        return 10, 1
    if any(folder.glob("data_batch_*.bin")):
        return 10, 3
    part = _part(folder, True)
    classes = [d for d in part.iterdir() if d.is_dir() and any(f.suffix.lower() in ENDINGS for f in d.iterdir())] if part.is_dir() else []
    if not classes:
        raise ValueError(f"In '{folder}' there are neither {Images.wanted.replace(', or', ' nor')}.")
    return len(classes), 3


def source(folder: Path, training: bool) -> Any:
    usage = "train" if training else "test"
    if is_mnist(folder):
        return ds.MnistDataset(str(folder), usage=usage, shuffle=training)
    if any(folder.glob("data_batch_*.bin")):
        return ds.Cifar10Dataset(str(folder), usage=usage, shuffle=training)
    return ds.ImageFolderDataset(str(_part(folder, training)), shuffle=training)


def _scaled(channels: int) -> list[Any]:
    """Bytes → numbers about 0, channels first. Grey images fit networks of three channels, and the other way round."""
    mean, deviation = (MEAN, DEVIATION) if channels == 3 else ((0.5,) * channels, (0.5,) * channels)

    def fit(image: np.ndarray) -> np.ndarray:
        if image.ndim == 2:
            image = image[:, :, None]
        if image.shape[2] == channels:
            return image
        return image.mean(2, keepdims=True).astype(image.dtype).repeat(channels, 2)

    return [fit, vision.Rescale(1 / 255, 0.0), vision.Normalize(mean, deviation), vision.HWC2CHW()]


def _transforms(folder: Path, stored: int, channels: int, size: int, training: bool) -> list[Any]:
    if is_mnist(folder):
        return [vision.Resize((size, size)), *_scaled(channels)]
    if any(folder.glob("data_batch_*.bin")):
        moved = [vision.RandomCrop(32, 4), vision.RandomHorizontalFlip()] if training else []
        return [*moved, vision.Resize((size, size)), *_scaled(channels)]
    if training:
        return [vision.RandomCropDecodeResize(size), vision.RandomHorizontalFlip(), *_scaled(channels)]
    return [vision.Decode(), vision.Resize(size * 8 // 7), vision.CenterCrop(size), *_scaled(channels)]


def fitted(image: np.ndarray, channels: int, size: int) -> np.ndarray:
    """A decoded image as (channels, size, size) from −1 to 1; grey where the channels differ."""
    image = vision.Resize((size, size))(image)
    image = image if image.ndim == 3 else image[:, :, None]
    if image.shape[2] != channels:
        image = image.mean(2, keepdims=True).repeat(channels, 2)
    return (image.transpose(2, 0, 1) / np.float32(127.5) - 1).astype(np.float32)
