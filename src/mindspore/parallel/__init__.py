"""Training on many devices: settings, layouts, sharding, checkpoints of distributed runs. Façade: re-exports only."""

from __future__ import annotations

import importlib
from typing import Any

from mindspore.parallel.algo_parameter_config import get_algo_parameters, reset_algo_parameters, set_algo_parameters
from mindspore.parallel.parameter_broadcast import parameter_broadcast, sync_pipeline_shared_parameters
from mindspore.parallel.shard import Layout, shard

#: names of modules that are imported on first use
_LAZY = {
    **dict.fromkeys(
        [
            "rank_list_for_transform", "transform_checkpoint_by_rank", "transform_checkpoints", "merge_pipeline_strategys",
            "unified_safetensors", "load_distributed_checkpoint", "merge_sliced_parameter",
            "restore_group_info_list", "build_searched_strategy", "set_op_strategy_config", "get_ckpt_path_with_strategy",
        ],
        "mindspore.parallel.checkpoint_transform",
    ),
    **dict.fromkeys(
        ["rank_list_for_convert", "convert_checkpoint_by_rank", "convert_checkpoints"],
        "mindspore.parallel.checkpoint_convert",
    ),
    **dict.fromkeys(["save_sharded_checkpoint", "load_sharded_checkpoint"], "mindspore.train._checkpoint.sharded"),
    "load_segmented_checkpoints": "mindspore.train.serialization",
    "reshard": "mindspore.parallel.function",
    "RayWorkers": "mindspore.parallel.on_ray",
    "ServedTable": "mindspore.parallel.parameter_server",
    "calibrate": "mindspore.parallel.calibration",
    "search_layers": "mindspore.parallel.layer_plans",
}  # fmt: skip

__all__ = [
    "Layout", "get_algo_parameters", "parameter_broadcast", "reset_algo_parameters", "set_algo_parameters", "shard",
    "sync_pipeline_shared_parameters",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if not name.startswith("__"):
        try:
            return importlib.import_module(f"mindspore.parallel.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"mindspore.parallel.{name}":
                raise
    raise AttributeError(f"module 'mindspore.parallel' has no attribute '{name}'")
