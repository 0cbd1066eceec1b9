"""Bit widths."""

from mindspore.common.dtype import QuantDtype

__all__ = ["QuantDtype"]
