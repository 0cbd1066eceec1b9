"""Checks of arguments, with one wording for the whole package."""
from __future__ import annotations


def check_str(name: str, value: object) -> str:
    """`value` if it is a string that is not empty."""
    if not isinstance(value, str):
        raise RuntimeError(f"Parameter '{name}' should be str, but actually {type(value)}")
    if not value:
        raise RuntimeError(f"Parameter '{name}' should not be empty str")
    return value


def check_int(name: str, value: object) -> int:
    """`value` if it is an integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise RuntimeError(f"Parameter '{name}' should be int, but actually {type(value)}")
    return value


def check_float(name: str, value: object) -> float:
    """`value` if it is a float."""
    if not isinstance(value, float):
        raise RuntimeError(f"Parameter '{name}' should be float, but actually {type(value)}")
    return value


def check_list(name: str, value: object) -> list[object]:
    """`value` if it is a list that is not empty."""
    if not isinstance(value, list):
        raise RuntimeError(f"Parameter '{name}' should be list, but actually {type(value)}")
    if not value:
        raise RuntimeError(f"Parameter '{name}' should not be empty list")
    return value
