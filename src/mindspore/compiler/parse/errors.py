"""Errors of compilation, in the user's terms: their file, their line, what to do."""

from __future__ import annotations

from mindspore.ir import Location

_SEEN = "_ms_located"


class CompileError(RuntimeError):
    """The function uses something that cannot be compiled."""


class SliceError(CompileError, TypeError):
    """A slice with bounds that are not integers: Python calls it a TypeError, MindSpore a RuntimeError."""


def located(error: BaseException, locations: tuple[Location, ...]) -> BaseException:
    """Add the user's position to an error, once. The type stays what it was."""
    if getattr(error, _SEEN, False) or not locations:
        return error
    try:
        setattr(error, _SEEN, True)
    except AttributeError:
        return error
    text = "\n".join(["", "", *(loc.excerpt() for loc in reversed(locations[:6]))])
    if (
        len(error.args) == 1
        and isinstance(error.args[0], str)
        and not isinstance(error, (KeyError, OSError, StopIteration))
    ):
        error.args = (error.args[0] + text,)
    else:
        error.add_note(text.strip("\n"))
    return error
