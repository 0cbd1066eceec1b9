"""Tensors of other libraries without copying, by the DLPack protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import watch
from mindspore.common.tensor import Tensor

_CPU = (1, 0)  # DLPack's code of the host


class _Capsule:
    """A bare capsule as an object that speaks the protocol."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


def to_dlpack(tensor: Any) -> Any:
    """A capsule that shares the tensor's memory; one consumer may take it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'to_dlpack', the argument 'tensor' must be a Tensor, but got {type(tensor).__name__}.")
    if tensor._node is not None:
        raise TypeError("For 'to_dlpack', the tensor has no value yet: it belongs to a graph being compiled.")
    watch.touched(tensor._data)  # the consumer may write to it
    return tensor._data.__dlpack__()


def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor that shares the memory of a capsule, or of an array of another library (anything with `__dlpack__`)."""
    if not hasattr(dlpack, "__dlpack__"):
        if type(dlpack).__name__ != "PyCapsule":
            kind = type(dlpack).__name__
            raise TypeError(
                f"For 'from_dlpack', the argument must be a DLPack capsule or speak DLPack, but got {kind}."
            )
        dlpack = _Capsule(dlpack)
    return Tensor.from_numpy(np.from_dlpack(dlpack))
