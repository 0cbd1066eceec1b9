"""Checks of numbers, text and Python types, with the words official MindSpore uses.

Framework and user code call these at the head of constructors: `check_positive_int(n, "n", "MyCell")` returns its first
argument or raises.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

EQ, NE, LT, LE, GT, GE = 1, 2, 3, 4, 5, 6
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = 7, 8, 9, 10
IN, NOT_IN = 11, 12

_RELATIONS: dict[int, tuple[str, Callable[[Any, Any], bool]]] = {
    EQ: ("=", lambda a, b: a == b),
    NE: ("!=", lambda a, b: a != b),
    LT: ("<", lambda a, b: a < b),
    LE: ("<=", lambda a, b: a <= b),
    GT: (">", lambda a, b: a > b),
    GE: (">=", lambda a, b: a >= b),
    IN: ("in", lambda a, b: a in b),
    NOT_IN: ("not in", lambda a, b: a not in b),
}
_RANGES: dict[int, tuple[str, Callable[[Any, Any, Any], bool]]] = {
    INC_NEITHER: ("({}, {})", lambda v, low, high: not (v <= low or v >= high)),
    INC_LEFT: ("[{}, {})", lambda v, low, high: not (v < low or v >= high)),
    INC_RIGHT: ("({}, {}]", lambda v, low, high: not (v <= low or v > high)),
    INC_BOTH: ("[{}, {}]", lambda v, low, high: not (v < low or v > high)),
}


def _subject(arg_name: str | None, prim_name: str | None) -> str:
    """The start of a message: "For 'Op', the 'arg'"."""
    what = f"the '{arg_name}'" if arg_name else "the input value"
    return f"For '{prim_name}', {what}" if prim_name else what[0].upper() + what[1:]


# -- numbers ----------------------------------------------------------------------------------------------------------
def _check_number(
    arg_value: Any,
    value: Any,
    rel: int,
    arg_type: type = int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """A number of exactly this type that stands in a relation to `value`."""
    subject = _subject(arg_name, prim_name)
    symbol, holds = _RELATIONS[rel]
    kind = arg_type.__name__
    given = type(arg_value).__name__
    wanted = f"{subject} must be {kind} and must {symbol} {value}, but got '{arg_value}' with type '{given}'."
    if isinstance(arg_value, bool):
        raise TypeError(wanted)
    if not isinstance(arg_value, arg_type):
        raise TypeError(f"{subject} must be {kind}, but got '{given}'")
    if isinstance(arg_value, float) and not math.isfinite(arg_value):
        raise ValueError(f"{subject} must be a legal value, but got '{arg_value}'.")
    if not holds(arg_value, value):
        raise ValueError(wanted)
    return arg_value


def check_int(arg_value: Any, value: int, rel: int, arg_name: str | None = None, prim_name: str | None = None) -> int:
    """An int in relation `rel` to `value`: `check_int(n, 3, GE, "n", "Op")`."""
    return _check_number(arg_value, value, rel, int, arg_name, prim_name)


def check_float(
    arg_value: Any, value: float, rel: int, arg_name: str | None = None, prim_name: str | None = None
) -> float:
    return _check_number(arg_value, value, rel, float, arg_name, prim_name)


def check_equal_int(arg_value: Any, value: int, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def _against_zero(arg_type: type, rel: int, name: str) -> Callable[..., Any]:
    def checker(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        return _check_number(arg_value, 0, rel, arg_type, arg_name, prim_name)

    checker.__name__ = checker.__qualname__ = name
    checker.__doc__ = f"A number of type {arg_type.__name__} that is {_RELATIONS[rel][0]} 0."
    return checker


check_positive_int = _against_zero(int, GT, "check_positive_int")
check_negative_int = _against_zero(int, LT, "check_negative_int")
check_non_positive_int = _against_zero(int, LE, "check_non_positive_int")
check_non_negative_int = _against_zero(int, GE, "check_non_negative_int")
check_positive_float = _against_zero(float, GT, "check_positive_float")
check_negative_float = _against_zero(float, LT, "check_negative_float")
check_non_positive_float = _against_zero(float, LE, "check_non_positive_float")
check_non_negative_float = _against_zero(float, GE, "check_non_negative_float")


def _check_sequence(check_one: Callable, sequence: Any, arg_name: str | None, prim_name: str | None) -> Any:
    if not isinstance(sequence, (list, tuple)):
        raise TypeError(
            f"{_subject(arg_name, prim_name)} must be a list or tuple, but got '{type(sequence).__name__}'."
        )
    for index, element in enumerate(sequence):
        check_one(element, f"{arg_name or 'value'}[{index}]", prim_name)
    return sequence


def check_positive_int_sequence(sequence: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    return _check_sequence(check_positive_int, sequence, arg_name, prim_name)


def check_non_negative_int_sequence(sequence: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    return _check_sequence(check_non_negative_int, sequence, arg_name, prim_name)


def check_positive_float_sequence(sequence: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    return _check_sequence(check_positive_float, sequence, arg_name, prim_name)


def check_number(arg_name: str, arg_value: Any, value: Any, rel: int, prim_name: str) -> Any:
    """Any value in relation `rel` to `value`."""
    symbol, holds = _RELATIONS[rel]
    if not holds(arg_value, value):
        raise ValueError(f"For '{prim_name}', the argument '{arg_name}' must {symbol} {value}, but got {arg_value}.")
    return arg_value


def check_is_number(arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """A number of exactly this type, and finite."""
    start = f"For '{prim_name}', the " if prim_name else "The "
    what = f"'{arg_name}'" if arg_name else "input value"
    if not isinstance(arg_value, arg_type) or isinstance(arg_value, bool):
        wanted, given = arg_type.__name__, type(arg_value).__name__
        raise TypeError(f"{start}type of {what} must be '{wanted}', but got '{given}'.")
    if isinstance(arg_value, float) and not math.isfinite(arg_value):
        raise ValueError(f"{start}{what} must be a legal float, but got '{arg_value}'.")
    return arg_value


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> int:
    return check_is_number(arg_value, int, arg_name, prim_name)


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> float:
    return check_is_number(arg_value, float, arg_name, prim_name)


def check_number_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    value_type: type,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> Any:
    """A number of exactly this type between two limits; `rel` says which of them belong to the range."""
    subject = _subject(arg_name, prim_name)
    given = type(arg_value).__name__
    if not isinstance(arg_value, value_type) or isinstance(arg_value, bool):
        raise TypeError(f"{subject} must be '{value_type.__name__}',  but got '{given}'.")
    words, holds = _RANGES[rel]
    if not holds(arg_value, lower_limit, upper_limit):
        limits = words.format(lower_limit, upper_limit)
        raise ValueError(f"{subject} must be in range of {limits}, but got {arg_value} with type '{given}'.")
    return arg_value


def check_int_range(
    arg_value: Any,
    lower_limit: int,
    upper_limit: int,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> int:
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(
    arg_value: Any,
    lower_limit: float,
    upper_limit: float,
    rel: int,
    arg_name: str | None = None,
    prim_name: str | None = None,
) -> float:
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check(
    arg_name: str,
    arg_value: Any,
    value_name: str,
    value: Any,
    rel: int = EQ,
    prim_name: str | None = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:
    """Two values in relation `rel`; `value_name` says what the second one is."""
    symbol, holds = _RELATIONS[rel]
    if not holds(arg_value, value):
        raise excp_cls(
            f"{_subject(arg_name, prim_name)} should be {symbol} {value_name}: {value}, but got {arg_value}."
        )
    return arg_value


# -- text and switches ------------------------------------------------------------------------------------------------
def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> bool:
    if not isinstance(arg_value, bool):
        raise TypeError(f"{_subject(arg_name, prim_name)} must be a bool, but got {type(arg_value).__name__}.")
    return arg_value


def check_string(
    arg_value: Any, valid_values: Iterable[str], arg_name: str | None = None, prim_name: str | None = None
) -> str:
    """One of a few strings."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise ValueError(
            f"{_subject(arg_name, prim_name)} must be str and must be in '{valid_values}', but got '{arg_value}'."
        )
    return arg_value


