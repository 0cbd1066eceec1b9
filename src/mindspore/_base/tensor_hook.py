"""The seam between packages that yield NumPy (dataset, mindrecord) and the Tensor class above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_factory: list[Callable[[Any], Any]] = []


def set_tensor_factory(factory: Callable[[Any], Any] | None) -> None:
    """Register the function that makes a Tensor of a NumPy array; None takes it away."""
    _factory[:] = [] if factory is None else [factory]


def wrap(value: Any) -> Any:
    """A Tensor of `value`, or of each value inside a dict; the value itself while nothing is registered."""
    if isinstance(value, dict):
        return {key: wrap(item) for key, item in value.items()}
    return _factory[0](value) if _factory else value
