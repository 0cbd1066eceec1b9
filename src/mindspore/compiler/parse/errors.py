"""Errors of compilation, in the user's terms: their file, their line, what to do."""

from __future__ import annotations

import contextlib
import os

from mindspore._base import flags
from mindspore.ir import Location
from mindspore.prims.explain import LOCATED, calling_line
from mindspore.prims.values import ValueUnknownError

_LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class CompileError(RuntimeError):
    """The function uses something that cannot be compiled."""


class DecisionError(CompileError, ValueUnknownError):
    """The function cannot be compiled for all values of its arguments, though perhaps for those at hand."""


class SliceError(CompileError, TypeError):
    """A slice with bounds that are not integers: Python calls it a TypeError, MindSpore a RuntimeError."""


class ZeroDivisorError(ZeroDivisionError, ValueError):
    """A known number divided by zero: Python calls it a ZeroDivisionError, MindSpore a ValueError."""


def _excerpts(locations: tuple[Location, ...]) -> list[str]:
    """The lines of the user's own files, or that of the call if there are none: where in a layer of ours an error arose
    helps nobody."""
    if not flags.switch("MS_DEV_FULL_TRACEBACK"):
        own = tuple(loc for loc in locations if not loc.file.startswith(_LIBRARY))
        call = "" if own else calling_line()
        if call:
            return [call]
        locations = own or locations
    return [loc.excerpt() for loc in reversed(locations[:6])]


#: what functions and checks raise that are given a run-time value where they need a number
_REFUSALS = (AssertionError, AttributeError, LookupError, TypeError, ValueError, CompileError)
_RAISED = "_ms_raised_by_user"


def mark_raised(error: BaseException) -> BaseException:
    """Note that a `raise` of the interpreted program is where an error comes from."""
    with contextlib.suppress(AttributeError):  # a class with slots
        setattr(error, _RAISED, True)
    return error


def needs_values(error: BaseException) -> bool:
    """Whether a program may have failed because an attribute was a run-time value; the compiler's own mistakes are no such
    errors."""
    return isinstance(error, _REFUSALS) or getattr(error, _RAISED, False)


def is_located(error: BaseException) -> bool:
    """Whether an error carries the user's position."""
    return getattr(error, LOCATED, False)


def located(error: BaseException, locations: tuple[Location, ...]) -> BaseException:
    """Add the user's position to an error, once. The type stays what it was."""
    if getattr(error, LOCATED, False):
        return error
    try:
        setattr(error, LOCATED, True)
    except AttributeError:
        return error
    if not locations:
        return error
    text = "\n".join(["", "", *_excerpts(locations)])
    if (
        len(error.args) == 1
        and isinstance(error.args[0], str)
        and not isinstance(error, (KeyError, OSError, StopIteration))
    ):
        error.args = (error.args[0] + text,)
    else:
        error.add_note(text.strip("\n"))
    return error
