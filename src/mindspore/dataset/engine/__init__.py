"""The import path `mindspore.dataset.engine` of official MindSpore: everything public, under its older address."""

from __future__ import annotations

from typing import Any

from mindspore import dataset as _dataset


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_dataset, name)


def __dir__() -> list[str]:
    return dir(_dataset)


__all__ = [name for name in _dataset.__all__ if name not in ("engine", "audio", "text", "vision", "transforms")]
