"""How operations use the cores of the CPU."""

from __future__ import annotations

from mindspore import context
from mindspore.device_context import _settings


def threads_num(num: int) -> None:
    """Threads that work on one operation."""
    if _settings.typed("num", num, int) < 1:
        raise ValueError(f"The parameter 'num' must be greater than or equal to 1, but got {num}.")
    context.set_context(runtime_num_threads=num)
