"""Checks of the numbers that learning rates, schedules and optimizers are made of.

Rates and coefficients are floats and must be given as floats: an int in their place is nearly always a mistake
(a step count where a rate belongs), so it is refused instead of converted.
"""

from __future__ import annotations

from typing import Any


def real(owner: str, name: str, value: Any) -> float:
    """A Python float."""
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', the type of '{name}' must be float, but got {type(value).__name__}.")
    return value


def positive_real(owner: str, name: str, value: Any) -> float:
    if real(owner, name, value) <= 0:
        raise ValueError(f"For '{owner}', '{name}' must be greater than 0, but got {value}.")
    return value


def non_negative_real(owner: str, name: str, value: Any) -> float:
    if real(owner, name, value) < 0:
        raise ValueError(f"For '{owner}', '{name}' must be at least 0, but got {value}.")
    return value


def open_fraction(owner: str, name: str, value: Any) -> float:
    """A float strictly between 0 and 1."""
    if not 0 < real(owner, name, value) < 1:
        raise ValueError(f"For '{owner}', '{name}' must be in (0.0, 1.0), but got {value}.")
    return value


def closed_fraction(owner: str, name: str, value: Any) -> float:
    """A float from 0 to 1, the ends included."""
    if not 0 <= real(owner, name, value) <= 1:
        raise ValueError(f"For '{owner}', '{name}' must be in [0.0, 1.0], but got {value}.")
    return value


def count(owner: str, name: str, value: Any) -> int:
    """A positive int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', the type of '{name}' must be int, but got {type(value).__name__}.")
    if value <= 0:
        raise ValueError(f"For '{owner}', '{name}' must be greater than 0, but got {value}.")
    return value


def flag(owner: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', the type of '{name}' must be bool, but got {type(value).__name__}.")
    return value


def increasing(owner: str, low_name: str, low: float, high_name: str, high: float) -> None:
    """low < high."""
    if low >= high:
        raise ValueError(
            f"For '{owner}', '{high_name}' must be greater than '{low_name}', but got {high_name}={high} and "
            f"{low_name}={low}."
        )
