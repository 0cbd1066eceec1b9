"""Every primitive by its name: what files and user-facing tables look operations up in."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from mindspore import prims
from mindspore.prims.primitive import Primitive


@functools.cache
def catalogue() -> Mapping[str, type[Primitive]]:
    """The public primitive classes of all modules of `mindspore.prims`."""
    found: dict[str, type[Primitive]] = {}
    for item in pkgutil.iter_modules(prims.__path__):
        module = importlib.import_module(f"{prims.__name__}.{item.name}")
        for name, value in vars(module).items():
            own = isinstance(value, type) and issubclass(value, Primitive) and value.__module__ == module.__name__
            if own and not name.startswith("_"):
                found[name] = value
    return MappingProxyType(found)
