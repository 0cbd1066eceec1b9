"""The confusion matrix and the rates that derive from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.train.metrics.metric import Metric, check_choice, check_type, no_samples, pair, rearrange_inputs


class ConfusionMatrix(Metric):
    """How often samples of class i (row) were predicted as class j (column).

    Args:
        num_classes: the number of classes.
        normalize: "no_norm", or divide by the sums of "target" (rows), "prediction" (columns) or "all".
        threshold: turns float predictions of two classes into 0 and 1.

    Examples:
        >>> metric = train.ConfusionMatrix(num_classes=2)
        >>> metric.clear()
        >>> metric.update(Tensor([0, 1, 1]), Tensor([0, 1, 0]))
        >>> print(metric.eval())
        [[1. 1.]
         [0. 1.]]
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5):
        super().__init__()
        self.num_classes = check_type("ConfusionMatrix", "num_classes", num_classes, int)
        if normalize not in ("target", "prediction", "all", "no_norm"):
            raise ValueError(
                "For 'ConfusionMatrix', 'normalize' must be 'target', 'prediction', 'all' or 'no_norm', "
                f"but got {normalize!r}."
            )
        self.normalize = normalize
        self.threshold = check_type("ConfusionMatrix", "threshold", threshold, float)
        self.clear()

    def clear(self) -> None:
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(
                "For 'ConfusionMatrix.update', predictions must have as many dimensions as labels, or one more, "
                f"but got {y_pred.ndim} and {y.ndim}."
            )
        if y_pred.ndim == y.ndim + 1:
            y_pred = y_pred.argmax(axis=1)
        elif y_pred.dtype.kind == "f":
            y_pred = y_pred >= self.threshold
        cells = y.reshape(-1).astype(np.int64) * self.num_classes + y_pred.reshape(-1).astype(np.int64)
        counts = np.bincount(cells, minlength=self.num_classes**2)
        self.confusion_matrix += counts.reshape(self.num_classes, self.num_classes)
        self._is_update = True

    def eval(self) -> np.ndarray:
        if not self._is_update:
            raise RuntimeError("For 'ConfusionMatrix', call 'update' before 'eval'.")
        matrix = self.confusion_matrix.astype(float)
        if self.normalize == "no_norm":
            return matrix
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        sums = matrix.sum(axis=axis, keepdims=True)
        return np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums != 0)


def _ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """numerator / denominator, NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator != 0)


def _prevalence_threshold(tp: Any, fp: Any, tn: Any, fn: Any) -> np.ndarray:
    tpr, tnr = _ratio(tp, tp + fn), _ratio(tn, tn + fp)
    return _ratio(np.sqrt(tpr * (1 - tnr)) + tnr - 1, tpr + tnr - 1)


# The formulas over true/false positives/negatives, by their usual short names.
_RATES: dict[str, Callable[[Any, Any, Any, Any], np.ndarray]] = {
    "tpr": lambda tp, fp, tn, fn: _ratio(tp, tp + fn),
    "tnr": lambda tp, fp, tn, fn: _ratio(tn, tn + fp),
    "ppv": lambda tp, fp, tn, fn: _ratio(tp, tp + fp),
    "npv": lambda tp, fp, tn, fn: _ratio(tn, tn + fn),
    "fnr": lambda tp, fp, tn, fn: _ratio(fn, tp + fn),
    "fpr": lambda tp, fp, tn, fn: _ratio(fp, tn + fp),
    "fdr": lambda tp, fp, tn, fn: _ratio(fp, tp + fp),
    "for": lambda tp, fp, tn, fn: _ratio(fn, tn + fn),
    "pt": _prevalence_threshold,
    "ts": lambda tp, fp, tn, fn: _ratio(tp, tp + fn + fp),
    "acc": lambda tp, fp, tn, fn: _ratio(tp + tn, tp + fp + tn + fn),
    "ba": lambda tp, fp, tn, fn: (_ratio(tp, tp + fn) + _ratio(tn, tn + fp)) / 2,
    "f1": lambda tp, fp, tn, fn: _ratio(2 * tp, 2 * tp + fn + fp),
    "mcc": lambda tp, fp, tn, fn: _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
    "fm": lambda tp, fp, tn, fn: np.sqrt(_ratio(tp, tp + fp) * _ratio(tp, tp + fn)),
    "bm": lambda tp, fp, tn, fn: _ratio(tp, tp + fn) + _ratio(tn, tn + fp) - 1,
    "mk": lambda tp, fp, tn, fn: _ratio(tp, tp + fp) + _ratio(tn, tn + fn) - 1,
}
_LONG_NAMES = {
    "tpr": ("sensitivity", "recall", "hit_rate", "true_positive_rate"),
    "tnr": ("specificity", "selectivity", "true_negative_rate"),
    "ppv": ("precision", "positive_predictive_value"),
    "npv": ("negative_predictive_value",),
    "fnr": ("miss_rate", "false_negative_rate"),
    "fpr": ("fall_out", "false_positive_rate"),
    "fdr": ("false_discovery_rate",),
    "for": ("false_omission_rate",),
    "pt": ("prevalence_threshold",),
    "ts": ("threat_score", "critical_success_index", "csi"),
    "acc": ("accuracy",),
    "ba": ("balanced_accuracy",),
    "f1": ("f1_score",),
    "mcc": ("matthews_correlation_coefficient",),
    "fm": ("fowlkes_mallows_index",),
    "bm": ("informedness", "bookmaker_informedness"),
    "mk": ("markedness", "deltap"),
}
_SHORT_NAME = {long: short for short, longs in _LONG_NAMES.items() for long in (short, *longs)}


def _rate(metric_name: str, counts: np.ndarray) -> np.ndarray:
    short = _SHORT_NAME.get(metric_name.replace(" ", "_").lower())
    if short is None:
        raise NotImplementedError(f"There is no metric {metric_name!r}; choose one of {sorted(_SHORT_NAME)}.")
    return _RATES[short](*np.moveaxis(counts, -1, 0))


_DECREASES = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


def _decrease(values: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Reduce rates of (batch, channel), leaving out NaNs; returns the result and how many values stood behind it."""
    valid = ~np.isnan(values)
    values = np.where(valid, values, 0.0)
    if how == "none":
        return values, valid.astype(float)
    if how == "mean":  # over channels, then over the samples that have any
        means, counts = _masked_mean(values, valid, 1)
        return _masked_mean(means, counts > 0, 0)
    kind, _, axis_name = how.partition("_")
    axis: Any = {"": (0, 1), "batch": 0, "channel": 1}[axis_name]
    if kind == "sum":
        return values.sum(axis=axis), valid.sum(axis=axis).astype(float)
    return _masked_mean(values, valid, axis)


