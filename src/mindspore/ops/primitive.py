"""Primitives for users: the base classes and the decorators that go with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.prims.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register

prim_arg_register = prim_attr_register


def constexpr(fn: Callable | None = None, get_instance: bool = True, name: str | None = None, **_: Any) -> Callable:
    """Mark a function whose arguments are known when the graph is compiled; it runs then.

    Graph building executes such calls directly anyway, so the function is returned as it is.

    Examples:
        >>> @ops.constexpr
        ... def half(n):
        ...     return n // 2
        >>> half(9)
        4
    """
    if fn is None:
        return lambda f: constexpr(f, get_instance, name)
    fn.__ms_constexpr__ = True  # type: ignore[attr-defined]
    return fn


_primexpr = constexpr

__all__ = [
    "Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_arg_register", "prim_attr_register",
]  # fmt: skip
