"""`mutable`: arguments that are graph inputs although they are Python numbers, and sequences of variable length.

Inside compiled code the numbers become run-time values at once. A sequence of variable length (`dynamic_len=True`) keeps
elements of one type; graphs here are specialised to the length it has, but its values and its length count as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindspore.compiler.parse.loops import SymbolicRange
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.values import SymbolicScalarBase, TensorBase


class Mutable:
    """Mixed into the number types below; marks a value that the graph must not be specialised to."""

    __ms_mutable__ = True

    def plain(self) -> Any:
        raise NotImplementedError


class MutableInt(Mutable, int):
    def plain(self) -> int:
        return int(self)


class MutableFloat(Mutable, float):
    def plain(self) -> float:
        return float(self)


class Dynamic:
    """Mixed into the sequences below."""

    __slots__ = ()
    __ms_dynamic__ = True

    def as_sequence(self: Any, kind: type) -> Any:
        """This as a list or tuple of variable length."""
        return DynamicList(self) if kind is list else DynamicTuple(self)


class DynamicList(Dynamic, list):
    """A list of variable length."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return DynamicList(found) if isinstance(index, slice) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            super().__setitem__(index, _joined(_dynamic(list(value)), self, list)[: len(value)])
        elif self and _kind(self[0]) != _kind(value):
            raise TypeError(f"The element within dynamic length sequence is {self[0]!r:.60}, but got {value!r:.60}.")
        else:
            super().__setitem__(index, _known_at_run_time(value))

    def __mul__(self, count: Any) -> DynamicList:
        return DynamicList(super().__mul__(count))

    def __add__(self, other: list) -> DynamicList:
        return DynamicList(_joined(self, other, list))

    def __radd__(self, other: list) -> DynamicList:
        return DynamicList(_joined(other, self, list))

    def append(self, value: Any) -> None:
        if self and _kind(self[0]) != _kind(value):
            raise TypeError(
                f"All elements must have the same type when the queue is dynamic length, but it holds {self[0]!r:.60} and got "
                f"{value!r:.60}."
            )
        super().append(_known_at_run_time(value))


