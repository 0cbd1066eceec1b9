"""What cells import from official MindSpore's extensions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def cell_attr_register(fn: Callable | None = None, attrs: Any = None) -> Callable:
    """Decorate a cell's `__init__`: what it was made with is kept as text in `cell_init_args`.

    Args:
        attrs: names of the attributes to keep; all arguments by default.

    Examples:
        >>> from mindspore import nn
        >>> from mindspore._extends import cell_attr_register
        >>> class Net(nn.Cell):
        ...     @cell_attr_register
        ...     def __init__(self, width):
        ...         super().__init__()
        >>> "3" in Net(3).cell_init_args
        True
    """
    if attrs is not None and not isinstance(attrs, (str, list)):
        raise ValueError(f"For 'cell_attr_register', 'attrs' must be a string or a list of them, but got {attrs!r}.")

    def decorate(init: Callable) -> Callable:
        @functools.wraps(init)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            if attrs is None:
                kept: Any = list(inspect.signature(init).bind(self, *args, **kwargs).arguments.values())[1:]
            elif isinstance(attrs, str):
                kept = getattr(self, attrs, [])
            else:
                kept = [getattr(self, name) for name in attrs if hasattr(self, name)]
            self.cell_init_args = type(self).__name__ + str(kept)

        return run

    return decorate if fn is None else decorate(fn)


__all__ = ["cell_attr_register"]
