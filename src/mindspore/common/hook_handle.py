"""What registering a hook returns."""

from __future__ import annotations

import itertools
from collections.abc import MutableMapping
from typing import Any


class HookHandle:
    """Stands for one entry in a dictionary of hooks; `remove()` takes it away, and again does nothing."""

    _ids = itertools.count()

    def __init__(self, hook_dict: MutableMapping | None = None, *, extra_dict: MutableMapping | None = None):
        self.handle_id = next(HookHandle._ids)
        self._hooks = [d for d in (hook_dict, extra_dict) if d is not None]

    def remove(self) -> None:
        """Take the hook away."""
        for hooks in self._hooks:
            hooks.pop(self.handle_id, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()
