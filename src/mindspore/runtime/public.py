"""What `mindspore.runtime` offers users: streams, events, memory, and how the host drives the device."""

from __future__ import annotations

import os
from typing import Any

from mindspore.runtime import context
from mindspore.runtime.device_memory import (
    MemPool,
    PluggableAllocator,
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
    set_memory,
    use_mem_pool,
)
from mindspore.runtime.device_streams import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Event", "MemPool", "PluggableAllocator", "Stream", "StreamCtx", "StreamLimitCtx", "communication_stream",
    "current_stream", "default_stream", "dispatch_threads_num", "empty_cache", "get_device_limit", "get_stream_limit",
    "launch_blocking", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
    "memory_stats", "memory_summary", "reset_max_memory_allocated", "reset_max_memory_reserved",
    "reset_peak_memory_stats", "reset_stream_limit", "set_cpu_affinity", "set_cur_stream", "set_device_limit",
    "set_kernel_launch_capture", "set_kernel_launch_group", "set_memory", "set_stream_limit", "synchronize",
    "use_mem_pool",
]  # fmt: skip


def _settings() -> dict[str, Any]:
    """How the host drives the device. Read by nothing on devices where it makes no difference."""
    return context.current().section("runtime", {})


def launch_blocking() -> None:
    """Wait for every operation before the next one is given, so that errors appear where they happen.

    Examples:
        >>> ms.runtime.launch_blocking() is None
        True
    """
    context.current().edit({"pynative_synchronize": True})


