"""Accuracy: the share of samples whose class, or whose every label, is right."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.train.metrics.metric import EvaluationBase, Metric, is_onehot, no_samples, pair, rearrange_inputs


class Accuracy(EvaluationBase):
    """The share of right predictions.

    Examples:
        >>> from mindspore import Tensor
        >>> from mindspore.train import Accuracy
        >>> float(Accuracy()(Tensor([[0.2, 0.8], [0.9, 0.1]]), Tensor([1, 1])))
        0.5
    """

    def __init__(self, eval_type: str = "classification"):
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._correct_num = 0
        self._total_num = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._labels(inputs)
        if self._type == "classification":
            right = (y_pred.argmax(axis=1) == y).reshape(-1)
        else:
            right = (y_pred == y).all(axis=1).reshape(-1)
        self._correct_num += int(right.sum())
        self._total_num += right.size

    def eval(self) -> float:
        if self._total_num == 0:
            raise no_samples(self)
        return self._correct_num / self._total_num


class TopKCategoricalAccuracy(Metric):
    """The share of samples whose class is among the `k` best-scored ones.

    Examples:
        >>> metric = train.TopKCategoricalAccuracy(2)
        >>> metric.clear()
        >>> metric.update(Tensor([[0.1, 0.5, 0.4]]), Tensor([2]))
        >>> float(metric.eval())
        1.0
    """

    def __init__(self, k: int):
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"For 'TopKCategoricalAccuracy', 'k' must be an int, but got {type(k).__name__}.")
        if k < 1:
            raise ValueError(f"For 'TopKCategoricalAccuracy', 'k' must be at least 1, but got {k}.")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self._correct_num = 0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        if y_pred.ndim == y.ndim and is_onehot(y):
            y = y.argmax(axis=1)
        best = np.argsort(-y_pred, axis=1, kind="stable")[:, : self.k]
        self._correct_num += int((best == y.reshape(-1, 1)).sum())
        self._samples_num += y.size

    def eval(self) -> float:
        if self._samples_num == 0:
            raise no_samples(self)
        return self._correct_num / self._samples_num


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class has the best score.

    Examples:
        >>> metric = train.Top1CategoricalAccuracy()
        >>> metric.clear()
        >>> metric.update(Tensor([[0.9, 0.1], [0.2, 0.8]]), Tensor([0, 0]))
        >>> float(metric.eval())
        0.5
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is among the five best-scored ones.

    Examples:
        >>> metric = train.Top5CategoricalAccuracy()
        >>> metric.clear()
        >>> metric.update(Tensor([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]), Tensor([0]))
        >>> float(metric.eval())
        0.0
    """

    def __init__(self) -> None:
        super().__init__(5)
