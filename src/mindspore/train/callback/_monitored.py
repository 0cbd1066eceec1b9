"""What EarlyStopping and ReduceLROnPlateau share: a monitored value, and whether it got better."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import log as logger
from mindspore.train.callback._callback import Callback, handle_loss

_SMALLER_IS_BETTER = frozenset((
    "hausdorff_distance", "mae", "mse", "loss", "perplexity", "mean_surface_distance", "root_mean_square_distance",
    "eval_loss",
))  # fmt: skip


class MonitoredCallback(Callback):
    """Watches the loss ("loss") or a result of the evaluation."""

    def __init__(self, monitor: str, min_delta: float, patience: int, verbose: bool, mode: str):
        super().__init__()
        name = type(self).__name__
        for label, value in (("monitor", monitor), ("mode", mode)):
            if not isinstance(value, str):
                raise TypeError(f"For '{name}', '{label}' must be a string, but got {type(value).__name__}.")
        check_number(name, "min_delta", min_delta)
        check_count(name, "patience", patience)
        check_bool(name, "verbose", verbose)
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"For '{name}', 'mode' must be 'auto', 'min' or 'max', but got {mode!r}.")
        self.monitor = monitor
        self.min_delta = abs(min_delta)
        self.patience = patience
        self.verbose = verbose
        self.mode = mode
        self.wait = 0
        self._falling = mode == "min" or (mode == "auto" and monitor in _SMALLER_IS_BETTER)
        self.best = self._worst()

    def _worst(self) -> float:
        return np.inf if self._falling else -np.inf

    def is_improvement(self, value: Any, reference: Any) -> bool:
        """Whether `value` is better by more than `min_delta`."""
        better = value < reference - self.min_delta if self._falling else value > reference + self.min_delta
        return bool(better)

    def _monitored(self, params: Any) -> float | None:
        """The current value, or None with a warning when the run does not have it."""
        results = params.get("eval_results") or {}
        value = handle_loss(params.get("net_outputs")) if self.monitor == "loss" else results.get(self.monitor)
        if value is None:
            known = sorted({"loss", *results})
            logger.warning(
                "%s watches '%s', which is not there; there are %s.", type(self).__name__, self.monitor, known
            )
            return None
        array = np.asarray(value)
        if array.shape != ():
            raise ValueError(f"For '{type(self).__name__}', the monitored '{self.monitor}' must be one number.")
        return float(array)


def check_number(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{name}' must be a number, but got {type(value).__name__}.")


def check_count(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{name}' must be an int, but got {type(value).__name__}.")
    if value < 0:
        raise ValueError(f"For '{owner}', '{name}' must not be negative, but got {value}.")


def check_bool(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{name}' must be a bool, but got {type(value).__name__}.")
