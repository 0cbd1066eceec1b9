"""Settings of the data engine: `mindspore.dataset.config`.

Each setting is a `set_…`/`get_…` pair over one `Settings` object (`dataset/settings.py`); `load` reads several from a JSON file.

    import mindspore.dataset as ds
    ds.config.set_seed(1)
    ds.config.set_num_parallel_workers(4)
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import fields
from typing import Any

import numpy as np

from mindspore._base.seed_hook import on_seed
from mindspore.dataset._check import INT32_MAX, UINT32_MAX, check_bool, check_range, check_type, worker_limit
from mindspore.dataset.opt import RULES
from mindspore.dataset.settings import ErrorSamplesMode, Settings, change, settings


def _check_int(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} isn't of type int. Got {value!r} of type {type(value)}.")


def _check_flag(value: Any, demand: str) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{demand}. Got {value!r} of type {type(value)}.")


def set_seed(seed: int) -> None:
    """Fix every random choice of the pipelines built from now on, and Python's and NumPy's own generators."""
    _check_int(seed, "seed")
    if not 0 <= seed <= UINT32_MAX:
        raise ValueError(f"seed given is not within the required range [0, UINT32_MAX(4294967295)], got {seed}.")
    change(seed=seed)
    random.seed(seed)
    np.random.seed(seed)


on_seed(lambda seed: set_seed(seed % (UINT32_MAX + 1)))  # `mindspore.set_seed` seeds the data pipeline, too


def get_seed() -> int:
    """The seed of the data pipeline.

    Examples:
        >>> ds.config.set_seed(5)
        >>> ds.get_seed()
        5
    """
    return settings().seed


def set_num_parallel_workers(num: int) -> None:
    """Default number of workers of each operation."""
    _check_int(num, "num")
    if not 0 < num <= INT32_MAX:
        raise ValueError(f"Number of parallel workers given is not within the required range, got {num}.")
    if num > worker_limit():
        raise RuntimeError(f"num_parallel_workers exceeds the boundary between 1 and {worker_limit()}, as got {num}.")
    change(num_parallel_workers=num)


def get_num_parallel_workers() -> int:
    return settings().num_parallel_workers


def set_prefetch_size(size: int) -> None:
    """How many rows each stage may run ahead of its consumer."""
    _check_int(size, "size")
    if not 0 < size <= INT32_MAX:
        raise ValueError(
            f"prefetch size given is not within the required range (0, INT32_MAX(2147483647)], got {size}."
        )
    change(prefetch_size=size)


def get_prefetch_size() -> int:
    return settings().prefetch_size


def set_numa_enable(numa_enable: bool) -> None:
    _check_flag(numa_enable, "numa_enable must be a boolean dtype")
    change(numa_enable=numa_enable)


def get_numa_enable() -> bool:
    return settings().numa_enable


def set_monitor_sampling_interval(interval: int) -> None:
    _check_int(interval, "interval")
    if not 0 < interval <= INT32_MAX:
        raise ValueError(f"Interval given is not within the required range (0, INT32_MAX(2147483647)], got {interval}.")
    change(monitor_sampling_interval=interval)


def get_monitor_sampling_interval() -> int:
    return settings().monitor_sampling_interval


def set_auto_num_workers(enable: bool) -> None:
    """Let the engine choose the number of workers of each operation from the number of cores."""
    _check_flag(enable, "enable must be of type bool")
    change(auto_num_workers=enable)


def get_auto_num_workers() -> bool:
    return settings().auto_num_workers


def set_callback_timeout(timeout: int) -> None:
    _check_int(timeout, "timeout")
    if not 0 < timeout <= INT32_MAX:
        raise ValueError(f"Timeout given is not within the required range (0, INT32_MAX(2147483647)], got {timeout}.")
    change(callback_timeout=timeout)


def get_callback_timeout() -> int:
    return settings().callback_timeout


def set_enable_shared_mem(enable: bool) -> None:
    """Let worker processes hand rows back through shared memory."""
    _check_flag(enable, "enable must be of type bool")
    change(shared_mem=enable)


def get_enable_shared_mem() -> bool:
    return settings().shared_mem


def set_sending_batches(batch_num: int) -> None:
    if isinstance(batch_num, bool) or not isinstance(batch_num, int):
        raise TypeError(f"batch_num must be an int dtype, but got {batch_num!r} of type {type(batch_num)}.")
    check_range(batch_num, 0, INT32_MAX, "batch_num")
    change(sending_batches=batch_num)


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Let the engine adjust worker counts and queue depths while it runs; optionally save the result as JSON."""
    _check_flag(enable, "enable must be of type bool")
    if filepath_prefix is not None:
        check_type(filepath_prefix, str, "filepath_prefix")
    if enable and filepath_prefix is not None:
        if not filepath_prefix:
            raise RuntimeError("The value of json_filepath cannot be the empty string.")
        if os.path.isdir(filepath_prefix):
            raise RuntimeError("The value of json_filepath cannot be that of a directory.")
        folder = os.path.dirname(os.path.realpath(filepath_prefix))
        if not os.path.isdir(folder):
            raise RuntimeError(f"Directory {folder} does not exist.")
        if not os.access(folder, os.W_OK):
            raise RuntimeError(f"No access to writing to: {folder}")
    change(autotune=enable)
    change(autotune_path=filepath_prefix if enable else None)


def get_enable_autotune() -> bool:
    return settings().autotune


