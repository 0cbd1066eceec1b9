"""Saying that parameters of a compiled function have shapes that change."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindspore.prims.values import TensorBase


def enable_dynamic(**kwargs: Any) -> Callable[[Callable], Callable]:
    """Decorator for a function decorated by `jit`: the named parameters take tensors of changing shapes.

    Compiled functions here accept any shape and compile once for each, so this checks the names and the examples.

    Examples:
        >>> import mindspore
        >>> from mindspore import Tensor, enable_dynamic, jit
        >>> @enable_dynamic(y=Tensor(shape=(None, 3), dtype=mindspore.float32))
        ... @jit
        ... def f(x, y):
        ...     return x + y
    """
    if not kwargs:
        raise ValueError("For 'enable_dynamic', at least one parameter must be named.")
    for name, example in kwargs.items():
        parts = example if isinstance(example, (tuple, list)) else (example,)
        if not all(isinstance(part, TensorBase) for part in parts):
            raise TypeError(
                f"For 'enable_dynamic', '{name}' must be a Tensor or a tuple or list of them, but got {example!r}."
            )

    def decorate(function: Callable) -> Callable:
        known = inspect.signature(function).parameters
        unknown = [name for name in kwargs if name not in known]
        if unknown:
            raise ValueError(f"For 'enable_dynamic', the function has no parameters {unknown}; it has {list(known)}.")
        return function

    return decorate
