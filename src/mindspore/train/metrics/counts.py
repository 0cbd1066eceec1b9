"""Precision, recall and F-scores: ratios of counts of true positives."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindspore.train.metrics.metric import (
    EvaluationBase,
    Metric,
    check_type,
    is_onehot,
    no_samples,
    one_hot,
    pair,
    rearrange_inputs,
    same_classes,
)

_TINY = sys.float_info.min


class _TruePositiveRatio(EvaluationBase):
    """True positives divided by another count: per class, or per sample for 'multilabel'."""

    def __init__(self, eval_type: str = "classification"):
        super().__init__(eval_type)
        self.eps = _TINY
        self.clear()

    def clear(self) -> None:
        self._class_num = 0
        start: Any = np.empty(0) if self._type == "multilabel" else 0
        self._true_positives = start
        self._reference = start

    def _count(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._labels(inputs)
        if self._type == "classification":
            y_pred, y = one_hot(self, y_pred, y, self._class_num)
        else:
            y_pred, y = (a.swapaxes(1, 0).reshape(self._class_num, -1) for a in (y_pred, y))
        hits, reference = (y * y_pred).sum(axis=0), self._count(y_pred, y)
        if self._type == "multilabel":
            self._true_positives = np.concatenate((self._true_positives, hits))
            self._reference = np.concatenate((self._reference, reference))
        else:
            self._true_positives = self._true_positives + hits
            self._reference = self._reference + reference

    def eval(self, average: bool = False) -> Any:
        """The ratio per class, or with `average` their mean."""
        if self._class_num == 0:
            raise no_samples(self)
        check_type(type(self).__name__, "average", average, bool)
        ratio = self._true_positives / (self._reference + self.eps)
        return ratio.mean() if average else ratio


class Precision(_TruePositiveRatio):
    """Of the samples predicted as a class, the share that is of it.

    Examples:
        >>> metric = train.Precision()
        >>> metric.clear()
        >>> metric.update(Tensor([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]), Tensor([0, 1, 0]))
        >>> print(metric.eval())
        [1.  0.5]
    """

    def _count(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y_pred.sum(axis=0)


class Recall(_TruePositiveRatio):
    """Of the samples of a class, the share predicted as it.

    Examples:
        >>> metric = train.Recall()
        >>> metric.clear()
        >>> metric.update(Tensor([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]), Tensor([0, 1, 0]))
        >>> print(metric.eval())
        [0.5 1. ]
    """

    def _count(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y.sum(axis=0)


class Fbeta(Metric):
    """The weighted harmonic mean of precision and recall; recall counts `beta` times as much.

    Examples:
        >>> metric = train.Fbeta(beta=2.0)
        >>> metric.clear()
        >>> metric.update(Tensor([[0.9, 0.1], [0.2, 0.8]]), Tensor([0, 1]))
        >>> print(metric.eval())
        [1. 1.]
    """

    def __init__(self, beta: float):
        super().__init__()
        self.eps = _TINY
        if not beta > 0:
            raise ValueError(f"For 'Fbeta', 'beta' must be greater than 0, but got {beta}.")
        self.beta = beta
        self.clear()

    def clear(self) -> None:
        self._true_positives: Any = 0
        self._actual_positives: Any = 0
        self._positives: Any = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        if y_pred.ndim == y.ndim and is_onehot(y):
            y = y.argmax(axis=1)
        self._class_num = same_classes(self, self._class_num, y_pred)
        y_pred, y = one_hot(self, y_pred, y, self._class_num)
        self._true_positives = self._true_positives + (y * y_pred).sum(axis=0)
        self._positives = self._positives + y_pred.sum(axis=0)
        self._actual_positives = self._actual_positives + y.sum(axis=0)

    def eval(self, average: bool = False) -> Any:
        """The score per class, or with `average` their mean."""
        check_type(type(self).__name__, "average", average, bool)
        if self._class_num == 0:
            raise no_samples(self)
        weight = self.beta**2
        score = (1.0 + weight) * self._true_positives / (weight * self._actual_positives + self._positives + self.eps)
        return score.mean() if average else score


class F1(Fbeta):
    """The harmonic mean of precision and recall.

    Examples:
        >>> metric = train.F1()
        >>> metric.clear()
        >>> metric.update(Tensor([[0.9, 0.1], [0.2, 0.8]]), Tensor([0, 1]))
        >>> float(metric.eval(average=True))
        1.0
    """

    def __init__(self) -> None:
        super().__init__(1.0)
