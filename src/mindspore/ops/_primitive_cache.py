"""One instance of a primitive per set of attributes, for code that builds it in every call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindspore._base import keys

#: instances kept per class; the oldest goes when there are more
_MOST = 1024


@functools.lru_cache(_MOST)
def _get_cache_prim(cls: type) -> Callable[..., Any]:
    """A function like the class: the same arguments, types included, give the same instance."""
    made: dict[Any, Any] = {}

    def make(*args: Any, **kwargs: Any) -> Any:
        key = keys.exact((args, kwargs))
        found = made.get(key)
        if found is None:
            if len(made) >= _MOST:
                made.pop(next(iter(made)), None)
            found = made[key] = cls(*args, **kwargs)
        return found

    return make
