"""Weak supervision: several functions vote on each item, and a label model learns whom to believe.

Dawid & Skene 1979: each function has a confusion matrix, P(vote | true class), and abstains independently of the class.
Expectation maximisation finds the matrices and the classes' shares from the votes alone, starting at the majority's
opinion (Ratner et al. 2016 call this data programming).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ABSTAIN = -1


@dataclass(frozen=True)
class LabelingFunction:
    """A named function: item -> class, or `ABSTAIN` (or None)."""

    name: str
    function: Callable[[Any], Any]

    def __call__(self, item: Any) -> int:
        vote = self.function(item)
        return ABSTAIN if vote is None else int(vote)


def labeling_function(function: Callable[[Any], Any] | None = None, *, name: str = "") -> Any:
    """Decorator: a function that looks at one item and votes for a class, or abstains with None.

    Examples:
        >>> from mindspore import labeling
        >>> @labeling.labeling_function
        ... def shouts(text):
        ...     return 1 if text.isupper() else None
        >>> labeling.votes([shouts], ["HELLO", "hello"]).tolist()
        [[1], [-1]]
    """
    if function is None:
        return lambda f: LabelingFunction(name or f.__name__, f)
    return LabelingFunction(name or function.__name__, function)


def votes(functions: Sequence[Callable[[Any], Any]], items: Sequence[Any]) -> np.ndarray:
    """What each function says of each item: (items, functions), -1 where it abstains."""
    out = np.full((len(items), len(functions)), ABSTAIN, np.int64)
    for column, function in enumerate(functions):
        for row, item in enumerate(items):
            vote = function(item)
            out[row, column] = ABSTAIN if vote is None else int(vote)
    return out


@dataclass(frozen=True)
class FunctionSummary:
    """How a function behaves beside the others: shares of all items."""

    coverage: float
    overlaps: float
    conflicts: float


def summary(given: np.ndarray) -> list[FunctionSummary]:
    """Coverage, overlaps and conflicts of each function's votes."""
    spoken = given != ABSTAIN
    out = []
    for column in range(given.shape[1]):
        others = np.delete(spoken, column, 1)
        differ = np.delete(given, column, 1) != given[:, [column]]
        own = spoken[:, column]
        out.append(
            FunctionSummary(
                float(own.mean()), float((own & others.any(1)).mean()), float((own & (others & differ).any(1)).mean())
            )
        )
    return out


class LabelModel:
    """Learns from votes alone how far each function can be trusted.

    Args:
        classes: how many classes there are.

    Attributes:
        confusion: (functions, true class, vote), after `fit`.
        shares: how frequent each class is, after `fit`.
    """

    def __init__(self, classes: int):
        if classes < 2:
            raise ValueError(f"'classes' must be 2 or more, but got {classes}.")
        self.classes = classes
        self.confusion: np.ndarray | None = None
        self.shares: np.ndarray | None = None

    def fit(self, given: np.ndarray, rounds: int = 100, smoothing: float = 0.1) -> LabelModel:
        """Expectation maximisation on votes (items, functions); ends when the beliefs rest."""
        one_hot = self._one_hot(given)
        total = one_hot.sum((1, 2), keepdims=False)[:, None]
        belief = (one_hot.sum(1) + 1e-6) / (total + 1e-6 * self.classes)  # the majority's opinion
        spoken = belief[total[:, 0] > 0]
        if not len(spoken):
            raise ValueError("no function has voted on any item.")
        for _ in range(rounds):
            confusion = np.einsum("nk,nmv->mkv", belief, one_hot) + smoothing
            confusion += np.eye(self.classes) * smoothing * self.classes  # functions are better than chance
            self.confusion = confusion / confusion.sum(2, keepdims=True)
            self.shares = (belief.sum(0) + smoothing) / (belief.sum() + smoothing * self.classes)
            new = self.predict(given)
            change = float(np.abs(new - belief).max())
            belief = new
            if change < 1e-6:
                break
        return self

    def predict(self, given: np.ndarray) -> np.ndarray:
        """Probabilities (items, classes) of the true classes."""
        if self.confusion is None or self.shares is None:
            raise RuntimeError("the label model has not been fitted: call fit(votes) first.")
        one_hot = self._one_hot(given)
        if one_hot.shape[1] != len(self.confusion):
            raise ValueError(f"the model knows {len(self.confusion)} functions, but got votes of {one_hot.shape[1]}.")
        logs = np.log(self.shares) + np.einsum("nmv,mkv->nk", one_hot, np.log(self.confusion))
        logs -= logs.max(1, keepdims=True)
        p = np.exp(logs)
        return p / p.sum(1, keepdims=True)

    def _one_hot(self, given: np.ndarray) -> np.ndarray:
        given = np.asarray(given)
        if given.ndim != 2 or given.min(initial=0) < ABSTAIN or given.max(initial=0) >= self.classes:
            raise ValueError(f"votes are (items, functions) of classes below {self.classes}, or -1; got {given.shape}.")
        return (given[:, :, None] == np.arange(self.classes)).astype(np.float64)
