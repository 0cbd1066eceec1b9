"""Which items to ask about next.

- `entropy`, `margin`, `least_confident`: the model is least sure (Settles 2009, survey).
- `core_set`: items far from everything labelled (k-centre greedy; Sener & Savarese 2018).
- `badge`: gradients of the last layer for the model's own guess, spread out by k-means++ (Ash et al. 2020): unsure and diverse.
- `typical`: one from the middle of each cluster, for a start without any label (Hacohen et al. 2022).
- `random`: what the others are compared with.

Each takes the items that may be asked about and gives positions among them, best first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Floats = np.ndarray


def entropy(probabilities: Floats) -> Floats:
    """How undecided each row is, in nats."""
    p = np.clip(probabilities, 1e-12, 1.0)
    return -(p * np.log(p)).sum(1)


def margin(probabilities: Floats) -> Floats:
    """1 less the distance between the two likeliest classes."""
    if probabilities.shape[1] < 2:
        return 1.0 - probabilities[:, 0]
    top = np.partition(probabilities, -2, axis=1)
    return 1.0 - (top[:, -1] - top[:, -2])


def least_confident(probabilities: Floats) -> Floats:
    """1 less the probability of the likeliest class."""
    return 1.0 - probabilities.max(1)


def _squared_distances(x: Floats, point: Floats) -> Floats:
    return np.maximum((x * x).sum(1) - 2.0 * (x @ point) + point @ point, 0.0)


def core_set(features: Floats, count: int, covered: Floats) -> Floats:
    """Positions of items each of which is farthest from the labelled ones (`covered`) and those chosen before."""
    nearest = np.full(len(features), np.inf, features.dtype)
    for row in covered:
        np.minimum(nearest, _squared_distances(features, row), out=nearest)
    chosen: list[int] = []
    for _ in range(min(count, len(features))):
        at = int(np.argmax(nearest)) if np.isfinite(nearest).any() else int(np.argmin(((features - features.mean(0)) ** 2).sum(1)))
        chosen.append(at)
        np.minimum(nearest, _squared_distances(features, features[at]), out=nearest)
        nearest[at] = -1.0
    return np.asarray(chosen, np.int64)


def badge(probabilities: Floats, features: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Positions by k-means++ over the gradients (p - onehot(guess)) x feature, which are never written out.

    Such a gradient is an outer product, so the scalar product of two is the product of the scalar products of their factors.
    """
    outer = probabilities.copy()
    outer[np.arange(len(outer)), probabilities.argmax(1)] -= 1.0
    lengths = (outer**2).sum(1) * (features**2).sum(1)
    nearest = np.full(len(outer), np.inf)
    chosen = [int(np.argmax(lengths))]
    while len(chosen) < min(count, len(outer)):
        last = chosen[-1]
        products = (outer @ outer[last]) * (features @ features[last])
        np.minimum(nearest, np.maximum(lengths - 2.0 * products + lengths[last], 0.0), out=nearest)
        nearest[chosen] = 0.0
        total = nearest.sum()
        if total <= 0:  # all the others are like those chosen
            rest = np.setdiff1d(np.arange(len(outer)), chosen)
            chosen += rng.permutation(rest)[: count - len(chosen)].tolist()
            break
        chosen.append(int(rng.choice(len(outer), p=nearest / total)))
    return np.asarray(chosen[:count], np.int64)


def typical(features: Floats, count: int, rng: np.random.Generator, rounds: int = 10) -> Floats:
    """Positions of the items nearest to the centres of `count` clusters (Lloyd's k-means from k-means++ seeds)."""
    count = min(count, len(features))
    centres = features[badge(np.ones((len(features), 1), features.dtype) * 0.5, features, count, rng)].copy()
    squares = (features * features).sum(1)
    for _ in range(rounds):
        distances = squares[:, None] - 2.0 * features @ centres.T + (centres * centres).sum(1)
        owner = distances.argmin(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, owner, features)
        sizes = np.bincount(owner, minlength=count)[:, None]
        centres = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
    distances = squares[:, None] - 2.0 * features @ centres.T + (centres * centres).sum(1)
    chosen: list[int] = []
    for column in distances.T:
        order = np.argsort(column)
        chosen.append(int(next(i for i in order if int(i) not in chosen)))
    return np.asarray(chosen, np.int64)


_UNSURE: dict[str, Callable[[Floats], Floats]] = {
    "entropy": entropy, "margin": margin, "least_confident": least_confident,
}  # fmt: skip
STRATEGIES = (*_UNSURE, "core_set", "badge", "typical", "random")


def choose(
    strategy: str,
    count: int,
    *,
    probabilities: Floats | None = None,
    features: Floats | None = None,
    covered: Floats | None = None,
    seed: int = 0,
) -> Floats:
    """Positions of the `count` items to ask about next, best first.

    Args:
        strategy: one of `STRATEGIES`.
        probabilities: (items, classes), what the model thinks.
        features: (items, size), where items alike lie close together.
        covered: the features of what is labelled already.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"'strategy' must be one of {', '.join(STRATEGIES)}, but got {strategy!r}.")
    if count < 1:
        raise ValueError(f"'count' must be 1 or more, but got {count}.")
    rng = np.random.default_rng(seed)
    if strategy in _UNSURE:
        scores = _UNSURE[strategy](_wanted(strategy, "probabilities", probabilities))
        return np.argsort(-scores, kind="stable")[:count]
    if strategy == "random":
        known = probabilities if probabilities is not None else _wanted(strategy, "features", features)
        return rng.permutation(len(known))[:count]
    rows = _wanted(strategy, "features", features)
    if strategy == "core_set":
        return core_set(rows, count, covered if covered is not None else rows[:0])
    if strategy == "typical":
        return typical(rows, count, rng)
    return badge(_wanted(strategy, "probabilities", probabilities), rows, count, rng)


def _wanted(strategy: str, name: str, value: Floats | None) -> Floats:
    if value is None or value.ndim != 2:
        raise ValueError(f"the strategy '{strategy}' needs '{name}', an array with a row for each item.")
    if not np.isfinite(value).all():
        raise ValueError(f"'{name}' has elements that are not finite.")
    return value
