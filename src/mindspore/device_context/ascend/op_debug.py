"""Debugging settings of Ascend processors; checked and remembered."""

from __future__ import annotations

from typing import Any

from mindspore.device_context import _settings


def execute_timeout(op_timeout: int) -> None:
    """Seconds an operation may take."""
    if _settings.typed("op_timeout", op_timeout, int) < 0:
        raise ValueError(f"The timeout must not be negative, but got {op_timeout}.")
    _settings.remember("ascend.execute_timeout", op_timeout)


def debug_option(option_value: Any) -> None:
    """Watch for memory errors: "oom"."""
    _settings.remember("ascend.debug_option", _settings.one_of("debug_option", option_value, ("oom",)))


def aclinit_config(config: dict) -> None:
    """Options given to the driver when it starts."""
    _settings.remember("ascend.aclinit_config", dict(_settings.typed("config", config, dict)))
