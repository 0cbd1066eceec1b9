"""Profiling. Façade: re-exports only."""

from typing import Any

from mindspore.profiler.mstx import mstx
from mindspore.profiler.options import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    schedule,
)
from mindspore.profiler.profiler import EnvProfiler, Profiler, profile, tensorboard_trace_handler


def __getattr__(name: str) -> Any:
    """The callback is looked up on first use: it stands on `mindspore.train`, which uses the recorder itself."""
    if name == "DynamicProfilerMonitor":
        from mindspore.profiler.dynamic import DynamicProfilerMonitor

        return DynamicProfilerMonitor
    raise AttributeError(f"module 'mindspore.profiler' has no attribute '{name}'")


__all__ = [
    "AicoreMetrics",
    "EnvProfiler",
    "ExportType",
    "HostSystem",
    "Profiler",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "mstx",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
]
