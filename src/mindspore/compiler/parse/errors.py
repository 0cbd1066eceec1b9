"""Errors of compilation, in the user's terms: their file, their line, what to do."""

from __future__ import annotations

import os

from mindspore._base import flags
from mindspore.ir import Location
from mindspore.prims.values import ValueUnknownError

_SEEN = "_ms_located"
_LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class CompileError(RuntimeError):
    """The function uses something that cannot be compiled."""


class DecisionError(CompileError, ValueUnknownError):
    """The function cannot be compiled for all values of its arguments, though perhaps for those at hand."""


class SliceError(CompileError, TypeError):
    """A slice with bounds that are not integers: Python calls it a TypeError, MindSpore a RuntimeError."""


def _of_the_user(locations: tuple[Location, ...]) -> tuple[Location, ...]:
    """The lines of the user's own files, unless there are none: where in a layer of ours an error arose helps nobody."""
    own = tuple(loc for loc in locations if not loc.file.startswith(_LIBRARY))
    return own if own and not flags.switch("MS_DEV_FULL_TRACEBACK") else locations


def is_located(error: BaseException) -> bool:
    """Whether an error carries the user's position."""
    return getattr(error, _SEEN, False)


def located(error: BaseException, locations: tuple[Location, ...]) -> BaseException:
    """Add the user's position to an error, once. The type stays what it was."""
    if getattr(error, _SEEN, False):
        return error
    try:
        setattr(error, _SEEN, True)
    except AttributeError:
        return error
    if not locations:
        return error
    text = "\n".join(["", "", *(loc.excerpt() for loc in reversed(_of_the_user(locations)[:6]))])
    if (
        len(error.args) == 1
        and isinstance(error.args[0], str)
        and not isinstance(error, (KeyError, OSError, StopIteration))
    ):
        error.args = (error.args[0] + text,)
    else:
        error.add_note(text.strip("\n"))
    return error
