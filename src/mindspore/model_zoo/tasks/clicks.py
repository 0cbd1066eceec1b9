"""Clicks: rows of categories, for some networks also of numbers, and whether the user clicked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task, existing
from mindspore.nn.cell import Cell


class ClickLoss(Cell):
    """Cross entropy of one score per row."""

    def __init__(self, net: Cell):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, *columns: Tensor) -> Tensor:
        score, clicked = self.net(*columns[:-1]), columns[-1]
        return ops.mean(ops.relu(score) - score * clicked + ops.log1p(ops.exp(-ops.abs(score))))


class Clicks(Task):
    name = "clicks"
    wanted = (
        "a CSV file without a head: a column for each field, numbered from 0 over all fields, then numbers "
        "if the network takes some, and 0 or 1 in the last"
    )
    figure = "area under the curve"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return ClickLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        fields, numbers = net.takes[0].shape[0], getattr(net, "numbers", 0)
        if place == SYNTHETIC:
            columns = tastes(limit or 8192, fields, net.vocabulary, numbers, int(training))
        else:
            columns = self._read(place, fields, net.vocabulary, numbers, training, limit)
        if not numbers:
            columns = (columns[0], columns[2])
        names = ["features", "numbers", "clicked"] if numbers else ["features", "clicked"]
        return ds.NumpySlicesDataset(columns, names, shuffle=training).batch(batch, drop_remainder=training)

    def _read(self, place: str, fields: int, vocabulary: int, numbers: int, training: bool, limit: int) -> tuple[np.ndarray, ...]:
        """Every tenth row is for testing."""
        rows = _table(self.file(place))
        if rows.shape[1] != fields + numbers + 1:
            more = f", {numbers} numbers" if numbers else ""
            raise ValueError(f"'{place}' has {rows.shape[1]} columns, but the network takes {fields} fields{more} and the click.")
        features, measured, clicked = rows[:, :fields], rows[:, fields:-1], rows[:, -1]
        if (features % 1).any() or features.min() < 0 or features.max() >= vocabulary or not np.isin(clicked, (0, 1)).all():
            raise ValueError(f"'{place}' must have numbers from 0 to {vocabulary - 1}, and 0 or 1 in the last column.")
        chosen = np.flatnonzero((np.arange(len(rows)) % 10 == 9) != training)[: limit or None]
        return features[chosen].astype(np.int32), measured[chosen].astype(np.float32), clicked[chosen].astype(np.float32)

    def predict(self, net: Cell, file: str) -> str:
        """The share of users who click, for each row; the last column may be missing."""
        fields, numbers = net.takes[0].shape[0], getattr(net, "numbers", 0)
        rows = _table(existing(file))
        if rows.shape[1] not in (fields + numbers, fields + numbers + 1):
            raise ValueError(f"'{file}' has {rows.shape[1]} columns, but the network takes {fields + numbers}.")
        features = rows[:, :fields]
        if (features % 1).any() or features.min() < 0 or features.max() >= net.vocabulary:
            raise ValueError(f"'{file}' must have numbers from 0 to {net.vocabulary - 1} in its first {fields} columns.")
        inputs = [Tensor(features.astype(np.int32))]
        inputs += [Tensor(rows[:, fields : fields + numbers].astype(np.float32))] if numbers else []
        net.set_train(False)
        shares = ops.sigmoid(net(*inputs)).asnumpy()
        return "\n".join(f"row {n + 1}: {share:.3f}" for n, share in enumerate(shares))

    def evaluate(self, net: Cell, data: Any) -> float:
        """How often a clicked row scores higher than one that was not clicked, by ranks."""
        net.set_train(False)
        pairs = [(net(*inputs).asnumpy(), clicked.asnumpy()) for *inputs, clicked in data.create_tuple_iterator(num_epochs=1)]
        score, clicked = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs]) > 0.5
        if clicked.all() or not clicked.any():
            raise ValueError("The data for testing has only clicks or none: there is no curve.")
        ranks = np.empty(len(score))
        ranks[score.argsort(kind="stable")] = np.arange(1, len(score) + 1)
        count = int(clicked.sum())
        return float((ranks[clicked].sum() - count * (count + 1) / 2) / (count * (len(score) - count)))


def _table(file: Path) -> np.ndarray:
    try:
        rows = np.loadtxt(file, delimiter=",", dtype=np.float64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"'{file}' is no CSV file of numbers: {error}.") from None
    if not rows.size:
        raise ValueError(f"'{file}' has no rows.")
    return rows


def tastes(count: int, fields: int, vocabulary: int, numbers: int, seed: int) -> tuple[np.ndarray, ...]:
    """Categories have hidden tastes; a row is clicked if those of its first two fields agree, and its first number is not too small."""
    rng = np.random.default_rng(seed)
    share = vocabulary // fields
    taste = np.random.default_rng(7).integers(0, 2, vocabulary)
    features = rng.integers(0, share, (count, fields)) + share * np.arange(fields)
    measured = rng.standard_normal((count, numbers)).astype(np.float32)
    clicked = taste[features[:, 0]] == taste[features[:, 1]]
    if numbers:
        clicked &= measured[:, 0] > -0.5
    return features.astype(np.int32), measured, clicked.astype(np.float32)
