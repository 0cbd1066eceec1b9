"""The import path `mindspore.dataset.engine` of official MindSpore: everything public, under its older address."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from mindspore import dataset as _dataset

_MODULES = {module.name for module in pkgutil.iter_modules(__path__)}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return getattr(_dataset, name)


def __dir__() -> list[str]:
    return dir(_dataset)


__all__ = [name for name in _dataset.__all__ if name not in ("engine", "audio", "text", "vision", "transforms")]
