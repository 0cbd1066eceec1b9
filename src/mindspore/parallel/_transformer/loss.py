"""The path of `mindspore.nn.transformer.loss` in MindSpore 2.0."""

from __future__ import annotations

from typing import Any

from mindspore.nn.transformer import loss as _module


def __getattr__(name: str) -> Any:
    return getattr(_module, name)
