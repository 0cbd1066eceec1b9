"""Hooks of the debug mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.dataset.ir.transform import operation_name


class DebugHook(ABC):
    """See the columns of a map before its first operation, between operations and after the last.

    With `prev_op_name` only those after that operation.
    """

    def __init__(self, prev_op_name: str | None = None):
        self.prev_op_name = prev_op_name
        self.is_first = True

    @abstractmethod
    def compute(self, *args: Any) -> Any:
        """Look at, or change, the columns; return them."""

    def step(self, columns: tuple, previous: Callable | None, following: Callable | None) -> tuple:
        """Called by the engine between two operations."""
        if self.prev_op_name is not None and (previous is None or operation_name(previous) != self.prev_op_name):
            return columns
        seen = self.compute(*columns)
        if seen is None:
            return columns
        return seen if isinstance(seen, tuple) else (seen,)


class PrintDataHook(DebugHook):
    """Print the data."""

    def compute(self, *args):
        for i, value in enumerate(args):
            print(f"[Dataset debugger] column {i}: {value}")
        return args


class PrintMetaDataHook(DebugHook):
    """Print types and shapes."""

    def compute(self, *args):
        for i, value in enumerate(args):
            array = np.asarray(value)
            print(f"[Dataset debugger] column {i}: type {array.dtype}, shape {array.shape}")
        return args
