"""How well clients fall into clusters, from the vectors they upload; a client's cluster is its largest component.

Silhouette: Rousseeuw 1987. Calinski-Harabasz 1974. Davies-Bouldin 1979.
"""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def cluster_score(kind: str, vectors: Doubles) -> float:
    """The score `kind` of the vectors (one row per client); 0 where there are fewer than two clusters."""
    labels = np.argmax(vectors, axis=1)
    clusters = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    if len(clusters) < 2:
        return 0.0
    score = {"SILHOUETTE_SCORE": _silhouette, "CALINSKI_HARABASZ_SCORE": _calinski_harabasz,
             "DAVIES_BOULDIN_SCORE": _davies_bouldin}[kind]
    return float(score(vectors, clusters))


def _silhouette(vectors: Doubles, clusters: list[NDArray[np.intp]]) -> float:
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    scores = np.zeros(len(vectors))
    for mine in clusters:
        if len(mine) == 1:
            continue
        for index in mine:
            inside = distances[index, mine].sum() / (len(mine) - 1)
            outside = min(distances[index, other].mean() for other in clusters if other is not mine)
            scores[index] = (outside - inside) / max(inside, outside) if max(inside, outside) > 0 else 0.0
    return float(scores.mean())


def _calinski_harabasz(vectors: Doubles, clusters: list[NDArray[np.intp]]) -> float:
    centre = vectors.mean(axis=0)
    between = sum(len(mine) * np.sum((vectors[mine].mean(axis=0) - centre) ** 2) for mine in clusters)
    within = sum(np.sum((vectors[mine] - vectors[mine].mean(axis=0)) ** 2) for mine in clusters)
    if within == 0 or len(vectors) == len(clusters):
        return 1.0
    return float(between * (len(vectors) - len(clusters)) / (within * (len(clusters) - 1)))


def _davies_bouldin(vectors: Doubles, clusters: list[NDArray[np.intp]]) -> float:
    centres = np.stack([vectors[mine].mean(axis=0) for mine in clusters])
    spreads = np.array([np.linalg.norm(vectors[mine] - centre, axis=1).mean()
                        for mine, centre in zip(clusters, centres)])
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    ratios = (spreads[:, None] + spreads[None]) / np.maximum(apart, 1e-300)
    return float(ratios.max(axis=1).mean())
