"""The official path of `NodeType`."""

from mindspore.rewrite.values import NodeType

__all__ = ["NodeType"]
