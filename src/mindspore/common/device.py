"""Choosing a device for a block of code."""

from __future__ import annotations

from typing import Any

from mindspore import context
from mindspore.runtime import devices

_NAMES = ("CPU", "GPU", "Ascend", "meta")


class DeviceCtx:
    """`with DeviceCtx("CPU"):` computes on that device inside, and on the one before it afterwards.

    On the device "meta" tensors and layers have shapes and types but neither values nor memory: a network of any size is built at once.
    `Cell.to_empty()` or a checkpoint gives it values.

    Examples:
        >>> with ms.DeviceCtx("CPU"):
        ...     total = ops.ones(3).sum()
        >>> print(total)
        3.0
        >>> with ms.DeviceCtx("meta"):
        ...     layer = nn.Dense(100000, 100000)
        >>> layer.weight.shape, layer.weight.device
        ((100000, 100000), 'meta')
    """

    def __init__(self, name: str, device_id: int | None = None):
        self.name, self.device_id = name, device_id

    def __enter__(self) -> DeviceCtx:
        if self.name not in _NAMES:
            raise ValueError(f"For DeviceCtx, the name must be one of {list(_NAMES)}, but got {self.name!r}.")
        if self.device_id is not None and self.device_id < 0:
            raise ValueError(f"For DeviceCtx, the device_id must be greater than or equal to 0, but got {self.device_id}.")
        self._before, self._device = context.get_current_device(), devices.current()
        if self.name == "meta":
            devices.flush()
            devices.use(devices.MetaDevice())
        else:
            context.set_device(self.name, self.device_id)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.name != "meta":
            context.set_device(*self._before)
        devices.use(self._device)
