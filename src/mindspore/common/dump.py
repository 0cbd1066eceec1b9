"""Choosing what is dumped while a program runs."""

from __future__ import annotations

from typing import Any

from mindspore.prims.primitive import Primitive


def set_dump(target: Any, enabled: bool = True) -> None:
    """Mark a Primitive, or all primitives of a Cell, so that dumps contain them (or not).

    The mark is the attribute `dump` of the primitive: "true" or "false".
    """
    is_cell = hasattr(target, "cells_and_names")
    if not is_cell and not isinstance(target, Primitive):
        raise ValueError(
            f'The "target" parameter must be an instance of Cell or Primitive, but got an instance of {type(target)}.'
        )
    if not isinstance(enabled, bool):
        raise ValueError('The "enabled" parameter must be bool.')
    mark = "true" if enabled else "false"
    for owner in (cell for _, cell in target.cells_and_names()) if is_cell else ():
        for member in vars(owner).values():
            if isinstance(member, Primitive):
                member.add_prim_attr("dump", mark)
    if not is_cell:
        target.add_prim_attr("dump", mark)
