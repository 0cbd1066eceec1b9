"""Errors in the user's terms, where no check foresaw the mistake.

Inference rules state most requirements; what they leave out (too few arguments, a string where a tensor belongs) ends
in some AttributeError or an exception of NumPy's deep inside. `explained` says which operation was called with what.

In PyNative mode the line that a user wrote stands in a traceback above those of layers, functions and kernels; `point_to_user`
repeats it below the message, where graph mode has it.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import os
import sys
from collections.abc import Callable
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from mindspore.ir import Location
from mindspore.prims import checks, values
from mindspore.prims.active import ACTIVE

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
    if ACTIVE.builder is None and any(values.is_symbolic(v) for a in args for v in (a if isinstance(a, (tuple, list)) else (a,))):
        return values.ValueUnknownError(
            f"For '{prim.name}', one of the tensors was kept from inside of a compiled function (by a hook or in an attribute): only "
            "its graph knows its value. Return it from the function, or run in PYNATIVE_MODE."
        )
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
        if _is_of_user(step.tb_frame.f_code):
            return False
        last, step = step, step.tb_next
    return last is None or not (last.tb_frame.f_code.co_filename.startswith(_LIBRARY) and _raises(last))


def _raises(step: TracebackType) -> bool:
    """Whether the instruction a frame stands at is that of a `raise` statement."""
    return step.tb_frame.f_code.co_code[step.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _is_of_user(code: CodeType) -> bool:
    """Whether it is neither this library's nor of what it is made with, nor generated."""
    name = code.co_filename
    return not name.startswith((_LIBRARY, "<", sys.base_prefix)) and not any(p in name for p in _PACKAGES)


def misfit(function: Callable, signature: inspect.Signature, args: tuple, kwargs: dict, error: TypeError) -> TypeError:
    """The exception for arguments that a function of the user does not take; `error` is what binding them raised."""
    name = function.__qualname__.rpartition("<locals>.")[2]
    reason = _unknown_keyword(signature, kwargs) or str(error)
    lacks_self = function.__name__ == "construct" and len(signature.parameters) == len(args) - 1
    lacks_self = lacks_self and next(iter(signature.parameters), "") != "self"
    hint = " Should its first parameter be 'self'?" if lacks_self else ""
    return TypeError(f"{name}() {reason}. It is declared as {function.__name__}{signature}.{hint}")


def misfit_call(method: Any, args: tuple, kwargs: dict, error: Exception) -> TypeError | None:
    """`misfit` for a method that raised `error`; None if it was entered, so that the error is its own."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not last.tb_frame.f_code.co_filename.startswith(_LIBRARY) or not inspect.ismethod(method):
        return None
    function = method.__func__
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        signature.bind(method.__self__, *args, **kwargs)
    except TypeError as unbound:
        return misfit(function, signature, (method.__self__, *args), kwargs, unbound)
    return None


def _unknown_keyword(signature: inspect.Signature, kwargs: dict) -> str:
    """A misspelt name explains more than the argument that is missing because of it."""
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return ""
    unknown = next((k for k in kwargs if k not in signature.parameters), None)
    return f"got an unexpected keyword argument {unknown!r}" if unknown is not None else ""


def point_to_user(error: Exception) -> None:
    """Note the user's line that an error of PyNative mode comes from; to be called where the error passes by, as often as it does."""
    if getattr(error, _POINTED, False) or getattr(error, LOCATED, False):
        return
    line = _line_below(error.__traceback__)
    if line is None:
        line = calling_line()
    mark_pointed(error)
    if line:
        error.add_note(line)


#: set on errors that carry the user's position: by compilation, and by `point_to_user`
LOCATED = "_ms_located"
_POINTED = "_ms_pointed"


def mark_pointed(error: BaseException) -> None:
    """Note that an error tells its line already."""
    with contextlib.suppress(AttributeError):  # a class with slots
        setattr(error, _POINTED, True)


def _line_below(step: TracebackType | None) -> str | None:
    """The innermost line of the user that an error has passed; "" if it arose there, None if it has not passed any."""
    found = last = None
    while step is not None:
        if _is_of_user(step.tb_frame.f_code):
            found = step
        last, step = step, step.tb_next
    if found is None or last is None:
        return None
    inside = last.tb_frame.f_code.co_filename.startswith(_LIBRARY)
    return _excerpt(found.tb_frame.f_code, found.tb_lasti) if inside else ""


def calling_line() -> str:
    """The user's line that called into the library; "" if that is a line of no file."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return _excerpt(frame.f_code, frame.f_lasti) if frame is not None and _is_of_user(frame.f_code) else ""


def _excerpt(code: CodeType, instruction: int) -> str:
    """What graph mode says of a place in a program."""
    line, _, column, end = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    if line is None:
        return ""
    return Location(code.co_filename, line, -1 if column is None else column, -1 if end is None else end, code.co_name).excerpt()
