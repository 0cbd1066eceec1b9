"""`DSCallback` and `WaitedDSCallback`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindspore.dataset._check import check_pos_int32
from mindspore.dataset.settings import settings


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

    Examples:
        >>> class Count(ds.DSCallback):
        ...     steps = 0
        ...
        ...     def ds_step_end(self, info):
        ...         self.steps += 1
        >>> count = Count()
        >>> data = ds.NumpySlicesDataset([1, 2, 3]).map(lambda x: x, callbacks=count)
        >>> rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
        >>> count.steps
        3
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

    _HOOKS: tuple[str, ...] = ("ds_begin", "ds_epoch_begin", "ds_epoch_end", "ds_step_begin", "ds_step_end")

    def check_overridden(self) -> None:
        """A callback that overrides nothing is a mistake."""
        if not any(self._overrides(name) for name in self._HOOKS):
            raise AttributeError(
                f"{type(self).__name__}: Inheriting Callback class without overriding any methods. "
                f"Override one of {', '.join(self._HOOKS)}."
            )

    def _overrides(self, name: str) -> bool:
        known = (vars(base).get(name) for base in (WaitedDSCallback, DSCallback))
        return getattr(type(self), name) not in known

    waits = False  # whether a hook may wait for what becomes of earlier rows

    def interrupt(self) -> None:
        """Called by the engine when the pipeline is closed, maybe while a hook runs in another thread."""

    def notify(self, event: str, epoch: int, step_in_epoch: int, step: int) -> None:
        """Called by the engine."""
        if event.startswith("step") and (step_in_epoch - 1) % self.step_size:
            return
        getattr(self, f"ds_{event}")(DSRunContext(epoch, step_in_epoch, step))


class WaitedDSCallback(DSCallback):
    """A callback that lets the pipeline wait for the training: put it both into a map and into `Model.train`.

    Override `sync_epoch_begin`, `sync_step_begin` or both; they see the state of both sides. From the second epoch or
    step on, the pipeline begins one only when the training has ended the one before.

    class Anneal(ds.WaitedDSCallback):
        def sync_epoch_begin(self, train_run_context, ds_run_context):
            print("loss of the last epoch:", train_run_context.original_args().net_outputs)
    """

    _HOOKS = ("sync_epoch_begin", "sync_step_begin")
    waits = True

    def __init__(self, step_size: int = 1):
        super().__init__(step_size)
        self.epoch_run_context: Any = None
        self.step_run_context: Any = None
        self._changed = threading.Condition()
        self._restart()

    def _restart(self) -> None:
        with self._changed:
            self._steps = self._epochs = 0  # ended by the training, not yet waited for
            self._all_epochs = 0
            self.training_ended = self._interrupted = False

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: DSRunContext) -> None:
        """Called before an epoch, when the training has ended the one before."""

    def sync_step_begin(self, train_run_context: Any, ds_run_context: DSRunContext) -> None:
        """Called before a step, when the training has ended the one before."""

    # the training's side
    def epoch_end(self, run_context: Any) -> None:
        """The training has ended an epoch."""
        with self._changed:
            self.epoch_run_context = run_context
            self._epochs += 1
            self._all_epochs += 1
            self._changed.notify_all()

    def step_end(self, run_context: Any) -> None:
        """The training has ended a step."""
        with self._changed:
            self.step_run_context = run_context
            self._steps += 1
            self._changed.notify_all()

    def end(self, run_context: Any) -> None:
        """The training is over: nothing waits for it any more."""
        with self._changed:
            self.epoch_run_context = self.step_run_context = run_context
            self.training_ended = True
            self._changed.notify_all()

    # the pipeline's side
    def notify(self, event: str, epoch: int, step_in_epoch: int, step: int) -> None:
        if event == "begin":
            self._restart()
        super().notify(event, epoch, step_in_epoch, step)

    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        if ds_run_context.cur_epoch_num > 1 and self._overrides("sync_epoch_begin"):
            self._wait("ds_epoch_begin", lambda: self._epochs > 0)
            self.sync_epoch_begin(self.epoch_run_context, ds_run_context)

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        if ds_run_context.cur_step_num > self.step_size and self._overrides("sync_step_begin"):
            first = ds_run_context.cur_step_num_in_epoch == 1
            done = ds_run_context.cur_epoch_num - 1
            # rows of a remainder that was dropped had no step: the end of the epoch settles them
            self._wait("ds_step_begin", lambda: self._steps > 0 or (first and self._all_epochs >= done))
            self.sync_step_begin(self.step_run_context, ds_run_context)

    def interrupt(self) -> None:
        with self._changed:
            self._interrupted = True
            self._changed.notify_all()

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        """Wait until the training is as far as `ready` says, and count one epoch or step as waited for."""
        seconds = settings().callback_timeout
        with self._changed:
            if not self._changed.wait_for(lambda: self.training_ended or self._interrupted or ready(), seconds):
                raise RuntimeError(
                    f"{name} timed out after {seconds} second(s). {type(self).__name__} waits for the training: put it "
                    "into the callbacks of Model.train too, make its step_size the batch size, or allow more time with "
                    "mindspore.dataset.config.set_callback_timeout."
                )
            if name == "ds_epoch_begin":
                self._epochs = max(self._epochs - 1, 0)
            else:
                self._steps = max(self._steps - 1, 0)
