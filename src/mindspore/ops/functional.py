"""`mindspore.ops.functional`, the older home of the functions, with their older names."""

# ruff: noqa: I001 - composite comes after ops.function, whose package `grad` shares a name with a function

from __future__ import annotations

from mindspore.ops.function import *  # noqa: F403
from mindspore.ops.legacy_names import *  # noqa: F403
from mindspore.ops.composite import *  # noqa: F403


def __getattr__(name: str) -> object:
    """Everything that `mindspore.ops` has can be reached here too."""
    import mindspore.ops as ops

    if name.startswith("__") or not hasattr(ops, name):
        raise AttributeError(f"module 'mindspore.ops.functional' has no attribute '{name}'")
    return getattr(ops, name)
