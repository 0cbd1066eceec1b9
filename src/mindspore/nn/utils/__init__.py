"""Utilities for building networks."""

from __future__ import annotations

from contextlib import AbstractContextManager

from mindspore.common.initializer import skip_initialisation

__all__ = ["no_init_parameters"]


def no_init_parameters() -> AbstractContextManager[None]:
    """Inside this context new layers leave their parameters at zero: a checkpoint will fill them.

    Examples:
        >>> import mindspore as ms
        >>> with ms.nn.utils.no_init_parameters():
        ...     net = ms.nn.Dense(2, 3)
    """
    return skip_initialisation()
