"""Checks of constructor arguments, declared beside the signature.

A check is a function `(value, name)` that returns nothing when the value is allowed and raises TypeError or ValueError,
naming the argument and what is allowed, when it is not. `checked(size=crop_size, prob=probability)` runs the checks of
a method's arguments before the method itself; it keeps the signature.
"""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any

Check = Callable[[Any, str], None]

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)
INT64_MAX = 2**63 - 1
UINT8_MAX = 255
UINT32_MAX = 2**32 - 1
FLOAT_MAX_INTEGER = 2**24  # the largest range in which float32 holds every integer
DOUBLE_MAX_INTEGER = 2**53


def checked(also: Callable[[dict], None] | None = None, **rules: Check) -> Callable:
    """Decorate a method: each named argument passes its check, then `also` sees all arguments together."""

    def decorate(method: Callable) -> Callable:
        signature = inspect.signature(method)
        unknown = set(rules) - set(signature.parameters)
        assert not unknown, f"checks for arguments that {method.__qualname__} does not have: {unknown}"

        @functools.wraps(method)
        def checked_method(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, rule in rules.items():
                rule(bound.arguments[name], name)
            if also is not None:
                also(bound.arguments)
            return method(*args, **kwargs)

        return checked_method

    return decorate


# ---------------------------------------------------------------------------------------------------------------------
# Types


def check_type(value: Any, types: tuple[type, ...], name: str) -> None:
    """TypeError unless `value` is an instance; a bool does not pass for an int."""
    surprising_bool = isinstance(value, bool) and int in types and bool not in types
    if surprising_bool or not isinstance(value, types):
        shown = '""' if isinstance(value, str) and not value else value
        allowed = types if surprising_bool else list(types)
        raise TypeError(f"Argument {name} with value {shown} is not of type {allowed}, but got {type(value)}.")


def of_type(*types: type) -> Check:
    return lambda value, name: check_type(value, types, name)


boolean = of_type(bool)
text = of_type(str)


def optional(check: Check) -> Check:
    """None is allowed too."""

    def run(value: Any, name: str) -> None:
        if value is not None:
            check(value, name)

    return run


def each(*types: type, length: int | None = None, item: Check | None = None) -> Check:
    """A list or tuple whose items are of the given types (and of the given length)."""

    def run(values: Any, name: str) -> None:
        check_type(values, (list, tuple), name)
        if length is not None and len(values) != length:
            raise TypeError(f"{name} should be a list/tuple of length {length}.")
        for i, value in enumerate(values):
            check_type(value, types, f"{name}[{i}]")
            if item is not None:
                item(value, f"{name}[{i}]")

    return run


# ---------------------------------------------------------------------------------------------------------------------
# Ranges


def check_range(
    value: Any, low: Any, high: Any, name: str = "", left_open: bool = False, right_open: bool = False
) -> None:
    """ValueError unless `value` lies in the interval."""
    above = value > low if left_open else value >= low
    below = value < high if right_open else value <= high
    if not (above and below):
        interval = f"{'(' if left_open else '['}{low}, {high}{')' if right_open else ']'}"
        raise ValueError(f"Input {name + ' ' if name else ''}is not within the required interval of {interval}.")


def check_positive(value: Any, name: str = "") -> None:
    if value <= 0:
        raise ValueError(f"Input {name + ' ' if name else ''}must be greater than 0.")


def check_min_max(values: Any, low: float, high: float) -> None:
    """A (min, max) pair inside an interval."""
    if not low <= values[0] <= values[1] <= high:
        raise ValueError(f"Input is not within the required interval of [{low}, {high}].")


def integer(low: int, high: int, label: str | None = None) -> Check:
    """An int in [low, high]; `label` replaces the argument's name in the message about the range."""

    def run(value: Any, name: str) -> None:
        check_type(value, (int,), name)
        check_range(value, low, high, name if label is None else label)

    return run


def real(
    low: float, high: float, *, left_open: bool = False, right_open: bool = False, label: str | None = None
) -> Check:
    """A float or int in the interval."""

    def run(value: Any, name: str) -> None:
        check_type(value, (float, int), name)
        check_range(value, low, high, name if label is None else label, left_open, right_open)

    return run


int32 = integer(INT32_MIN, INT32_MAX)
positive_int32 = integer(1, INT32_MAX)
non_negative_int32 = integer(0, INT32_MAX)
uint8 = integer(0, UINT8_MAX)
float32 = real(-FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER)
positive_float32 = real(0, FLOAT_MAX_INTEGER, left_open=True)
non_negative_float32 = real(0, FLOAT_MAX_INTEGER)
probability = real(0.0, 1.0)


def number(check: Check) -> Check:
    """A number that passes the check; its type is checked first, as (int, float)."""

    def run(value: Any, name: str) -> None:
        check_type(value, (int, float), name)
        check(value, name)

    return run


def positive_number(value: Any, name: str) -> None:
    check_type(value, (float, int), name)
    check_positive(value, name)


def choice(allowed: list[str]) -> Check:
    def run(value: Any, name: str) -> None:
        check_type(value, (str,), name)
        if value not in allowed:
            raise ValueError(f"Input {name} is not within the valid set of {allowed}.")

    return run


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number)


# ---------------------------------------------------------------------------------------------------------------------
# Transforms as arguments


def check_operation(op: Any, name: str) -> None:
    """Something that can be applied to columns: a transform or any callable, but not a class."""
    if isinstance(op, type):
        raise ValueError(
            f"{name} should be a dataset processing operation instance, but got: {op}. "
            "It may be missing parentheses for instantiation."
        )
    if not callable(op):
        raise TypeError(f"{name} is neither a transforms op (TensorOperation) nor a callable pyfunc.")


def operations(value: Any, name: str) -> None:
    """A non-empty list of transforms or callables."""
    check_type(value, (list,), "transforms list")
    if not value:
        raise ValueError("transforms list can not be empty.")
    for i, op in enumerate(value):
        check_operation(op, f"op_list[{i}]" if isinstance(op, type) else f"{name}[{i}]")
