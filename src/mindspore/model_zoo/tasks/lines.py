"""Lines of text: images of words. MNIST's digits side by side, a folder with labels.tsv, or made-up strokes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore.common.tensor import Tensor
from mindspore.dataset import vision
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.images import is_mnist, source
from mindspore.model_zoo.tasks.task import SYNTHETIC, OwnLoss, Task, decoded, existing
from mindspore.nn.cell import Cell

SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Lines(Task):
    name = "lines of text"
    wanted = "image files and a file labels.tsv of lines 'FILE<tab>TEXT', or MNIST's idx files"
    figure = "whole lines right"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return OwnLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        shape = net.takes[0].shape
        if place == SYNTHETIC:
            columns = strokes(limit or 2048, net.num_classes, shape, int(training))
        elif is_mnist(self.folder(place)):
            if net.num_classes != 10:
                raise ValueError(f"MNIST has 10 symbols, but the network was made for {net.num_classes}.")
            columns = numbers(Path(place), limit or 4096, shape, training)
        else:
            columns = self._read(place, net.num_classes, shape, training, limit)
        return ds.NumpySlicesDataset(columns, ["image", "label", "length"], shuffle=training).batch(batch, drop_remainder=training)

    def _read(self, place: str, classes: int, shape: tuple[int, ...], training: bool, limit: int) -> tuple[np.ndarray, ...]:
        """Every tenth line is for testing."""
        folder = self.folder(place)
        table = folder / "labels.tsv"
        if not table.is_file():
            raise ValueError(f"In '{place}' there must be {self.wanted}.")
        lines = [line.split("\t") for line in table.read_text().splitlines() if line.strip()]
        chosen = [pair for i, pair in enumerate(lines) if (i % 10 == 9) != training][: limit or None]
        images, words = [], []
        for pair in chosen:
            word = pair[-1].lower()
            if len(pair) != 2 or not word or set(word) - set(SYMBOLS[:classes]):
                raise ValueError(f"'{table}' has the line {pair}; a text is of the symbols {SYMBOLS[:classes]}.")
            images.append(_fitted(existing(str(folder / pair[0])), shape))
            words.append([SYMBOLS.index(c) for c in word])
        return _columns(images, words)

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        right = total = 0
        for image, label, length in data.create_tuple_iterator(num_epochs=1):
            wanted = [list(row[:n] - 1) for row, n in zip(label.asnumpy(), length.asnumpy())]
            found = net.read(image)
            right, total = right + sum(f == w for f, w in zip(found, wanted)), total + len(found)
        if not total:
            raise ValueError("There is nothing to evaluate: the data has no rows.")
        return right / total

    def predict(self, net: Cell, file: str) -> str:
        net.set_train(False)
        image = _fitted(existing(file), net.takes[0].shape)[None].astype(np.float32)
        return "".join(SYMBOLS[k] for k in net.read(Tensor(image))[0]) or "nothing to read"


def _fitted(file: Path, shape: tuple[int, ...]) -> np.ndarray:
    """A file's image, grey, in the size that the network takes."""
    return vision.Resize(shape[1:])(decoded(file)).mean(2)[None].repeat(shape[0], 0) / 127.5 - 1


def _columns(images: list[np.ndarray], words: list[list[int]]) -> tuple[np.ndarray, ...]:
    """Images, labels from 1 padded with 0, and lengths."""
    if not images:
        raise ValueError("The data has no lines.")
    label = np.zeros((len(words), max(map(len, words))), np.int32)
    for row, word in zip(label, words):
        row[: len(word)] = np.asarray(word) + 1
    return np.stack(images).astype(np.float32), label, np.array([len(w) for w in words], np.int32)


def strokes(count: int, classes: int, shape: tuple[int, ...], seed: int) -> tuple[np.ndarray, ...]:
    """Two to four symbols side by side; a symbol is a fixed random pattern, shifted a little, in noise."""
    channels, high, wide = shape
    side = wide // 4
    patterns = np.random.default_rng(7).random((classes, high // 2, side * 2 // 3)) < 0.5
    rng = np.random.default_rng(seed)

    def draw(kind: int) -> np.ndarray:
        patch = np.zeros((high, side))
        top, left = rng.integers(0, high - high // 2 + 1), rng.integers(0, side - patterns.shape[2] + 1)
        patch[top : top + high // 2, left : left + patterns.shape[2]] = patterns[kind]
        return patch

    return _written(count, classes, channels, high, wide, rng, draw)


def numbers(folder: Path, count: int, shape: tuple[int, ...], training: bool) -> tuple[np.ndarray, ...]:
    """Two to four of MNIST's digits side by side."""
    channels, high, wide = shape
    side = wide // 4
    kept: dict[int, list[np.ndarray]] = {d: [] for d in range(10)}
    for image, kind in source(folder, training).take(max(4096, 2 * count)).create_tuple_iterator(num_epochs=1, output_numpy=True):
        kept[int(kind)].append(vision.Resize((high, side))(image.astype(np.uint8)).reshape(high, side) / 255.0)
    rng = np.random.default_rng(int(training))
    return _written(count, 10, channels, high, wide, rng, lambda kind: kept[kind][rng.integers(len(kept[kind]))])


def _written(count: int, classes: int, channels: int, high: int, wide: int, rng: np.random.Generator, draw: Any) -> tuple[np.ndarray, ...]:
    images, words = [], []
    for _ in range(count):
        word = [int(k) for k in rng.integers(0, classes, rng.integers(2, 5))]
        line = np.zeros((high, wide))
        for i, kind in enumerate(word):
            patch = draw(kind)
            line[:, i * patch.shape[1] : (i + 1) * patch.shape[1]] = patch
        line += 0.05 * rng.standard_normal(line.shape)
        images.append(line[None].repeat(channels, 0))
        words.append(word)
    return _columns(images, words)
