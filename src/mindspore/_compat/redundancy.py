"""Which devices hold equal slices of a parameter, as official `train._utils` tells savers of checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.formats.strategy_file import ParameterLayout, layouts_of, read_strategy


def get_parameter_redundancy(
    layout_obj: Any, initial_rank: int | None = None
) -> dict[str, tuple[tuple[int, ...], ...]]:
    """For each parameter the groups of ranks that hold the same slice of it.

    Args:
        layout_obj: a strategy file, or {name: [matrix of devices, tensor map, …]} as `Cell.parameter_layout_dict` gives it.
        initial_rank: the first rank of the stage.

    Examples:
        >>> from mindspore._compat.redundancy import get_parameter_redundancy
        >>> get_parameter_redundancy({"w": [[2, 2], [0, -1]]})
        {'w': ((0, 2), (1, 3))}
    """
    first = initial_rank or 0
    if isinstance(layout_obj, dict):
        return {name: _groups(tuple(row[0]), _flat(row[1]), first) for name, row in layout_obj.items()}
    layouts: dict[str, ParameterLayout] = layouts_of(read_strategy(layout_obj)) or {}
    return {
        name: _groups(known.devices, [a for axes in known.axes for a in axes], first, False)
        for name, known in layouts.items()
    }


def _flat(tensor_map: Any) -> list[int]:
    return [v for item in tensor_map for v in (item if isinstance(item, (list, tuple)) else [item])]


def _groups(
    devices: tuple[int, ...], places: list[int], first: int, from_right: bool = True
) -> tuple[tuple[int, ...], ...]:
    """Ranks that agree in the dimensions of the matrix of devices by which the parameter is cut."""
    cut = sorted({len(devices) - 1 - p if from_right else p for p in places if p >= 0})
    ranks = np.arange(int(np.prod(devices))).reshape(devices) + first
    rest = [axis for axis in range(len(devices)) if axis not in cut]
    rows = ranks.transpose(*cut, *rest).reshape(-1, int(np.prod([devices[a] for a in rest], dtype=int)))
    return tuple(tuple(int(r) for r in row) for row in rows)


def remove_param_redundancy(param_redundancy_dict: dict, keep_redundancy: int = 1) -> dict[int, set[str]]:
    """Which parameters each rank saves so that every slice is saved `keep_redundancy` times, evenly.

    Examples:
        >>> from mindspore._compat.redundancy import remove_param_redundancy
        >>> remove_param_redundancy({"w": ((0, 1),), "b": ((0, 1),)})
        {0: {'w'}, 1: {'b'}}
    """
    ranks = sorted({rank for groups in param_redundancy_dict.values() for group in groups for rank in group})
    kept: dict[int, set[str]] = {rank: set() for rank in ranks}
    for name, groups in param_redundancy_dict.items():
        for group in groups:
            for rank in sorted(group, key=lambda r: (len(kept[r]), r))[:keep_redundancy]:
                kept[rank].add(name)
    return kept
