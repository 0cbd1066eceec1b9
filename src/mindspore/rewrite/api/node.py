"""The official path of `Node`."""

from mindspore.rewrite.node import Node

__all__ = ["Node"]
