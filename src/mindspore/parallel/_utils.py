"""Questions about the parallel settings that layers, optimizers and user code ask."""

from __future__ import annotations

import math
from typing import Any

from mindspore import context
from mindspore.communication.management import get_group_size, get_rank
from mindspore.parallel._auto_parallel_context import auto_parallel_context

_MODE = context.ParallelMode


def _reset_op_id() -> None:
    """Kept for programs that call it: operators are numbered anew for each graph."""


def _get_parallel_mode() -> str:
    """One of the names in `ParallelMode`."""
    return auto_parallel_context().get_parallel_mode()


def _is_in_auto_parallel_mode() -> bool:
    return _get_parallel_mode() in (_MODE.SEMI_AUTO_PARALLEL, _MODE.AUTO_PARALLEL)


def _is_in_data_parallel_mode() -> bool:
    return _get_parallel_mode() == _MODE.DATA_PARALLEL


def _is_in_hybrid_parallel_mode() -> bool:
    return _get_parallel_mode() == _MODE.HYBRID_PARALLEL


def _is_sharding_propagation() -> bool:
    settings = auto_parallel_context()
    return "sharding_propagation" in (
        settings.get_strategy_search_mode(),
        settings.get_auto_parallel_search_mode(),
    ) or bool(settings.get_sharding_propagation())


def _is_pynative_parallel() -> bool:
    return context.get_context("mode") == context.PYNATIVE_MODE and _is_in_auto_parallel_mode()


def _get_device_num() -> int:
    """The number of devices: what was set, else that of the run."""
    settings = auto_parallel_context()
    return settings.get_device_num() if settings.get_device_num_is_set() else get_group_size()


def _get_global_rank() -> int:
    """This device's rank: what was set, else that in the run."""
    settings = auto_parallel_context()
    return settings.get_global_rank() if settings.get_global_rank_is_set() else get_rank()


def _get_stage_device_num() -> int:
    """Devices of one pipeline stage."""
    return _get_device_num() // _get_pipeline_stages()


def _get_pipeline_stages() -> int:
    return auto_parallel_context().get_pipeline_stages()


def _get_gradients_mean() -> bool:
    """Whether gradients are averaged, rather than summed, over devices."""
    return auto_parallel_context().get_gradients_mean()


def _get_parameter_broadcast() -> bool:
    """Whether the parameters of device 0 are sent to all others before training."""
    return auto_parallel_context().get_parameter_broadcast()


def _get_enable_parallel_optimizer() -> bool:
    """Whether the optimizer's work and state are divided among devices."""
    return auto_parallel_context().get_enable_parallel_optimizer()


def _get_grad_accumulation_shard() -> bool:
    return auto_parallel_context().get_grad_accumulation_shard()


def _get_full_batch() -> bool:
    """Whether every device gets the whole batch."""
    return auto_parallel_context().get_full_batch()


def _check_full_batch() -> None:
    if _get_full_batch() and not _is_in_auto_parallel_mode():
        raise RuntimeError("full_batch could only be used under semi_auto_parallel or auto_parallel.")


def _need_to_full() -> bool:
    """Whether data sets give parts of the batch whose shapes must be made whole."""
    if not _is_in_auto_parallel_mode():
        return False
    strategy = context.get_auto_parallel_context("dataset_strategy")
    if strategy and strategy not in ("data_parallel", "full_batch"):
        return True
    return not _get_full_batch()


def _device_number_check(parallel_mode: str, device_number: int) -> None:
    if parallel_mode == _MODE.STAND_ALONE and device_number != 1:
        raise ValueError(f"If parallel_mode is {parallel_mode}, device_number must be 1, but got {device_number}.")


def _parameter_broadcast_check(parallel_mode: str, parameter_broadcast: bool) -> None:
    if parallel_mode == _MODE.STAND_ALONE and parameter_broadcast:
        raise ValueError("stand_alone, parameter_broadcast must be False.")


def _parallel_predict_check() -> None:
    """Prediction with sharded parameters needs whole batches."""
    if _is_in_auto_parallel_mode() and not _get_full_batch():
        raise RuntimeError("Model prediction only supports full batch dataset: set full_batch=True.")


def _to_full_shapes(shapes: list, device_num: int) -> list[tuple[int, ...]]:
    """Shapes of whole batches from those of one device's part."""
    strategy = context.get_auto_parallel_context("dataset_strategy")
    if isinstance(strategy, str) or not strategy:
        if _get_full_batch():
            return [tuple(shape) for shape in shapes]
        return [(shape[0] * device_num, *shape[1:]) if shape else () for shape in shapes]
    if len(shapes) != len(strategy):
        raise ValueError(f"The input shapes size {len(shapes)} is not equal to dataset strategy size {len(strategy)}.")
    whole = []
    for shape, cuts in zip(shapes, strategy):
        if len(shape) != len(cuts):
            raise ValueError(f"The input shape {tuple(shape)} is not equal to dataset strategy {cuts}.")
        whole.append(tuple(size * cut for size, cut in zip(shape, cuts)))
    return whole


def _grads_divided_by_device_num_if_recomputation(grads: Any) -> Any:
    """Where devices repeat one another's work in PyNative mode, the sum of their gradients is divided by their number."""
    if not _is_pynative_parallel() or not _get_full_batch():
        return grads
    scale = 1.0 / _get_device_num()
    return tuple(g * scale for g in grads) if isinstance(grads, (tuple, list)) else grads * scale


def _infer_rank_list(train_map: dict, predict_map: dict | None = None) -> dict[str, tuple[list[int], bool]]:
    """For each parameter of a strategy map: the files of which ranks hold its parts, and whether one file has it whole."""
    found = {}
    for name, layout in train_map.items():
        device_matrix, tensor_map = layout[0], layout[1]
        devices = math.prod(device_matrix)
        parts = math.prod(device_matrix[-axis - 1] for axis in tensor_map if axis != -1)
        same = predict_map is not None and name in predict_map and list(predict_map[name][:2]) == list(layout[:2])
        found[name] = (list(range(devices)) if parts > 1 else [0], parts == 1 or same)
    return found
