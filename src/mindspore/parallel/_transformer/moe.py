"""The path of `mindspore.nn.transformer.moe` in MindSpore 2.0."""

from __future__ import annotations

from typing import Any

from mindspore.nn.transformer import moe as _module


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
