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
        held = cell.__dict__
        for store in (held, held["_cells"], held["_params"]):
            if self.name in store:
                return store[self.name]
        self.__set__(cell, self.make(cell))
        return held[self.name]

    def __set__(self, cell: Any, value: Any) -> None:
        """What a layer is given in the place of its operation is what it computes with."""
        cell.__dict__[self.name] = value
        self.replace(cell)

    def __delete__(self, cell: Any) -> None:
        del cell.__dict__[self.name]
        note_change()

    def replace(self, cell: Any) -> None:
        """A member of the layer takes the place of the operation."""
        cell.__dict__["by_parts"] = True
        note_change()
