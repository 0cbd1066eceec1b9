"""What is going on in this thread: the graph being built (if any) and the gradient tapes that record.

Both are stacks in spirit; each owner saves and restores the value it replaces.
"""

from __future__ import annotations

import threading
from typing import Any


class _Active(threading.local):
    builder: Any = None  # compiler.builder.Builder: primitive calls become nodes of its graph
    eagerly: bool = False  # graph mode is suspended: a function that cannot be compiled runs as plain Python
    depth: int = 0  # of Cells that call each other in eager mode
    recomputing: bool = False  # within a call that the backward pass repeats
    tapes: tuple = ()  # runtime.tape.Tape objects: eager primitive calls are recorded on them
    packing: tuple = ()  # what `saved_tensors_hooks` has tapes keep instead of tensors: how to pack and how to unpack
    steps: Any = None  # is called instead of outermost Cells in eager mode, while a replay ring is recorded
    gather: Any = None  # is offered updates of Parameters, and takes those that it will carry out later (runtime.eager_updates)
    suspended: tuple = ()  # the tapes that `_no_grad` took away and `_enable_grad` gives back


ACTIVE = _Active()


def building() -> bool:
    """Whether a graph is being built in this thread."""
    return ACTIVE.builder is not None
