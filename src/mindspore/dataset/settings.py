"""The settings of the data engine: what `mindspore.dataset.config` sets, and whoever acts on a setting reads."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from mindspore.dataset.runtime.stopwatch import Stopwatch

DEFAULT_SEED = 5489  # the value that means "not set": every run draws its own


class ErrorSamplesMode(IntEnum):
    """What a map does with a row that fails: raise, put a good row in its place, or leave the row out.

    Examples:
        >>> [choice.name for choice in ds.config.ErrorSamplesMode]
        ['RETURN', 'REPLACE', 'SKIP']
    """

    RETURN = 0
    REPLACE = 1
    SKIP = 2


@dataclass
class Settings:
    seed: int = DEFAULT_SEED
    num_parallel_workers: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))
    prefetch_size: int = 16
    auto_num_workers: bool = False
    auto_offload: bool = False
    autotune: bool = False
    autotune_path: str | None = None
    autotune_interval: int = 0
    callback_timeout: int = 60
    debug_mode: bool = False
    debug_hooks: list = field(default_factory=list)
    dynamic_shape: bool = False
    error_samples_mode: ErrorSamplesMode = ErrorSamplesMode.RETURN
    fast_recovery: bool = True
    iterator_mode: dict = field(default_factory=lambda: {"do_copy": False, "parallel_convert": False})
    monitor_sampling_interval: int = 1000
    multiprocessing_start_method: str = "fork"
    multiprocessing_timeout_interval: int = 300
    numa_enable: bool = False
    sending_batches: int = 0
    shared_mem: bool = True
    video_backend: str = "CPU"
    watchdog: bool = True
    disabled_rules: frozenset = frozenset()
    stopwatch: Stopwatch | None = None  # set while the profiler records


_settings = Settings()


def settings() -> Settings:
    """The live settings."""
    return _settings


def change(**values: Any) -> None:
    """Set some of them."""
    _settings.__dict__.update(values)
