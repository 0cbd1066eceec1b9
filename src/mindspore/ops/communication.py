"""The official path of collective operations as functions; they stand in `mindspore.mint.distributed`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from mindspore import ops

    return getattr(ops, name)
