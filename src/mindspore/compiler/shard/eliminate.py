"""Exact minimisation of a sum of small tables by eliminating variables (Bertelè & Brioschi 1972).

Each variable has a few choices; a table gives the cost of the choices of one or two variables. Eliminating a variable adds up
the tables that mention it and keeps, for every choice of its neighbours, the best of its own. Variables with the smallest
resulting table go first. Networks are nearly chains, so tables stay small: a transformer's have three variables at most.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: largest table, in elements; a variable whose elimination would need a larger one is fixed at what looks best for it
LIMIT = 4_000_000

Key = tuple[int, ...]


class Choice(NamedTuple):
    """The best choice for each variable, their cost, and whether nothing was fixed on the way."""

    values: list[int]
    cost: float
    exact: bool


class Problem:
    """Variables with numbers of choices, and tables of costs."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.tables: dict[Key, np.ndarray] = {}

    def variable(self, costs: np.ndarray) -> int:
        """A new variable with the cost of each of its choices."""
        self.sizes.append(len(costs))
        self.tables[(len(self.sizes) - 1,)] = np.asarray(costs, float)
        return len(self.sizes) - 1

    def add(self, first: int, second: int, costs: np.ndarray) -> None:
        """A cost for the choices of two variables together."""
        if first > second:
            first, second, costs = second, first, costs.T
        key = (first, second)
        self.tables[key] = self.tables[key] + costs if key in self.tables else np.array(costs, float)

    def cost(self, values: list[int]) -> float:
        return float(sum(table[tuple(values[v] for v in key)] for key, table in self.tables.items()))

    def solve(self, limit: int = LIMIT) -> Choice:
        """The choices of least cost."""
        return _Elimination(self, limit).run()


class _Elimination:
    def __init__(self, problem: Problem, limit: int):
        self.problem, self.limit, self.exact = problem, limit, True
        self.tables = dict(problem.tables)
        self.of: dict[int, set[Key]] = {v: set() for v in range(len(problem.sizes))}
        for key in self.tables:
            for v in key:
                self.of[v].add(key)

    def run(self) -> Choice:
        left = {v: self._size(v) for v in self.of}  # what eliminating each would leave; kept up to date for neighbours
        order: list[tuple[int, Key, np.ndarray]] = []
        while left:
            v = min(left, key=left.__getitem__)
            around = self._around(v)
            if left.pop(v) * self.problem.sizes[v] > self.limit:
                self._fix(v)
            order.append(self._eliminate(v))
            left.update((u, self._size(u)) for u in around)
        values = [0] * len(self.problem.sizes)
        for v, around, best in reversed(order):
            values[v] = int(best[tuple(values[u] for u in around)])
        return Choice(values, self.problem.cost(values), self.exact)

    def _around(self, v: int) -> Key:
        return tuple(sorted({u for key in self.of[v] for u in key if u != v}))

    def _size(self, v: int) -> int:
        """Elements of the table that eliminating a variable leaves."""
        return math.prod(self.problem.sizes[u] for u in self._around(v))

    def _eliminate(self, v: int) -> tuple[int, Key, np.ndarray]:
        around = self._around(v)
        scope = (*around, v)
        total = np.zeros([self.problem.sizes[u] for u in scope])
        for key in list(self.of[v]):
            table = self.tables[key]
            order = np.argsort([scope.index(u) for u in key]).tolist()
            shape = [self.problem.sizes[u] if u in key else 1 for u in scope]
            total = total + table.transpose(order).reshape(shape)
            self._drop(key)
        if around:
            self._merge(around, total.min(-1))
        return v, around, total.argmin(-1)

    def _merge(self, key: Key, table: np.ndarray) -> None:
        self.tables[key] = self.tables[key] + table if key in self.tables else table
        for u in key:
            self.of[u].add(key)

    def _drop(self, key: Key) -> None:
        del self.tables[key]
        for u in key:
            self.of[u].discard(key)

    def _fix(self, v: int) -> None:
        """Keep the choice of a variable that is best if its neighbours take what suits them; tables lose the dimension."""
        self.exact = False
        score = np.zeros(self.problem.sizes[v])
        for key in self.of[v]:
            axis = key.index(v)
            score += np.moveaxis(self.tables[key], axis, 0).reshape(self.problem.sizes[v], -1).min(1)
        best = int(score.argmin())
        penalty = np.full(self.problem.sizes[v], np.inf)
        penalty[best] = 0.0
        for key in list(self.of[v]):
            axis = key.index(v)
            rest = tuple(u for u in key if u != v)
            table = np.take(self.tables[key], best, axis)
            self._drop(key)
            if rest:
                self._merge(rest, table)
        self._merge((v,), penalty)
