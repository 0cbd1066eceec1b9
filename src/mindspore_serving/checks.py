"""Checks of arguments. Serving answers a wrong argument with RuntimeError, in these words."""

from __future__ import annotations

from typing import Any


def check_str(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise RuntimeError(f"Parameter '{name}' should be str, but actually {type(value)}")
    if not value:
        raise RuntimeError(f"Parameter '{name}' should not be empty str")


def check_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise RuntimeError(f"Parameter '{name}' should be bool, but actually {type(value)}")


def check_int(name: str, value: Any, minimum: int | None = None, maximum: int | None = None) -> None:
    _check_int(f"Parameter '{name}'", value, minimum, maximum)


def _check_int(what: str, value: Any, minimum: int | None, maximum: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise RuntimeError(f"{what} should be int, but actually {type(value)}")
    if (minimum is None or value >= minimum) and (maximum is None or value <= maximum):
        return
    if minimum is not None and maximum is not None:
        raise RuntimeError(f"{what} should be in range [{minimum},{maximum}]")
    raise RuntimeError(f"{what} should be {f'>= {minimum}' if maximum is None else f'<= {maximum}'}")


def check_ints(name: str, values: Any, minimum: int | None = None, *, single: bool = True) -> tuple[int, ...]:
    """A tuple of different ints; `single` allows one int alone."""
    if single and isinstance(values, int):
        values = (values,)
    if not isinstance(values, (tuple, list)):
        kind = "int or tuple/list of int" if single else "tuple/list of int"
        raise RuntimeError(f"Parameter '{name}' should be {kind}, but actually {type(values)}")
    for place, value in enumerate(values):
        _check_repeated(name, values, place)
        _check_int(f"The item value '{value}' in parameter '{name}'", value, minimum, None)
    return tuple(values)


def check_strs(name: str, values: Any) -> tuple[str, ...]:
    """A tuple of different texts; one text alone is allowed."""
    if isinstance(values, str):
        values = (values,)
    if not isinstance(values, (tuple, list)):
        raise RuntimeError(f"Parameter '{name}' should be str or tuple/list of str, but actually {type(values)}")
    for place, value in enumerate(values):
        if not isinstance(value, str):
            raise RuntimeError(f"The item of parameter '{name}' should be str, but actually {type(value)}")
        if not value:
            raise RuntimeError(f"The item of parameter '{name}' should not be empty str")
        _check_repeated(name, values, place)
    return tuple(values)


def _check_repeated(name: str, values: Any, place: int) -> None:
    if values[place] in values[:place]:
        raise RuntimeError(f"The item value '{values[place]}' in parameter '{name}' should not be repeated")


def check_key(key: Any, mode: Any) -> None:
    """The key and mode of encrypted models."""
    if key is not None:
        if not isinstance(key, bytes):
            raise RuntimeError(f"Parameter 'dec_key' should be bytes, but actually {type(key)}")
        if not key:
            raise RuntimeError("Parameter 'dec_key' should not be empty bytes")
        if len(key) not in (16, 24, 32):
            raise RuntimeError(f"Parameter 'dec_key' length {len(key)} expected to be 16, 24 or 32")
    check_str("dec_mode", mode)
    if mode not in ("AES-GCM", "AES-CBC"):
        raise RuntimeError("Parameter 'dec_mode' expected to be 'AES-GCM' or 'AES-CBC'")
