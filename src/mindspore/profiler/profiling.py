"""The 1.x place of the profiler. Façade: re-exports only."""

from mindspore.profiler.profiler import Profiler

__all__ = ["Profiler"]
