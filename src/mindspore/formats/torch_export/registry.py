"""The table of rules: an ATen operation's name, with or without its overload, to what writes it as ONNX nodes.

A rule is called with the writer and the operation's arguments in the order of its schema, defaults filled in. Tensors and sizes that
are computed are `Value`s, everything else is what PyTorch has (numbers, lists, None, dtypes). It returns the name of the result, or a
list of names where there are several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

Rule = Callable[..., "str | list[str] | Value"]
RULES: dict[str, Rule] = {}
_F = TypeVar("_F", bound=Rule)


class Value(NamedTuple):
    """A named value of the graph; `fake` is PyTorch's stand-in that knows its type."""

    name: str
    fake: Any

    @property
    def is_number(self) -> bool:
        """Whether it is a size rather than a tensor."""
        return not hasattr(self.fake, "dtype")

    @property
    def dtype(self) -> str:
        if self.is_number:
            return "float32" if "Float" in type(self.fake).__name__ else "bool" if "Bool" in type(self.fake).__name__ else "int64"
        return type_name(self.fake.dtype)

    @property
    def rank(self) -> int:
        return 0 if self.is_number else len(self.fake.shape)

    def size(self, axis: int) -> int | None:
        """The size along an axis; None where it is left open."""
        size = self.fake.shape[axis]
        return size if isinstance(size, int) else None


def type_name(dtype: Any) -> str:
    """NumPy's name of a PyTorch element type."""
    return str(dtype).removeprefix("torch.")


def numpy_type(name: str) -> np.dtype:
    if name == "bfloat16":
        from mindspore._base import dtype as mstype

        return np.dtype(mstype.bfloat16.np)
    try:
        return np.dtype(name)
    except TypeError:
        raise ValueError(f"PyTorch's element type {name} is not supported") from None


def rule(*names: str) -> Callable[[_F], _F]:
    def register(function: _F) -> _F:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def find(name: str, overload: str) -> Rule | None:
    return RULES.get(f"{name}.{overload}") or RULES.get(name)


__all__ = ["RULES", "Rule", "Value", "find", "numpy_type", "rule", "type_name"]
