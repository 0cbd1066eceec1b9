"""Checks of constructor arguments: those of layers, and those of learning rates, schedules and optimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


def positive_int(owner: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', the '{name}' must be int, but got '{type(value).__name__}'")
    if value <= 0:
        raise ValueError(f"For '{owner}', the '{name}' must be int and must > 0, but got '{value}' with type 'int'.")
    return value


def height(owner: str, name: str, value: Any, least: int = 0) -> int:
    """The number of layers in a stack. Too many are refused at once, and not when hours of making them have used up the memory."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', the '{name}' must be int, but got '{type(value).__name__}'")
    if not least <= value <= 1 << 16:
        raise ValueError(f"For '{owner}', the '{name}' must be between {least} and {1 << 16}, but got {value}.")
    return value


def number(owner: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"For '{owner}', the '{name}' must be a number, but got '{type(value).__name__}'")
    return value


def non_negative(owner: str, name: str, value: Any) -> float:
    if not number(owner, name, value) >= 0:  # nor NaN
        raise ValueError(f"For '{owner}', the '{name}' must be float and must >= 0, but got '{value}'.")
    return value


def positive(owner: str, name: str, value: Any) -> float:
    if not number(owner, name, value) > 0:
        raise ValueError(f"For '{owner}', the '{name}' must be float and must > 0, but got '{value}'.")
    return value


def fraction(owner: str, name: str, value: Any, low: bool = True, high: bool = True) -> float:
    """A number in [0, 1]; `low` and `high` say whether the ends are allowed."""
    number(owner, name, value)
    if not (value >= 0 if low else value > 0) or not (value <= 1 if high else value < 1):
        bounds = f"{'[' if low else '('}0, 1{']' if high else ')'}"
        raise ValueError(f"For '{owner}', the '{name}' must be a number in range {bounds}, but got {value}.")
    return value


def boolean(owner: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', the '{name}' must be bool, but got '{type(value).__name__}'")
    return value


def rank(owner: str, x: Tensor, *allowed: int) -> None:
    """The number of dimensions of an input."""
    if len(x.shape) not in allowed:
        words = " or ".join(map(str, allowed))
        raise ValueError(f"For '{owner}', the in_shape must have {words} dims, but got {len(x.shape)}.")


# -- rates -----------------------------------------------------------------------------------------------------------------
# Rates and coefficients are floats and must be given as floats: an int in their place is nearly always a mistake
# (a step count where a rate belongs), so it is refused instead of converted.
def real(owner: str, name: str, value: Any) -> float:
    """A Python float that is a number."""
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', the type of '{name}' must be float, but got {type(value).__name__}.")
    if value != value:
        raise ValueError(f"For '{owner}', '{name}' must be a number, but got {value}.")
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
