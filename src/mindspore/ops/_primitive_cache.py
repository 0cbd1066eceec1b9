"""One instance of a primitive per set of attributes, for code that builds it in every call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


@functools.lru_cache(4096)
def _kept(cls: type, args: tuple, kwargs: tuple) -> Any:
    return cls(*args, **dict(kwargs))


def _get_cache_prim(cls: type) -> Callable[..., Any]:
    """A function like the class: equal (hashable) arguments give the same instance."""

    def make(*args: Any, **kwargs: Any) -> Any:
        try:
            return _kept(cls, args, tuple(kwargs.items()))
        except TypeError:  # an argument that cannot be a key
            return cls(*args, **kwargs)

    return make
