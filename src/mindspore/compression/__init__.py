"""Smaller networks: quantisation-aware training (`quant`), under the names that MindSpore 1.x gave it."""

from mindspore.compression import common, quant

__all__ = ["common", "quant"]
