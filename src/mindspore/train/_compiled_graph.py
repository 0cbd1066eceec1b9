"""The graph that a network was compiled to."""

from __future__ import annotations

from typing import Any

from mindspore.ir import FuncGraph


def graph_of(network: Any) -> FuncGraph | None:
    """The graph that a Cell was compiled to last, or None when it has not been compiled."""
    compiled = network.__dict__.get("_compiled")
    entries = compiled.entries() if compiled is not None else []
    return entries[-1].traced.graph if entries else None
