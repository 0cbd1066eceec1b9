"""Run-time settings: graph or PyNative mode, device, dumps and limits.

The only mutable global state of the framework. Settings that make sense on other hardware only are accepted, checked
for type where that is cheap, and otherwise have no effect.
"""

from __future__ import annotations

import os
from typing import Any

from mindspore._base import flags
from mindspore.prims.active import ACTIVE

__ms_treatment__ = "refused"  # by the compiler: see compiler/parse/source.py

GRAPH_MODE = 0
PYNATIVE_MODE = 1

STRICT, COMPATIBLE, LAX = 0, 1, 2

_DEVICES = ("CPU", "GPU", "Ascend", "Davinci")

_DEFAULTS: dict[str, Any] = {
    "mode": PYNATIVE_MODE,
    "device_target": "CPU",
    "device_id": 0,
    "save_graphs": False,
    "save_graphs_path": ".",
    "max_call_depth": 1000,
    "enable_graph_kernel": False,
    "graph_kernel_flags": "",
    "enable_compile_cache": False,
    "compile_cache_path": "",
    "runtime_num_threads": 0,
    "deterministic": "OFF",
    "pynative_synchronize": False,
    "jit_config": None,
    "jit_level": "",
    "jit_syntax_level": LAX,
    "check_bprop": False,
    "max_device_memory": "1024GB",
    "mempool_block_size": "1GB",
    "memory_optimize_level": "O0",
    "reserve_class_name_in_scope": True,
    "precompile_only": False,
    "enable_reduce_precision": True,
    "enable_auto_mixed_precision": False,
    "enable_dump": False,
    "save_dump_path": "",
    "enable_profiling": False,
    "profiling_options": "",
    "env_config_path": "",
    "variable_memory_max_size": "30GB",
    "auto_tune_mode": "NO_TUNE",
    "grad_for_scalar": False,
    "print_file_path": "",
    "enable_sparse": False,
    "support_binary": False,
    "memory_offload": "OFF",
    "ascend_config": {},
    "gpu_config": {},
    "op_timeout": 900,
    "aoe_tune_mode": "",
    "aoe_config": {},
    "op_tuning_conf": {},
    "inter_op_parallel_num": 0,
    "debug_level": 0,
    "exec_order": "",
    "enable_task_sink": True,
    "enable_mem_reuse": True,
    "enable_gpu_summary": True,
    "enable_mem_scheduler": False,
    "graph_memory_max_size": "0",
    "enable_loop_sink": False,
    "backend": "",
}

_BOOLS = ("save_dump", "enable_graph_kernel", "enable_compile_cache", "pynative_synchronize", "check_bprop", "precompile_only",
          "enable_reduce_precision", "reserve_class_name_in_scope", "enable_sparse", "grad_for_scalar")  # fmt: skip


class _Context:
    values: dict[str, Any] = dict(_DEFAULTS)


def set_context(**kwargs: Any) -> None:
    """Change settings, for example `set_context(mode=ms.GRAPH_MODE, device_target="GPU")`.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE)
        >>> ms.get_context('mode') == ms.PYNATIVE_MODE
        True
    """
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise ValueError(
                f"For 'context.set_context', the keyword argument {name} is not recognized. "
                "See the documentation of set_context for the settings that exist."
            )
        _CHECKS.get(name, lambda v: None)(value)
        if name in _BOOLS and not isinstance(value, bool):
            raise TypeError(f"For 'context.set_context', '{name}' must be a bool, but got {value!r}.")
    for name, value in kwargs.items():
        if name == "device_target":
            value = "Ascend" if value == "Davinci" else value
        _Context.values[name] = value
    if "device_target" in kwargs or "device_id" in kwargs:
        _select_device()
    if "backend" in kwargs:
        from mindspore.runtime import executor

        executor.set_backend(kwargs["backend"])
    if {"enable_graph_kernel", "graph_kernel_flags", "runtime_num_threads"} & kwargs.keys():
        from mindspore.runtime import executor

        executor.set_cpu_options(_Context.values["graph_kernel_flags"], _Context.values["runtime_num_threads"])
    if {"enable_compile_cache", "compile_cache_path"} & kwargs.keys():
        from mindspore.runtime import executor

        executor.set_compile_cache(_Context.values["enable_compile_cache"], _Context.values["compile_cache_path"])


