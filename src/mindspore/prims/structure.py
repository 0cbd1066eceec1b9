"""Structures of values: what tuples, lists, dicts, dataclasses and sparse tensors are made of, and how to make them anew.

Compiled functions take and return such structures; branches, loops and gradients walk them. A class takes part by the
methods `__ms_parts__()`, which gives the list of its parts, and `__ms_with_parts__(parts)`, which gives its like.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

_SIMPLE = (bool, int, float, complex, str, bytes, type(None), type)


def parts_of(value: Any) -> list[Any] | None:
    """The parts of a structure in order; None for anything else."""
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, _SIMPLE):
        return None
    method = getattr(type(value), "__ms_parts__", None)
    if method is not None:
        return method(value)
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return None


def with_parts(value: Any, parts: list[Any]) -> Any:
    """A structure like `value` of other parts."""
    if isinstance(value, (tuple, list)):
        if getattr(value, "__ms_dynamic__", False):
            return type(value)(parts)
        if isinstance(value, list):
            return parts
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if type(value) is dict:
        return dict(zip(value, parts))
    if isinstance(value, dict):
        return _with_items(value, parts)
    method = getattr(type(value), "__ms_with_parts__", None)
    if method is not None:
        return method(value, parts)
    twin = copy.copy(value)
    for field, part in zip(dataclasses.fields(value), parts):
        object.__setattr__(twin, field.name, part)
    return twin


def _with_items(value: dict, parts: list[Any]) -> dict:
    """A dictionary of a class of its own (ordered, with defaults, with its items as attributes) with other values."""
    twin = copy.copy(value)
    for key, part in zip(value, parts):
        twin[key] = part
    return twin


def same_kind(a: Any, b: Any) -> bool:
    """Whether two structures differ in their parts at most."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b)
    return getattr(a, "shape", None) == getattr(b, "shape", None)


def leaves(value: Any) -> list[Any]:
    """What a structure is made of in the end, in order; a value that is no structure is its own leaf."""
    parts = parts_of(value)
    return [value] if parts is None else [leaf for part in parts for leaf in leaves(part)]


def rebuilt(value: Any, new_leaves: Iterator[Any]) -> Any:
    """A structure like `value` of other leaves."""
    parts = parts_of(value)
    return next(new_leaves) if parts is None else with_parts(value, [rebuilt(part, new_leaves) for part in parts])


def leaves_in_places_of(like: Any, value: Any) -> list[Any]:
    """The leaves of `value` where `like` has its own; None or a number in the place of a structure stands for no leaves."""
    parts = parts_of(like)
    if parts is None:
        return [value]
    given = parts_of(value)
    if isinstance(like, dict) and isinstance(value, dict) and set(like) == set(value):
        given = [value[key] for key in like]
    if given is None and isinstance(value, _SIMPLE):
        given = [None] * len(parts)
    if given is None or len(given) != len(parts):
        got = f"{type(value).__name__}" if given is None else f"{type(value).__name__} of {len(given)}"
        raise TypeError(f"a {type(like).__name__} of {len(parts)} parts is needed, but got a {got}.")
    return [leaf for part, own in zip(parts, given) for leaf in leaves_in_places_of(part, own)]
