"""Metrics: how good a model is on evaluation data. Pure NumPy."""

from __future__ import annotations

from typing import Any

from mindspore.train.metrics.accuracy import (
    Accuracy,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from mindspore.train.metrics.confusion_matrix import ConfusionMatrix, ConfusionMatrixMetric
from mindspore.train.metrics.counts import F1, Fbeta, Precision, Recall
from mindspore.train.metrics.curves import ROC, auc
from mindspore.train.metrics.error import MAE, MSE, Loss
from mindspore.train.metrics.metric import EvaluationBase, Metric, rearrange_inputs
from mindspore.train.metrics.occlusion import OcclusionSensitivity
from mindspore.train.metrics.similarity import CosineSimilarity, Dice
from mindspore.train.metrics.surface import HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance
from mindspore.train.metrics.text import BleuScore, Perplexity

_FACTORY: dict[str, Any] = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "precision": Precision,
    "recall": Recall,
    "F1": F1,
    "dice": Dice,
    "roc": ROC,
    "auc": auc,
    "bleu_score": BleuScore,
    "cosine_similarity": CosineSimilarity,
    "occlusion_sensitivity": OcclusionSensitivity,
    "topk": TopKCategoricalAccuracy,
    "hausdorff_distance": HausdorffDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "mae": MAE,
    "mse": MSE,
    "loss": Loss,
    "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance,
    "perplexity": Perplexity,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
}


def names() -> list[str]:
    """The names that `get_metric_fn` knows.

    Examples:
        >>> "accuracy" in train.names()
        True
    """
    return sorted(_FACTORY)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """A metric by its name.

    Examples:
        >>> from mindspore.train import get_metric_fn
        >>> type(get_metric_fn("precision", eval_type="classification")).__name__
        'Precision'
    """
    if name not in _FACTORY:
        raise KeyError(f"For 'get_metric_fn', there is no metric {name!r}; choose one of {names()}.")
    return _FACTORY[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric] | None:
    """The metrics that a Model was given: a dict of names to metrics, or a set of names.

    Examples:
        >>> sorted(train.get_metrics({"loss", "acc"}))
        ['acc', 'loss']
    """
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"'metrics' must map strings to Metrics, but got {type(name)} and {type(metric)}.")
        return metrics
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in metrics}
    raise TypeError(f"'metrics' must be None, a dict or a set, but got {type(metrics)}.")


__all__ = [
    "names", "get_metric_fn", "get_metrics", "Accuracy", "MAE", "MSE", "Metric", "EvaluationBase", "rearrange_inputs",
    "Precision", "HausdorffDistance", "Recall", "Fbeta", "BleuScore", "CosineSimilarity", "OcclusionSensitivity", "F1",
    "Dice", "ROC", "auc", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "Loss",
    "MeanSurfaceDistance", "RootMeanSquareDistance", "Perplexity", "ConfusionMatrix", "ConfusionMatrixMetric",
]  # fmt: skip
