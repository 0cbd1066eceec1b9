"""Errors in the user's terms, where no check foresaw the mistake.

Inference rules state most requirements; what they leave out (too few arguments, a string where a tensor belongs) ends
in some AttributeError or an exception of NumPy's deep inside. `explained` says which operation was called with what.
"""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mindspore.prims import checks, values

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

#: exceptions that mistakes in arguments end in
UNFORESEEN = (AttributeError, IndexError, TypeError, ValueError)
_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("numpy", "scipy", "jax", "ml_dtypes"))


def explained(prim: Primitive, args: tuple, error: Exception) -> Exception | None:
    """The exception to raise instead of `error`; None where it says enough or is not the library's."""
    if not _unforeseen(error):
        return None
    miscounted = wrong_count(prim, args)
    if miscounted is not None:
        return miscounted
    given = ", ".join(_described(a) for a in args)
    kind = TypeError if isinstance(error, AttributeError) else type(error)
    return kind(f"For '{prim.name}', the arguments do not fit the operation or one another: got {given}.")


def wrong_count(prim: Primitive, args: tuple) -> TypeError | None:
    """The exception for too few or too many arguments; None if their number fits."""
    names = argument_names(prim)
    if names is None or len(args) == len(names):
        return None
    wanted = f"{len(names)} argument{'s' if len(names) != 1 else ''} ({', '.join(names)})"
    return TypeError(f"For '{prim.name}', {wanted} must be given, but got {len(args)}.")


def argument_names(prim: Any) -> tuple[str, ...] | None:
    """The names of a primitive's arguments; None if their number varies."""
    return None if prim.variadic else _fixed_names(type(prim).eval)


@functools.cache
def _fixed_names(rule: Callable) -> tuple[str, ...] | None:
    parameters = list(inspect.signature(rule).parameters.values())[2:]  # after self and xp
    if any(p.kind is p.VAR_POSITIONAL or p.default is not p.empty for p in parameters):
        return None
    return tuple(p.name for p in parameters)


def _described(value: Any) -> str:
    if isinstance(value, (values.TensorBase, values.SymbolicScalarBase)):
        return checks.describe(values.abstract_of(value))
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return checks.describe(value) if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__


def _unforeseen(error: Exception) -> bool:
    """Whether neither a `raise` of the library nor a user's function (a hook, a custom operation) is the source."""
    step, last = error.__traceback__, None
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if not name.startswith((_LIBRARY, "<", sys.base_prefix)) and not any(p in name for p in _PACKAGES):
            return False
        last, step = step, step.tb_next
    return last is None or not (last.tb_frame.f_code.co_filename.startswith(_LIBRARY) and _raises(last))


def _raises(step: TracebackType) -> bool:
    """Whether the instruction a frame stands at is that of a `raise` statement."""
    return step.tb_frame.f_code.co_code[step.tb_lasti] == dis.opmap["RAISE_VARARGS"]
