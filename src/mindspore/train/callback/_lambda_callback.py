"""LambdaCallback: a callback made of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.train.callback._callback import Callback, RunContext

Hook = Callable[[RunContext], Any] | None


class LambdaCallback(Callback):
    """Runs the given functions at the hooks of their names.

    Examples:
        >>> from mindspore.train import LambdaCallback
        >>> stop = LambdaCallback(on_train_epoch_end=lambda run_context: run_context.request_stop())
    """

    def __init__(
        self,
        on_train_epoch_begin: Hook = None,
        on_train_epoch_end: Hook = None,
        on_train_step_begin: Hook = None,
        on_train_step_end: Hook = None,
        on_train_begin: Hook = None,
        on_train_end: Hook = None,
        on_eval_epoch_begin: Hook = None,
        on_eval_epoch_end: Hook = None,
        on_eval_step_begin: Hook = None,
        on_eval_step_end: Hook = None,
        on_eval_begin: Hook = None,
        on_eval_end: Hook = None,
    ):
        super().__init__()
        for name, function in locals().copy().items():
            if name.startswith("on_"):
                setattr(self, name, function or (lambda run_context: None))
