"""How often to synchronise, adapted to how much the clients agree.

After a round the size of the common change is set against the size of the client's own change, smoothed over rounds. If
clients pull in one direction (ratio near 1) longer local training costs nothing: the frequency grows. If for a window of
rounds the ratio stays below the smallest that was accepted, it falls again.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from mindspore_federated.server.features import Arrays


class AdaptiveFrequency:
    """The number of local steps of the next round."""

    def __init__(self, frequency: int, *, min_consistent_rate: float = 1.1, min_consistent_rate_at_round: int = 0,
                 ema_alpha: float = 0.5, observation_window_size: int = 5, frequency_increase_ratio: int = 2,
                 unchanged_round: int = 0, **unknown: Any) -> None:
        if unknown:
            raise TypeError(f"FederatedLearningManager has no parameter '{sorted(unknown)[0]}'")
        _at_least("min_consistent_rate", min_consistent_rate, 0.0)
        _at_least("min_consistent_rate_at_round", min_consistent_rate_at_round, 0)
        _at_least("observation_window_size", observation_window_size, 1)
        _at_least("frequency_increase_ratio", frequency_increase_ratio, 1)
        _at_least("unchanged_round", unchanged_round, 0)
        if not 0.0 < ema_alpha < 1.0:
            raise ValueError(f"The 'ema_alpha' should be in (0, 1), but got {ema_alpha}.")
        self._first = self._frequency = frequency
        self._least, self._least_round = min_consistent_rate, min_consistent_rate_at_round
        self._alpha, self._window = ema_alpha, observation_window_size
        self._ratio, self._unchanged = frequency_increase_ratio, unchanged_round
        self._round = 0
        self._smooth: float | None = None

    def after_round(self, before: Arrays, local: Arrays, common: Arrays) -> int:
        """The frequency after a round that led from `before` over `local` to `common` weights."""
        own = sum(float(np.abs(local[name] - value).sum()) for name, value in before.items())
        shared = sum(float(np.abs(common[name] - value).sum()) for name, value in before.items())
        rate = shared / own if own else 1.0
        self._smooth = rate if self._smooth is None else self._alpha * self._smooth + (1 - self._alpha) * rate
        self._round += 1
        if self._round <= self._unchanged:
            return self._frequency
        if self._smooth < self._least:
            self._least, self._least_round = self._smooth, self._round
            self._frequency *= self._ratio
        elif self._round - self._least_round >= self._window:
            self._frequency = max(self._first, self._frequency // self._ratio)
            self._least_round = self._round
        return self._frequency


def _at_least(name: str, value: float, least: float) -> None:
    if value < least:
        raise ValueError(f"The '{name}' should be at least {least}, but got {value}.")
