"""`mindspore.common.lazy_inline`, which programs import as a module and call as the decorator of the same name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from mindspore.common.api import lazy_inline


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return lazy_inline(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable

__all__ = ["lazy_inline"]
