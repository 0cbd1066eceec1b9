"""The operations that a layer is made of, as attributes: `dense.matmul.shard(((2, 1), (4, 1)))`.

Layers compute by functions that do several operations at once. A layer of which somebody has asked for an operation computes by these
operations one after the other, so that strategies and attributes which were given to them act.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common.changes import note_change


class Part:
    """An operation of a layer, made when it is first asked for; from then on the layer's `by_parts` is True.

    Examples:
        >>> net = nn.Dense(2, 3)
        >>> net.by_parts, net.matmul.name, net.by_parts
        (False, 'MatMul', True)
    """

    def __init__(self, make: Callable[[Any], Any]):
        self.make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, cell: Any, owner: type | None = None) -> Any:
        if cell is None:
            return self
        made = cell.__dict__[self.name] = self.make(cell)
        cell.__dict__["by_parts"] = True
        note_change()
        return made
