"""The path of `mindspore.nn.transformer.layers` in MindSpore 2.0."""

from __future__ import annotations

from typing import Any

from mindspore.nn.transformer import layers as _module


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