def dispatch_threads_num(threads_num: int) -> None:
    """Threads that give work to the device. One thread does it here; the number is checked and remembered.

    Examples:
        >>> ms.runtime.dispatch_threads_num(1) is None
        True
    """
    _settings()["dispatch_threads_num"] = _positive("threads_num", threads_num)


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Threads and groups for launching kernels. Graphs run as one call here; the numbers are checked and remembered.

    Examples:
        >>> ms.runtime.set_kernel_launch_group() is None
        True
    """
    _settings()["kernel_launch_group"] = (
        _positive("thread_num", thread_num),
        _positive("kernel_group_num", kernel_group_num),
    )


def set_kernel_launch_capture(enable_capture_graph: bool, op_capture_skip: Any = None) -> None:
    """Capture graphs for replay. Compiled graphs are replayed anyway; the setting is checked and remembered."""
    if not isinstance(enable_capture_graph, bool):
        raise TypeError(f"'enable_capture_graph' must be bool, but got {type(enable_capture_graph).__name__}.")
    _settings()["kernel_launch_capture"] = (enable_capture_graph, op_capture_skip)


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"The parameter '{name}' must be <class 'int'>, but got {type(value)}")
    if value < 1:
        raise ValueError(f"The num of {name} must bigger than or equal to 1, but got {value}.")
    return value


# -- CPU affinity -----------------------------------------------------------------------------------------------------
def set_cpu_affinity(
    enable_affinity: bool, affinity_cpu_list: Any = None, module_to_cpu_dict: Any = None, bind_file: Any = None
) -> None:
    """Keep this process on some CPUs: `affinity_cpu_list=["0-3", "8-8"]`. Without a list nothing is bound."""
    if not isinstance(enable_affinity, bool):
        raise TypeError(f"The parameter 'enable_affinity' must be <class 'bool'>, but got {type(enable_affinity)}")
    if not enable_affinity or not affinity_cpu_list:
        return
    if isinstance(affinity_cpu_list, dict):  # one list for each device: this process drives one
        affinity_cpu_list = next(iter(affinity_cpu_list.values()))
    if not isinstance(affinity_cpu_list, list):
        raise TypeError(f"'affinity_cpu_list' must be a list of ranges like '0-3', but got {affinity_cpu_list!r}.")
    wanted = {cpu for text in affinity_cpu_list for cpu in _cpu_range(text)}
    if hasattr(os, "sched_setaffinity"):
        missing = wanted - os.sched_getaffinity(0)
        if missing:
            raise RuntimeError(f"The CPUs {sorted(missing)} are not available to this process.")
        os.sched_setaffinity(0, wanted)


def _cpu_range(text: Any) -> range:
    first, dash, last = text.partition("-") if isinstance(text, str) else ("", "", "")
    if not (first.isdigit() and (last.isdigit() if dash else True)):
        raise ValueError(f"A range of CPUs must look like '0-3', but got {text!r}.")
    low, high = int(first), int(last or first)
    if low > high:
        raise ValueError(f"A range of CPUs must not end before it starts, but got {text!r}.")
    return range(low, high + 1)


# -- limits on cores --------------------------------------------------------------------------------------------------
def set_device_limit(device: int, cube_num: int = -1, vector_num: int = -1) -> None:
    """Cores of the device to use; -1 leaves them as they are. Remembered; devices here share their cores themselves.

    Examples:
        >>> ms.runtime.set_device_limit(0, cube_num=4)
        >>> ms.runtime.get_device_limit(0)["cube_core_num"]
        4
    """
    _settings()[f"device_limit:{device}"] = _merge_limit(get_device_limit(device), cube_num, vector_num)


def get_device_limit(device: int) -> dict[str, int]:
    """What `set_device_limit` was told.

    Examples:
        >>> sorted(ms.runtime.get_device_limit(0))
        ['cube_core_num', 'vector_core_num']
    """
    return dict(_settings().get(f"device_limit:{device}", {"cube_core_num": -1, "vector_core_num": -1}))


def set_stream_limit(stream: Stream, cube_num: int = -1, vector_num: int = -1) -> None:
    """Cores that a stream uses; -1 leaves them as they are.

    Examples:
        >>> stream = ms.runtime.Stream()
        >>> ms.runtime.set_stream_limit(stream, cube_num=4)
        >>> ms.runtime.get_stream_limit(stream)["cube_core_num"]
        4
    """
    _settings()[f"stream_limit:{stream.id}"] = _merge_limit(get_stream_limit(stream), cube_num, vector_num)


def get_stream_limit(stream: Stream) -> dict[str, int]:
    """What `set_stream_limit` was told.

    Examples:
        >>> stream = ms.runtime.Stream()
        >>> sorted(ms.runtime.get_stream_limit(stream))
        ['cube_core_num', 'vector_core_num']
    """
    return dict(_settings().get(f"stream_limit:{stream.id}", get_device_limit(0)))


def reset_stream_limit(stream: Stream) -> None:
    """Forget what `set_stream_limit` was told.

    Examples:
        >>> stream = ms.runtime.Stream()
        >>> ms.runtime.reset_stream_limit(stream) is None
        True
    """
    _settings().pop(f"stream_limit:{stream.id}", None)


def _merge_limit(known: dict[str, int], cube_num: int, vector_num: int) -> dict[str, int]:
    for name, value in (("cube_num", cube_num), ("vector_num", vector_num)):
        if isinstance(value, bool) or not isinstance(value, int) or (value < 1 and value != -1):
            raise ValueError(f"'{name}' must be a positive int, or -1 to leave it, but got {value!r}.")
    cube = cube_num if cube_num != -1 else known["cube_core_num"]
    return {"cube_core_num": cube, "vector_core_num": vector_num if vector_num != -1 else known["vector_core_num"]}


class StreamLimitCtx:
    """`with StreamLimitCtx(stream, ...):` limits a stream inside.

    Examples:
        >>> stream = ms.runtime.Stream()
        >>> with ms.runtime.StreamLimitCtx(stream, cube_num=4):
        ...     limit = ms.runtime.get_stream_limit(stream)["cube_core_num"]
        >>> limit
        4
    """

    def __init__(self, stream: Stream, cube_num: int = -1, vector_num: int = -1):
        self.stream, self.cube_num, self.vector_num = stream, cube_num, vector_num

    def __enter__(self) -> StreamLimitCtx:
        set_stream_limit(self.stream, self.cube_num, self.vector_num)
        return self

    def __exit__(self, *_: Any) -> None:
        reset_stream_limit(self.stream)
