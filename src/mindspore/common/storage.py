"""The bytes behind a tensor, and exchanging what two tensors are."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.prims.values import TensorBase


class UntypedStorage:
    """The bytes of a tensor on the host. `tensor.untyped_storage()` of tensors elsewhere is a copy.

    Examples:
        >>> Tensor([1.0, 2.0]).untyped_storage().nbytes()
        8
    """

    def __init__(self, array: Any = None):
        self._array: Any = np.zeros((0,), np.uint8) if array is None else np.ascontiguousarray(array)

    @property
    def _bytes(self) -> np.ndarray:
        return self._array.reshape(-1).view(np.uint8)

    def nbytes(self) -> int:
        return self._array.nbytes

    def size(self) -> int:
        return self._array.nbytes

    def element_size(self) -> int:
        """1: elements are bytes here."""
        return 1

    @property
    def device(self) -> str:
        return "CPU"

    def is_shared(self) -> bool:
        """False: it is memory of one process."""
        return False

    def copy_(self, src: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Overwrite the bytes with those of another storage of the same size; the tensor's elements with them.

        Examples:
            >>> x = Tensor([1.0, 2.0])
            >>> _ = x.untyped_storage().copy_(Tensor([3.0, 4.0]).untyped_storage())
            >>> print(x)
            [3. 4.]
        """
        if not isinstance(src, UntypedStorage) or src.nbytes() != self.nbytes():
            given = f"one of {src.nbytes()}" if isinstance(src, UntypedStorage) else type(src).__name__
            raise RuntimeError(f"For 'UntypedStorage.copy_', 'src' must be a storage of {self.nbytes()} bytes, but got {given}.")
        self._bytes[:] = src._bytes
        return self

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._array.ctypes.data

    def tolist(self) -> list[int]:
        return list(self._array.tobytes())

    def __len__(self) -> int:
        return self._array.nbytes

    def __getitem__(self, index: Any) -> Any:
        got = self._bytes[index]
        return got.tolist()


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange the values, attributes and classes of two tensors; the objects keep their identities.

    Examples:
        >>> a, b = Tensor([1.0]), Tensor([2.0])
        >>> ms.swap_tensors(a, b)
        >>> print(a, b)
        [2.] [1.]
    """
    for tensor in (t1, t2):
        if not isinstance(tensor, TensorBase):
            raise TypeError(f"For 'swap_tensors', both arguments must be tensors, but got {type(tensor).__name__}.")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1._data, t2._data = t2._data, t1._data
    t1._node, t2._node = t2._node, t1._node
    mine, others = dict(t1.__dict__), dict(t2.__dict__)
    for tensor, attributes in ((t1, others), (t2, mine)):
        tensor.__dict__.clear()
        tensor.__dict__.update(attributes)
