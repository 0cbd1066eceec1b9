"""Tuning settings of Ascend processors; checked and remembered."""

from __future__ import annotations

from mindspore.device_context import _settings


def op_compile(value: bool) -> None:
    """Compile operations when they are first met rather than use prepared ones."""
    _settings.remember("ascend.op_compile", _settings.typed("value", value, bool))


def aoe_tune_mode(tune_mode: str) -> None:
    """Tune while a program runs ("online") or on saved graphs ("offline")."""
    _settings.remember("ascend.aoe_tune_mode", _settings.one_of("aoe_tune_mode", tune_mode, ("online", "offline")))


def aoe_job_type(config: str) -> None:
    """What is tuned: subgraphs ("1") or operations ("2")."""
    _settings.remember("ascend.aoe_job_type", _settings.one_of("aoe_job_type", config, ("1", "2")))


def aclnn_cache(enable_global_cache: bool = False, cache_queue_length: int = 10000) -> None:
    """The cache of prepared operations."""
    _settings.typed("enable_global_cache", enable_global_cache, bool)
    if _settings.typed("cache_queue_length", cache_queue_length, int) < 1:
        raise ValueError(f"The length of the cache must be positive, but got {cache_queue_length}.")
    _settings.remember("ascend.aclnn_cache", (enable_global_cache, cache_queue_length))
