"""Looking at and changing the operations of a network (see `SymbolTree`). Façade: re-exports only."""

from mindspore.rewrite.api.node import Node
from mindspore.rewrite.api.symbol_tree import SymbolTree
from mindspore.rewrite.pattern import PatternEngine, PatternNode, Replacement, VarNode
from mindspore.rewrite.values import NodeType, ScopedValue, ValueType

__all__ = [
    "Node", "NodeType", "PatternEngine", "PatternNode", "Replacement", "ScopedValue", "SymbolTree", "ValueType", "VarNode",
]  # fmt: skip
