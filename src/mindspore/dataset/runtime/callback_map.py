"""A map whose rows are announced to callbacks, one by one and in order."""

from __future__ import annotations

from collections.abc import Sequence

from mindspore.dataset.runtime.errors import PipelineError, RowFailure, user_code_error
from mindspore.dataset.runtime.operators import Operator
from mindspore.dataset.runtime.step import MapStep


class CallbackMap(Operator):
    def __init__(self, child: Operator, step: MapStep, columns: Sequence[str], callbacks: Sequence):
        super().__init__(child, columns=columns)
        self.step, self.callbacks = step, list(callbacks)
        self._begun = False
        self._steps = self._in_epoch = 0
        self._interrupted = False

    def waits(self):
        return any(callback.waits for callback in self.callbacks) or super().waits()

    def interrupt(self):
        self._interrupted = True
        for callback in self.callbacks:
            callback.interrupt()
        super().interrupt()

    def stream(self, epoch, start=0):
        if not self._begun:
            self._begun = True
            self._call("begin", 0, 0, 0)
        number, turn, last = self.place(epoch)
        if turn == 0:
            self._call("epoch_begin", number + 1, 0, self._steps)
            self._in_epoch = start
        for key, row in self.children[0].stream(epoch, start):
            self._in_epoch += 1
            self._steps += 1
            in_epoch, steps = self._in_epoch, self._steps
            self._call("step_begin", number + 1, in_epoch, steps)
            try:
                result = self.step.run_one(epoch, key, row)
            except RowFailure as failure:
                raise failure.describe(None) from failure.error
            self._call("step_end", number + 1, in_epoch, steps)
            yield key, result
        if last:
            self._call("epoch_end", number + 1, self._in_epoch, self._steps)

    def _call(self, event: str, epoch: int, in_epoch: int, steps: int) -> None:
        if self._interrupted:
            raise PipelineError("The pipeline was closed while its callbacks ran.")
        for callback in self.callbacks:
            try:
                callback.notify(event, epoch, in_epoch, steps)
            except Exception as error:
                raise user_code_error(f"callback {type(callback).__name__}.ds_{event} failed.", error) from error
