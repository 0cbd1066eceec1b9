"""EarlyStopping: ends training when a value stops getting better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.train.callback._monitored import MonitoredCallback, check_bool, check_number

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class EarlyStopping(MonitoredCallback):
    """Stop when `monitor` has not got better for `patience` epochs.

    Args:
        monitor: "loss", or the name of a metric of the evaluation that `Model.fit` runs.
        min_delta: how much better counts as better.
        patience: how many epochs to wait.
        verbose: print when stopping.
        mode: "min", "max", or "auto" to tell by the name.
        baseline: the value must also get better than this.
        restore_best_weights: go back to the weights of the best epoch.

    Examples:
        >>> train.EarlyStopping(monitor="loss", patience=2).patience
        2
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ):
        super().__init__(monitor, min_delta, patience, verbose, mode)
        if baseline is not None:
            check_number("EarlyStopping", "baseline", baseline)
        check_bool("EarlyStopping", "restore_best_weights", restore_best_weights)
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.stopped_epoch = 0
        self._best_weights: dict[str, np.ndarray] | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best = self._worst()
        self._best_weights = None

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        current = self._monitored(params)
        if current is None:
            return
        better = self.is_improvement(current, self.best)
        self.wait += 1
        if better:
            self.best = current
            if self.baseline is None or self.is_improvement(current, self.baseline):
                self.wait = 0
        if self.restore_best_weights and (better or self._best_weights is None):
            self._best_weights = {p.name: np.array(p.asnumpy()) for p in params.train_network.get_parameters()}
        if self.wait >= self.patience:
            self._stop(run_context, params)

    def _stop(self, run_context: RunContext, params: Any) -> None:
        self.stopped_epoch = params.get("cur_epoch_num", 1)
        run_context.request_stop()
        if self._best_weights is None:
            return
        if self.verbose:
            print("Restoring model weights from the end of the best epoch.")
        for parameter in params.train_network.get_parameters():
            parameter.set_data(Tensor.from_numpy(self._best_weights[parameter.name].copy()))

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")
