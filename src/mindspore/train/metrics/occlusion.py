"""Occlusion sensitivity: how much a classifier's score falls when a patch of the image is covered."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.metrics.metric import Metric, as_array, check_count, check_type, rearrange_inputs


class OcclusionSensitivity(Metric):
    """For each place of an image: the score of its class minus the score when the place is covered.

    Args:
        pad_val: what to cover with.
        margin: how far the cover reaches from the place.
        n_batch: how many covered images to score at a time.
        b_box: lowest and highest place per dimension (without the batch); default: the whole image.

    `update` takes the model, an image (batch of one) and its label.

    Examples:
        >>> class Mean(nn.Cell):
        ...     def construct(self, x):
        ...         return ops.stack([x.mean((1, 2, 3)), -x.mean((1, 2, 3))], 1)
        >>> metric = train.OcclusionSensitivity()
        >>> metric.clear()
        >>> metric.update(Mean(), Tensor(np.ones((1, 1, 3, 3), np.float32)), Tensor([0]))
        >>> metric.eval().shape
        (3, 3)
    """

    def __init__(self, pad_val: float = 0.0, margin: int | list = 2, n_batch: int = 128, b_box: list | None = None):
        super().__init__()
        name = "OcclusionSensitivity"
        self.pad_val = check_type(name, "pad_val", pad_val, float)
        self.margin = check_type(name, "margin", margin, (int, list))
        self.n_batch = check_type(name, "n_batch", n_batch, int)
        self.b_box = None if b_box is None else check_type(name, "b_box", b_box, list)
        self.clear()

    def clear(self) -> None:
        self._baseline = 0.0
        self._sensitivity_im: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        check_count(self, inputs, 3, "classification model, predicted value, label")
        model = check_type("OcclusionSensitivity", "model", inputs[0], Cell)
        image = as_array(inputs[1])
        label = np.asarray(inputs[2] if isinstance(inputs[2], int) else as_array(inputs[2])).reshape(-1)
        if image.shape[0] != 1 or label.size != 1:
            got = f"{image.shape[0]} and {label.size}"
            raise RuntimeError(f"For 'OcclusionSensitivity.update', it needs 1 image and 1 label, but got {got}.")
        low, high = self._box(image.shape[1:])
        places = [np.add(i, low) for i in np.ndindex(*(high - low + 1))]
        self._baseline = float(model(Tensor(image)).asnumpy()[0, int(label[0])])
        scores: list[np.ndarray] = []
        for start in range(0, len(places), self.n_batch):
            covered = np.concatenate([self._cover(image, p) for p in places[start : start + self.n_batch]])
            scores.append(model(Tensor(covered)).asnumpy()[:, int(label[0])])
        self._sensitivity_im = np.concatenate(scores).reshape(high - low + 1)
        self._is_update = True

    def _cover(self, image: np.ndarray, place: np.ndarray) -> np.ndarray:
        margins = self.margin if isinstance(self.margin, list) else [self.margin] * len(place)
        covered = image.copy()
        patch = tuple(slice(max(0, i - m), min(n, i + m)) for i, m, n in zip(place, margins, image.shape[1:]))
        covered[(slice(None), *patch)] = self.pad_val
        return covered

    def _box(self, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        sizes = np.array(shape)
        if self.b_box is None:
            return np.zeros_like(sizes), sizes - 1
        if len(self.b_box) != 2 * len(shape):
            raise ValueError(
                f"For 'OcclusionSensitivity', 'b_box' must have {2 * len(shape)} numbers for shape {shape}."
            )
        low, high = np.maximum(self.b_box[::2], 0), np.array(self.b_box[1::2])
        high = np.where(high < 0, sizes - 1, high)
        if (high >= sizes).any() or (low > high).any():
            raise ValueError(
                f"For 'OcclusionSensitivity', 'b_box' {self.b_box} does not lie in an image of shape {shape}."
            )
        return low, high

    def eval(self) -> Any:
        if not self._is_update:
            raise RuntimeError("For 'OcclusionSensitivity', call 'update' before 'eval'.")
        return self._baseline - np.squeeze(self._sensitivity_im)
