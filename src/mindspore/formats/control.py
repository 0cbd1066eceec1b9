"""Branches and loops of loaded models. While a graph is built `choose` and `repeat` are interpreted like user code."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from mindspore.compiler import parse
from mindspore.prims.active import ACTIVE

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py


def choose(predicate: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """One of two results."""
    if predicate:
        result = then()
    else:
        result = otherwise()
    return result


def repeat(test: Callable[..., Any], body: Callable[..., tuple], state: tuple) -> tuple:
    """Apply `body` to the state while `test` holds."""
    while test(*state):
        state = body(*state)
    return state


class _Native:
    """A function that is run, rather than interpreted, while a graph is built."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        return self.function(*args, **kwargs)


def interpreted(function: Callable, *arguments: Any) -> Any:
    """Call a function so that its `if` and `while` on tensors become parts of the graph being built."""
    if ACTIVE.builder is None:
        return function(*arguments)
    return parse.call(function, tuple(_Native(a) if isinstance(a, types.FunctionType) else a for a in arguments))
