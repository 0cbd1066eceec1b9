"""Functions by name, found where the operations are. User code of MindSpore 1.x looks them up here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._compat.operators import find
from mindspore.prims.primitive import PrimitiveWithInfer

__all__ = ["Registry", "bprop_getters", "get_vm_impl_fn", "tensor_operator_registry", "vm_impl_registry"]


class Registry(dict):
    """A table of functions; names that were not put in are looked up among the operations."""

    def register(self, name: str, function: Any) -> None:
        """Add an operation under a name."""
        self[name] = function

    def get(self, obj_str: str) -> Any:  # type: ignore[override]
        """The operation registered under a name, or that of `mindspore.ops`."""
        return self[obj_str] if obj_str in self else find(obj_str)


tensor_operator_registry = Registry()


class _Implementations(dict):
    """Python functions by primitive, for a machine that runs them one by one. Graphs and PyNative mode have rules of their own."""

    def register(self, primitive: Any) -> Callable:
        """A decorator that notes a function for a primitive's class or name."""

        def noted(function: Callable) -> Callable:
            self[_name(primitive)] = function
            return function

        return noted

    def get(self, primitive: Any, default: Any = None) -> Any:
        return super().get(_name(primitive), default)


def _name(primitive: Any) -> str:
    return primitive if isinstance(primitive, str) else getattr(primitive, "__name__", None) or primitive.name


vm_impl_registry = _Implementations()


def get_vm_impl_fn(prim: Any) -> Any:
    """What `vm_impl_registry` has for a primitive: a function of the primitive that gives one of its arguments; None if nothing."""
    return vm_impl_registry.get(prim)


class _Gradients:
    """Gradient rules of users' primitives, given beside the class instead of in it."""

    def register(self, primitive: type) -> Callable:
        """A decorator: the function takes a primitive and returns its rule, as the method `get_bprop` does."""
        if not (isinstance(primitive, type) and issubclass(primitive, PrimitiveWithInfer)):
            raise TypeError(
                f"For 'bprop_getters', register a class derived from PrimitiveWithInfer, but got {primitive!r}. To replace the "
                "gradient of other operations, give the Cell that uses them a method 'bprop'."
            )

        def noted(function: Callable) -> Callable:
            primitive.get_bprop = function  # type: ignore[attr-defined]
            return function

        return noted


bprop_getters = _Gradients()
