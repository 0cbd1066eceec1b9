"""Operations on tuples and lists that official MindSpore has as primitives of their own (`ops.operations._sequence_ops`).

Here tuples and lists are Python's in both modes, so each is a line of Python. Lengths and elements may be known only at run time:
the compiler reads these lines like a user's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import ops

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py


class _Operation:
    """Made first, applied later, like a primitive."""

    def __call__(self, *args: Any) -> Any:
        return self.compute(*args)

    def compute(self, *args: Any) -> Any:
        raise NotImplementedError


class SequenceAdd(_Operation):
    """One sequence behind the other."""

    def compute(self, x: Any, y: Any) -> Any:
        return x + y


class SequenceAddOffset(_Operation):
    """Where each of two sequences begins in their sum."""

    def compute(self, x: Any, y: Any) -> Any:
        return (0, len(x))


class SequenceMul(_Operation):
    """A sequence several times."""

    def compute(self, x: Any, times: Any) -> Any:
        return x * times


class SequenceMax(_Operation):
    """The largest element."""

    def compute(self, x: Any) -> Any:
        return max(x)


class SequenceMin(_Operation):
    """The smallest element."""

    def compute(self, x: Any) -> Any:
        return min(x)


class SequenceCount(_Operation):
    """How often an element occurs."""

    def compute(self, x: Any, value: Any) -> Any:
        return x.count(value)


class SequenceIndex(_Operation):
    """Where an element occurs first."""

    def compute(self, x: Any, value: Any, start: Any = 0, end: Any = None) -> Any:
        if end is None:
            return x.index(value, start)
        return x.index(value, start, end)


class SequenceSlice(_Operation):
    """Elements from one place to another."""

    def compute(self, x: Any, start: Any, stop: Any, step: Any) -> Any:
        return x[start:stop:step]


class SequenceAddN(_Operation):
    """The sum of tensors."""

    def compute(self, x: Any) -> Any:
        return ops.addn(x)


class SequenceStack(_Operation):
    """Tensors put together along a new axis."""

    def __init__(self, axis: int = 0):
        self.axis = axis

    def compute(self, x: Any) -> Any:
        return ops.stack(x, self.axis)


class SequenceUnstack(_Operation):
    """A tensor taken apart along an axis."""

    def __init__(self, axis: int = 0):
        self.axis = axis

    def compute(self, x: Any) -> Any:
        return ops.unstack(x, self.axis)


class SequenceConcat(_Operation):
    """Tensors put together along an axis that they have."""

    def __init__(self, axis: int = 0):
        self.axis = axis

    def compute(self, x: Any) -> Any:
        return ops.cat(x, self.axis)


class SequenceZerosLike(_Operation):
    """A sequence of zeros."""

    def compute(self, x: Any) -> Any:
        return ops.zeros_like(x)


class TupleToTensor(_Operation):
    """A tensor of a tuple's numbers."""

    def compute(self, x: Any, dtype: Any = None) -> Any:
        return ms.Tensor(x, dtype)


class ListToTensor(TupleToTensor):
    """A tensor of a list's numbers."""


class ScalarToTensor(TupleToTensor):
    """A tensor of a number."""


class TensorToTuple(_Operation):
    """The elements of a tensor of one dimension."""

    def compute(self, x: Any) -> Any:
        return tuple(x.tolist())


class TensorToList(_Operation):
    """The same as a list."""

    def compute(self, x: Any) -> Any:
        return x.tolist()


class TensorToScalar(_Operation):
    """The one element of a tensor."""

    def compute(self, x: Any) -> Any:
        return x.item()


def _comparison(name: str, compare: Callable[[Any, Any], Any]) -> type:
    def compute(self: Any, x: Any, y: Any) -> Any:
        return compare(x, y)

    return type(name, (_Operation,), {"compute": compute, "__doc__": "Compare two sequences, element by element."})


tuple_equal = list_equal = _comparison("tuple_equal", lambda x, y: x == y)
tuple_lt = list_lt = _comparison("tuple_lt", lambda x, y: x < y)
tuple_le = list_le = _comparison("tuple_le", lambda x, y: x <= y)
tuple_greater_than = list_greater_than = _comparison("tuple_greater_than", lambda x, y: x > y)
tuple_greater_equal = list_greater_equal = _comparison("tuple_greater_equal", lambda x, y: x >= y)
