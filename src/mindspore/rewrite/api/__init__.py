"""The official path of the classes of `mindspore.rewrite`."""

from mindspore.rewrite.node import Node
from mindspore.rewrite.symbol_tree import SymbolTree
from mindspore.rewrite.values import NodeType, ScopedValue, ValueType

__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]
