"""Memory of the current device: what is in use, and the limits that programs ask for.

Accelerators report what XLA's allocator knows. The CPU has no pool of its own, so its figures are zero.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
from collections.abc import Iterator
from typing import Any

from mindspore.runtime import context, devices

_GIGABYTES = re.compile(r"(\d+(\.\d*)?|\.\d+)GB")


def _allocator() -> dict[str, int]:
    """Figures of the device's allocator; empty where there are none."""
    device = devices.current()
    stats = getattr(getattr(device, "device", None), "memory_stats", None)
    return (stats() or {}) if stats is not None else {}


class _Peaks:
    """Peaks since the last reset. XLA's own peak cannot be reset, so what it was at the reset is kept."""

    def __init__(self) -> None:
        self.at_reset: dict[str, int] = {}
        self.seen: dict[str, int] = {}

    def of(self, kind: str, now: int, total: int) -> int:
        if kind not in self.at_reset:
            return max(now, total)
        self.seen[kind] = max(self.seen.get(kind, 0), now, total if total > self.at_reset[kind] else 0)
        return self.seen[kind]

    def reset(self, kind: str, now: int, total: int) -> None:
        self.at_reset[kind], self.seen[kind] = total, now


def _peaks() -> _Peaks:
    return context.current().made("memory_peaks", _Peaks)


def memory_allocated() -> int:
    """Bytes that tensors take on the device now.

    Examples:
        >>> ms.runtime.memory_allocated() >= 0
        True
    """
    return int(_allocator().get("bytes_in_use", 0))


def memory_reserved() -> int:
    """Bytes that the device's allocator holds now.

    Examples:
        >>> ms.runtime.memory_reserved() >= 0
        True
    """
    stats = _allocator()
    return int(max(stats.get("pool_bytes", 0), stats.get("bytes_reserved", 0), stats.get("bytes_in_use", 0)))


def max_memory_allocated() -> int:
    """The most bytes that tensors took since the start or the last reset.

    Examples:
        >>> ms.runtime.max_memory_allocated() >= 0
        True
    """
    return _peaks().of("allocated", memory_allocated(), int(_allocator().get("peak_bytes_in_use", 0)))


def max_memory_reserved() -> int:
    """The most bytes that the allocator held since the start or the last reset.

    Examples:
        >>> ms.runtime.max_memory_reserved() >= 0
        True
    """
    return _peaks().of("reserved", memory_reserved(), int(_allocator().get("peak_pool_bytes", 0)))


def reset_max_memory_allocated() -> None:
    """Measure the peak of `max_memory_allocated` from now on.

    Examples:
        >>> ms.runtime.reset_max_memory_allocated() is None
        True
    """
    _peaks().reset("allocated", memory_allocated(), int(_allocator().get("peak_bytes_in_use", 0)))


def reset_max_memory_reserved() -> None:
    """Measure the peak of `max_memory_reserved` from now on.

    Examples:
        >>> ms.runtime.reset_max_memory_reserved() is None
        True
    """
    _peaks().reset("reserved", memory_reserved(), int(_allocator().get("peak_pool_bytes", 0)))


def reset_peak_memory_stats() -> None:
    """Measure all peaks from now on.

    Examples:
        >>> ms.runtime.reset_peak_memory_stats() is None
        True
    """
    reset_max_memory_allocated()
    reset_max_memory_reserved()


def memory_stats() -> dict[str, Any]:
    """All figures by name.

    Examples:
        >>> isinstance(ms.runtime.memory_stats(), dict)
        True
    """
    reserved, allocated = memory_reserved(), memory_allocated()
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": allocated,
        "total_idle_memory": reserved - allocated,
        "total_eager_free_memory": 0,
        "max_reserved_memory": max_memory_reserved(),
        "max_allocated_memory": max_memory_allocated(),
        "common_mem_pool_stats": {"block_unit_size": 0, "block_counts": 0, "blocks_info": {}},
        "persistent_mem_pool_stats": {"block_unit_size": 0, "block_counts": 0, "blocks_info": {}},
    }


