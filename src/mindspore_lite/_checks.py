"""Checks of arguments, with the words that users of MindSpore Lite know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

UINT32_MAX, UINT64_MAX = 2**32 - 1, 2**64 - 1


def instance(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, but got {type(value)}.")


def one_of(name: str, value: Any, kind: type, allowed: Sequence[Any]) -> None:
    """A value of a type, out of a list of values."""
    instance(name, value, kind)
    if value not in allowed:
        listed = ", ".join(str(item) for item in allowed)
        raise ValueError(f"{name} must be in [{listed}], but got {value}.")


def elements(name: str, value: Any, kind: type, containers: tuple[type[Any], ...] = (list,), of: str = "") -> None:
    """A list (or another container) of values of a type."""
    if not isinstance(value, containers):
        names = " or ".join(c.__name__ for c in containers)
        raise TypeError(f"{name} must be {names}{of}, but got {type(value)}.")
    items: Sequence[Any] = value
    for place, item in enumerate(items):
        if not isinstance(item, kind):
            raise TypeError(f"{name} element must be {kind.__name__}, but got {type(item)} at index {place}.")


def not_negative(name: str, value: Any, prefix: str = "") -> None:
    instance(name, value, int)
    if value < 0:
        raise ValueError(f"{prefix}{name} must be a non-negative int.")


def within(name: str, value: Any, most: int) -> None:
    """An unsigned number of 32 or 64 bits."""
    instance(name, value, int)
    if not 0 <= value <= most:
        label = "UINT32_MAX" if most == UINT32_MAX else "UINT64_MAX"
        raise ValueError(f"{name} value should be in range [0, {label}], but got {value}")


def shapes(name: str, value: Any) -> None:
    """{name of an input: [sizes]}."""
    instance(name, value, dict)
    for key, sizes in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} key must be str, but got {type(key)}.")
        if not isinstance(sizes, list):
            raise TypeError(f"{name} value must be list, but got {type(sizes)} at key {key}.")
        for place, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(f"{name} value's element must be int, but got {type(size)} at index {place}.")


def section(name: str, value: Any) -> None:
    """{option: value}, all texts."""
    instance(name, value, dict)
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} key must be str, but got {type(key)} at key.")
        if not isinstance(item, str):
            raise TypeError(f"{name} val must be str, but got {type(item)} at key.")


def sections(name: str, value: Any) -> None:
    """{section: {option: value}}, all texts."""
    instance(name, value, dict)
    for key, options in value.items():
        instance(f"{name}_key", key, str)
        instance(f"{name}_value", options, dict)
        for option, item in options.items():
            instance(f"{name}_value_key", option, str)
            instance(f"{name}_value_value", item, str)
