"""What all devices together are fed, from what one of them is.

Unless the data set gives every device the full batch, the tensors of a call are this device's part: the graph that is cut over
devices is traced for the whole, which no device ever holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.prims import values
from mindspore.prims.structure import parts_of, with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import context


def whole_inputs(args: Any) -> Any:
    """Arguments with stand-ins of the shapes that tensors have on all devices together."""
    sharding = context.current().sharding
    return args if sharding is None else _Widen(sharding).replace(args)


class _Widen:
    def __init__(self, sharding: Any):
        self.sharding, self.count = sharding, 0

    def replace(self, value: Any) -> Any:
        if isinstance(value, TensorBase):
            return value if isinstance(value, values.parameter_class()) else self._widened(value)
        parts = parts_of(value)
        return value if parts is None else with_parts(value, [self.replace(part) for part in parts])

    def _widened(self, tensor: TensorBase) -> TensorBase:
        own = self._divisible(tensor)
        cuts = self._cuts(len(own))
        self.count += 1
        shape = tuple(n * c for n, c in zip(own, cuts))
        if shape == tuple(tensor._data.shape):
            return tensor
        return values.from_array(np.broadcast_to(np.zeros((), tensor._data.dtype), shape))

    def _divisible(self, tensor: TensorBase) -> tuple[int, ...]:
        """A tensor's shape; for sizes of which nothing is known, one that can be cut over all devices."""
        sizes = getattr(tensor, "_dynamic_shape", None)
        shape = tuple(tensor._data.shape)
        if sizes is None:
            return shape
        return tuple(self.sharding.devices if d == -1 and n == 1 else n for d, n in zip(sizes, shape))

    def _cuts(self, rank: int) -> tuple[int, ...]:
        """Into how many parts the data set cuts the dimensions of the next input."""
        dataset = self.sharding.dataset
        if dataset == "full_batch":
            return (1,) * rank
        if not isinstance(dataset, tuple):
            return (self.sharding.devices, *(1,) * (rank - 1)) if rank else ()
        if self.count >= len(dataset) or rank == 0:
            return (1,) * rank
        entry = dataset[self.count]
        return tuple(entry.cuts() if hasattr(entry, "cuts") else entry)
