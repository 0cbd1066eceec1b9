"""From the settings of parallel training to what the sharding pass wants to know."""

from __future__ import annotations

import functools
from typing import Any

from mindspore._base import flags
from mindspore.prims import world

#: the modes in which graphs are cut over devices, and whether the compiler chooses all of it
_SEARCHES = {"semi_auto_parallel": False, "auto_parallel": True}


def sharding_options(parallel: dict[str, Any]) -> Any:
    """Options of the sharding pass for the settings of `set_auto_parallel_context`; None: graphs are not cut.

    Every stage of a pipeline has its share of the devices. On one device strategies are checked, not carried out.
    """
    mode = parallel.get("parallel_mode", "stand_alone")
    if mode not in _SEARCHES:
        return None
    devices = parallel.get("device_num", 1)
    stages = max(1, parallel.get("pipeline_stages") or 1)
    total = devices if devices != 1 else world.transport().size
    devices = total // stages
    from mindspore.compiler.shard.plan import Options

    dataset = parallel.get("dataset_strategy", "data_parallel")
    if isinstance(dataset, str) and parallel.get("full_batch"):
        dataset = "full_batch"
    small = parallel.get("parallel_optimizer_config", {}).get("parallel_optimizer_threshold", 64)
    modes = (parallel.get("search_mode"), parallel.get("auto_parallel_search_mode"))
    return Options(
        max(devices, 1),
        search=_SEARCHES[mode],
        dataset=_as_tuples(dataset),
        optimizer_parallel=bool(parallel.get("enable_parallel_optimizer")),
        optimizer_threshold=small * 1024,
        propagate="sharding_propagation" in modes,
        machine=_machine(flags.text("MS_PARALLEL_MACHINE")),
        stages=stages,
        spare=total % stages if total > 1 else 0,
        schedule=_schedule(parallel),
        files=_files(parallel),
    )


def _files(parallel: dict[str, Any]) -> Any:
    """The strategy files that the settings name."""
    from mindspore.compiler.shard.plan import StrategyFiles

    config, operators = parallel.get("strategy_ckpt_config") or {}, parallel.get("operator_strategy_files") or {}
    return StrategyFiles(
        parallel.get("strategy_ckpt_save_file") or config.get("save_file", ""),
        parallel.get("strategy_ckpt_load_file") or config.get("load_file", ""),
        operators.get("SAVE", ""),
        operators.get("LOAD", ""),
        config.get("only_trainable_params", True),
    )


def _schedule(parallel: dict[str, Any]) -> str:
    """The order in which a pipeline's stages work."""
    known = parallel.get("pipeline_config") or {}
    return known.get("pipeline_scheduler", parallel.get("pipeline_scheduler") or "1f1b")


def measured_machine() -> Any:
    """The machine that `mindspore.parallel.calibrate` measured; None without its file."""
    path = flags.text("MS_PARALLEL_MACHINE")
    return _machine(path) if path else None


@functools.lru_cache(maxsize=8)
def _machine(path: str) -> Any:
    """The machine that plans are made for: as measured by `mindspore.parallel.calibrate`, or a cluster of accelerators."""
    from mindspore.compiler.shard.cost import Machine

    return Machine.load(path) if path else Machine()


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, (tuple, list)) else value
