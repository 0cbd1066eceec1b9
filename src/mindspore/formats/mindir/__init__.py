"""MindIR: messages, graphs to messages, messages to programs. Façade: re-exports only."""

from mindspore.formats.mindir.load import load, read_steps

__all__ = ["load", "read_steps"]
