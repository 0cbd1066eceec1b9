"""Checks of arguments: what constructors and functions call on what they are given.

`Validator` and `Rel` are the spellings of the same functions in MindSpore 1.x.
"""

from __future__ import annotations

from typing import Any

from mindspore._compat.checkparam.basic import *  # noqa: F403
from mindspore._compat.checkparam.basic import (  # noqa: F401
    _RANGES,
    _RELATIONS,
    _check_number,
    check_bool,
    check_int,
    check_positive_int,
)
from mindspore._compat.checkparam.dtypes import *  # noqa: F403
from mindspore._compat.checkparam.shapes import *  # noqa: F403
from mindspore._compat.checkparam.shapes import _check_3d_int_or_tuple  # noqa: F401


class Rel:
    """The relations as MindSpore 1.x names them."""

    EQ, NE, LT, LE, GT, GE = 1, 2, 3, 4, 5, 6
    INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = 7, 8, 9, 10
    IN, NOT_IN = 11, 12

    @staticmethod
    def get_strs(rel: int) -> str:
        return _RELATIONS[rel][0] if rel in _RELATIONS else _RANGES[rel][0]

    @staticmethod
    def get_fns(rel: int) -> Any:
        return _RELATIONS[rel][1] if rel in _RELATIONS else _RANGES[rel][1]


def check_integer(arg_name: str, arg_value: Any, value: int, rel: int, prim_name: str | None = None) -> int:
    """`check_int` with the order of arguments of MindSpore 1.x."""
    return check_int(arg_value, value, rel, arg_name, prim_name)


def check_bool_value(arg_name: str, arg_value: Any) -> bool:
    """`check_bool` with the order of arguments of MindSpore 1.x."""
    return check_bool(arg_value, arg_name)


check_int_positive = check_positive_int

#: every check as a static method, as MindSpore 1.x has them
Validator: Any = type(
    "Validator",
    (),
    {
        "__doc__": "The checks of this module as static methods, as MindSpore 1.x has them.",
        **{name: staticmethod(value) for name, value in list(globals().items()) if name.startswith("check")},
    },
)
