"""Branches and loops of loaded models. While a graph is built these two functions are interpreted like user code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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
