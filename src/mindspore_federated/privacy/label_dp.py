"""Label differential privacy by randomized response (Warner 1965; Ghazi et al., NeurIPS 2021)."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindspore import Tensor
from mindspore_federated.privacy.budget import check_eps


class LabelDP:
    """Changes labels so that each is eps-differentially private. Labels are 0/1 (shape n or n x 1) or one-hot (n x k)."""

    def __init__(self, eps: float) -> None:
        self.eps = check_eps(eps)
        self._random = np.random.default_rng()            # seeded by the system: nobody can repeat the draws

    def __call__(self, label: Tensor) -> Tensor:
        if not isinstance(label, Tensor):
            raise TypeError(f"The label must be a Tensor, but got {type(label)}")
        values = label.asnumpy()
        if not np.isin(values, (0, 1)).all():
            raise ValueError("Invalid label form: the elements should be either 0 or 1.")
        if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
            flip = self._random.random(values.shape) < 1 / (np.exp(self.eps) + 1)
            return Tensor(np.where(flip, 1 - values, values).astype(values.dtype))
        if values.ndim != 2:
            raise ValueError("Invalid label dim: the dim must be 1 or 2.")
        if not (values.sum(axis=1) == 1).all():
            raise ValueError("Invalid one-hot form: each label should contain only a single 1.")
        return Tensor(self._one_hot(values))

    def _one_hot(self, values: NDArray[Any]) -> NDArray[Any]:
        count, classes = values.shape
        keep = self._random.random(count) < np.exp(self.eps) / (np.exp(self.eps) + classes - 1)
        true = values.argmax(axis=1)
        other = (true + self._random.integers(1, max(2, classes), count)) % classes
        labels: NDArray[Any] = np.eye(classes, dtype=values.dtype)[np.where(keep, true, other)]
        return labels
