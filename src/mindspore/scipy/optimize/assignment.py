"""The linear sum assignment problem by shortest augmenting paths (Jonker and Volgenant, 1987)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import concrete


def linear_sum_assignment(cost_matrix: Any, maximize: Any, dimension_limit: Any = None) -> tuple[Tensor, Tensor]:
    """Rows and columns of the cheapest (or dearest) pairing.

    Only the first `dimension_limit` columns take part; unused places of the result are -1.
    """
    cost = concrete("linear_sum_assignment", cost_matrix).astype(np.float64)
    if cost.ndim != 2:
        raise ValueError(f"For 'linear_sum_assignment', a matrix is needed, but the shape is {cost.shape}.")
    if not np.isfinite(cost).all():
        raise ValueError("For 'linear_sum_assignment', the costs must be finite.")
    limit = cost.shape[1] if dimension_limit is None else min(int(dimension_limit), cost.shape[1])
    used = cost[:, :limit] * (-1 if bool(maximize) else 1)
    size = min(cost.shape)
    rows, columns = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    transposed = used.shape[0] > used.shape[1]
    match = _shortest_paths(used.T if transposed else used)
    pairs = np.stack([np.arange(len(match)), match], 1)
    pairs = pairs[np.argsort(match)][:, ::-1] if transposed else pairs
    rows[: len(pairs)], columns[: len(pairs)] = pairs[:, 0], pairs[:, 1]
    return Tensor(rows), Tensor(columns)


def _shortest_paths(cost: np.ndarray) -> np.ndarray:
    """The column of each row; there are at least as many columns as rows."""
    n, m = cost.shape
    row_price, column_price = np.zeros(n + 1), np.zeros(m + 1)
    owner = np.zeros(m + 1, np.int64)  # row (from 1) that holds each column; 0: none
    for row in range(1, n + 1):
        owner[0] = row
        column = 0
        best = np.full(m + 1, np.inf)
        previous = np.zeros(m + 1, np.int64)
        done = np.zeros(m + 1, np.bool_)
        while owner[column] != 0:
            done[column] = True
            current = owner[column]
            free = np.flatnonzero(~done)
            reduced = cost[current - 1, free - 1] - row_price[current] - column_price[free]
            better = reduced < best[free]
            best[free[better]] = reduced[better]
            previous[free[better]] = column
            following = free[np.argmin(best[free])]
            delta = best[following]
            row_price[owner[done]] += delta
            column_price[done] -= delta
            best[~done] -= delta
            column = following
        while column:
            owner[column] = owner[previous[column]]
            column = previous[column]
    match = np.empty(n, np.int64)
    held = np.flatnonzero(owner[1:])
    match[owner[1:][held] - 1] = held
    return match
