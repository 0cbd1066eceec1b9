"""Inputs for every metric, shared by the tests and by the script that records official MindSpore's answers."""

from __future__ import annotations

from typing import Any

import numpy as np

Batch = tuple[Any, ...]


def cases() -> dict[str, tuple[str, dict[str, Any], list[Batch], dict[str, Any]]]:
    """Case name -> (metric, its arguments, batches for `update`, arguments of `eval`)."""
    rng = np.random.default_rng(7)
    scores = [rng.random((6, 4)).astype(np.float32) for _ in range(2)]
    labels = [rng.integers(0, 4, 6).astype(np.int32) for _ in range(2)]
    plain = list(zip(scores, labels))
    onehot = [(s, np.eye(4, dtype=np.float32)[y]) for s, y in plain]
    images = [(rng.random((2, 3, 4, 5)).astype(np.float32), rng.integers(0, 3, (2, 4, 5))) for _ in range(2)]
    flags = [(rng.integers(0, 2, (5, 3)), rng.integers(0, 2, (5, 3))) for _ in range(2)]
    values = [(rng.random((3, 4)), rng.random((3, 4))) for _ in range(2)]
    masks = [(rng.integers(0, 3, (7, 8)), rng.integers(0, 3, (7, 8)), 1)]
    binary = [(rng.random(12).round(1), rng.integers(0, 2, 12))]
    probabilities = rng.random((5, 6))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    channels = [(rng.integers(0, 2, (3, 4, 5, 2)), rng.integers(0, 2, (3, 4, 5, 2))) for _ in range(2)]
    corpus = ([["i", "have", "a", "pen", "on", "my", "desk"], ["it", "is", "red", "and", "blue"]],
              [[["i", "have", "a", "pen", "in", "my", "desk"], ["there", "is", "a", "pen", "on", "the", "desk"]],
               [["it", "is", "red", "and", "green"]]])  # fmt: skip
    out: dict[str, tuple[str, dict[str, Any], list[Batch], dict[str, Any]]] = {
        "accuracy": ("Accuracy", {}, plain, {}),
        "accuracy one-hot": ("Accuracy", {}, onehot, {}),
        "accuracy images": ("Accuracy", {}, images, {}),
        "accuracy multilabel": ("Accuracy", {"eval_type": "multilabel"}, flags, {}),
        "top 2": ("TopKCategoricalAccuracy", {"k": 2}, plain, {}),
        "top 2 one-hot": ("TopKCategoricalAccuracy", {"k": 2}, onehot, {}),
        "precision": ("Precision", {}, plain, {}),
        "precision mean": ("Precision", {}, images, {"average": True}),
        "precision multilabel": ("Precision", {"eval_type": "multilabel"}, flags, {}),
        "precision multilabel mean": ("Precision", {"eval_type": "multilabel"}, flags, {"average": True}),
        "recall": ("Recall", {}, onehot, {}),
        "recall multilabel mean": ("Recall", {"eval_type": "multilabel"}, flags, {"average": True}),
        "fbeta": ("Fbeta", {"beta": 0.5}, plain, {}),
        "f1 mean": ("F1", {}, plain, {"average": True}),
        "mae": ("MAE", {}, values, {}),
        "mse": ("MSE", {}, values, {}),
        "loss": ("Loss", {}, [(np.array(0.5),), (np.array([0.1, 0.3]),)], {}),
        "dice": ("Dice", {"smooth": 0.1}, values, {}),
        "cosine": ("CosineSimilarity", {}, [(values[0][0],)], {}),
        "dot sum": ("CosineSimilarity", {"similarity": "dot", "reduction": "sum", "zero_diagonal": False},
                    [(values[0][0],)], {}),
        "roc": ("ROC", {"pos_label": 1}, binary, {}),
        "roc classes": ("ROC", {"class_num": 4}, [(scores[0][:4], np.array([2, 1, 3, 0]))], {}),
        "bleu": ("BleuScore", {"n_gram": 3}, [corpus], {}),
        "bleu smooth": ("BleuScore", {"n_gram": 2, "smooth": True}, [corpus], {}),
        "perplexity": ("Perplexity", {}, [(probabilities, rng.integers(0, 6, 5))], {}),
        "perplexity ignore": ("Perplexity", {"ignore_label": 2}, [(probabilities, np.array([0, 2, 1, 2, 5]))], {}),
        "confusion": ("ConfusionMatrix", {"num_classes": 4}, plain, {}),
        "confusion target": ("ConfusionMatrix", {"num_classes": 4, "normalize": "target"}, plain, {}),
        "confusion all": ("ConfusionMatrix", {"num_classes": 2, "normalize": "all", "threshold": 0.3}, binary, {}),
    }  # fmt: skip
    rates = [
        "tpr",
        "tnr",
        "ppv",
        "npv",
        "fnr",
        "fpr",
        "fdr",
        "for",
        "pt",
        "ts",
        "acc",
        "ba",
        "f1",
        "mcc",
        "fm",
        "bm",
        "mk",
    ]
    for rate in rates:
        out[f"rate {rate}"] = ("ConfusionMatrixMetric", {"metric_name": rate}, channels, {})
        per_sample = {"metric_name": rate, "calculation_method": True, "skip_channel": False}
        out[f"rate {rate} per sample"] = ("ConfusionMatrixMetric", per_sample, channels, {})
    for metric in ("HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance"):
        for distance in ("euclidean", "chessboard", "taxicab"):
            out[f"{metric} {distance}"] = (metric, {"distance_metric": distance}, masks, {})
    out["HausdorffDistance percentile"] = ("HausdorffDistance", {"percentile": 80.0, "directed": True}, masks, {})
    out["MeanSurfaceDistance symmetric"] = ("MeanSurfaceDistance", {"symmetric": True}, masks, {})
    out["RootMeanSquareDistance symmetric"] = ("RootMeanSquareDistance", {"symmetric": True}, masks, {})
    return out


def run(train: Any, tensor: Any, case: tuple[str, dict[str, Any], list[Batch], dict[str, Any]]) -> Any:
    """The result of a case as nested lists of floats. `train` is the module with the metrics."""
    name, arguments, batches, options = case
    metric = getattr(train, name)(**arguments)
    for batch in batches:
        metric.update(*(tensor(x) if isinstance(x, np.ndarray) else x for x in batch))
    return plain(metric.eval(**options))


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return np.asarray(value, float).tolist()
