"""`mindspore.ops.functional`, the older home of the functions, with their older names."""

# ruff: noqa: I001 - composite comes after ops.function, whose package `grad` shares a name with a function

from __future__ import annotations

from typing import Any

from mindspore.common.mutable_data import (
    is_dynamic_sequence_element_unknown as is_dynamic_sequence_element_unknown,
    is_sequence_shape_unknown as is_sequence_shape_unknown,
    is_sequence_value_unknown as is_sequence_value_unknown,
)
from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.legacy_names import *  # noqa: F403
from mindspore.ops.composite import *  # noqa: F403


def switch(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition, a bool or a bool tensor of one element, holds, else y."""
    if isinstance(condition, bool):
        return x if condition else y
    return where(condition.reshape(()), x, y)  # noqa: F405


def __getattr__(name: str) -> object:
    """Everything that `mindspore.ops` has can be reached here too."""
    import mindspore.ops as ops

    if name.startswith("__") or not hasattr(ops, name):
        raise AttributeError(f"module 'mindspore.ops.functional' has no attribute '{name}'")
    return getattr(ops, name)
