"""Utilities for building networks."""

from __future__ import annotations

from contextlib import AbstractContextManager

from mindspore.common.initializer import later_initialisation

__all__ = ["no_init_parameters"]


def no_init_parameters() -> AbstractContextManager[None]:
    """Inside this context parameters get their values when they are first used, or from a checkpoint before: large networks
    that one is loaded into are made at once.

    Examples:
        >>> import mindspore as ms
        >>> with ms.nn.utils.no_init_parameters():
        ...     net = ms.nn.Dense(2, 3)
    """
    return later_initialisation()
