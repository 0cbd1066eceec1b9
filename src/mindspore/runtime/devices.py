"""The device of the current context: where eager primitives run."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.runtime import context
from mindspore.runtime.device_kinds import DeferringDevice, MetaDevice, NumpyDevice, XlaDevice, host_array

__all__ = ["MetaDevice", "NumpyDevice", "XlaDevice", "accelerator", "current", "deferring", "flush", "is_meta", "on_host", "start_copy",
           "use"]  # fmt: skip


def current() -> Any:
    return context.current().device


def accelerator() -> Any:
    """The current device where it has a memory of its own; None on the host."""
    device = context.current().device
    return device if isinstance(device, XlaDevice) else None


def deferring() -> Any:
    """The current device where it notes operations and runs them later; None where each one runs at once."""
    device = context.current().device
    return device if isinstance(device, DeferringDevice) else None


def is_meta() -> bool:
    """Whether tensors are made without values (`DeviceCtx("meta")`)."""
    return type(context.current().device) is MetaDevice


def use(device: Any) -> None:
    """Make `device` the place where eager primitives run, in the current context."""
    context.current().device = device


def on_host(array: Any) -> np.ndarray:
    """The values of an array, wherever it is. Errors that the device has met on the way are raised."""
    if type(array) is np.ndarray:
        return array
    values = host_array(array)
    device = accelerator()
    if device is not None:
        device.reports.check(wait=True)
    return values


def start_copy(array: Any) -> None:
    """Begin to bring an array to the host, as soon as it is computed; `on_host` then waits for that alone."""
    start = getattr(array, "copy_to_host_async", None)
    if start is not None:
        start()


def flush() -> None:
    """A natural point to start work that was put off: the end of a backward pass."""
    context.current().device.flush()
