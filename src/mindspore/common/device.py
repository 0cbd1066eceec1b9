"""Choosing a device for a block of code."""

from __future__ import annotations

from typing import Any

from mindspore import context


class DeviceCtx:
    """`with DeviceCtx("CPU"):` computes on that device inside, and on the one before it afterwards.

    Examples:
        >>> with ms.DeviceCtx("CPU"):
        ...     total = ops.ones(3).sum()
        >>> print(total)
        3.0
    """

    def __init__(self, name: str, device_id: int | None = None):
        if not isinstance(name, str):
            raise TypeError(f"The argument 'name' must be a string, but got {type(name).__name__}.")
        self.name, self.device_id = name, device_id

    def __enter__(self) -> DeviceCtx:
        self._before = context.get_current_device()
        context.set_device(self.name, self.device_id)
        return self

    def __exit__(self, *_: Any) -> None:
        context.set_device(*self._before)
