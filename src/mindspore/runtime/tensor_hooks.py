"""Hooks on tensors: functions that see, and may replace, a gradient when it is complete.

A hook belongs to the value that the tensor stood for when it was registered: after an in-place update the tensor has none,
and the old ones see the gradient of the old value. Hooks of a Parameter belong to the Parameter and see the gradient that
its user gets. Tensors that stand for the arguments of a graph being built bring the hooks of those arguments with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mindspore.compiler import parse
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.hooks import replaced
from mindspore.prims.inplace import value_of
from mindspore.prims.values import TensorBase

_numbers = itertools.count()
Hooks = dict[int, Callable]  # number of the hook -> hook


def register(tensor: Any, hook: Callable) -> tuple[Hooks, int]:
    """Add a hook; returns the hooks it is now among, and its number there."""
    hooks = _all(tensor).setdefault(_owner(tensor), {})
    number = next(_numbers)
    hooks[number] = hook
    return hooks, number


def hooks_of(tensor: Any, value: int | None = None) -> Hooks:
    """The hooks of a tensor, or of the value with that number which it stood for."""
    kept = getattr(tensor, "_hooks", None)
    if not kept:
        return {}
    return kept.get(_owner(tensor) if value is None or isinstance(tensor, values.parameter_class()) else value, {})


def place_for(tensor: Any) -> dict[int, Hooks]:
    """Where the hooks of a tensor are and will be, for those who do not keep the tensor."""
    return _all(tensor)


def share(source: TensorBase, target: TensorBase) -> None:
    """Have `target`, which stands for the same value, run the hooks of `source`."""
    hooks = hooks_of(source)
    if hooks:
        target._hooks = {_owner(target): hooks}


def run(hooks: Hooks, grad: TensorBase) -> Any:
    """The gradient after its hooks."""
    for hook in list(hooks.values()):
        grad = replaced(grad, parse.call(hook, (grad,)) if ACTIVE.builder is not None else hook(grad))
    return grad


def _all(tensor: Any) -> dict[int, Hooks]:
    try:
        return tensor._hooks
    except AttributeError:
        tensor._hooks = {}
        return tensor._hooks


def _owner(tensor: TensorBase) -> int:
    """What the hooks of a tensor belong to: its value, or 0 for the Parameter or symbolic tensor itself."""
    if tensor._node is not None or isinstance(tensor, values.parameter_class()):
        return 0
    return value_of(tensor)
