"""From logits to a token. A request's random numbers come from its seed and the position, so batches do not change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mindspore_serving.llm.checkpoint import Array


@dataclass(frozen=True)
class Sampling:
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = 0
    max_tokens: int = 16
    stop: tuple[str, ...] = ()
    ignore_end: bool = False
    logprobs: int | None = None
    bias: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """Of what may come next: logits, the place of the largest, and the logarithm of the sum of their exponentials."""

    logits: Array
    best: int
    total: float


@dataclass(frozen=True)
class Choice:
    """A token, the logarithm of its probability, and the likeliest tokens with theirs."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Draw:
    """How a token is chosen where nothing but its own scores is needed for that."""

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    number: float  # in [0, 1)


def needs_scores_alone(sampling: Sampling) -> bool:
    """Whether a token's own scores are enough to choose it, and it and its probability are all that is wanted."""
    return not sampling.logprobs and not _changes(sampling, True)


def draw_of(sampling: Sampling, position: int) -> Draw:
    """For the token number `position`."""
    if sampling.temperature < 1e-5:
        return Draw(0.0, 0, 1.0, 0.0, 0.0)
    return Draw(
        sampling.temperature, max(sampling.top_k, 0), sampling.top_p, sampling.min_p, _number(sampling.seed, position)
    )


def _number(seed: int, position: int) -> float:
    return float(np.random.default_rng([seed, position]).random())


def choose(
    scores: Scores, sampling: Sampling, prompt: Sequence[int], made: Sequence[int], allowed: Array | None = None
) -> Choice:
    """The next token after `prompt` and `made`, among those that are `allowed`."""
    logits, best, total = scores.logits, scores.best, scores.total
    if allowed is not None or _changes(sampling, made):
        logits = _penalised(logits.astype(np.float64), sampling, prompt, made)
        if allowed is not None:
            logits = np.where(allowed, logits, -np.inf)
        best, total = int(np.argmax(logits)), _log_sum_exp(logits)
    token = best if sampling.temperature < 1e-5 else _draw(logits, float(logits[best]), sampling, len(made))
    return weighed(Scores(logits, best, total), token, sampling.logprobs or 0)


def weighed(scores: Scores, token: int, most: int) -> Choice:
    """A token with its log-probability and those of the `most` likely ones."""
    logits, total = scores.logits, scores.total
    top = _largest(logits, min(most, len(logits))) if most else ()
    return Choice(token, float(logits[token]) - total, tuple((int(i), float(logits[i]) - total) for i in top))


def _changes(sampling: Sampling, made: object) -> bool:
    """Whether logits are changed before a token is chosen."""
    penalties = made and (sampling.presence_penalty or sampling.frequency_penalty)
    return bool(sampling.repetition_penalty != 1.0 or penalties or sampling.bias)


def _log_sum_exp(logits: Array) -> float:
    largest = logits.max()
    return float(largest + np.log(np.exp(logits - largest).sum()))


def _largest(values: Array, count: int) -> Array:
    """The places of the `count` largest, largest first; equal ones as they stand."""
    found = np.argpartition(values, len(values) - count)[len(values) - count :]
    least = values[found].min()
    found = np.flatnonzero(values >= least)  # all that are equal to the least, of which the first ones count
    return found[np.argsort(-values[found], kind="stable")][:count]


def _penalised(scores: Array, sampling: Sampling, prompt: Sequence[int], made: Sequence[int]) -> Array:
    if sampling.repetition_penalty != 1.0:
        seen = np.unique(np.array([*prompt, *made]))
        found = scores[seen]
        scores[seen] = np.where(found > 0, found / sampling.repetition_penalty, found * sampling.repetition_penalty)
    if made and (sampling.presence_penalty or sampling.frequency_penalty):
        tokens, counts = np.unique(np.array(made), return_counts=True)
        scores[tokens] -= sampling.presence_penalty + sampling.frequency_penalty * counts
    for token, value in sampling.bias.items():
        if 0 <= token < len(scores):
            scores[token] += value
    return scores


#: candidates that are sorted first; more only if they do not reach the limits
_FIRST = 512


def _draw(logits: Array, largest: float, sampling: Sampling, position: int) -> int:
    """A token by its probability among those that top-k, top-p and min-p leave."""
    number = _number(sampling.seed, position)
    weights = np.exp((logits - largest) / sampling.temperature)
    if sampling.top_k <= 0 and sampling.top_p >= 1.0 and sampling.min_p <= 0.0:
        return _picked(weights, number)
    least = sampling.top_p * weights.sum(dtype=np.float64)
    for count in (_FIRST, len(weights)):
        wanted = min(count, sampling.top_k) if sampling.top_k > 0 else count
        order = _largest(weights, min(wanted, len(weights)))
        found = weights[order].astype(np.float64)
        before = np.cumsum(found) - found
        keep = (before < least) & (found >= sampling.min_p)  # the largest weight is 1
        keep[0] = True
        if len(order) < count or not keep[-1]:
            break
    return int(order[keep][_picked(found[keep], number)])


def _picked(weights: Array, number: float) -> int:
    """The place where `number` of all weight is passed."""
    sums = np.cumsum(weights, dtype=np.float64)
    return min(int(np.searchsorted(sums, number * sums[-1], side="right")), len(weights) - 1)
