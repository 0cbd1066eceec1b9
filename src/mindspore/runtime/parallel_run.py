"""What may run on more than one device: whole programs in data parallel; programs cut by strategies may not yet.

Networks with strategies are compiled for one of many devices, and checked; nothing applies the strategies to the graph, so
running it would give results as if there were none. That is refused, not done silently.
"""

from __future__ import annotations

from typing import Any, NoReturn

from mindspore.runtime import context

_CUT = ("semi_auto_parallel", "auto_parallel")


def is_cut() -> bool:
    """Whether the settings of parallel training ask for graphs cut over more than one device."""
    parallel = context.current().sections.get("parallel", {})
    return parallel.get("parallel_mode") in _CUT and parallel.get("device_num", 1) > 1


def refuse(*_: Any, **__: Any) -> NoReturn:
    """Stands where the executable of a graph that is cut would stand."""
    parallel = context.current().sections.get("parallel", {})
    raise NotImplementedError(
        f"The parallel mode '{parallel.get('parallel_mode')}' with device_num={parallel.get('device_num')} cannot run yet: shardings "
        "are recorded and not applied. Use 'data_parallel', or device_num=1."
    )
