"""Dry runs: going through a program without the devices it was written for."""

from __future__ import annotations

import os
from typing import Any

from mindspore._base import flags


def set_simulation() -> None:
    """Make this process a dry run: collectives imagine the other processes (see `RANK_SIZE` and `RANK_ID`)."""
    os.environ["MS_SIMULATION_LEVEL"] = "1"


def mock(mock_val: Any, *args: Any) -> Any:
    """In a dry run `mock_val`; otherwise the value given, or what the function given (with its arguments) returns.

    >>> if mock(True, (x > 0.5).any):
    ...     pass
    """
    if flags.text("MS_SIMULATION_LEVEL"):
        return mock_val
    if not args:
        raise TypeError("For 'mock', a value or a function must be given besides 'mock_val'.")
    value, *rest = args
    return value(*rest) if callable(value) else value
