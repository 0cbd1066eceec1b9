"""Small helpers that user code imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def is_shape_unknown(shape: Sequence[int]) -> bool:
    """Whether a dimension, or the number of dimensions, is only known at run time."""
    return any(size in (-1, -2) for size in shape)


def is_dim_unknown(shape: Sequence[int]) -> bool:
    """Whether the number of dimensions is only known at run time."""
    return len(shape) == 1 and shape[0] == -2


def get_func(func: Any) -> Any:
    """The plain function behind a method."""
    return func.__func__ if hasattr(func, "__func__") else func
