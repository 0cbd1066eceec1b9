"""Marking functions as out of date."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def deprecated(
    version: str, substitute: str, use_substitute_name: bool = False, module_prefix: str = ""
) -> Callable[[Callable], Callable]:
    """Decorator: calling the function says, once, since when it is out of date and what to use instead."""

    def decorate(function: Callable) -> Callable:
        said: list[bool] = []
        name = f"{module_prefix}{getattr(function, '__qualname__', function)}"

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not said:
                said.append(True)
                from mindspore import log

                log.warning(f"'{name}' is deprecated from version {version} and will be removed; use '{substitute}'.")
            result = function(*args, **kwargs)
            if use_substitute_name and hasattr(result, "name"):
                result.name = substitute
            return result

        return wrapper

    return decorate
