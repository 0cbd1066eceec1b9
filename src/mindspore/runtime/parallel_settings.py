"""The settings of `set_auto_parallel_context`: first values, what may be given, what changes nothing here.

A setting has the type of its first value. Settings that are dicts have entries of their own, which are checked alike and, where they are
left out, keep their first values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MODES = ("stand_alone", "data_parallel", "hybrid_parallel", "semi_auto_parallel", "auto_parallel")
SEARCHES = ("recursive_programming", "dynamic_programming", "sharding_propagation")
_SCHEDULES = ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")

DEFAULTS: dict[str, Any] = {
    "device_num": 1, "global_rank": 0, "gradients_mean": False, "gradient_fp32_sync": True, "parallel_mode": "stand_alone",
    "auto_parallel_search_mode": "recursive_programming", "search_mode": "recursive_programming", "parameter_broadcast": False,
    "strategy_ckpt_load_file": "", "strategy_ckpt_save_file": "", "full_batch": False, "enable_parallel_optimizer": False,
    "force_fp32_communication": False, "enable_alltoall": True, "all_reduce_fusion_config": [], "pipeline_stages": 1,
    "pipeline_result_broadcast": False, "grad_accumulation_step": 1, "parallel_optimizer_config": {},
    "comm_fusion": {
        "openstate": True, "allreduce": {"mode": "auto", "config": None}, "allgather": {"mode": "auto", "config": None},
        "reducescatter": {"mode": "auto", "config": None},
    },
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True},
    "dataset_strategy": "data_parallel", "loss_repeated_mean": True, "communi_parallel_mode": "all_group_parallel",
    "optimizer_weight_shard_size": -1, "optimizer_weight_shard_aggregated_save": False, "group_ckpt_save_file": "",
    "auto_pipeline": False, "sharding_propagation": False, "enable_fold_pipeline": False, "parameter_broadcast_is_set": False,
    "pipeline_config": {}, "dump_local_norm": False, "dump_local_norm_path": "", "dump_device_local_norm": False,
    "operator_strategy_files": {},
}  # fmt: skip

#: settings that programs make for other hardware, and why they change nothing here
WITHOUT_EFFECT = {
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

_CHOICES = {
    "parallel_mode": MODES, "search_mode": SEARCHES, "auto_parallel_search_mode": SEARCHES,
    "communi_parallel_mode": ("all_group_parallel", "same_server_group_parallel", "no_group_parallel"),
    "pipeline_scheduler": _SCHEDULES, "optimizer_level": ("level1", "level2", "level3"),
}  # fmt: skip
_LEAST = {
    "device_num": 1, "global_rank": 0, "pipeline_stages": 1, "grad_accumulation_step": 1, "parallel_optimizer_threshold": 0,
}  # fmt: skip
_MOST = {"device_num": 4096, "global_rank": 4095}
#: entries of settings that are dicts and may be left out
_ENTRIES: dict[str, dict[str, type]] = {
    "parallel_optimizer_config": {
        "parallel_optimizer_threshold": int, "gradient_accumulation_shard": bool, "optimizer_level": str,
        "optimizer_weight_shard_size": int,
    },
    "strategy_ckpt_config": {"load_file": str, "save_file": str, "only_trainable_params": bool},
    "pipeline_config": {"pipeline_interleave": bool, "pipeline_scheduler": str},
    "operator_strategy_files": {"SAVE": str, "LOAD": str},
}  # fmt: skip


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are kept; an error names the first that cannot be."""
    kept = {}
    for name, value in given.items():
        if name not in DEFAULTS:
            raise ValueError(f"For 'context.set_auto_parallel_context', the keyword argument '{name}' is not recognized.")
        kept[name] = _SPECIAL.get(name, _plain)(name, value)
    return kept


def _plain(name: str, value: Any) -> Any:
    default = DEFAULTS[name]
    if value is None and isinstance(default, bool):
        return default
    _check(name, value, type(default))
    return value