def memory_summary() -> str:
    """The figures as a table.

    Examples:
        >>> isinstance(ms.runtime.memory_summary(), str)
        True
    """
    stats = memory_stats()
    rows = [
        ("Reserved memory", stats["total_reserved_memory"]),
        ("Allocated memory", stats["total_allocated_memory"]),
        ("Idle memory", stats["total_idle_memory"]),
        ("Eager free memory", stats["total_eager_free_memory"]),
        ("Max reserved memory", stats["max_reserved_memory"]),
        ("Max allocated memory", stats["max_allocated_memory"]),
    ]
    double, single = "|" + "=" * 45 + "|", "|" + "-" * 45 + "|"
    lines = [double, f"|{'Memory summary':^45}|", double, f"| {'Metric':<20} | {'Data':<20} |"]
    for name, value in rows:
        lines += [single, f"| {name:<20} | {_readable(value):<20} |"]
    return "\n".join([*lines, double]) + "\n"


def _readable(count: int) -> str:
    size, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} B" if units[0] == "B" else f"{size:.2f} {units[0]}"


def empty_cache() -> None:
    """Give back memory that no tensor uses: collects Python's garbage, whose tensors hold device memory.

    Examples:
        >>> ms.runtime.empty_cache() is None
        True
    """
    gc.collect()


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Sizes of the device's memory pool, like "10GB". XLA manages its own pool: they are checked and remembered."""
    given = {
        "init_size": init_size,
        "increase_size": increase_size,
        "max_size": max_size,
        "huge_page_reserve_size": huge_page_reserve_size,
    }
    for name, value in given.items():
        gigabytes(name, value, positive=name != "huge_page_reserve_size")
    if not isinstance(optimize_level, str):
        raise TypeError(f"The parameter 'optimize_level' must be <class 'str'>, but got {type(optimize_level)}")
    if optimize_level not in ("O0", "O1"):
        raise ValueError(f"The optimize_level must be one of ['O0', 'O1'], but got {optimize_level}.")
    if gigabytes("max_size", max_size) < gigabytes("init_size", init_size):
        given["init_size"] = max_size
    context.current().sections["memory"] = {**given, "optimize_level": optimize_level}


def memory_settings() -> dict[str, str]:
    """What `set_memory` was told."""
    return dict(context.current().section("memory", {}))


def gigabytes(name: str, value: Any, positive: bool = True) -> float:
    """A size like "1.5GB" as a number."""
    if not isinstance(value, str):
        raise TypeError(f"The parameter '{name}' must be <class 'str'>, but got {type(value)}")
    if not _GIGABYTES.fullmatch(value) or (positive and not float(value[:-2])):
        raise ValueError(f"The memory size of '{name}' should be in correct format! Such as \"10GB\", but got {value}.")
    return float(value[:-2])


# -- allocators of the user's own -------------------------------------------------------------------------------------
class PluggableAllocator:
    """Functions of a shared library that get and free device memory."""

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str):
        library = ctypes.CDLL(path_to_so_file)
        self.alloc_fn_ptr, self.free_fn_ptr = (
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in (alloc_fn_name, free_fn_name)
        )


class MemPool:
    """A pool whose memory comes from an allocator of the user's own."""

    def __init__(self, allocator: PluggableAllocator):
        if not isinstance(allocator, PluggableAllocator):
            raise TypeError(f"'allocator' must be a PluggableAllocator, but got {type(allocator).__name__}.")
        self.allocator = allocator


@contextlib.contextmanager
def use_mem_pool(pool: MemPool) -> Iterator[None]:
    """Take memory from a pool. No device here can: NumPy and XLA keep their own memory."""
    if not isinstance(pool, MemPool):
        raise TypeError(f"'pool' must be a MemPool, but got {type(pool).__name__}.")
    raise RuntimeError(f"the device '{devices.current().name}' manages its own memory and cannot use another pool.")
    yield
