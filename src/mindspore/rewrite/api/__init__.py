"""The classes users see. What they stand for is in the modules above."""

from mindspore.rewrite.api.node import Node
from mindspore.rewrite.api.symbol_tree import SymbolTree
from mindspore.rewrite.values import NodeType, ScopedValue, ValueType

__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]
