"""An older home of functions; every function of `mindspore.ops` is found here."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from mindspore import ops

    return getattr(ops, name)
