"""`repr` of a tensor: shape, element type and values, long tensors abridged.

Floating-point elements are in scientific notation with the digits their type carries, so that columns line up and values
can be told apart. Outer dimensions of more than six rows show the first and last three; the innermost one does so in
tensors of more than a thousand elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype

_EDGE = 3
_FULL_LIMIT = 1000


def tensor_text(array: np.ndarray, dtype: mstype.DType, comma: str = ",") -> str:
    """The text of a tensor that holds `array`; parts of sparse tensors are written without commas."""
    head = f"Tensor(shape={list(array.shape)}, dtype={dtype}, value="
    if array.ndim == 0:
        return f"{head} {_plain(array.item())})"
    lead = "\n" if array.ndim > 1 else " " if comma else ""
    if array.size == 0:
        return f"{head}{lead})"
    shown = array[np.ix_(*(_shown(n, array.size, axis == array.ndim - 1) for axis, n in enumerate(array.shape)))]
    element = _elements(shown, dtype)
    return f"{head}{lead}{_rows(shown, array.shape, array.size, element, 1, comma)})"


def _plain(value: Any) -> str:
    if isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, (str, bytes)):
        return repr(value)
    if isinstance(value, complex):
        return f"{value.real:g}{value.imag:+g}j"
    return f"{value:g}"


def _abridged(length: int, size: int, innermost: bool) -> bool:
    return length > 2 * _EDGE and (not innermost or size > _FULL_LIMIT)


def _shown(length: int, size: int, innermost: bool) -> list[int]:
    """The indices along one dimension that are printed."""
    if not _abridged(length, size, innermost):
        return list(range(length))
    return [*range(_EDGE), *range(length - _EDGE, length)]


def _elements(shown: np.ndarray, dtype: mstype.DType) -> Callable[[Any], str]:
    """How an element is written: all to the same width."""
    if dtype.kind not in "buif":  # complex numbers and strings are not aligned
        return _plain
    if dtype.kind == "b":
        return lambda value: f"{bool(value)!s:>5}"
    if dtype.kind == "f" and dtype is not mstype.bfloat16:
        digits = 4 if dtype is mstype.float16 else 8
        return lambda value: f"{value:.{digits}e}".rjust(digits + 7)
    width = max(len(_plain(v)) for v in shown.ravel().tolist())
    return lambda value: _plain(value).rjust(width)


def _rows(
    shown: np.ndarray, shape: tuple[int, ...], size: int, element: Callable[[Any], str], indent: int, comma: str
) -> str:
    innermost = shown.ndim == 1
    if innermost:
        parts = [element(v) for v in shown.tolist()]
    else:
        parts = [_rows(part, shape[1:], size, element, indent + 1, comma) for part in shown]
    separator = f"{comma} " if innermost else f"{comma}\n" + " " * indent
    if not _abridged(shape[0], size, innermost):
        return f"[{separator.join(parts)}]"
    first, last = separator.join(parts[:_EDGE]), separator.join(parts[_EDGE:])
    if innermost:
        return f"[{first} ... {last}]"
    return f"[{first}{separator}...\n{' ' * indent}{last}]"
