"""What a compiled graph takes for granted, and whether it still holds.

Tracing specialises a graph to the attributes it reads (numbers, settings, child cells, constant tensors), to the mode and
the hooks of the cells it calls, and to the shapes and hooks of Parameters. `Guards` remembers them and is asked before every
call, so it must be quick: changes of cells are counted (changes.py), and their attributes are compared only when the count
has moved. Attributes of other objects, what lists, dictionaries and arrays hold at any depth, and the data of constant tensors, are
compared each time.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common.changes import change_count
from mindspore.compiler.parse import Traced
from mindspore.compiler.parse.attributes import AttributeInput, Read, is_cell
from mindspore.compiler.parse.outside import Contents
from mindspore.prims import values
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class Guards:
    """The assumptions of one compiled graph."""

    def __init__(self, traced: Traced):
        lasting = [r for r in traced.reads.values() if same(r)]  # tracing itself may have changed the others
        self._cells = traced.cells
        self._cell_reads = [r for r in lasting if is_cell(r.owner)]
        self._reads: list[tuple[Callable, Any, Any, Read]] = [
            (r.store.get, r.name, r.value, r) for r in lasting if not is_cell(r.owner)
        ]
        self._held = Held([r.value for r in lasting], traced.dictionaries)
        self._inputs = [w for w in traced.weights if isinstance(w, AttributeInput)]
        self._weights = [(w, _signature(w)) for w in traced.weights if not isinstance(w, AttributeInput)]
        self._checked_at = change_count()

    def hold(self) -> bool:
        """Whether the graph may be used."""
        now = change_count()
        if self._checked_at != now:
            if not self._cells_hold():
                return False
            self._checked_at = now
        for get, name, value, read in self._reads:
            if get(name) is not value and not same(read):
                return False
        return self._held.unchanged() and all(i.fits() for i in self._inputs)

    def _cells_hold(self) -> bool:
        return (
            all(cell.compile_signature() == signature for cell, signature in self._cells)
            and all(map(same, self._cell_reads))
            and all(_signature(weight) == signature for weight, signature in self._weights)
        )

    def changed(self) -> list[Read]:
        """Attributes that are no longer what they were."""
        moved = {id(t) for t, data in self._held.tensors if t._data is not data}
        reads = (*self._cell_reads, *(r for _, _, _, r in self._reads))
        return [r for r in reads if not same(r) or id(r.value) in moved]


class Held:
    """What values hold at any depth: constant tensors and their data, lists, dictionaries, sets and arrays and their elements."""

    def __init__(self, found: list[Any], dictionaries: list[dict]):
        self.tensors: list[tuple[Any, Any]] = []
        self._sequences: list[tuple[Any, tuple]] = []  # what gives the elements, and those it gave
        self._sets: list[tuple[set, frozenset]] = []
        self._arrays: list[Contents] = []
        seen: set[int] = set()
        for value in (*found, *dictionaries):
            if not isinstance(value, dict) or any(value is d for d in dictionaries):
                self._walk(value, seen)

    def _walk(self, value: Any, seen: set[int]) -> None:
        if not isinstance(value, (TensorBase, list, tuple, dict, set, deque, np.ndarray)) or id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, TensorBase):
            if _is_constant(value):
                self.tensors.append((value, value._data))
        elif isinstance(value, set):
            self._sets.append((value, frozenset(value)))
        elif isinstance(value, np.ndarray):
            self._arrays.append(Contents(value))
        else:
            if isinstance(value, dict):
                self._sequences += [(value, tuple(value)), (value.values(), tuple(value.values()))]
            elif isinstance(value, (list, deque)):
                self._sequences.append((value, tuple(value)))
            for item in value.values() if isinstance(value, dict) else value:
                self._walk(item, seen)

    def unchanged(self) -> bool:
        for tensor, data in self.tensors:
            if tensor._data is not data:
                return False
        for now, kept in self._sequences:
            if len(now) != len(kept) or not (all(map(operator.is_, now, kept)) or all(map(alike, now, kept))):
                return False
        return all(now == kept for now, kept in self._sets) and not any(array.changed() for array in self._arrays)


def _signature(weight: Tensor) -> tuple:
    """What a graph takes for granted of a Parameter."""
    return weight._data.shape, weight.requires_grad, weight.hooks()


def _is_constant(value: object) -> bool:
    return isinstance(value, TensorBase) and value._node is None and not isinstance(value, values.parameter_class())


def same(read: Read) -> bool:
    """Whether an attribute still has the value that was read."""
    return alike(read.store.get(read.name), read.value)


def alike(now: Any, before: Any) -> bool:
    """Whether a graph made for one value is right for the other."""
    if now is before:
        return True
    return type(now) is type(before) and isinstance(now, (bool, int, float, complex, str)) and now == before
