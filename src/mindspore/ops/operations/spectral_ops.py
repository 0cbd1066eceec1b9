"""An older home of operation classes; every name of `mindspore.ops.operations` is found here."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from mindspore.ops import operations

    return getattr(operations, name)
