"""Updating a tensor object in place, in either mode, and telling values from the objects that hold them.

Arrays are never mutated: the object gets a new array (eager) or a new node (graph), so whoever saved the old value
still has it. While tapes record, the object also takes over the number of the value it now stands for, so that gradients
flow through the update, and shares the hooks of that value. Where nothing is recorded (`_no_grad`), and for Parameters, it
keeps its number: the update is no part of the function that is differentiated, and later uses count as uses of the old value.
Views of the tensor, and what it is a view of, change with it (`views.py`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from mindspore.prims import values, views
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import StopGradient

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase

_numbers = itertools.count(1)


def update(target: Any, value: Any) -> Any:
    """Make `target` hold what `value` holds; returns `target`."""
    builder = ACTIVE.builder
    if builder is not None:
        builder.write(target, builder.node_of(value))
        return target
    _store(target, value)
    if getattr(target, "_link", None) is not None:
        views.spread(target, _store)
    return target


def _store(target: Any, value: Any) -> None:
    target._data = value._data
    if ACTIVE.tapes and not isinstance(target, values.parameter_class()):
        target._value = value_of(value)
        value._hooks = target._hooks = {**getattr(value, "_hooks", {}), **getattr(target, "_hooks", {})}


def detach(target: TensorBase) -> Any:
    """Make a tensor or Parameter a constant for gradients from here on; returns it."""
    builder = ACTIVE.builder
    if builder is not None:
        builder.state[id(target)] = (target, builder.emit(StopGradient(), (builder.node_of(target),)))
    elif ACTIVE.tapes:
        new_value(target)
    return target


def value_of(tensor: TensorBase) -> int:
    """The number of the value that a concrete tensor stands for, given when first asked for; never given twice."""
    try:
        return tensor._value
    except AttributeError:
        return new_value(tensor)


def new_value(tensor: TensorBase) -> int:
    """Have a tensor object stand for a value of its own."""
    tensor._value = number = next(_numbers)
    return number
