"""Memory of a device. The figures are those of the device in use; see `mindspore.runtime`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.hal.device import _checked
from mindspore.runtime import device_memory


def _of_target(function: Callable[[], Any]) -> Callable[..., Any]:
    """The function with the `device_target` argument that `hal` has: the target must be there."""

    def wrapper(device_target: str | None = None) -> Any:
        _checked(device_target)
        return function()

    wrapper.__name__ = wrapper.__qualname__ = function.__name__
    wrapper.__doc__ = function.__doc__
    return wrapper


memory_stats = _of_target(device_memory.memory_stats)
memory_summary = _of_target(device_memory.memory_summary)
memory_allocated = _of_target(device_memory.memory_allocated)
memory_reserved = _of_target(device_memory.memory_reserved)
max_memory_allocated = _of_target(device_memory.max_memory_allocated)
max_memory_reserved = _of_target(device_memory.max_memory_reserved)
reset_peak_memory_stats = _of_target(device_memory.reset_peak_memory_stats)
reset_max_memory_allocated = _of_target(device_memory.reset_max_memory_allocated)
reset_max_memory_reserved = _of_target(device_memory.reset_max_memory_reserved)
empty_cache = device_memory.empty_cache
