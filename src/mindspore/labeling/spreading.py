"""Labels spread from a few items to those like them, along a graph of nearest neighbours.

Zhou et al. 2004, "Learning with local and global consistency": F ← α S F + (1 - α) Y until it rests, where S is the
normalised weights of the graph and Y the labels known. A row of F, scaled to sum 1, says how sure each class is.
"""

from __future__ import annotations

import numpy as np

from mindspore._base.optional import require

#: rows whose distances to all others are held at once
_ROWS = 1024


def nearest(features: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row its `count` nearest other rows and their squared distances; exact, block by block."""
    x = np.ascontiguousarray(features, np.float32)
    count = min(count, len(x) - 1)
    squares = (x * x).sum(1)
    places = np.empty((len(x), count), np.int64)
    distances = np.empty((len(x), count), np.float32)
    for start in range(0, len(x), _ROWS):
        rows = slice(start, min(start + _ROWS, len(x)))
        block = squares[None, :] - 2.0 * (x[rows] @ x.T)  # the row's own square is the same for all: added at the end
        block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = np.inf
        at = np.argpartition(block, count - 1, axis=1)[:, :count]
        places[rows] = at
        distances[rows] = np.maximum(np.take_along_axis(block, at, 1) + squares[rows, None], 0.0)
    return places, distances


def spread_labels(
    features: np.ndarray,
    labels: np.ndarray,
    classes: int,
    *,
    neighbours: int = 10,
    alpha: float = 0.99,
    steps: int = 60,
) -> np.ndarray:
    """Probabilities (items, classes) of all items from those whose label is known (-1: unknown).

    Items that no labelled one reaches along the graph get the same probability for every class.
    """
    labels = np.asarray(labels)
    if features.ndim != 2 or labels.shape != (len(features),):
        raise ValueError(f"'features' is (items, size) and 'labels' (items,), but got {features.shape} and {labels.shape}.")
    if labels.min(initial=0) < -1 or labels.max(initial=-1) >= classes:
        raise ValueError(f"'labels' must be -1 (unknown) or a class below {classes}, but got {labels.min()} to {labels.max()}.")
    known = labels >= 0
    start = np.zeros((len(labels), classes), np.float32)
    start[known, labels[known]] = 1.0
    if len(labels) < 2 or not known.any():
        return np.full((len(labels), classes), 1.0 / classes, np.float32)
    graph = _graph(features, neighbours)
    belief = start
    for _ in range(steps):
        belief = alpha * (graph @ belief) + (1.0 - alpha) * start
    total = belief.sum(1, keepdims=True)
    out = np.where(total > 0, belief / np.where(total > 0, total, 1.0), 1.0 / classes)
    out[known] = start[known]
    return out.astype(np.float32)


def _graph(features: np.ndarray, neighbours: int):  # type: ignore[no-untyped-def]  # a SciPy sparse matrix
    """D^-½ W D^-½, with weights that fall with the distance on each item's own scale."""
    sparse = require("scipy.sparse", "data", "spreading labels")
    places, distances = nearest(features, neighbours)
    scale = np.sqrt(distances[:, -1]) + 1e-12  # the distance of the farthest neighbour (Zelnik-Manor & Perona 2004)
    weights = np.exp(-distances / (scale[:, None] * scale[places]))
    rows = np.repeat(np.arange(len(features)), places.shape[1])
    graph = sparse.csr_matrix((weights.ravel(), (rows, places.ravel())), shape=(len(features),) * 2)
    graph = graph.maximum(graph.T)
    degree = np.sqrt(np.asarray(graph.sum(1)).ravel() + 1e-12)
    return sparse.diags(1.0 / degree) @ graph @ sparse.diags(1.0 / degree)
