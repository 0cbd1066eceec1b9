"""MindIR: messages, graphs to messages, messages to programs. Façade: re-exports only."""

from mindspore.formats.mindir.load import load

__all__ = ["load"]
