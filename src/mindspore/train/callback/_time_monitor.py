"""TimeMonitor: prints how long epochs and steps take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mindspore.train.callback._callback import Callback

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class TimeMonitor(Callback):
    """Print the time of each epoch and its steps.

    Args:
        data_size: steps per epoch, where the run does not know them.
        data_time: also print the time spent waiting for data.

    Examples:
        >>> train.TimeMonitor(data_size=10).data_size
        10
    """

    def __init__(self, data_size: int | None = None, data_time: bool = False):
        super().__init__()
        if not isinstance(data_time, bool):
            raise TypeError(f"For 'TimeMonitor', 'data_time' must be a bool, but got {type(data_time).__name__}.")
        self.data_size = data_size
        self.data_time = data_time
        self.epoch_time = time.time()
        self.data_time_sum = 0.0
        self.data_time_start = 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_time = self.data_time_start = time.time()
        self.data_time_sum = 0.0

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self.data_time_sum += time.time() - self.data_time_start
        super().on_train_step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        self.data_time_start = time.time()
        super().on_train_step_end(run_context)

    def epoch_end(self, run_context: RunContext) -> None:
        epoch_ms = (time.time() - self.epoch_time) * 1000
        params = run_context.original_args()
        batch_num = params.get("batch_num")
        steps = batch_num if isinstance(batch_num, int) and batch_num > 0 else self.data_size
        if not isinstance(steps, int) or isinstance(steps, bool) or steps <= 0:
            raise ValueError(f"For 'TimeMonitor', 'data_size' must be a positive int, but got {steps!r}.")
        mode = params.get("mode", "").title()
        line = f"{mode} epoch time: {epoch_ms:5.3f} ms, per step time: {epoch_ms / steps:5.3f} ms"
        if self.data_time:
            line += f" (data time: {self.data_time_sum * 1000 / steps:5.3f} ms)"
        print(line, flush=True)
