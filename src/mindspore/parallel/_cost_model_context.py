"""Figures of the cost model that the search for sharding strategies uses."""

from __future__ import annotations

from typing import Any

from mindspore.runtime import context

_DEFAULTS: dict[str, Any] = {
    "device_memory_capacity": 16.0 * 1024**3,
    "costmodel_alpha": 1.0,
    "costmodel_beta": 400.0,
    "costmodel_gamma": 0.001,
    "costmodel_communi_threshold": 2048.0,
    "costmodel_communi_const": 3072.0,
    "costmodel_communi_bias": 1024.0,
    "run_phase": 0,
    "costmodel_allreduce_fusion_algorithm": 0,
    "costmodel_allreduce_fusion_times": 0,
    "costmodel_allreduce_fusion_tail_percent": 0.1,
    "costmodel_allreduce_fusion_tail_time": 0.1,
    "costmodel_allreduce_fusion_allreduce_inherent_time": 0.1,
    "costmodel_allreduce_fusion_allreduce_bandwidth": 0.1,
    "costmodel_allreduce_fusion_computation_time_parameter": 0.1,
}
_INNER_DEFAULTS: dict[str, Any] = {"multi_subgraphs": False, "algo_single_loop": True, "rp_matmul_mem_coef": 0.1}


def _figures() -> dict[str, Any]:
    return context.current().section("cost_model", {**_DEFAULTS, **_INNER_DEFAULTS})


def set_cost_model_context(**kwargs: Any) -> None:
    """Change figures of the cost model."""
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise ValueError(f"Set context keyword {name} is not recognized!")
        kind = type(_DEFAULTS[name])
        if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else int):
            raise TypeError(f"The parameter '{name}' must be {kind}, but got {type(value)}")
    _figures().update(kwargs)


def get_cost_model_context(attr_key: str) -> Any:
    """The current value of a figure."""
    if attr_key not in _DEFAULTS:
        raise ValueError(f"Get context keyword {attr_key} is not recognized!")
    return _figures()[attr_key]


def reset_cost_model_context() -> None:
    """Restore the defaults."""
    context.current().sections.pop("cost_model", None)


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """Whether the network has several subgraphs (gradient accumulation, for example)."""
    _figures()["multi_subgraphs"] = bool(multi_subgraph)


def _get_multi_subgraphs() -> bool:
    return _figures()["multi_subgraphs"]


def _set_algo_single_loop(single_loop: bool = True) -> None:
    _figures()["algo_single_loop"] = bool(single_loop)


def _get_algo_single_loop() -> bool:
    return _figures()["algo_single_loop"]


def _set_rp_matmul_mem_coef(coef: float) -> None:
    """How much the memory of matrix products counts."""
    _figures()["rp_matmul_mem_coef"] = float(coef)


def _get_rp_matmul_mem_coef() -> float:
    return _figures()["rp_matmul_mem_coef"]