def check_str_by_regular(
    target: str, reg: str | None = None, flag: re.RegexFlag = re.ASCII, prim_name: str | None = None
) -> bool:
    """A name of letters, digits, `_` and `.`, or whatever `reg` allows."""
    pattern = reg or r"^\w+[0-9a-zA-Z\_\.]*$"
    if re.match(pattern, target, flag) is None:
        start = f"For '{prim_name}', the" if prim_name else "The"
        raise ValueError(f"{start} '{target}' is illegal, it must be match regular'{pattern}' by flags'{flag}.'")
    return True


def check_str_and_none_by_regular(
    target: str, reg: str | None = None, flag: re.RegexFlag = re.ASCII, prim_name: str | None = None
) -> bool:
    """Like `check_str_by_regular`, but the empty string is allowed."""
    return check_str_by_regular(target, reg or r"^\w*[0-9a-zA-Z\_\.\-]*$", flag, prim_name)


def check_file_name_by_regular(target: str, reg: str | None = None, prim_name: str | None = None) -> bool:
    pattern = reg or r"^[0-9a-zA-Z@\_\-\.\:\/\\]+$"
    if re.match(pattern, target) is None:
        start = f"For '{prim_name}', the" if prim_name else "The"
        raise ValueError(f"{start} '{target}' is illegal, it must be match regular '{pattern}'.")
    return True


