"""`DSCallback` and `WaitedDSCallback`."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from mindspore.dataset._check import check_pos_int32
from mindspore.dataset.config import settings


@dataclass(frozen=True)
class DSRunContext:
    """Where the pipeline stands; numbers start at 1."""

    cur_epoch_num: int
    cur_step_num_in_epoch: int
    cur_step_num: int


class DSCallback:
    """Override the `ds_…` methods that are wanted and pass an object as `callbacks` of a map.

    class Progress(ds.DSCallback):
        def ds_step_end(self, ds_run_context):
            print(ds_run_context.cur_step_num)
    """

    def __init__(self, step_size: int = 1):
        check_pos_int32(step_size, "step_size")
        self.step_size = step_size

    def ds_begin(self, ds_run_context: DSRunContext) -> None:
        """Before the first row of all."""

    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        """Before the first row of an epoch."""

    def ds_epoch_end(self, ds_run_context: DSRunContext) -> None:
        """After the last row of an epoch."""

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        """Before every `step_size`-th row."""

    def ds_step_end(self, ds_run_context: DSRunContext) -> None:
        """After every `step_size`-th row."""

    def check_overridden(self) -> None:
        """A callback that overrides nothing is a mistake."""
        names = ("ds_begin", "ds_epoch_begin", "ds_epoch_end", "ds_step_begin", "ds_step_end")
        if all(getattr(type(self), name) is getattr(DSCallback, name) for name in names):
            raise AttributeError(
                f"{type(self).__name__}: Inheriting Callback class without overriding any methods. Override a ds_ method."
            )

    def notify(self, event: str, epoch: int, step_in_epoch: int, step: int) -> None:
        """Called by the engine."""
        if event.startswith("step") and (step_in_epoch - 1) % self.step_size:
            return
        getattr(self, f"ds_{event}")(DSRunContext(epoch, step_in_epoch, step))


class WaitedDSCallback(DSCallback):
    """A callback that lets the pipeline wait for the training: put it both into a map and into `Model.train`.

    `sync_epoch_begin` and `sync_step_begin` see the state of both sides.
    """

    def __init__(self, step_size: int = 1):
        super().__init__(step_size)
        self.epoch_run_context: Any = None
        self.step_run_context: Any = None
        self._epochs = threading.Semaphore(0)
        self._steps = threading.Semaphore(0)
        self._training_over = False

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: DSRunContext) -> None:
        """Called before an epoch, when the training has ended the one before."""

    def sync_step_begin(self, train_run_context: Any, ds_run_context: DSRunContext) -> None:
        """Called before a step, when the training has ended the one before."""

    # the training's side
    def epoch_end(self, run_context: Any) -> None:
        self.epoch_run_context = run_context
        self._epochs.release()

    def on_train_epoch_end(self, run_context: Any) -> None:
        self.epoch_end(run_context)

    def step_end(self, run_context: Any) -> None:
        self.step_run_context = run_context
        self._steps.release()

    def on_train_step_end(self, run_context: Any) -> None:
        self.step_end(run_context)

    def end(self, run_context: Any) -> None:
        self._training_over = True
        self._epochs.release()
        self._steps.release()

    def on_train_end(self, run_context: Any) -> None:
        self.end(run_context)

    # the pipeline's side
    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        if ds_run_context.cur_epoch_num > 1 and not self._training_over:
            self._wait(self._epochs, "epoch_end")
            self.sync_epoch_begin(self.epoch_run_context, ds_run_context)

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        if ds_run_context.cur_step_num > self.step_size and not self._training_over:
            self._wait(self._steps, "step_end")
            self.sync_step_begin(self.step_run_context, ds_run_context)

    def _wait(self, permits: threading.Semaphore, name: str) -> None:
        if not permits.acquire(timeout=settings().callback_timeout):
            raise RuntimeError(
                f"RuntimeError, {type(self).__name__}: the training has not called {name} within "
                f"{settings().callback_timeout} seconds. Put the callback into Model.train too, or raise the time with "
                "mindspore.dataset.config.set_callback_timeout."
            )
