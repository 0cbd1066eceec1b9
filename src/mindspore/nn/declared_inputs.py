"""What `Cell.set_inputs` promises about the inputs of a cell, and the check of compiled calls against it.

A declared tensor fixes the element type, the rank and every size that it names; None (or -1) leaves a size open, None in the
place of the shape the rank, and a `Symbol` says what is known of a size: bounds, divisibility, or that it is one size wherever
the symbol stands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindspore.common.symbol import Symbol
from mindspore.prims.values import TensorBase


def declared(construct: Callable, inputs: tuple, named: dict[str, Any], strict: bool) -> Any:
    """The declaration as it is kept: a tuple of all inputs, or a dict of some. `strict`: a tuple must be complete."""
    if inputs and named:
        raise ValueError("For 'set_inputs', give the inputs either by position or by name, not both.")
    parameters = inspect.signature(construct).parameters
    for name in named:
        if name not in parameters:
            raise ValueError(f"For 'set_inputs', the names must be among those of construct, {[*parameters]}, but got '{name}'.")
    if strict and inputs:
        try:
            inspect.signature(construct).bind(*inputs)
        except TypeError as error:
            raise TypeError(f"For 'set_inputs', the {len(inputs)} inputs do not fit construct: {error}.") from None
    return named or inputs


def check(declaration: Any, construct: Callable, args: tuple, kwargs: dict[str, Any]) -> None:
    """Refuse arguments that are not as declared."""
    sizes: dict[Symbol, int] = {}
    if isinstance(declaration, dict):
        given = inspect.signature(construct).bind_partial(*args, **kwargs).arguments
        for name, wanted in declaration.items():
            if name in given:
                _check(f"input '{name}'", wanted, given[name], sizes)
        return
    for place, (wanted, value) in enumerate(zip(declaration, args), 1):
        _check(f"input {place}", wanted, value, sizes)


def _check(what: str, wanted: Any, value: Any, sizes: dict[Symbol, int]) -> None:
    if isinstance(wanted, (tuple, list)):
        if not isinstance(value, (tuple, list)) or len(value) != len(wanted):
            raise ValueError(f"For 'set_inputs', {what} must be a sequence of {len(wanted)}, but got {value!r:.100}.")
        for place, (part, item) in enumerate(zip(wanted, value), 1):
            _check(f"element {place} of {what}", part, item, sizes)
    elif isinstance(wanted, TensorBase):
        _check_tensor(what, wanted, value, sizes)


def _check_tensor(what: str, wanted: Any, value: Any, sizes: dict[Symbol, int]) -> None:
    if not isinstance(value, TensorBase) or value.dtype is not wanted.dtype:
        shown = f"one of {value.dtype}" if isinstance(value, TensorBase) else f"{value!r:.100}"
        raise TypeError(f"For 'set_inputs', {what} must be a Tensor of {wanted.dtype}, but got {shown}.")
    shape = getattr(wanted, "_declared_shape", wanted.shape)
    if shape is None:
        return
    if len(shape) != value.ndim:
        raise ValueError(f"For 'set_inputs', {what} must have {len(shape)} dimensions, but its shape is {value.shape}.")
    for axis, (expected, size) in enumerate(zip(shape, value.shape)):
        if isinstance(expected, Symbol):
            problem = expected.problem(size) or _not_unique(expected, size, sizes)
        else:
            problem = "" if expected in (None, -1, size) else f"must be {expected}"
        if problem:
            raise ValueError(f"For 'set_inputs', dimension {axis} of {what} {problem}, but its shape is {value.shape}.")


def _not_unique(symbol: Symbol, size: int, sizes: dict[Symbol, int]) -> str:
    if symbol.unique and sizes.setdefault(symbol, size) != size:
        return f"must be {sizes[symbol]}, as elsewhere (its Symbol is unique)"
    return ""
