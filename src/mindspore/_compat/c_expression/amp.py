"""Strategies of mixed precision by primitive, as libraries make them for `cell.amp_strategy`."""

from __future__ import annotations

import enum
import importlib
from typing import Any


class AmpLevel(enum.IntEnum):
    """How much is cast: nothing, what is on the white list, everything but the black list, or by both lists."""

    AmpO0 = 0
    AmpO1 = 1
    AmpO2 = 2
    AmpO3 = 3
    AmpAuto = 4


_pushed: list[Any] = []


def create_amp_strategy(level: AmpLevel, dtype: Any, white_list: Any = (), black_list: Any = ()) -> Any:
    """The strategy of a level; lists hold names of primitives, or (name, which arguments).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> from mindspore._compat.c_expression.amp import AmpLevel, create_amp_strategy
        >>> net = nn.Dense(2, 2)
        >>> net.amp_strategy = create_amp_strategy(AmpLevel.AmpO3, ms.float16, [], [])
        >>> net(ms.Tensor([[1.0, 2.0]])).dtype
        mindspore.float16
    """
    made: Any = importlib.import_module("mindspore.train.amp")  # stands above; only reached when it is called
    return made.strategy_of_level(AmpLevel(level).name, dtype, white_list, black_list)


def push_amp_strategy(level: AmpLevel, dtype: Any, white_list: Any = (), black_list: Any = ()) -> None:
    """Run what follows by a strategy, until `pop_amp_strategy`."""
    _pushed.append(create_amp_strategy(level, dtype, white_list, black_list).__enter__())


def pop_amp_strategy() -> None:
    """End the strategy pushed last."""
    if not _pushed:
        raise RuntimeError("There is no mixed precision strategy to end: call 'push_amp_strategy' first.")
    _pushed.pop().__exit__(None, None, None)


__all__ = ["AmpLevel", "create_amp_strategy", "pop_amp_strategy", "push_amp_strategy"]