def set_autotune_interval(interval: int) -> None:
    """Steps between two adjustments; 0 adjusts once an epoch."""
    if isinstance(interval, bool) or not isinstance(interval, int):
        raise TypeError(f"interval must be of type int. Got {interval!r} of type {type(interval)}.")
    if not 0 <= interval <= INT32_MAX:
        raise ValueError(f"Interval given is not within the required range [0, INT32_MAX(2147483647)], got {interval}.")
    change(autotune_interval=interval)


def get_autotune_interval() -> int:
    return settings().autotune_interval


def set_auto_offload(offload: bool) -> None:
    _check_flag(offload, "offload must be a boolean dtype")
    change(auto_offload=offload)


def get_auto_offload() -> bool:
    return settings().auto_offload


def set_enable_watchdog(enable: bool) -> None:
    """Watch worker processes and report one that has gone silent."""
    _check_flag(enable, "enable must be a boolean dtype")
    change(watchdog=enable)


def get_enable_watchdog() -> bool:
    return settings().watchdog


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Seconds after which a silent worker process is reported."""
    _check_int(interval, "interval")
    if not 0 < interval <= INT32_MAX:
        raise ValueError(f"Interval given is not within the required range (0, INT32_MAX(2147483647)], got {interval}.")
    change(multiprocessing_timeout_interval=interval)


def get_multiprocessing_timeout_interval() -> int:
    return settings().multiprocessing_timeout_interval


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """How worker processes are started: "fork", or "spawn", for which functions and sources must pickle."""
    check_type(start_method, str, "start_method")
    if start_method not in ("fork", "spawn"):
        raise ValueError(f"The start_method must be 'fork' or 'spawn', but got {start_method!r}.")
    change(multiprocessing_start_method=start_method)


def get_multiprocessing_start_method() -> str:
    return settings().multiprocessing_start_method


def set_dynamic_shape(is_dynamic: bool) -> None:
    _check_flag(is_dynamic, "is_dynamic must be a boolean dtype")
    change(dynamic_shape=is_dynamic)


def get_dynamic_shape() -> bool:
    return settings().dynamic_shape


def set_fast_recovery(fast_recovery: bool) -> None:
    """On a reset, skip rows without running the random transforms again."""
    _check_flag(fast_recovery, "fast_recovery must be a boolean dtype")
    change(fast_recovery=fast_recovery)


def get_fast_recovery() -> bool:
    return settings().fast_recovery


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: list | None = None) -> None:
    """Run pipelines step by step in the calling thread; each hook sees the data between operations."""
    from mindspore.dataset.debug import DebugHook

    _check_flag(debug_mode_flag, "debug_mode_flag isn't of type boolean")
    hooks = [] if debug_hook_list is None else debug_hook_list
    if not isinstance(hooks, list):
        raise TypeError(f"debug_hook_list is not a list. Got {type(hooks)}.")
    for i, hook in enumerate(hooks):
        if not isinstance(hook, DebugHook):
            raise TypeError(f"All items in debug_hook_list must be of type DebugHook, but item {i} is {type(hook)}.")
    change(debug_mode=debug_mode_flag)
    change(debug_hooks=list(hooks))


def get_debug_mode() -> bool:
    return settings().debug_mode


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    check_type(error_samples_mode, ErrorSamplesMode, "error_samples_mode")
    change(error_samples_mode=error_samples_mode)


def get_error_samples_mode() -> ErrorSamplesMode:
    return settings().error_samples_mode


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    check_bool(do_copy, "do_copy")
    check_bool(parallel_convert, "parallel_convert")
    change(iterator_mode={"do_copy": do_copy, "parallel_convert": parallel_convert})


def get_iterator_mode() -> dict:
    return dict(settings().iterator_mode)


def set_video_backend(backend: str) -> None:
    check_type(backend, str, "backend")
    if backend not in ("CPU", "Ascend"):
        raise ValueError(f"Input backend is not within the valid set of ['CPU', 'Ascend'], but got {backend!r}.")
    change(video_backend=backend)


def get_video_backend() -> str:
    return settings().video_backend


def set_optimizer_rule(name: str, enable: bool) -> None:
    """Switch one rewrite rule of the pipeline optimiser on or off (`ds.explain` prints their names)."""
    if name not in RULES:
        raise ValueError(f"There is no optimiser rule named {name!r}. Rules: {', '.join(RULES)}.")
    _check_flag(enable, "enable must be of type bool")
    disabled = settings().disabled_rules
    change(disabled_rules=disabled - {name} if enable else disabled | {name})


# The names a settings file uses for our fields.
_FILE_NAMES = {
    "numParallelWorkers": "num_parallel_workers",
    "workerConnectorSize": "prefetch_size",
    "opConnectorSize": "prefetch_size",
    "prefetchSize": "prefetch_size",
    "seed": "seed",
    "monitorSamplingInterval": "monitor_sampling_interval",
}


def load(file: str) -> None:
    """Read settings from a JSON file, as `{"seed": 1, "numParallelWorkers": 4}`."""
    check_type(file, str, "file")
    try:
        with open(file, encoding="utf-8") as stream:
            values: dict[str, Any] = json.load(stream)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"Cannot read settings from {file}: {error}") from None
    known = {item.name for item in fields(Settings)}
    for key, value in values.items():
        name = _FILE_NAMES.get(key, key)
        if name in known and isinstance(value, int):
            change(**{name: value})
