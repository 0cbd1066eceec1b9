"""Where to look next, in the unit cube; larger values are better.

`gp`   Gaussian process with a Matérn-5/2 kernel (Snoek et al. 2012); its length is the one that makes the data likeliest.
       The next point maximises an acquisition function: ucb (mean + kappa * deviation), pi or ei (over the best so far).
`tpe`  Tree-structured Parzen estimators (Bergstra et al. 2011): densities of the better quarter and of the rest; the next
       point is the sample of the first whose ratio is best.

Trials that still run count with the mean of the finished ones ("constant liar"), so that parallel trials spread out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindinsight.optimizer.config import Config

Array = NDArray[Any]
_FIRST = 4  # random trials before anything can be learnt
_CANDIDATES = 2000
_KAPPA = 2.0


def propose(config: Config, places: Array, values: Array, waiting: Array, rng: np.random.Generator) -> Array:
    """The next point, given finished points, their values (nan: failed), and points that still run."""
    size = len(config.parameters)
    good = np.isfinite(values)
    if config.tuner == "random" or good.sum() < _FIRST:
        return _spread(rng, np.concatenate((places, waiting)), size)
    worst = values[good].min()
    known = np.where(good, values, worst)  # what failed is as bad as the worst
    points = np.concatenate((places, waiting))
    known = np.concatenate((known, np.full(len(waiting), values[good].mean())))
    if config.tuner == "tpe":
        return _tpe(points, known, rng)
    return _gp(points, known, config.method, rng)


def _spread(rng: np.random.Generator, taken: Array, size: int) -> Array:
    """The one of some random points that is farthest from those taken."""
    candidates = rng.random((32, size))
    if not len(taken):
        return np.asarray(candidates[0])
    distance = np.linalg.norm(candidates[:, None] - taken[None], axis=2).min(1)
    return np.asarray(candidates[distance.argmax()])


def _kernel(a: Array, b: Array, length: float) -> Array:
    distance = np.sqrt(np.maximum(((a[:, None] - b[None]) ** 2).sum(2), 0.0)) * math.sqrt(5) / length
    return np.asarray((1 + distance + distance**2 / 3) * np.exp(-distance))


def _gp(points: Array, values: Array, method: str, rng: np.random.Generator) -> Array:
    scale = values.std() or 1.0
    y = (values - values.mean()) / scale
    best_fit: tuple[float, float, Array] | None = None
    for length in (0.1, 0.2, 0.35, 0.6, 1.0, 2.0):
        for noise in (1e-4, 1e-2, 1e-1):
            root = np.linalg.cholesky(_kernel(points, points, length) + noise * np.eye(len(points)))
            white = np.linalg.solve(root, y)
            likelihood = -0.5 * float(white @ white) - float(np.log(np.diag(root)).sum())
            if best_fit is None or likelihood > best_fit[0]:
                best_fit = (likelihood, length, root)
    assert best_fit is not None
    _, length, root = best_fit
    top = points[values.argmax()]
    candidates = np.concatenate((rng.random((_CANDIDATES, points.shape[1])),
                                 np.clip(top + rng.normal(0, 0.08, (_CANDIDATES // 4, points.shape[1])), 0, 1)))  # fmt: skip
    cross = np.linalg.solve(root, _kernel(points, candidates, length))
    mean = cross.T @ np.linalg.solve(root, y)
    deviation = np.sqrt(np.maximum(1 - (cross**2).sum(0), 1e-12))
    return np.asarray(candidates[_acquisition(method, mean, deviation, float(y.max())).argmax()])


def _acquisition(method: str, mean: Array, deviation: Array, best: float) -> Array:
    if method == "ucb":
        return mean + _KAPPA * deviation
    gain = mean - best - 0.01
    z = gain / deviation
    below = 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
    if method == "pi":
        return np.asarray(below)
    return np.asarray(gain * below + deviation * np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))


def _tpe(points: Array, values: Array, rng: np.random.Generator) -> Array:
    order = np.argsort(-values)
    count = max(2, math.ceil(len(points) / 4))
    better, others = points[order[:count]], points[order[count:]]
    width = np.maximum(0.06, better.std(0) * len(better) ** -0.2)
    samples = np.clip(better[rng.integers(len(better), size=64)] + rng.normal(0, 1, (64, points.shape[1])) * width, 0, 1)
    samples = np.concatenate((samples, rng.random((8, points.shape[1]))))
    return np.asarray(samples[(_density(samples, better, width) - _density(samples, others, width)).argmax()])


def _density(at: Array, centres: Array, width: Array) -> Array:
    """The log of a product of one-dimensional densities, each a mixture of Gaussians and of the uniform one."""
    z = (at[:, None] - centres[None]) / width
    mixture = (np.exp(-0.5 * z**2) / width).sum(1) / math.sqrt(2 * math.pi)
    return np.asarray(np.log((mixture + 1) / (len(centres) + 1)).sum(1))
