"""Errors of a running pipeline: one shape, naming the operation, the row and the file."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

from mindspore.dataset.ir.transform import operation_name

_RULE = "-" * 66
#: how a message begins that says by itself which operation, or part of one, it is about
_NAMES_AN_OPERATION = re.compile(r"[A-Z]\w*: |The op ")


class PipelineError(RuntimeError):
    """A failure inside the pipeline, already described for the user."""


def pipeline_error(message: str) -> PipelineError:
    return PipelineError(
        "Exception thrown from dataset pipeline. Refer to 'Dataset Pipeline Error Message'.\n\n"
        f"{_RULE}\n- Dataset Pipeline Error Message:\n{_RULE}\n{message}"
    )


def user_code_error(where: str, error: BaseException) -> PipelineError:
    """A failure of a function or an object the user wrote, with the part of the call stack that is theirs."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "mindspore/dataset/" not in frame.filename
    ]
    stack = "".join(traceback.format_list(frames))
    name = type(error).__name__
    return PipelineError(
        "Exception thrown from user defined Python function in dataset. \n\n"
        f"{_RULE}\n- Python Call Stack:\n{_RULE}\n{where} Error description:\n"
        f"{name}: Traceback (most recent call last):\n{stack}{name}: {error}\n\n"
        f"{_RULE}\n- Dataset Pipeline Error Message:\n{_RULE}\n"
        "Execute user Python code failed, check 'Python Call Stack' above."
    )


class RowFailure(Exception):
    """One operation failed on one row; `describe` makes the user's error of it once the row's file is known."""

    def __init__(self, operation: Callable, error: BaseException, key: int):
        super().__init__(str(error))
        self.operation, self.error, self.key = operation, error, key

    def describe(self, path: str | None) -> PipelineError:
        if isinstance(self.error, PipelineError):
            return self.error
        name = operation_name(self.operation)
        place = f"The corresponding data file is: {path}. " if path else ""
        where = f"map operation: [{name}] failed. {place}"
        if not type(self.operation).__module__.startswith("mindspore.dataset."):
            return user_code_error(f"{where}(row {self.key})", self.error)
        text = str(self.error) or type(self.error).__name__
        text = text if _NAMES_AN_OPERATION.match(text) else f"{name}: {text}"
        return pipeline_error(f"{where}{text} (row {self.key})")