def _check(name: str, value: Any, kind: type) -> None:
    """Refuse a value of another type, or none of those that are allowed."""
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if not fits:
        raise TypeError(
            f"For 'set_auto_parallel_context', the argument '{name}' must be {kind.__name__}, but got {value!r} of type "
            f"{type(value).__name__}."
        )
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f"For 'set_auto_parallel_context', '{name}' must be one of {_CHOICES[name]}, but got {value!r}.")
    if name in _LEAST and value < _LEAST[name]:
        raise ValueError(f"For 'set_auto_parallel_context', '{name}' must be at least {_LEAST[name]}, but got {value}.")
    if name in _MOST and value > _MOST[name]:
        raise ValueError(f"For 'set_auto_parallel_context', '{name}' must be at most {_MOST[name]}, but got {value}.")


def _with_entries(name: str, value: Any) -> dict[str, Any]:
    _check(name, value, dict)
    known = _ENTRIES[name]
    unknown = [entry for entry in value if entry not in known]
    if unknown:
        raise ValueError(f"Unknown config: {unknown}. '{name}' may have the entries {list(known)}.")
    for entry, item in value.items():
        _check(entry, item, known[entry])
    return {**DEFAULTS[name], **value}


def _dataset(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value not in ("full_batch", "data_parallel"):
            raise ValueError(
                f"For 'set_auto_parallel_context', '{name}' must be 'full_batch', 'data_parallel' or a tuple with a strategy for "
                f"each input, but got {value!r}."
            )
        return value
    if not isinstance(value, tuple):
        raise TypeError(
            f"For 'set_auto_parallel_context', the argument '{name}' must be str or tuple type, but got {value!r} of type "
            f"{type(value).__name__}."
        )
    for entry in value:
        if not isinstance(entry, tuple) and not hasattr(entry, "to_dict"):  # a Layout
            raise TypeError(f"For 'set_auto_parallel_context', the elements of '{name}' must be tuples or Layouts, but got {entry!r}.")
    return value


def _indices(name: str, value: Any) -> list[int]:
    """Where gradients are divided into packets: behind which of them."""
    _check(name, value, list)
    if any(isinstance(i, bool) or not isinstance(i, int) for i in value):
        raise TypeError(f"For 'set_auto_parallel_context', the elements of '{name}' must be ints, but got {value}.")
    if sorted(set(value)) != value:
        raise ValueError(f"For 'set_auto_parallel_context', '{name}' must ascend without duplicate elements, but got {value}.")
    return value


def _fusion(name: str, value: Any) -> dict[str, Any]:
    _check(name, value, dict)
    known = DEFAULTS[name]
    for kind, how in value.items():
        if kind not in known:
            raise KeyError(f"comm fusion type must be openstate, allreduce, allgather or reducescatter, but got {kind}")
        if kind == "openstate":
            _check(kind, how, bool)
        else:
            _check_fusion(kind, how)
    return {**known, **value}


def _check_fusion(kind: str, how: Any) -> None:
    """How one kind of communication is combined: {"mode": …, "config": …}."""
    _check(kind, how, dict)
    for entry in ("mode", "config"):
        if entry not in how:
            raise KeyError(f"For 'comm_fusion', the key '{entry}' should be contained in '{kind}'.")
    modes = ("auto", "size", "index") if kind == "allreduce" else ("auto", "size")
    mode, config = how["mode"], how["config"]
    if mode not in modes:
        raise KeyError(f"fusion method mode must be one of {modes} for '{kind}', but got {mode}")
    if mode == "index":
        _indices(f"{kind} config", config)
    if mode == "size":
        if isinstance(config, bool) or not isinstance(config, int):
            raise TypeError(f"For 'comm_fusion', the 'config' of '{kind}' must be a size in MB, an int, but got {config!r}.")
        if config < 0:
            raise ValueError(f"fusion threshold must be larger than 0, but got {config}")


_SPECIAL: dict[str, Any] = {
    **dict.fromkeys(_ENTRIES, _with_entries), "dataset_strategy": _dataset, "all_reduce_fusion_config": _indices, "comm_fusion": _fusion,
}  # fmt: skip
