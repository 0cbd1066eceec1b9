"""Tensors whose initial values are drawn when somebody first looks at them: those made within `nn.utils.no_init_parameters`.

An array is what others ask a tensor for; one of these has none yet. The first who asks has it filled, in either mode, and from then on
it is a tensor like any other. Whoever stores an array first, as a checkpoint does, spares the drawing and the memory. The seed is
drawn where the tensor is made, so the values do not depend on the order in which tensors are used.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mindspore._base.dtype import DType
from mindspore.common.tensor import Tensor


class Later(NamedTuple):
    """Values to be drawn."""

    init: Any  #: an Initializer
    seed: int
    shape: tuple[int, ...]
    dtype: DType

    def array(self) -> np.ndarray:
        array = np.zeros(self.shape, self.dtype.np)
        before = getattr(self.init, "seed", None)
        self.init.seed = self.seed if before is None else before
        try:
            self.init(array)
        finally:
            self.init.seed = before
        return array


def postpone(tensor: Any, later: Later) -> None:
    """Make a tensor of an `Unfilled` class one that these values wait for."""
    tensor._node, tensor.__dict__["_later"] = None, later


#: one thread fills a tensor, others that look at it meanwhile wait; an initializer may look at others
_DRAWING = threading.RLock()


class Unfilled:
    """What tensors without values do otherwise; they lose this class with their first values."""

    __slots__ = ()
    filled: ClassVar[type]  #: the class that they have then

    @property
    def has_init(self) -> bool:
        try:
            object.__getattribute__(self, "_data")
        except AttributeError:
            return True
        return False

    @property
    def shape(self: Any) -> tuple[int, ...]:
        return self.__dict__["_later"].shape if self.has_init else super().shape  # type: ignore[misc]

    @property
    def dtype(self: Any) -> DType:
        return self.__dict__["_later"].dtype if self.has_init else super().dtype  # type: ignore[misc]

    def init_data(self: Any, *_: Any, **__: Any) -> Any:
        """Draw the values, unless others have been stored."""
        with _DRAWING:
            if "_later" in self.__dict__:  # else another thread was faster
                if self.has_init:
                    self._data = self.__dict__["_later"].array()  # type: ignore[misc]
                self.__class__ = self.filled
                del self.__dict__["_later"]
        return self

    def __getattr__(self: Any, name: str) -> Any:
        if name == "_data":
            return self.init_data()._data
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __reduce__(self: Any) -> Any:
        return self.init_data().__reduce__()

    def __deepcopy__(self: Any, memo: dict) -> Any:
        return self.init_data().__deepcopy__(memo)


class UnfilledTensor(Unfilled, Tensor):
    """What `initializer` gives within `no_init_parameters`."""

    __slots__ = ()
    filled = Tensor


UnfilledTensor.__name__ = UnfilledTensor.__qualname__ = "Tensor"
