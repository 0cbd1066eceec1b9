"""A layer applied to every step of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.nn.cell import Cell
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["TimeDistributed"]


class TimeDistributed(Cell):
    """Apply `layer` to every slice along `time_axis`.

    With `reshape_with_axis` (the batch axis) all steps go through the layer at once, joined into that axis.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.TimeDistributed(nn.Dense(3, 4), time_axis=1, reshape_with_axis=0)(Tensor(np.ones((2, 5, 3), np.float32))).shape
        (2, 5, 4)
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None):
        super().__init__()
        if not isinstance(layer, (Cell, Primitive)):
            raise TypeError(
                f"For 'TimeDistributed', 'layer' must be a Cell or Primitive, but got {type(layer).__name__}."
            )
        for name, value in (("time_axis", time_axis), ("reshape_with_axis", reshape_with_axis)):
            if isinstance(value, bool) or not isinstance(value, (int, type(None))):
                raise TypeError(f"For 'TimeDistributed', '{name}' must be an int, but got {value!r}.")
        if time_axis == reshape_with_axis:
            raise ValueError(
                f"For 'TimeDistributed', 'time_axis' and 'reshape_with_axis' must differ, but both are {time_axis}."
            )
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

    def construct(self, inputs: Tensor) -> Any:
        axis = self.time_axis % inputs.ndim
        if self.reshape_with_axis is None:
            outputs = []
            for step in ops.unbind(inputs, axis):
                outputs.append(self.layer(step))
            return ops.stack(outputs, axis if axis <= outputs[0].ndim else -1)
        front = _steps_first(inputs, axis, self.reshape_with_axis % inputs.ndim)
        joined = ops.reshape(front, (front.shape[0] * front.shape[1], *front.shape[2:]))
        out = self.layer(joined)
        split = ops.reshape(out, (front.shape[0], front.shape[1], *out.shape[1:]))
        return _steps_back(split, axis, self.reshape_with_axis % inputs.ndim)


def _steps_first(x: Any, time: int, batch: int) -> Any:
    """Time, then batch, then the rest."""
    return ops.transpose(x, (time, batch, *(a for a in range(x.ndim) if a not in (time, batch))))


def _steps_back(x: Any, time: int, batch: int) -> Any:
    """Time and batch back where they were."""
    order = list(range(2, x.ndim))
    for axis, source in sorted(((time, 0), (batch, 1))):
        order.insert(axis, source)
    return ops.transpose(x, tuple(order))
