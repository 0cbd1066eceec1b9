"""Functions by name, found where the operations are. User code of MindSpore 1.x looks them up here."""

from __future__ import annotations

from typing import Any


class Registry(dict):
    """A table of functions; names that were not put in are looked up among the operations."""

    def register(self, name: str, function: Any) -> None:
        self[name] = function

    def get(self, obj_str: str) -> Any:  # type: ignore[override]
        if obj_str in self:
            return self[obj_str]
        from mindspore import ops

        found = getattr(ops, obj_str, None)
        if found is None:
            raise AttributeError(f"there is no operation called '{obj_str}'.")
        return found


tensor_operator_registry = Registry()
