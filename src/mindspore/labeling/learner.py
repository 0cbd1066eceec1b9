"""A network that learns from labels of different worth, and says what it thinks of items.

Training is one compiled step on batches of one size. Targets are probabilities, weighted: a person's label counts fully, a
spread or suggested one by its confidence. Features are what the network's last Dense layer gets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import context, nn, ops
from mindspore.common.api import jit
from mindspore.common.gradient import value_and_grad
from mindspore.common.initializer import initializer
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

Augment = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def shifted_and_turned(images: np.ndarray, rng: np.random.Generator, shift: float = 2.0, turn: float = 12.0) -> np.ndarray:
    """Images (n, channels, height, width) moved by some pixels, turned by some degrees, scaled a little."""
    from mindspore._base.optional import require

    cv2 = require("cv2", "data", "augmenting images")
    out = np.empty_like(images)
    height, width = images.shape[2:]
    for i, image in enumerate(images):
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), rng.uniform(-turn, turn), rng.uniform(0.9, 1.1))
        matrix[:, 2] += rng.uniform(-shift, shift, 2)
        moved = cv2.warpAffine(image.transpose(1, 2, 0), matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
        out[i] = moved.reshape(height, width, -1).transpose(2, 0, 1)
    return out


class Learner:
    """Trains a network and asks it.

    Args:
        network: a Cell that maps a batch of items to (batch, classes) logits.
        augment: `f(batch, rng)`, which changes items without changing what they are.
        rate, batch, seed: of the training.
    """

    def __init__(
        self,
        network: Cell,
        *,
        augment: Augment | None = None,
        rate: float = 2e-3,
        batch: int = 64,
        seed: int = 0,
    ):
        self.network = network
        self.augment = augment
        self.batch = batch
        self.rate = rate
        self._rng = np.random.default_rng(seed)
        self._begin = {p.name: p.asnumpy().copy() for p in network.trainable_params()}
        self._last = _last_dense(network)

    def restart(self) -> None:
        """Forget what was learned."""
        for parameter in self.network.trainable_params():
            parameter.set_data(initializer(Tensor(self._begin[parameter.name]), parameter.shape, parameter.dtype))

    def fit(self, items: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None, steps: int = 500) -> float:
        """Train for so many steps; the mean loss of the last tenth.

        Args:
            targets: (items,) classes, or (items, classes) probabilities.
            weights: how much each item counts.
        """
        targets, weights = self._targets(items, targets, weights)
        rate = nn.cosine_decay_lr(self.rate * 0.01, self.rate, steps, 1, steps)
        step = _training_step(self.network, nn.Adam(self.network.trainable_params(), rate))
        self.network.set_train(True)
        losses = []
        chance = weights / weights.sum()
        for _ in range(steps):
            rows = self._rng.choice(len(items), self.batch, p=chance)
            batch = items[rows]
            if self.augment is not None:
                batch = self.augment(batch, self._rng)
            losses.append(step(Tensor(batch), Tensor(targets[rows])))
        self.network.set_train(False)
        return float(np.mean([float(v) for v in losses[-max(steps // 10, 1) :]]))

    def _targets(self, items: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        if not len(items) or len(targets) != len(items):
            raise ValueError(f"there must be as many targets as items, and one at least; got {len(items)}, {len(targets)}.")
        if targets.ndim == 1:
            classes = self.predict(items[:1])[0].shape[1]
            if targets.min() < 0 or targets.max() >= classes:
                raise ValueError(f"the network tells {classes} classes apart; labels are {targets.min()} to {targets.max()}.")
            targets = np.eye(classes, dtype=np.float32)[targets]
        if weights is None:
            weights = np.ones(len(items))
        weights = np.asarray(weights, np.float64)
        if weights.shape != (len(items),) or weights.min() < 0 or not weights.sum() > 0:
            raise ValueError("'weights' must be a non-negative number for each item, not all of them 0.")
        return targets.astype(np.float32), weights

    def predict(self, items: np.ndarray, batch: int = 500) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities, features) of items."""
        if self._last is None:
            raise TypeError("the network has no nn.Dense layer, whose inputs would be its features.")
        caught: list[np.ndarray] = []
        handle = self._last.register_forward_pre_hook(lambda cell, given: caught.append(given[0].asnumpy()))
        self.network.set_train(False)
        found = []
        try:
            with context.local_context(mode=context.PYNATIVE_MODE):  # a hook looks at values
                for start in range(0, len(items), batch):
                    found.append(ops.softmax(self.network(Tensor(items[start : start + batch])), -1).asnumpy())
        finally:
            handle.remove()
        return np.concatenate(found), np.concatenate(caught).reshape(len(items), -1)


def _last_dense(network: Cell) -> Any:
    layers = [cell for _, cell in network.cells_and_names() if isinstance(cell, nn.Dense)]
    return layers[-1] if layers else None


def _training_step(network: Cell, optimizer: Any) -> Callable[[Tensor, Tensor], Tensor]:
    def loss(x: Tensor, target: Tensor) -> Tensor:
        return -(ops.log_softmax(network(x), -1) * target).sum(-1).mean()

    gradient = value_and_grad(loss, None, network.trainable_params())

    @jit
    def step(x: Tensor, target: Tensor) -> Tensor:
        value, grads = gradient(x, target)
        optimizer(grads)
        return value

    return step