# -- Python types -----------------------------------------------------------------------------------------------------
def _name_of(type_: Any) -> str:
    return type_.__name__ if hasattr(type_, "__name__") else str(type_)


def _as_types(valid_types: Any) -> tuple:
    return tuple(valid_types) if isinstance(valid_types, (list, tuple, set)) else (valid_types,)


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """An object of one of some types. A bool is no int here unless bool is among them."""
    types = _as_types(valid_types)
    good = isinstance(arg_value, tuple(t if isinstance(t, type) else type(t) for t in types))
    if good and not (isinstance(arg_value, bool) and bool not in types and object not in types):
        return arg_value
    start = f"For '{prim_name}', the" if prim_name else "The"
    names = [_name_of(t) for t in types]
    wanted = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
    raise TypeError(f"{start} type of '{arg_name}' should be {wanted}, but got type '{type(arg_value).__name__}'.")


def _check_element(arg_name: str, element: Any, valid_types: Any, prim_name: str | None) -> None:
    types = _as_types(valid_types)
    if not isinstance(element, types) or (isinstance(element, bool) and bool not in types):
        start = f"For '{prim_name}', the" if prim_name else "The"
        names = [_name_of(t) for t in types]
        wanted = names[0] if len(names) == 1 else f"one of {names}"
        given = type(element).__name__
        raise TypeError(f"{start} type of '{arg_name}' should be {wanted}, but got '{element}' with type '{given}'.")


def check_element_type_of_iterable(
    arg_name: str, arg_value: Iterable, valid_types: Any, prim_name: str | None = None
) -> None:
    for element in arg_value:
        _check_element(arg_name, element, valid_types, prim_name)


def check_element_type_of_dict(
    arg_name: str, arg_value: dict, key_types: Any, value_types: Any, prim_name: str | None = None
) -> None:
    for key, value in arg_value.items():
        _check_element(arg_name, key, key_types, prim_name)
        _check_element(arg_name, value, value_types, prim_name)


def check_size_and_element_type_of_tuple(
    arg_name: str, arg_value: Any, expect_size: int, expect_element_type: Any, prim_name: str | None = None
) -> None:
    check_value_type(arg_name, arg_value, [tuple], prim_name)
    check_equal_int(len(arg_value), expect_size, f"{arg_name} size", prim_name)
    check_element_type_of_iterable(arg_name, arg_value, expect_element_type, prim_name)


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    if not isinstance(arg_value, classes):
        raise ValueError(f"The parameter '{arg_name}' must be isinstance of {classes}, but got {arg_value}.")
    return arg_value


def check_valid_input(arg_name: str, arg_value: Any, prim_name: str) -> Any:
    if arg_value is None:
        raise ValueError(f"For '{prim_name}', the argument '{arg_name}' can not be None, but got None.")
    return arg_value


def check_hook_fn(hook_fn: Any) -> bool:
    if not callable(hook_fn):
        raise TypeError(f"Expected a callable hook function, but got {type(hook_fn).__name__}.")
    return True


def args_type_check(*type_args: Any, **type_kwargs: Any) -> Callable:
    """Decorator: the arguments named here must be of these types (or None where None is the default).

    >>> @args_type_check(size=int, name=str)
    ... def make(size, name="x"): ...
    """

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        expected = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                wanted = expected.get(name)
                if wanted is None or (value is None and signature.parameters[name].default is None):
                    continue
                classes = tuple(type(None) if t is None else t for t in _as_types(wanted))
                if not isinstance(value, classes):
                    raise TypeError(f"The parameter '{name}' must be {wanted}, but got {type(value)}")
            return function(*args, **kwargs)

        return wrapper

    return decorate
