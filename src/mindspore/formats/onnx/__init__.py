"""ONNX: graphs to messages, messages to programs. Façade: re-exports only."""

from mindspore.formats.onnx.load import load

__all__ = ["load"]
