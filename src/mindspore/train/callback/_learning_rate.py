"""Callbacks that change the learning rate while training runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._monitored import MonitoredCallback, check_count, check_number

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


def _rate(owner: str, params: Any) -> Parameter:
    rate = params.optimizer.learning_rate
    if not isinstance(rate, Parameter):
        raise ValueError(f"{owner} needs one constant learning rate; this optimizer has dynamic or grouped ones.")
    return rate


class ReduceLROnPlateau(MonitoredCallback):
    """Multiply the learning rate by `factor` when `monitor` has not got better for `patience` epochs.

    Args:
        cooldown: epochs to wait after a reduction before counting again.
        min_lr: the learning rate never falls below this.

    The other arguments are those of `EarlyStopping`.

    Examples:
        >>> train.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=3).factor
        0.5
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        check_number("ReduceLROnPlateau", "factor", factor)
        if not 0 < factor < 1:
            raise ValueError(f"For 'ReduceLROnPlateau', 'factor' must lie between 0 and 1, but got {factor}.")
        check_count("ReduceLROnPlateau", "cooldown", cooldown)
        check_number("ReduceLROnPlateau", "min_lr", min_lr)
        self.factor = factor
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        self.cooldown_counter = 0
        self.wait = 0
        self.best = self._worst()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        rate = _rate("ReduceLROnPlateau", params)
        current = self._monitored(params)
        if current is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(current, self.best):
            self.best = current
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(rate, params)

    def _reduce(self, rate: Parameter, params: Any) -> None:
        old = float(rate.asnumpy())
        if old > self.min_lr:
            new = max(old * self.factor, self.min_lr)
            rate.set_data(Tensor(new, rate.dtype))
            if self.verbose:
                print(f"Epoch {params.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0


class LearningRateScheduler(Callback):
    """Set the learning rate after every step to `learning_rate_function(current rate, step number)`.

    Examples:
        >>> halve = train.LearningRateScheduler(lambda rate, step: rate / 2)
        >>> halve.learning_rate_function(0.1, 1)
        0.05
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]):
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        rate = _rate("LearningRateScheduler", params)
        old = float(str(rate.asnumpy()))  # the shortest decimal of the float32, not its float64 expansion
        new = self.learning_rate_function(old, params.cur_step_num)
        if not math.isclose(old, new, rel_tol=1e-10):
            rate.set_data(Tensor(new, rate.dtype))
