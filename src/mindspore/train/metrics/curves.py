"""The receiver operating characteristic and the area under a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.train.metrics.metric import Metric, check_type, pair, rearrange_inputs

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]


class ROC(Metric):
    """The rates of false and true positives at every threshold, from the strictest down.

    Args:
        class_num: the number of classes; None for two classes, scored by one number.
        pos_label: the label of the positive class; default 1. Must be None with several classes.

    `eval` returns (false positive rates, true positive rates, thresholds), or lists of them with several classes.

    Examples:
        >>> metric = train.ROC(pos_label=1)
        >>> metric.clear()
        >>> metric.update(Tensor([0.1, 0.4, 0.9]), Tensor([0, 0, 1]))
        >>> false_rate, true_rate, threshold = metric.eval()
        >>> print(true_rate)
        [0. 1. 1. 1.]
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None):
        super().__init__()
        self.class_num = None if class_num is None else check_type("ROC", "class_num", class_num, int)
        self.pos_label = None if pos_label is None else check_type("ROC", "pos_label", pos_label, int)
        self.clear()

    def clear(self) -> None:
        self.y_pred: Any = 0
        self.y: Any = 0
        self.sample_weights = None
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        if y_pred.ndim == y.ndim:
            self._set_binary(y_pred, y)
        elif y_pred.ndim == y.ndim + 1:
            self._set_classes(y_pred, y)
        else:
            raise ValueError(
                "For 'ROC.update', predictions must have as many dimensions as labels, or one more, "
                f"but got {y_pred.ndim} and {y.ndim}."
            )
        self._is_update = True

    def _set_binary(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        if self.class_num not in (None, 1):
            raise ValueError(f"For 'ROC', one score per sample means one class, but 'class_num' is {self.class_num}.")
        self.class_num = 1
        self.pos_label = 1 if self.pos_label is None else self.pos_label
        self.y_pred, self.y = y_pred.reshape(-1), y.reshape(-1)

    def _set_classes(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        if self.pos_label is not None:
            raise ValueError(f"For 'ROC', 'pos_label' must be None with several classes, but got {self.pos_label}.")
        if self.class_num != y_pred.shape[1]:
            raise ValueError(
                f"For 'ROC', 'class_num' is {self.class_num}, but predictions have {y_pred.shape[1]} classes."
            )
        self.y_pred = np.moveaxis(y_pred, 1, -1).reshape(-1, self.class_num)
        self.y = y.reshape(-1)

    def eval(self) -> Any:
        if not self._is_update:
            raise RuntimeError("For 'ROC', call 'update' before 'eval'.")
        if self.class_num == 1:
            return _roc_curve(self.y_pred, self.y, self.pos_label)
        curves = [_roc_curve(self.y_pred[:, c], self.y, c) for c in range(self.y_pred.shape[1])]
        return tuple(list(part) for part in zip(*curves))


def _roc_curve(scores: np.ndarray, labels: np.ndarray, positive: Any) -> Curve:
    order = np.argsort(-scores, kind="stable")
    scores, hits = scores[order], (labels[order] == positive).astype(np.int64)
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)  # the last sample of each run of equal scores
    true = np.append(0, np.cumsum(hits)[last])
    false = np.append(0, 1 + last - true[1:])
    if false[-1] <= 0:
        raise ValueError("For 'ROC.eval', there are no negative samples, so false positive rates have no meaning.")
    if true[-1] <= 0:
        raise ValueError("For 'ROC.eval', there are no positive samples, so true positive rates have no meaning.")
    return false / false[-1], true / true[-1], np.append(scores[0] + 1, scores[last])


def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> Any:
    """The area under the curve through the points (x, y), by trapezia.

    Args:
        x: ascending or descending abscissae (in any order with `reorder`).
        y: ordinates.

    Examples:
        >>> import numpy as np
        >>> from mindspore.train import auc
        >>> float(auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])))
        0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"For 'auc', 'x' and 'y' must be numpy.ndarrays, but got {type(x)} and {type(y)}.")
    x, y = _flat(x), _flat(y)
    if x.size != y.size:
        raise ValueError(f"For 'auc', 'x' and 'y' must have equal lengths, but got {x.size} and {y.size}.")
    if x.size < 2:
        raise ValueError(f"For 'auc', 'x' must have at least 2 points, but got {x.size}.")
    direction = 1
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    elif (np.diff(x) < 0).any():
        if (np.diff(x) > 0).any():
            raise ValueError("For 'auc', 'x' must ascend or descend unless 'reorder' is True.")
        direction = -1
    return direction * (np.diff(x) * (y[1:] + y[:-1]) / 2).sum()


def _flat(values: np.ndarray) -> np.ndarray:
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return values.reshape(-1)
    raise ValueError(f"For 'auc', 'x' and 'y' must have 1 dimension, but got shape {values.shape}.")
