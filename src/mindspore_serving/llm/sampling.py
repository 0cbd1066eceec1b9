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
class Choice:
    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]


def choose(logits: Array, sampling: Sampling, prompt: Sequence[int], made: Sequence[int]) -> Choice:
    """The next token after `prompt` and `made`."""
    scores = _penalised(logits.astype(np.float64), sampling, prompt, made)
    logprobs = _log_softmax(scores)
    if sampling.temperature < 1e-5:
        token = int(np.argmax(scores))
    else:
        token = _draw(_log_softmax(scores / sampling.temperature), sampling, len(made))
    count = sampling.logprobs or 0
    best = np.argsort(-logprobs, kind="stable")[:count] if count else ()
    return Choice(token, float(logprobs[token]), tuple((int(i), float(logprobs[i])) for i in best))


def _log_softmax(scores: Array) -> Array:
    shifted = scores - scores.max()
    result: Array = shifted - np.log(np.exp(shifted).sum())
    return result


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


def _draw(logprobs: Array, sampling: Sampling, position: int) -> int:
    order = np.argsort(-logprobs, kind="stable")
    probabilities = np.exp(logprobs[order])
    keep = np.ones(len(order), bool)
    if sampling.top_k > 0:
        keep[sampling.top_k :] = False
    if sampling.top_p < 1.0:
        keep &= np.cumsum(probabilities) - probabilities < sampling.top_p
    if sampling.min_p > 0.0:
        keep &= probabilities >= sampling.min_p * probabilities[0]
    keep[0] = True
    kept = probabilities[keep]
    number = np.random.default_rng([sampling.seed, position]).random() * kept.sum()
    return int(order[keep][min(int(np.searchsorted(np.cumsum(kept), number, side="right")), len(kept) - 1)])
