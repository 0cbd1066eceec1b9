"""The protocol of a task."""

from __future__ import annotations

import abc
from pathlib import Path
from typing import Any

import numpy as np

from mindspore.dataset import vision
from mindspore.model_zoo.recipe import Recipe
from mindspore.nn.cell import Cell

SYNTHETIC = "synthetic"


def existing(file: str) -> Path:
    """A file to predict something about."""
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"There is no file '{file}'" + (": it is a folder." if path.is_dir() else "."))
    return path


def decoded(file: Path) -> np.ndarray:
    """The pixels of an image file, (height, width, 3) bytes."""
    try:
        return vision.Decode()(np.frombuffer(file.read_bytes(), np.uint8))
    except RuntimeError:
        raise ValueError(f"'{file}' is no image that can be read, or it is damaged.") from None


def pixels(image: np.ndarray) -> np.ndarray:
    """An image (channels, height, width) from −1 to 1 as bytes, channels last."""
    return np.clip(127.5 * (image.transpose(1, 2, 0) + 1), 0, 255).round().astype(np.uint8)


class OwnLoss(Cell):
    """The network's own loss of the data's columns."""

    def __init__(self, net: Cell):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, *columns: Any) -> Any:
        return self.net.loss(*columns)


class Task(abc.ABC):
    """Data, loss, and figure of a kind of work. `data` of the word "synthetic" is made up, with a known answer."""

    name: str
    #: what the folder or file of `--data` holds, for messages
    wanted: str
    #: what `evaluate` returns, and whether more of it is better
    figure: str
    higher_is_better = True

    @abc.abstractmethod
    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        """A dataset of batches whose columns the training network takes; `limit` rows at most."""

    @abc.abstractmethod
    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        """Columns of the data → loss."""

    @abc.abstractmethod
    def evaluate(self, net: Cell, data: Any) -> float:
        """The figure on a dataset."""

    def options(self, place: str) -> dict[str, Any]:
        """The network's options that follow from the data, such as its number of classes."""
        return {}

    def predict(self, net: Cell, file: str) -> str:
        """What the network says about a file, in words. Networks that make images write them."""
        raise ValueError(f"Networks for {self.name} have no prediction for a single file.")

    def folder(self, place: str) -> Path:
        """The folder or file with data, which must exist."""
        path = Path(place)
        if not path.exists():
            raise ValueError(
                f"There is no data at '{place}'. Networks for {self.name} want {self.wanted}; "
                f"'{SYNTHETIC}' makes up data to try them."
            )
        return path

    def file(self, place: str) -> Path:
        """The file with data."""
        path = self.folder(place)
        if not path.is_file():
            raise ValueError(f"'{place}' is a folder, but networks for {self.name} want {self.wanted}.")
        return path
