"""`mutable`: arguments that are graph inputs although they are Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


class Mutable:
    """Mixed into the number types below; marks a value that the graph must not be specialised to."""

    __ms_mutable__ = True

    def plain(self) -> Any:
        raise NotImplementedError


class MutableInt(Mutable, int):
    def plain(self) -> int:
        return int(self)


class MutableFloat(Mutable, float):
    def plain(self) -> float:
        return float(self)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Make numbers (also inside tuples, lists and dicts) inputs of compiled graphs rather than constants.

    Examples:
        >>> import mindspore as ms
        >>> ms.mutable(3) + 1
        4
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"'dynamic_len' must be a bool, but got {dynamic_len!r}.")
    if isinstance(input_data, np.number):
        input_data = input_data.item()
    if isinstance(input_data, bool):
        raise TypeError(
            "For 'mutable', 'input_data' must be a number, tensor, tuple, list or dict of them, but got a bool."
        )
    if isinstance(input_data, int):
        return MutableInt(input_data)
    if isinstance(input_data, float):
        return MutableFloat(input_data)
    if isinstance(input_data, tuple):
        return tuple(mutable(v) for v in input_data)
    if isinstance(input_data, list):
        return [mutable(v) for v in input_data]
    if isinstance(input_data, dict):
        return {k: mutable(v) for k, v in input_data.items()}
    if hasattr(input_data, "asnumpy"):
        return input_data
    raise TypeError(
        f"For 'mutable', 'input_data' must be a number, tensor, tuple, list or dict of them, but got {type(input_data).__name__}."
    )
