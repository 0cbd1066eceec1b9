"""What users set: graph or PyNative mode, device, dumps and limits, parallel training.

These functions edit the current context (runtime/context.py), which is the default one unless the code runs within
`local_context`. runtime/settings.py is the table of the settings: values, and what acts on each.
"""

from __future__ import annotations

import os
import warnings
from contextlib import AbstractContextManager
from typing import Any

from mindspore._base import flags
from mindspore.prims.active import ACTIVE
from mindspore.runtime import context as _contexts
from mindspore.runtime.settings import COMPATIBLE, GRAPH_MODE, LAX, PYNATIVE_MODE, STRICT

__ms_treatment__ = "refused"  # by the compiler: see compiler/parse/source.py

__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "ParallelMode", "dump_options", "get_auto_parallel_context",
    "get_context", "get_current_device", "get_offload_context", "get_ps_context", "graph_mode", "local_context",
    "reset_auto_parallel_context", "reset_context", "reset_ps_context", "set_auto_parallel_context", "set_context",
    "set_deterministic", "set_device", "set_offload_context", "set_ps_context",
]  # fmt: skip


def set_context(**kwargs: Any) -> None:
    """Change settings, for example `set_context(mode=ms.GRAPH_MODE, device_target="GPU")`.

    A setting that has no effect on this machine is accepted and says so once, as a warning.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE)
        >>> ms.get_context('mode') == ms.PYNATIVE_MODE
        True
    """
    _contexts.current().edit(kwargs)


def get_context(attr_key: str) -> Any:
    """The current value of a setting.

    Examples:
        >>> import mindspore as ms
        >>> ms.get_context('device_target')
        'CPU'
    """
    settings = _contexts.current().settings
    if attr_key not in settings:
        raise ValueError(f"For 'context.get_context', the argument {attr_key} is not recognized.")
    return settings[attr_key]


def reset_context() -> None:
    """Restore the defaults."""
    _contexts.current().reset()


def local_context(**settings: Any) -> AbstractContextManager[Any]:
    """Settings for a `with` block of this thread or asyncio task alone; whatever others set meanwhile does not matter to it.

    Within the block `set_context`, `set_seed` and the like change this context only. Threads that are started there begin with the
    default context: give them one of their own.

    Examples:
        >>> with ms.context.local_context(mode=ms.GRAPH_MODE, backend="interp"):
        ...     print(ms.get_context("backend"))
        interp
        >>> ms.get_context("mode") == ms.PYNATIVE_MODE
        True
    """
    return _contexts.scope(**settings)


def graph_mode() -> bool:
    return _contexts.current().mode == GRAPH_MODE and not ACTIVE.eagerly


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
    settings = _contexts.current().settings
    return settings["device_target"], settings["device_id"]


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


def dump_options() -> tuple[int, str]:
    """Level (0 none, 1 the main stages, 2 and more all) and folder of IR dumps."""
    settings = _contexts.current().settings
    level = int(settings["save_graphs"]) or flags.integer("MS_DEV_SAVE_GRAPHS")
    path = settings["save_graphs_path"]
    if path == "." and flags.text("MS_DEV_SAVE_GRAPHS_PATH"):
        path = flags.text("MS_DEV_SAVE_GRAPHS_PATH")
    return level, os.path.abspath(path)


# -- parallel settings: interpreted by mindspore.parallel ------------------------------------------------
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
    "dump_device_local_norm": False, "operator_strategy_files": {},
}  # fmt: skip

#: settings that programs make for other hardware, and why they change nothing here
_PARALLEL_WITHOUT_EFFECT = {
    "gradient_fp32_sync": "gradients travel in their own type", "force_fp32_communication": "values travel in their own type",
    "enable_alltoall": "AllToAll is used wherever it is cheapest", "pipeline_result_broadcast": "every process has the results",
    "communi_parallel_mode": "there is one way to communicate",
    "optimizer_weight_shard_size": "weights are divided among all devices that would hold copies",
    "optimizer_weight_shard_aggregated_save": "checkpoints hold whole weights", "group_ckpt_save_file": "groups are not written to files",
    "auto_pipeline": "stages are those of Cell.pipeline_stage; mindspore.parallel.search_layers searches them",
    "enable_fold_pipeline": "stages are not folded", "dump_local_norm": "norms are not dumped; mindspore.debug.watch looks at gradients",
    "dump_local_norm_path": "norms are not dumped", "dump_device_local_norm": "norms are not dumped",
    "grad_accumulation_step": "wrap the network in nn.GradAccumulationCell",
}  # fmt: skip


def _parallel() -> dict[str, Any]:
    return _contexts.current().section("parallel", _PARALLEL_DEFAULTS)


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
        if name in _PARALLEL_WITHOUT_EFFECT and value not in (_PARALLEL_DEFAULTS[name], None):
            warnings.warn(
                f"set_auto_parallel_context: '{name}' has no effect here: {_PARALLEL_WITHOUT_EFFECT[name]}.", stacklevel=2
            )
    _parallel().update(kwargs)
    _contexts.current().settle()


def get_auto_parallel_context(attr_key: str) -> Any:
    """The current value of a parallel setting.

    Examples:
        >>> import mindspore as ms
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    found = _parallel()
    if attr_key not in found:
        raise ValueError(f"For 'context.get_auto_parallel_context', the argument '{attr_key}' is not recognized.")
    return found[attr_key]


def reset_auto_parallel_context() -> None:
    """Restore the defaults of parallel training.

    Examples:
        >>> import mindspore as ms
        >>> ms.reset_auto_parallel_context()
        >>> ms.get_auto_parallel_context('parallel_mode')
        'stand_alone'
    """
    _contexts.current().sections.pop("parallel", None)
    _contexts.current().settle()


def set_ps_context(**kwargs: Any) -> None:
    """Parameter-server settings; stored for scripts that set them. Nothing acts on `enable_ps`, and setting it says so.

    Examples:
        >>> ms.set_ps_context(enable_ps=False)
        >>> ms.get_ps_context("enable_ps")
        False
    """
    if kwargs.get("enable_ps"):
        warnings.warn(
            "set_ps_context: 'enable_ps' has no effect here: weights are trained by every process. For tables on servers use "
            "mindspore.parallel.ServedTable.",
            stacklevel=2,
        )
    _contexts.current().section("parameter_server", {}).update(kwargs)


def get_ps_context(attr_key: str) -> Any:
    """A setting of the parameter server.

    Examples:
        >>> ms.get_ps_context("enable_ps")
        False
    """
    settings = {"enable_ps": False, "config_file_path": "", "enable_ssl": False, **_contexts.current().section("parameter_server", {})}
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
    _contexts.current().sections.pop("parameter_server", None)


def set_offload_context(offload_config: dict) -> None:
    """Settings of heterogeneous memory; stored for scripts that set them.

    Examples:
        >>> ms.set_offload_context({"offload_param": "cpu"})
        >>> ms.get_offload_context()["offload_param"]
        'cpu'
    """
    if not isinstance(offload_config, dict):
        raise TypeError(f"'offload_config' must be a dict, but got {type(offload_config).__name__}.")
    _contexts.current().sections["offload"] = dict(offload_config)


def get_offload_context() -> dict:
    """The settings of `set_offload_context`.

    Examples:
        >>> isinstance(ms.get_offload_context(), dict)
        True
    """
    return _contexts.current().section("offload", {})
