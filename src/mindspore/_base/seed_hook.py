"""The seam between the framework's seed and the packages beside it that have one of their own (dataset)."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[int], None]] = []


def on_seed(listener: Callable[[int], None]) -> None:
    """Have a function called with every seed that is set from now on."""
    _listeners.append(listener)


def tell(seed: int) -> None:
    """Say that a seed was set."""
    for listener in _listeners:
        listener(seed)
