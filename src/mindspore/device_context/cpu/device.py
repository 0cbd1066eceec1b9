"""Whether the machine has such devices, and how many."""

from __future__ import annotations

from mindspore.device_context import _settings
from mindspore.hal import device


def is_available() -> bool:
    """Whether a device of this kind can be used here."""
    return device.is_available("CPU")


def device_count() -> int:
    """The number of devices of this kind."""
    return _settings.count("CPU")
