"""The protocol between the compiler and the backends.

| backend | does not support | because |
|---|---|---|
| interp | – | it evaluates any node, one after another |
| cpu | recursion; loops of unknown length that save values for a backward pass | its memory is planned before the call |
| xla | recursion; such loops within branches or other loops | XLA has no calls, and its buffers have fixed sizes |

Which one compiles a graph, and which one instead, is decided in runtime/choose_backend.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mindspore.ir import FuncGraph
from mindspore.prims.control import Call


class Executable(Protocol):
    """A compiled graph: arrays in (graph parameters in order), arrays out (elements of the graph's output tuple)."""

    def __call__(self, *arrays: Any) -> Sequence[Any]: ...


class CannotCompile(Exception):
    """A backend has no way to express a graph. Anything else that leaves `compile` is a mistake of the backend's."""


class Backend(Protocol):
    """Turns optimised graphs into executables."""

    name: str

    def supports(self, graph: FuncGraph) -> bool:
        """Whether the kinds of nodes in an optimised graph have a form here. Cheap: asked before every `compile`."""
        ...

    def compile(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> Executable:
        """`donated`: indices of parameters whose arrays the caller will not use again; they may be overwritten.

        Raises `CannotCompile` for a graph that turns out to have no form here.
        """
        ...


def calls_itself(graph: FuncGraph) -> bool:
    """Calls that optimisation left are recursive."""
    return any(isinstance(n.op, Call) for g in graph.all_graphs() for n in g.nodes())