def _masked_mean(values: np.ndarray, valid: np.ndarray, axis: Any) -> tuple[np.ndarray, np.ndarray]:
    counts = valid.sum(axis=axis).astype(float)
    return np.where(counts > 0, values.sum(axis=axis) / np.maximum(counts, 1), 0.0), counts


class ConfusionMatrixMetric(Metric):
    """A rate such as sensitivity, precision or the F1 score of one-hot predictions and labels.

    Args:
        skip_channel: count channel 0 (usually the background), too.
        metric_name: the rate.
        calculation_method: compute it per sample and average, instead of over all counts.
        decrease: how per-sample rates are averaged.

    Examples:
        >>> metric = train.ConfusionMatrixMetric(skip_channel=False, metric_name="recall")
        >>> metric.clear()
        >>> metric.update(Tensor([[[0], [1]]]), Tensor([[[0], [1]]]))
        >>> float(metric.eval()[0])
        1.0
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ):
        super().__init__()
        name = "ConfusionMatrixMetric"
        self.skip_channel = check_type(name, "skip_channel", skip_channel, bool)
        self.calculation_method = check_type(name, "calculation_method", calculation_method, bool)
        self.metric_name = check_type(name, "metric_name", metric_name, str)
        self.decrease = check_choice(name, "decrease", decrease, _DECREASES)
        self.clear()

    def clear(self) -> None:
        self._total_num = 0.0
        self._class_num = 0
        self._totals = np.zeros(4)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = pair(self, inputs)
        counts = _count(y_pred, y, self.skip_channel)
        flat = y_pred.ndim == 2 or (y_pred.ndim == 3 and y_pred.shape[-1] == 1)
        if self.calculation_method and not flat:
            score, valid = _decrease(_rate(self.metric_name, counts), self.decrease)
            self._total_num += float(score.item() * valid.item())
            self._class_num += int(valid.item())
        else:
            self._totals += counts.sum(axis=(0, 1))

    def eval(self) -> Any:
        if self._class_num:
            return self._total_num / self._class_num
        if self.calculation_method and not self._totals.any():
            raise no_samples(self)
        return np.atleast_1d(_rate(self.metric_name, self._totals))


def _count(y_pred: np.ndarray, y: np.ndarray, skip_channel: bool) -> np.ndarray:
    """True and false positives, true and false negatives, as (batch, channel, 4)."""
    if not np.isin(y, (0, 1)).all():
        raise ValueError("For 'ConfusionMatrixMetric.update', the labels must be 0 or 1.")
    if y_pred.ndim < 2:
        raise ValueError(
            f"For 'ConfusionMatrixMetric.update', predictions need 2 dimensions or more, not {y_pred.ndim}."
        )
    if y_pred.shape != y.shape:
        raise ValueError(f"For 'ConfusionMatrixMetric.update', shapes differ: {y_pred.shape} and {y.shape}.")
    if not skip_channel and y.shape[1] > 1:
        y, y_pred = y[:, 1:], y_pred[:, 1:]
    y, y_pred = (a.astype(float).reshape(*a.shape[:2], -1) for a in (y, y_pred))
    tp = (y_pred + y == 2).sum(axis=2)
    tn = (y_pred + y == 0).sum(axis=2)
    positives = y.sum(axis=2)
    return np.stack((tp, y.shape[-1] - positives - tn, tn, positives - tp), axis=-1).astype(float)
