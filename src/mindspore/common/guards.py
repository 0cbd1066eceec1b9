"""What a compiled graph takes for granted, and whether it still holds.

Tracing specialises a graph to the attributes it reads (numbers, settings, child cells, constant tensors), to the mode and
the hooks of the cells it calls, and to the shapes and hooks of Parameters. `Guards` remembers them and is asked before every
call, so it must be quick: changes of cells are counted (changes.py), and their attributes are compared only when the count
has moved. Attributes of other objects, and the data of constant tensors, are compared each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.common.changes import change_count
from mindspore.compiler.parse import Traced
from mindspore.compiler.parse.attributes import AttributeInput, Read, is_cell
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
        self._reads = [r for r in lasting if not is_cell(r.owner)]
        self._constants = [(r.value, r.value._data) for r in lasting if _is_constant(r.value)]
        self._inputs = [w for w in traced.weights if isinstance(w, AttributeInput)]
        self._lists = [(r.value, tuple(r.value)) for r in lasting if type(r.value) is list]
        self._weights = [(w, _signature(w)) for w in traced.weights if not isinstance(w, AttributeInput)]
        self._checked_at = change_count()

    def hold(self) -> bool:
        """Whether the graph may be used."""
        now = change_count()
        if self._checked_at != now:
            if not self._cells_hold():
                return False
            self._checked_at = now
        for tensor, data in self._constants:
            if tensor._data is not data:
                return False
        return not (self._reads or self._lists or self._inputs) or self._others_hold()

    def _cells_hold(self) -> bool:
        return (
            all(cell.compile_signature() == signature for cell, signature in self._cells)
            and all(map(same, self._cell_reads))
            and all(_signature(weight) == signature for weight, signature in self._weights)
        )

    def _others_hold(self) -> bool:
        return (
            all(map(same, self._reads))
            and all(len(kept) == len(now) and all(map(_identical, kept, now)) for now, kept in self._lists)
            and all(i.fits() for i in self._inputs)
        )

    def changed(self) -> list[Read]:
        """Attributes that are no longer what they were."""
        moved = {id(t) for t, data in self._constants if t._data is not data}
        return [r for r in (*self._cell_reads, *self._reads) if not same(r) or id(r.value) in moved]


def _signature(weight: Tensor) -> tuple:
    """What a graph takes for granted of a Parameter."""
    return weight._data.shape, weight.requires_grad, weight.hooks()


def _is_constant(value: object) -> bool:
    return isinstance(value, TensorBase) and value._node is None and not isinstance(value, values.parameter_class())


def _identical(a: Any, b: Any) -> bool:
    return a is b


def same(read: Read) -> bool:
    """Whether an attribute still has the value that was read."""
    now, before = read.store.get(read.name), read.value
    if now is before:
        return True
    return type(now) is type(before) and isinstance(now, (bool, int, float, complex, str)) and now == before