class DynamicTuple(Dynamic, tuple):
    """A tuple of variable length."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return DynamicTuple(found) if isinstance(index, slice) else found

    def __mul__(self, count: Any) -> DynamicTuple:
        return DynamicTuple(super().__mul__(count))

    def __add__(self, other: tuple) -> DynamicTuple:
        return DynamicTuple(_joined(self, other, tuple))

    def __radd__(self, other: tuple) -> DynamicTuple:
        return DynamicTuple(_joined(other, self, tuple))


def _joined(first: Any, second: Any, kind: type) -> Any:
    """The elements of both, which must be of one type."""
    for part in (first, second):
        if not isinstance(part, kind):
            raise TypeError(f"A {kind.__name__} is joined with another {kind.__name__}, but got {part!r:.60}.")
    if first and second and _kind(first[0]) != _kind(second[0]):
        raise TypeError(
            f"The element of first input {first[0]!r:.60} is not same with the element of second input {second[0]!r:.60}: a "
            "sequence of dynamic length holds values of one type and shape."
        )
    return [*map(_known_at_run_time, first), *map(_known_at_run_time, second)]


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Make numbers (also inside tuples, lists and dicts) inputs of compiled graphs rather than constants.

    Args:
        input_data: a number, tensor, tuple, list or dict of them.
        dynamic_len: for a list or tuple with elements of one type: its length may differ from call to call too.

    Examples:
        >>> import mindspore as ms
        >>> ms.mutable(3) + 1
        4
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"'dynamic_len' must be a bool, but got {dynamic_len!r}.")
    if dynamic_len:
        return _dynamic(input_data)
    if getattr(input_data, "__ms_dynamic__", False):
        raise RuntimeError("For 'mutable', can not convert a dynamic length sequence to constant length.")
    return _map(input_data, _known_at_run_time if ACTIVE.builder is not None else _marked)


def _dynamic(sequence: Any) -> Any:
    if not isinstance(sequence, (list, tuple)):
        raise TypeError(
            "For 'mutable', when the variable_len is True, the first input should be a list or tuple, but got "
            f"{type(sequence).__name__}."
        )
    if len({_type(item) for item in sequence}) > 1:
        raise ValueError(
            f"The element type do not match, can not convert to dynamic length sequence. All must have one type, but got {sequence!r:.100}."
        )
    items: Iterable[Any] = (mutable(item) for item in sequence)
    return DynamicList(items) if isinstance(sequence, list) else DynamicTuple(items)


def _type(item: Any) -> Any:
    """Equal for elements that one sequence may hold: tensors may differ in their shapes, sequences in their lengths."""
    if isinstance(item, TensorBase):
        return (TensorBase, item.dtype)
    return frozenset(map(_type, item)) if isinstance(item, (list, tuple)) else _kind(item)


def _kind(value: Any) -> Any:
    """Equal for values of one type and structure."""
    if isinstance(value, (TensorBase, SymbolicScalarBase)):
        return values.abstract_of(value)
    if isinstance(value, (list, tuple)):
        return (type(value), *map(_kind, value))
    return values.abstract_of(values.symbolic_number(value)) if values.is_number(value) else type(value)


def _map(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_map(v, leaf) for v in value)
    if isinstance(value, list):
        return [_map(v, leaf) for v in value]
    if isinstance(value, dict):
        return {k: _map(v, leaf) for k, v in value.items()}
    return leaf(value)


def _marked(value: Any) -> Any:
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, Mutable):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)  # a graph for each of the two values is cheap, and `bool` cannot be subclassed
    if isinstance(value, int):
        return MutableInt(value)
    if isinstance(value, float):
        return MutableFloat(value)
    if isinstance(value, TensorBase):
        value.__dict__["_mutable"] = True  # a sequence of such tensors is an input of the graph like any tensor
        return value
    if hasattr(value, "asnumpy"):
        return value
    raise TypeError(
        f"For 'mutable', 'input_data' must be a number, tensor, tuple, list or dict of them, but got {type(value).__name__}."
    )


def _known_at_run_time(value: Any) -> Any:
    """While a graph is built: a number or constant as something that only the running graph knows."""
    if ACTIVE.builder is None or isinstance(value, SymbolicScalarBase):
        return value
    if isinstance(value, TensorBase):
        return values.from_node(ACTIVE.builder.node_of(value))
    if values.is_number(value):
        return values.symbolic_number(value.item() if isinstance(value, np.number) else value)
    return _map(value, _known_at_run_time) if isinstance(value, (list, tuple, dict)) else _marked(value)


def plain(value: Any) -> Any:
    """Arguments with their mutable numbers and sequences as ordinary Python values."""
    if isinstance(value, Mutable):
        return value.plain()
    if not holds_mutable(value):
        return value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return list(map(plain, value)) if isinstance(value, list) else tuple(map(plain, value))


def is_constant(value: Any) -> bool:
    """Whether an argument is a tuple, list or dict that `mutable` has not been applied to: a constant of the function, which `get_all`
    passes over. What a function has put together of its own values is none."""
    if not isinstance(value, (tuple, list, dict)) or getattr(value, "__ms_dynamic__", False):
        return False
    items = list(value.values() if isinstance(value, dict) else value)
    return all(
        _is_fixed(item) if isinstance(item, TensorBase) else is_constant(item)
        for item in items
        if isinstance(item, (TensorBase, tuple, list, dict))
    )


def _is_fixed(tensor: TensorBase) -> bool:
    if isinstance(tensor, values.parameter_class()):
        return True
    return getattr(tensor, "_fixed", False) if values.is_symbolic(tensor) else not getattr(tensor, "_mutable", False)


def holds_mutable(value: Any) -> bool:
    """Whether arguments contain mutable numbers or sequences of variable length."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return isinstance(value, Dynamic) or any(map(holds_mutable, value))
    return isinstance(value, Mutable)


# -- questions about sequences ---------------------------------------------------------------------------------------------
def is_sequence_value_unknown(sequence: Any) -> bool:
    """Whether a list or tuple holds something that only the running graph knows."""
    if getattr(sequence, "__ms_dynamic__", False) or values.is_symbolic(sequence):
        return True
    return isinstance(sequence, (list, tuple)) and any(map(is_sequence_value_unknown, sequence))


def is_sequence_shape_unknown(sequence: Any) -> bool:
    """Whether the length of a list or tuple may vary."""
    return isinstance(sequence, SymbolicRange) or bool(getattr(sequence, "__ms_dynamic__", False))


def is_dynamic_sequence_element_unknown(sequence: Any) -> bool:
    """Whether nothing is known of the elements of a sequence of variable length: it is empty."""
    if not is_sequence_shape_unknown(sequence):
        raise TypeError(
            f"For 'is_dynamic_sequence_element_unknown', the input should be variable length sequence, but got {sequence!r:.60}."
        )
    return len(sequence) == 0
