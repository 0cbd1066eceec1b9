"""LossMonitor: prints the loss, and stops a run whose loss is no number any more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mindspore.train.callback._callback import Callback, handle_loss

if TYPE_CHECKING:
    from mindspore.train.callback._callback import RunContext


class LossMonitor(Callback):
    """Print the loss every `per_print_times` steps (0: never); NaN or infinity ends training with a ValueError.

    Examples:
        >>> net = nn.Dense(1, 1, weight_init="zeros", bias_init="zeros")
        >>> x = np.ones((2, 1), "float32")
        >>> data = ds.NumpySlicesDataset((x, x), shuffle=False).batch(1)
        >>> model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> model.train(1, data, callbacks=train.LossMonitor(), dataset_sink_mode=False)
        epoch: 1 step: 1, loss is 1.0
        epoch: 1 step: 2, loss is 0.0
    """

    def __init__(self, per_print_times: int = 1):
        super().__init__()
        if not isinstance(per_print_times, int) or isinstance(per_print_times, bool) or per_print_times < 0:
            raise ValueError(f"For 'LossMonitor', 'per_print_times' must be an int >= 0, but got {per_print_times!r}.")
        self._per_print_times = per_print_times
        self._last_print_time = 0
        self._begins = False

    def on_train_begin(self, run_context: RunContext) -> None:
        self._begins = True

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """A run that was interrupted counts from the step at which it goes on."""
        if self._begins:
            self._last_print_time, self._begins = run_context.original_args().cur_step_num, False

    def step_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        epoch = params.get("cur_epoch_num", 1)
        step = (params.cur_step_num - 1) % params.batch_num + 1
        loss = handle_loss(params.net_outputs)
        if isinstance(loss, float) and not math.isfinite(loss):
            raise ValueError(
                f"In epoch: {epoch} step: {step}, loss is NAN or INF, training process cannot continue, "
                "terminating training."
            )
        if not self._per_print_times:
            return
        if params.cur_step_num <= self._last_print_time:  # a new run counts from the start again
            self._last_print_time = 0
        if params.cur_step_num - self._last_print_time >= self._per_print_times:
            self._last_print_time = params.cur_step_num
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        params = run_context.original_args()
        metrics = params.get("metrics")
        if metrics:
            print(f"Eval result: epoch {params.cur_epoch_num}, metrics: {metrics}")
