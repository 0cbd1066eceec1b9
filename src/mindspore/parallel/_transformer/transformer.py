"""The path of `mindspore.nn.transformer.transformer` in MindSpore 2.0."""

from __future__ import annotations

from typing import Any

from mindspore.nn.transformer import transformer as _module


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
