"""Functions by name, found where the operations are. User code of MindSpore 1.x looks them up here."""

from __future__ import annotations

from typing import Any

from mindspore._compat.operators import find

__all__ = ["Registry", "tensor_operator_registry"]


class Registry(dict):
    """A table of functions; names that were not put in are looked up among the operations."""

    def register(self, name: str, function: Any) -> None:
        """Add an operation under a name."""
        self[name] = function

    def get(self, obj_str: str) -> Any:  # type: ignore[override]
        """The operation registered under a name, or that of `mindspore.ops`."""
        return self[obj_str] if obj_str in self else find(obj_str)


tensor_operator_registry = Registry()
