"""Which Python types a setting of an operation or a layer takes, stated where the setting is.

A flag that is given a number, a seed that is given a word or a size that is given a dictionary would otherwise be taken for what
Python makes of it (`bool("no")` is True). Constructors and functions say it by a decorator, what `composition` makes by `Typed`:

    @setting_types(align_corners=bool)
    def affine_grid(theta, size, align_corners=False): ...

    AffineGrid = composition("AffineGrid", …, align_corners=Typed(bool, False))

Types are joined by `|`; `tuple` stands for a list, too. What an operation's own rule checks needs no statement, and settings are
all that is checked here: tensors are the business of the rules. A setting's default is always fine, and so are numbers that
only the running graph knows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import UnionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mindspore.prims import checks
from mindspore.prims.values import SymbolicScalarBase

_Function = TypeVar("_Function", bound=Callable)

#: what is taken for a type, and its words
_KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    bool: ((bool, np.bool_), "a bool"),
    int: ((int, np.integer), "an int"),
    float: ((float, np.floating), "a float"),
    str: ((str,), "a str"),
    tuple: ((list, tuple), "a list or tuple"),
    type(None): ((type(None),), "None"),
}
REQUIRED = inspect.Parameter.empty  # as a default: there is none


class Typed(NamedTuple):
    """A setting of a class that `composition` makes."""

    types: type | UnionType
    default: Any = REQUIRED


def setting_types(**types: type | UnionType) -> Callable[[_Function], _Function]:
    """Have a function or a constructor refuse settings of other types than these."""

    def decorate(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters
        order = [*parameters]
        places = [(order.index(s), s, _kinds(taken), parameters[s].default) for s, taken in types.items()]

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for place, setting, kinds, default in places:
                value = args[place] if place < len(args) else kwargs.get(setting, default)
                if value is not default and not _fits(value, kinds):
                    words = " or ".join(_KINDS[kind][1] for kind in kinds)
                    raise TypeError(f"For '{_name(checked, args)}', '{setting}' must be {words}, but got {checks.describe(value)}.")
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate


def _kinds(types: type | UnionType) -> tuple[type, ...]:
    return types.__args__ if isinstance(types, UnionType) else (types,)


def _name(function: Callable, args: tuple) -> str:
    """What users call it: a constructor is its class."""
    return type(args[0]).__name__ if function.__name__ == "__init__" else function.__name__


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    """Python counts True as an int; settings do not."""
    if isinstance(value, SymbolicScalarBase):
        return True
    if isinstance(value, bool):
        return bool in kinds
    return any(isinstance(value, _KINDS[kind][0]) for kind in kinds)
