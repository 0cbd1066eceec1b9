"""The official path of `ScopedValue`."""

from mindspore.rewrite.values import ScopedValue, ValueType

__all__ = ["ScopedValue", "ValueType"]
