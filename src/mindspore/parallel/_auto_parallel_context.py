"""The settings of parallel training as an object with a getter and a setter for each.

The values live in `mindspore.context` (`set_auto_parallel_context`); the few that have no public name are kept here.
"""

from __future__ import annotations

from typing import Any

from mindspore import context

#: settings with the name they have in `set_auto_parallel_context`
_PUBLIC = (
    "device_num", "global_rank", "gradients_mean", "gradient_fp32_sync", "parallel_mode", "auto_parallel_search_mode",
    "parameter_broadcast", "strategy_ckpt_load_file", "strategy_ckpt_save_file", "full_batch", "enable_parallel_optimizer",
    "force_fp32_communication", "enable_alltoall", "pipeline_stages", "pipeline_result_broadcast", "grad_accumulation_step",
    "parallel_optimizer_config", "comm_fusion", "strategy_ckpt_config", "dataset_strategy", "loss_repeated_mean",
    "communi_parallel_mode", "optimizer_weight_shard_size", "optimizer_weight_shard_aggregated_save",
    "group_ckpt_save_file", "auto_pipeline", "sharding_propagation", "pipeline_config", "dump_local_norm",
    "dump_local_norm_path", "dump_device_local_norm",
)  # fmt: skip
_PRIVATE_DEFAULTS: dict[str, Any] = {
    "enable_all_reduce_fusion": True,
    "enable_all_gather_fusion": True,
    "enable_reduce_scatter_fusion": True,
    "pipeline_segments": 1,
    "auto_parallel_new_interface": False,
    "init_param_in_compile": True,
}


class _AutoParallelContext:
    """`get_x()` and `set_x(value)` for every setting x."""

    def __init__(self) -> None:
        self._private: dict[str, Any] = dict(_PRIVATE_DEFAULTS)
        self._splits: dict[tuple[str, str], list[int]] = {}

    def get_strategy_search_mode(self) -> str:
        return context.get_auto_parallel_context("search_mode")

    def set_strategy_search_mode(self, search_mode: str) -> None:
        context.set_auto_parallel_context(search_mode=search_mode)

    def get_device_num_is_set(self) -> bool:
        """Whether a number of devices was chosen, rather than left to the run."""
        return context.get_auto_parallel_context("device_num") != 1

    def get_global_rank_is_set(self) -> bool:
        return context.get_auto_parallel_context("global_rank") != 0

    def get_full_batch_is_set(self) -> bool:
        return bool(context.get_auto_parallel_context("full_batch"))

    def get_parameter_broadcast_is_set(self) -> bool:
        return bool(context.get_auto_parallel_context("parameter_broadcast"))

    def get_grad_accumulation_shard(self) -> bool:
        return bool(self._optimizer_setting("gradient_accumulation_shard", False))

    def get_parallel_optimizer_threshold(self) -> int:
        """Parameters smaller than this many KB are not sharded."""
        return self._optimizer_setting("parallel_optimizer_threshold", 64)

    def _optimizer_setting(self, name: str, default: Any) -> Any:
        return context.get_auto_parallel_context("parallel_optimizer_config").get(name, default)

    def get_pipeline_interleave(self) -> bool:
        return bool(context.get_auto_parallel_context("pipeline_config").get("pipeline_interleave", False))

    def get_pipeline_scheduler(self) -> str:
        return context.get_auto_parallel_context("pipeline_config").get("pipeline_scheduler", "1f1b")

    def get_enable_fold_pipeline(self) -> bool:
        return bool(context.get_auto_parallel_context("enable_fold_pipeline"))

    def set_all_reduce_fusion_split_indices(self, indices: list[int], group: str = "") -> None:
        """Gradients are combined in packets that end at these parameters."""
        self._splits["indices", group] = _increasing("indices", indices)

    def get_all_reduce_fusion_split_indices(self, group: str = "") -> list[int]:
        return self._splits.get(("indices", group), [])

    def set_all_reduce_fusion_split_sizes(self, sizes: list[int], group: str = "") -> None:
        """Gradients are combined in packets of these sizes in bytes."""
        if not isinstance(sizes, (list, tuple)):
            raise TypeError(f"The sizes must be a list, but got {type(sizes).__name__}.")
        self._splits["sizes", group] = list(sizes)

    def get_all_reduce_fusion_split_sizes(self, group: str = "") -> list[int]:
        return self._splits.get(("sizes", group), [])

    def set_fusion_threshold_mb(self, fusion_threshold: int = 64, comm_type: str = "allreduce") -> None:
        """Largest size of a packet of combined communication in MB."""
        if isinstance(fusion_threshold, bool) or not isinstance(fusion_threshold, int):
            raise TypeError(f"'fusion_threshold' must be int, but got {type(fusion_threshold).__name__}.")
        self._private[f"{comm_type}_threshold"] = fusion_threshold

    def fusion_threshold_mb(self) -> int:
        return self._private.get("allreduce_threshold", 64)

    def allgather_fusion_threshold_mb(self) -> int:
        return self._private.get("allgather_threshold", 64)

    def reducescatter_fusion_threshold_mb(self) -> int:
        return self._private.get("reducescatter_threshold", 64)

    def reset(self) -> None:
        """Restore the defaults."""
        context.reset_auto_parallel_context()
        self.__init__()  # type: ignore[misc]


def _increasing(name: str, values: Any) -> list[int]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise TypeError(f"The {name} must be a list of ints, but got {values!r}.")
    if len(set(values)) != len(values):
        raise ValueError(f"The {name} have duplicate elements: {list(values)}.")
    if list(values) != sorted(values):
        raise ValueError(f"The {name} must be in ascending order, but got {list(values)}.")
    return list(values)


def _add_accessors(name: str, public: bool) -> None:
    def getter(self: _AutoParallelContext) -> Any:
        return context.get_auto_parallel_context(name) if public else self._private[name]

    def setter(self: _AutoParallelContext, *given: Any, **named: Any) -> None:
        if len(given) + len(named) != 1 or not set(named) <= {name}:
            raise TypeError(f"'set_{name}' takes one argument, {name!r}.")
        (value,) = (*given, *named.values())
        if public:
            context.set_auto_parallel_context(**{name: value})
        elif isinstance(_PRIVATE_DEFAULTS[name], bool) and not isinstance(value, bool):
            raise TypeError(f"For 'set_{name}', the argument '{name}' must be bool, but got {value!r} of type {type(value).__name__}.")
        else:
            self._private[name] = value

    for prefix, function in (("get", getter), ("set", setter)):
        function.__name__ = f"{prefix}_{name}"
        setattr(_AutoParallelContext, function.__name__, function)


for _name in _PUBLIC:
    _add_accessors(_name, True)
for _name in _PRIVATE_DEFAULTS:
    _add_accessors(_name, False)

_CONTEXT = _AutoParallelContext()


def auto_parallel_context() -> Any:
    """The settings of parallel training."""
    return _CONTEXT


def _set_auto_parallel_context(**kwargs: Any) -> None:
    context.set_auto_parallel_context(**kwargs)


def _get_auto_parallel_context(attr_key: str) -> Any:
    return context.get_auto_parallel_context(attr_key)


def _reset_auto_parallel_context() -> None:
    _CONTEXT.reset()
