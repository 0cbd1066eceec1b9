"""The official path of `SymbolTree`."""

from mindspore.rewrite.symbol_tree import SymbolTree

__all__ = ["SymbolTree"]
