"""What callbacks are made of: the hooks, the run context, and the manager that calls them in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.common.tensor import Tensor

_POINTS = ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end")
HOOKS = (*_POINTS, *(f"on_{phase}_{point}" for phase in ("train", "eval") for point in _POINTS))


class Callback:
    """Base of callbacks: override the hooks you need.

    `on_train_*` and `on_eval_*` run in training and evaluation; by default both call the hook without the prefix.
    Used as a context manager around the run, so `__exit__` sees exceptions.

    Examples:
        >>> from mindspore.train import Callback
        >>> class Print(Callback):
        ...     def on_train_epoch_end(self, run_context):
        ...         print(run_context.original_args().cur_epoch_num)
    """

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *err: Any) -> Any:
        return None

    def begin(self, run_context: RunContext) -> None:
        """Before the first step."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before each epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before each step."""

    def step_end(self, run_context: RunContext) -> None:
        """After each step."""

    def end(self, run_context: RunContext) -> None:
        """After the last step."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before each training epoch."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After each training epoch."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before each training step."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After each training step."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the evaluation epoch."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the evaluation epoch."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before each evaluation step."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After each evaluation step."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After evaluation."""
        self.end(run_context)


class DatasetGate(Callback):
    """Tells a data pipeline that waits for the training (`dataset.WaitedDSCallback`) how far the training is."""

    def __init__(self, waited: Any):
        self._waited = waited

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._waited.step_end(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self._waited.epoch_end(run_context)

    def __exit__(self, *err: Any) -> None:
        self._waited.end(None)  # also when the training failed: the pipeline must not wait for it


class CallbackManager(Callback):
    """Several callbacks as one; leaving its `with` block leaves all of theirs."""

    def __init__(self, callbacks: Any):
        given = callbacks if isinstance(callbacks, list) else [] if callbacks is None else [callbacks]
        given = [DatasetGate(callback) if hasattr(callback, "sync_step_begin") else callback for callback in given]
        for callback in given:
            if not isinstance(callback, Callback):
                raise TypeError(f"'callbacks' must be a Callback or a list of Callbacks, but got {type(callback)}.")
        self._callbacks: list[Callback] = list(given)
        self._stack: contextlib.ExitStack | None = None

    def __enter__(self) -> CallbackManager:
        if self._stack is None:
            self._stack = contextlib.ExitStack()
            entered = [(c, self._stack.enter_context(c)) for c in self._callbacks]
            self._callbacks = [inner if isinstance(inner, Callback) else outer for outer, inner in entered]
        return self

    def __exit__(self, *err: Any) -> Any:
        stack, self._stack = self._stack, None
        return stack.__exit__(*err) if stack is not None else None


def _forward(hook: str) -> Callable[[CallbackManager, Any], None]:
    def call(self: CallbackManager, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, hook)(run_context)

    call.__name__ = hook
    return call


for _hook in HOOKS:
    setattr(CallbackManager, _hook, _forward(_hook))


class InternalCallbackParam(dict):
    """What callbacks see of a run: a dict whose keys are attributes, too."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"the run has no parameter '{key}'") from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value


class RunContext:
    """Gives callbacks the run's parameters and lets them ask it to stop.

    Examples:
        >>> context = train.RunContext({"cur_step_num": 3})
        >>> context.request_stop()
        >>> context.get_stop_requested()
        True
    """

    def __init__(self, original_args: dict):
        if not isinstance(original_args, dict):
            raise TypeError(f"'original_args' of RunContext must be a dict, but got {type(original_args)}.")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """The parameters of the run: networks, optimizer, epoch and step numbers, outputs …"""
        return self._original_args

    def request_stop(self) -> None:
        """Ask the run to stop after this step or epoch."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether a callback asked to stop."""
        return self._stop_requested


def handle_loss(outputs: Any) -> Any:
    """The loss among a network's outputs as a float: the first of several, the mean of a vector."""
    if isinstance(outputs, (tuple, list)) and outputs and isinstance(outputs[0], Tensor):
        outputs = outputs[0]
    return float(np.mean(outputs.asnumpy())) if isinstance(outputs, Tensor) else outputs


_handle_loss = handle_loss
