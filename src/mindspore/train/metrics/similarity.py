"""Similarity of vectors and of masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.train.metrics.metric import (
    Metric,
    as_array,
    check_choice,
    check_type,
    no_samples,
    pair,
    rearrange_inputs,
)


class CosineSimilarity(Metric):
    """The similarity of every pair of rows.

    Args:
        similarity: "cosine", or "dot" for plain products.
        reduction: "none", "sum" or "mean" over the last axis.
        zero_diagonal: count a row's similarity with itself as 0.

    Examples:
        >>> metric = train.CosineSimilarity()
        >>> metric.clear()
        >>> metric.update(np.array([[1.0, 0.0], [1.0, 1.0]]))
        >>> print(metric.eval().round(4))
        [[0.     0.7071]
         [0.7071 0.    ]]
    """

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True):
        super().__init__()
        self.similarity = check_choice("CosineSimilarity", "similarity", similarity, ("dot", "cosine"))
        self.reduction = check_choice("CosineSimilarity", "reduction", reduction, ("none", "sum", "mean"))
        self.zero_diagonal = check_type("CosineSimilarity", "zero_diagonal", zero_diagonal, bool)
        self.clear()

    def clear(self) -> None:
        self.sqr_mtx_res: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, inputs: Any) -> None:
        rows = as_array(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.sqr_mtx_res = rows @ rows.T
        self._is_update = True

    def eval(self) -> np.ndarray:
        if not self._is_update:
            raise RuntimeError("For 'CosineSimilarity', call 'update' before 'eval'.")
        result = np.array(self.sqr_mtx_res)
        if self.zero_diagonal:
            np.fill_diagonal(result, 0)
        return result if self.reduction == "none" else getattr(result, self.reduction)(axis=-1)


class Dice(Metric):
    """The Dice coefficient of two masks: twice their overlap divided by their sizes.

    Examples:
        >>> metric = train.Dice(smooth=1e-5)
        >>> metric.clear()
        >>> metric.update(Tensor([[1, 1, 0, 0]]), Tensor([[1, 0, 0, 0]]))
        >>> round(float(metric.eval()), 3)
        0.667
    """

    def __init__(self, smooth: float = 1e-5):
        super().__init__()
        self.smooth = check_type("Dice", "smooth", smooth, float)
        if smooth <= 0:
            raise ValueError(f"For 'Dice', 'smooth' must be positive, but got {smooth}.")
        self.clear()

    def clear(self) -> None:
        self._dice_coeff_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        if y_pred.shape != y.shape:
            raise ValueError(f"For 'Dice.update', the shapes must be equal, but got {y_pred.shape} and {y.shape}.")
        a, b = y_pred.reshape(-1), y.reshape(-1)
        self._samples_num += y.shape[0]
        self._dice_coeff_sum += 2 * float(a @ b) / float(a @ a + b @ b + self.smooth)

    def eval(self) -> float:
        if self._samples_num == 0:
            raise no_samples(self)
        return self._dice_coeff_sum / self._samples_num
