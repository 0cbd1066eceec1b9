"""Calls as older versions of MindSpore had them: told apart by the names of keyword arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def older_call(older: Callable, *names: str) -> Callable:
    """A decorator: a call with any of the older version's argument `names` goes to `older`."""
    signs = frozenset(names)

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def either(*args: Any, **kwargs: Any) -> Any:
            if kwargs and not signs.isdisjoint(kwargs):
                return older(*args, **kwargs)
            return function(*args, **kwargs)

        return either

    return decorate


def renamed(**names: str) -> Callable:
    """A decorator: arguments may be given by their older names (old="new")."""

    def decorate(function: Callable) -> Callable:
        def older(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **{names.get(name, name): value for name, value in kwargs.items()})

        return older_call(older, *names)(function)

    return decorate
