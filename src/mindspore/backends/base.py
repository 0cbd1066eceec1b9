"""The protocol between the compiler and the backends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mindspore.ir import FuncGraph


class Executable(Protocol):
    """A compiled graph: arrays in (graph parameters in order), arrays out (elements of the graph's output tuple)."""

    def __call__(self, *arrays: Any) -> Sequence[Any]: ...


class CannotCompile(Exception):
    """A backend has no way to express a graph. Anything else that leaves `compile` is a mistake of the backend's."""


class Backend(Protocol):
    """Turns optimised graphs into executables."""

    name: str

    def compile(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> Executable:
        """`donated`: indices of parameters whose arrays the caller will not use again; they may be overwritten."""
        ...
