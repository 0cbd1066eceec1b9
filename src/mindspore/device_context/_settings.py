"""What the setters of this package share: checks, and a place for settings that no device here reads."""

from __future__ import annotations

from typing import Any

from mindspore.hal import device
from mindspore.runtime import context


def remember(name: str, value: Any) -> None:
    context.current().section("device_context", {})[name] = value


def remembered(name: str) -> Any:
    """What a setter was told; None if it was not called."""
    return context.current().section("device_context", {}).get(name)


def typed(name: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"The parameter '{name}' must be {kind}, but got {type(value)}")
    return value


def one_of(function: str, value: Any, allowed: tuple) -> Any:
    if value not in allowed:
        raise ValueError(f"For '{function}', the argument must be in {list(allowed)}, but got {value!r}.")
    return value


def count(target: str) -> int:
    """The number of devices; an error if there are none."""
    if not device.is_available(target):
        raise RuntimeError(f"Device {target} does not exist on this machine.")
    return device.device_count(target)
