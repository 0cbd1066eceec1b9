"""Layouts that a compiled network's parameters and operators have."""

from __future__ import annotations

import weakref
from typing import Any

from mindspore.runtime import context

__all__ = [
    "clear_strategy_metadata", "enable_save_strategy_online", "get_current_strategy_metadata", "get_strategy_metadata",
]  # fmt: skip


class _Online:
    """Layouts of the networks compiled in a context, if they are to be kept: network -> rank -> parameter -> layouts."""

    def __init__(self) -> None:
        self.enabled = False
        self.layouts: weakref.WeakKeyDictionary[Any, dict[int, dict[str, list]]] = weakref.WeakKeyDictionary()


def _online() -> _Online:
    return context.current().made("strategy_metadata", _Online)


def enable_save_strategy_online() -> None:
    """Keep the layouts of networks compiled from now on."""
    _online().enabled = True


def clear_strategy_metadata() -> None:
    """Forget the layouts kept so far."""
    _online().layouts.clear()


def record_strategy(network: Any, rank: int, layouts: dict[str, list]) -> None:
    """Called by the compiler's sharding stage: keep a network's layouts, if asked to."""
    if _online().enabled:
        _online().layouts.setdefault(network, {})[rank] = layouts


def get_current_strategy_metadata(network: Any) -> dict[int, dict[str, list]]:
    """Layouts on this device: `{rank: {parameter: [(layout, dtype, shape)]}}`; empty where nothing was cut."""
    from mindspore.communication.management import get_rank

    return get_strategy_metadata(network, get_rank())


def get_strategy_metadata(network: Any, rank_id: int | None = None) -> dict[int, dict[str, list]]:
    """Layouts on all devices, or on one."""
    if not hasattr(network, "get_parameters"):
        raise TypeError(f"'network' must be a Cell, but got {type(network).__name__}.")
    if rank_id is not None and (isinstance(rank_id, bool) or not isinstance(rank_id, int)):
        raise TypeError(f"'rank_id' must be an int, but got {type(rank_id).__name__}.")
    found = _online().layouts.get(network, {})
    return dict(found) if rank_id is None else {rank: layouts for rank, layouts in found.items() if rank == rank_id}
