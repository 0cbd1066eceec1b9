"""Choosing what is dumped while a program runs."""

from __future__ import annotations

from typing import Any

from mindspore.prims.primitive import Primitive
from mindspore.runtime.dump import eager, session


def set_dump(target: Any, enabled: bool = True) -> None:
    """Mark a Primitive, or a Cell with everything in it, for dumps whose `dump_mode` is 2. Call it before the first run.

    A primitive gets the attribute `dump` ("true" or "false"), a cell the flag `dump`.

    Examples:
        >>> ms.set_dump(nn.ReLU()) is None
        True
    """
    is_cell = hasattr(target, "cells_and_names")
    if not is_cell and not isinstance(target, Primitive):
        raise ValueError(
            f'The "target" parameter must be an instance of Cell or Primitive, but got an instance of {type(target)}.'
        )
    if not isinstance(enabled, bool):
        raise ValueError('The "enabled" parameter must be bool.')
    if session.wanted():
        eager.watch()
    mark = "true" if enabled else "false"
    for owner in (cell for _, cell in target.cells_and_names()) if is_cell else ():
        owner._flags["dump"] = enabled
        for member in vars(owner).values():
            if isinstance(member, Primitive):
                member.add_prim_attr("dump", mark)
    if not is_cell:
        target.add_prim_attr("dump", mark)
