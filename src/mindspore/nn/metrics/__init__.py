"""The older path of `mindspore.train.metrics`, looked up on first use: metrics stand in a layer above."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module("mindspore.train.metrics"), name)