def get_context(attr_key: str) -> Any:
    """The current value of a setting.

    Examples:
        >>> import mindspore as ms
        >>> ms.get_context('device_target')
        'CPU'
    """
    if attr_key not in _Context.values:
        raise ValueError(f"For 'context.get_context', the argument {attr_key} is not recognized.")
    return _Context.values[attr_key]


def reset_context() -> None:
    """Restore the defaults."""
    _Context.values = dict(_DEFAULTS)
    _select_device()


def graph_mode() -> bool:
    return _Context.values["mode"] == GRAPH_MODE and not ACTIVE.eagerly


def _check_mode(value: Any) -> None:
    if value not in (GRAPH_MODE, PYNATIVE_MODE) or isinstance(value, bool):
        raise ValueError(
            "For 'context.set_context', 'mode' must be context.GRAPH_MODE (0) or context.PYNATIVE_MODE (1), "
            f"but got {value!r}."
        )


def _check_device(value: Any) -> None:
    if value not in _DEVICES:
        raise ValueError(
            f"For 'context.set_context', 'device_target' must be one of {list(_DEVICES[:3])}, but got {value!r}."
        )


def _check_save_graphs(value: Any) -> None:
    if not isinstance(value, (bool, int)) or not 0 <= int(value) <= 3:
        raise ValueError(
            f"For 'context.set_context', 'save_graphs' must be a bool or an int in 0..3, but got {value!r}."
        )


