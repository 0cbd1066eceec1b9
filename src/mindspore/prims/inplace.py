"""Updating a tensor object in place, in either mode.

Arrays are never mutated: the object gets a new array (eager) or a new node (graph), so whoever saved the old value
still has it. Tapes are told, so that gradients flow through the update.
"""

from __future__ import annotations

from typing import Any

from mindspore.prims.active import ACTIVE


def update(target: Any, value: Any) -> Any:
    """Make `target` hold what `value` holds; returns `target`."""
    builder = ACTIVE.builder
    if builder is not None:
        builder.write(target, builder.node_of(value))
        return target
    target._data = value._data
    for tape in ACTIVE.tapes:
        tape.rebind(target, value)
    return target
