"""Metrics of language: BLEU and perplexity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.train.metrics.metric import Metric, check_count, check_type, no_samples, pair, rearrange_inputs


class BleuScore(Metric):
    """BLEU: how many n-grams of translations occur in references (Papineni et al., 2002).

    Args:
        n_gram: the longest n-gram, 1 to 4.
        smooth: add one to the counts (Lin et al., 2004).

    `update` takes a list of tokenised translations and a list of lists of tokenised references.

    Examples:
        >>> metric = train.BleuScore(n_gram=1)
        >>> metric.clear()
        >>> metric.update([["a", "b", "c", "x"]], [[["a", "b", "c", "d"]]])
        >>> print(round(float(metric.eval()), 4))
        0.75
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False):
        super().__init__()
        self.n_gram = check_type("BleuScore", "n_gram", n_gram, int)
        if not 1 <= n_gram <= 4:
            raise ValueError(f"For 'BleuScore', 'n_gram' must be in 1..4, but got {n_gram}.")
        self.smooth = check_type("BleuScore", "smooth", smooth, bool)
        self.clear()

    def clear(self) -> None:
        self._matches = np.zeros(self.n_gram)
        self._totals = np.zeros(self.n_gram)
        self._candidate_length = 0
        self._reference_length = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        check_count(self, inputs, 2, "candidate_corpus, reference_corpus")
        candidates, references = inputs
        if len(candidates) != len(references):
            raise ValueError(
                f"For 'BleuScore.update', got {len(candidates)} translations but references for {len(references)}."
            )
        for candidate, alternatives in zip(candidates, references):
            lengths = [len(reference) for reference in alternatives]
            self._candidate_length += len(candidate)
            self._reference_length += min(lengths, key=lambda n: abs(len(candidate) - n))
            found = _ngrams(candidate, self.n_gram)
            allowed: Counter = Counter()
            for reference in alternatives:
                allowed |= _ngrams(reference, self.n_gram)
            for gram, count in (found & allowed).items():
                self._matches[len(gram) - 1] += count
            for gram, count in found.items():
                self._totals[len(gram) - 1] += count
        self._is_update = True

    def eval(self) -> np.ndarray:
        if not self._is_update:
            raise RuntimeError("For 'BleuScore', call 'update' before 'eval'.")
        if self._matches.min() == 0:
            return np.array(0.0)
        extra = 1 if self.smooth else 0
        precision = np.exp(np.log((self._matches + extra) / (self._totals + extra)).mean())
        short = self._candidate_length <= self._reference_length
        return precision * (np.exp(1 - self._reference_length / self._candidate_length) if short else 1.0)


def _ngrams(tokens: Sequence[str], longest: int) -> Counter:
    return Counter(tuple(tokens[j : j + n]) for n in range(1, longest + 1) for j in range(len(tokens) - n + 1))


class Perplexity(Metric):
    """The exponential of the mean negative log probability of the true tokens.

    Args:
        ignore_label: a label that does not count, such as padding.

    Examples:
        >>> metric = train.Perplexity()
        >>> metric.clear()
        >>> metric.update(Tensor([[0.5, 0.5], [0.25, 0.75]]), Tensor([0, 1]))
        >>> round(float(metric.eval()), 4)
        1.633
    """

    def __init__(self, ignore_label: int | None = None):
        super().__init__()
        self.ignore_label = (
            None if ignore_label is None else check_type("Perplexity", "ignore_label", ignore_label, int)
        )
        self.clear()

    def clear(self) -> None:
        self._sum_metric = 0.0
        self._num_inst = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        pred, label = pair(self, inputs)
        if label.size * pred.shape[-1] != pred.size:
            raise RuntimeError(f"For 'Perplexity.update', predictions {pred.shape} do not fit labels {label.shape}.")
        labels = label.reshape(-1).astype(np.int64)
        chosen = pred.reshape(-1, pred.shape[-1])[np.arange(labels.size), labels]
        if self.ignore_label is not None:
            chosen = chosen[labels != self.ignore_label]
        self._sum_metric -= float(np.log(np.maximum(1e-10, chosen)).sum())
        self._num_inst += chosen.size

    def eval(self) -> float:
        if self._num_inst == 0:
            raise no_samples(self)
        return math.exp(self._sum_metric / self._num_inst)
