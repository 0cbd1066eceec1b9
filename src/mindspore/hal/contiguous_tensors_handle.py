"""Several tensors in one block of memory, so that one operation reaches them all."""

from __future__ import annotations

import math
from typing import Any

from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.context import get_context

_ALIGNMENT = 512  # bytes, to which devices but CPUs pad each tensor


class ContiguousTensorsHandle:
    """The elements of tensors of one type, one after the other.

    `handle[i:j]` and `slice_by_tensor_index(i, j)` give parts as one flat tensor: by element, and by tensor.
    """

    def __init__(self, tensor_list: Any, enable_mem_align: bool = True):
        if not isinstance(tensor_list, (list, tuple)) or not all(isinstance(t, Tensor) for t in tensor_list):
            raise TypeError(
                f"The argument 'tensor_list' must be a list of Tensor, but got {type(tensor_list).__name__}."
            )
        if not tensor_list:
            raise ValueError("The argument 'tensor_list' must not be empty.")
        if len({t.dtype for t in tensor_list}) > 1:
            raise TypeError("All tensors of a handle must have the same dtype.")
        if not isinstance(enable_mem_align, bool):
            raise TypeError(f"The argument 'enable_mem_align' must be bool, but got {type(enable_mem_align).__name__}.")
        aligned = enable_mem_align and get_context("device_target") != "CPU"
        step = max(1, _ALIGNMENT // tensor_list[0].dtype.itemsize) if aligned else 1
        sizes = [math.ceil(t.size / step) * step for t in tensor_list]
        self._ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        self._flat: Any = ops.concat([_padded(t.reshape(-1), size) for t, size in zip(tensor_list, sizes)])

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, (int, slice)) or isinstance(index, bool):
            raise TypeError(f"A handle takes an int or a slice, but got {index!r}.")
        if isinstance(index, int) and not 0 <= index < len(self):
            raise IndexError(f"The index must be in [0, {len(self)}), but got {index}.")
        return self._flat[index : index + 1] if isinstance(index, int) else self._flat[index]

    def __str__(self) -> str:
        return str(self._flat)

    def slice_by_tensor_index(self, start: int | None = None, end: int | None = None) -> Any:
        """The elements of tensors `start` to `end` (not included)."""
        count = len(self._ends)
        start, end = 0 if start is None else start, count if end is None else end
        if not 0 <= start < end <= count:
            raise ValueError(f"The tensors {start} to {end} are not within the {count} of this handle.")
        return self._flat[(self._ends[start - 1] if start else 0) : self._ends[end - 1]]


def _padded(flat: Any, size: int) -> Any:
    missing = size - flat.size
    return ops.concat([flat, ops.zeros((missing,), flat.dtype)]) if missing else flat


def combine_tensor_list_contiguous(tensor_list: Any, enable_mem_align: bool = True) -> ContiguousTensorsHandle:
    """Bring tensors together in one block of memory."""
    return ContiguousTensorsHandle(tensor_list, enable_mem_align)