def _check_depth(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(
            f"For 'context.set_context', 'max_call_depth' must be an int greater than 0, but got {value!r}."
        )


def _check_device_id(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 4095:
        raise ValueError(f"For 'context.set_context', 'device_id' must be an int in 0..4095, but got {value!r}.")


def _check_threads(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            f"For 'context.set_context', 'runtime_num_threads' must be an int and not negative, but got {value!r}."
        )


def _check_deterministic(value: Any) -> None:
    if value not in ("ON", "OFF"):
        raise ValueError(f"For 'context.set_context', 'deterministic' must be 'ON' or 'OFF', but got {value!r}.")


_CHECKS: dict[str, Any] = {
    "mode": _check_mode,
    "device_target": _check_device,
    "device_id": _check_device_id,
    "save_graphs": _check_save_graphs,
    "max_call_depth": _check_depth,
    "runtime_num_threads": _check_threads,
    "deterministic": _check_deterministic,
}


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device: "CPU", "GPU" or "Ascend".

    Examples:
        >>> import mindspore as ms
        >>> ms.set_device('CPU')
        >>> ms.get_context('device_target')
        'CPU'
    """
    set_context(device_target=device_target, **({} if device_id is None else {"device_id": device_id}))


def get_current_device() -> tuple[str, int]:
    """The kind of device operations run on and its number.

    Examples:
        >>> ms.get_current_device()
        ('CPU', 0)
    """
    return _Context.values["device_target"], _Context.values["device_id"]


def set_deterministic(deterministic: bool) -> None:
    """Ask for run-to-run identical results.

    Examples:
        >>> ms.set_deterministic(True)
        >>> ms.set_deterministic(False) is None
        True
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"'deterministic' must be a bool, but got {deterministic!r}.")
    set_context(deterministic="ON" if deterministic else "OFF")


def _select_device() -> None:
    """Tell the eager runtime where to compute. Ascend scripts run on what this machine has."""
    from mindspore.runtime import devices, executor

    target, index = _Context.values["device_target"], _Context.values["device_id"]
    devices.select(target, index)
    executor.set_target(target, index)


def dump_options() -> tuple[int, str]:
    """Level (0 none, 1 the main stages, 2 and more all) and folder of IR dumps."""
    level = int(_Context.values["save_graphs"]) or flags.integer("MS_DEV_SAVE_GRAPHS")
    path = _Context.values["save_graphs_path"]
    if path == "." and flags.text("MS_DEV_SAVE_GRAPHS_PATH"):
        path = flags.text("MS_DEV_SAVE_GRAPHS_PATH")
    return level, os.path.abspath(path)


# -- parallel settings: stored here, interpreted by mindspore.parallel ------------------------------------------------
class ParallelMode:
    """Names of the parallel modes.

    Examples:
        >>> import mindspore as ms
        >>> ms.ParallelMode.DATA_PARALLEL
        'data_parallel'
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


_PARALLEL_DEFAULTS: dict[str, Any] = {
    "device_num": 1, "global_rank": 0, "gradients_mean": False, "gradient_fp32_sync": True, "parallel_mode": "stand_alone",
    "auto_parallel_search_mode": "recursive_programming", "search_mode": "recursive_programming", "parameter_broadcast": False,
    "strategy_ckpt_load_file": "", "strategy_ckpt_save_file": "", "full_batch": False, "enable_parallel_optimizer": False,
    "force_fp32_communication": False, "enable_alltoall": True, "all_reduce_fusion_config": [], "pipeline_stages": 1,
    "pipeline_result_broadcast": False, "grad_accumulation_step": 1, "parallel_optimizer_config": {}, "comm_fusion": {},
    "strategy_ckpt_config": {}, "dataset_strategy": "data_parallel", "loss_repeated_mean": True, "communi_parallel_mode":
    "all_group_parallel", "optimizer_weight_shard_size": -1, "optimizer_weight_shard_aggregated_save": False,
    "group_ckpt_save_file": "", "auto_pipeline": False, "sharding_propagation": False, "enable_fold_pipeline": False,
    "parameter_broadcast_is_set": False, "pipeline_config": {}, "dump_local_norm": False, "dump_local_norm_path": "",
    "dump_device_local_norm": False,
}  # fmt: skip


class _Parallel:
    values: dict[str, Any] = dict(_PARALLEL_DEFAULTS)


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Change settings of parallel training.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_auto_parallel_context(parallel_mode='stand_alone')
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    for name, value in kwargs.items():
        if name not in _PARALLEL_DEFAULTS:
            raise ValueError(
                f"For 'context.set_auto_parallel_context', the keyword argument '{name}' is not recognized."
            )
        if name == "parallel_mode" and value not in ParallelMode.MODE_LIST:
            raise ValueError(f"'parallel_mode' must be one of {ParallelMode.MODE_LIST}, but got {value!r}.")
        if name == "device_num" and (not isinstance(value, int) or not 1 <= value <= 4096):
            raise ValueError(f"'device_num' must be an int in 1..4096, but got {value!r}.")
        if name == "global_rank" and (not isinstance(value, int) or not 0 <= value <= 4095):
            raise ValueError(f"'global_rank' must be an int in 0..4095, but got {value!r}.")
    _Parallel.values.update(kwargs)


def get_auto_parallel_context(attr_key: str) -> Any:
    """The current value of a parallel setting.

    Examples:
        >>> import mindspore as ms
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    if attr_key not in _Parallel.values:
        raise ValueError(f"For 'context.get_auto_parallel_context', the argument '{attr_key}' is not recognized.")
    return _Parallel.values[attr_key]


def reset_auto_parallel_context() -> None:
    """Restore the defaults of parallel training.

    Examples:
        >>> import mindspore as ms
        >>> ms.reset_auto_parallel_context()
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    _Parallel.values = dict(_PARALLEL_DEFAULTS)


def set_ps_context(**kwargs: Any) -> None:
    """Parameter-server settings; stored for scripts that set them.

    Examples:
        >>> ms.set_ps_context(enable_ps=False)
        >>> ms.get_ps_context("enable_ps")
        False
    """
    _Parallel.values.setdefault("ps", {}).update(kwargs)


def get_ps_context(attr_key: str) -> Any:
    """A setting of the parameter server.

    Examples:
        >>> ms.get_ps_context("enable_ps")
        False
    """
    settings = {"enable_ps": False, "config_file_path": "", "enable_ssl": False, **_Parallel.values.get("ps", {})}
    if attr_key not in settings:
        raise ValueError(f"For 'get_ps_context', 'attr_key' must be one of {sorted(settings)}, but got {attr_key!r}.")
    return settings[attr_key]


def reset_ps_context() -> None:
    """Give every setting of the parameter server its default.

    Examples:
        >>> ms.reset_ps_context()
        >>> ms.get_ps_context("enable_ps")
        False
    """
    _Parallel.values.pop("ps", None)


def set_offload_context(offload_config: dict) -> None:
    """Settings of heterogeneous memory; stored for scripts that set them.

    Examples:
        >>> ms.set_offload_context({"offload_param": "cpu"})
        >>> ms.get_offload_context()["offload_param"]
        'cpu'
    """
    if not isinstance(offload_config, dict):
        raise TypeError(f"'offload_config' must be a dict, but got {type(offload_config).__name__}.")
    _Parallel.values["offload"] = dict(offload_config)


def get_offload_context() -> dict:
    """The settings of `set_offload_context`.

    Examples:
        >>> isinstance(ms.get_offload_context(), dict)
        True
    """
    return _Parallel.values.get("offload", {})
