"""Probable errors among given labels: confident learning (Northcutt, Jiang & Chuang 2021).

A class's threshold is the mean probability that the model gives it on items labelled so. An item counts as another class
if the model's probability of that class passes its threshold; items that count as a class other than their label are
probably wrong. The probabilities must come from a model that has not seen the item's own label: cross-validation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Suspects:
    """Items whose label is probably wrong.

    Attributes:
        items: all items, the most suspicious first.
        score: how far each item's label lies behind the likeliest class, for all items; higher is worse.
        flagged: the items that confident learning counts as wrong.
        suggested: the class that the model would give each item.
    """

    items: np.ndarray
    score: np.ndarray
    flagged: np.ndarray
    suggested: np.ndarray


def find_mistakes(labels: np.ndarray, probabilities: np.ndarray) -> Suspects:
    """Rank labelled items by how probably their label is wrong.

    Args:
        labels: (items,), the classes given.
        probabilities: (items, classes), of models that were trained without the item.
    """
    labels = np.asarray(labels)
    if probabilities.ndim != 2 or labels.shape != (len(probabilities),):
        raise ValueError(
            f"'labels' is (items,) and 'probabilities' (items, classes), but got {labels.shape}, {probabilities.shape}."
        )
    classes = probabilities.shape[1]
    if labels.min(initial=0) < 0 or labels.max(initial=0) >= classes:
        raise ValueError(f"'labels' must be classes below {classes}, but got {labels.min()} to {labels.max()}.")
    if not np.isfinite(probabilities).all():
        raise ValueError("'probabilities' has elements that are not finite.")
    own = probabilities[np.arange(len(labels)), labels]
    thresholds = np.array([own[labels == k].mean() if (labels == k).any() else np.inf for k in range(classes)])
    passes = np.where(probabilities >= thresholds, probabilities, -np.inf)
    counted = np.where(np.isfinite(passes.max(1)), passes.argmax(1), labels)
    score = probabilities.max(1) - own
    return Suspects(np.argsort(-score, kind="stable"), score, np.flatnonzero(counted != labels), probabilities.argmax(1))
