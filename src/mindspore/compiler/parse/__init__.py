"""Python to MindIR. `trace` interprets a function into a graph; `call` continues an interpretation under way."""

from mindspore.compiler.parse.entry import Traced, call, call_cell, trace
from mindspore.compiler.parse.errors import CompileError

__all__ = ["CompileError", "Traced", "call", "call_cell", "trace"]
