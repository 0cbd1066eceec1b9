"""Options of profilers, and the schedule of what to do in which step."""

from __future__ import annotations

from enum import Enum
from typing import Any

from mindspore import log as logger


class ProfilerLevel(Enum):
    """How much is collected."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(Enum):
    """Which devices are looked at."""

    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class AicoreMetrics(Enum):
    """Counters of Ascend chips; accepted."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(Enum):
    """Formats of results; text (JSON and CSV) is written."""

    Db = "db"
    Text = "text"


class HostSystem(Enum):
    """Counters of the host; accepted."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class ProfilerAction(Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class schedule:
    """Which steps to record: skip `skip_first`, then again and again wait, warm up and record.

    Args:
        wait, warmup, active: so many steps of each.
        repeat: so many rounds; 0 means without end.
        skip_first: steps at the start that do not count.

    Examples:
        >>> from mindspore.profiler import schedule
        >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [plan(step).name for step in range(5)]
        ['NONE', 'WARM_UP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """

    def __init__(self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0):
        self.wait = _count("wait", wait, 0)
        self.active = _count("active", active, 1)
        self.warmup = _count("warmup", warmup, 0)
        self.repeat = _count("repeat", repeat, 0)
        self.skip_first = _count("skip_first", skip_first, 0)

    def __call__(self, step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"For 'schedule', a step must not be negative, but got {step}.")
        if step < self.skip_first:
            return ProfilerAction.NONE
        round_length = self.wait + self.warmup + self.active
        rounds, place = divmod(step - self.skip_first, round_length)
        if 0 < self.repeat <= rounds or place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD if place < round_length - 1 else ProfilerAction.RECORD_AND_SAVE

    def to_dict(self) -> dict[str, int]:
        """The numbers as a dict."""
        return {name: getattr(self, name) for name in ("wait", "active", "warmup", "repeat", "skip_first")}

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.to_dict().items())
        return f"Schedule({shown})"


def _count(name: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        logger.warning(
            "For 'schedule', '%s' must be an int of at least %d, but got %r; %d is used.", name, least, value, least
        )
        return least
    return value


class _ExperimentalConfig:
    """Further options; those that need other hardware are accepted and have no effect."""

    def __init__(
        self,
        profiler_level: ProfilerLevel = ProfilerLevel.Level0,
        aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone,
        l2_cache: bool = False,
        mstx: bool = False,
        data_simplification: bool = True,
        export_type: list | None = None,
        mstx_domain_include: list | None = None,
        mstx_domain_exclude: list | None = None,
        sys_io: bool = False,
        sys_interconnection: bool = False,
        host_sys: list | None = None,
    ):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})
