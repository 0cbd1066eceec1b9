"""Older module path of `unified_safetensors`."""

from mindspore.parallel._unified import unified_safetensors

__all__ = ["unified_safetensors"]
