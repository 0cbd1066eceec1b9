"""The steps of a compiled graph: generated kernels, oneDNN primitives, and host calls for the long tail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mindspore.backends.cpu import dnnl, kernels
from mindspore.backends.cpu.layout import Buffer, View


@dataclass
class Step:
    """What every step has: what it reads and writes, scratch memory, and a name for reports.

    `guard`: a byte in memory; the step is left out of a call in which it is 0.
    """

    reads: list[View]
    writes: list[View]
    name: str = ""
    scratch_bytes: int = 0
    scratch: Buffer | None = field(default=None, repr=False)
    guard: View | None = field(default=None, kw_only=True)

    @property
    def views(self) -> list[View]:
        return [*self.reads, *self.writes, *([self.guard] if self.guard else [])]


@dataclass
class KernelStep(Step):
    """`operands`: the kernel's buffers in order."""

    compiled: kernels.Compiled | None = None
    operands: list[View] = field(default_factory=list)
    threads: int = 1
    extent: int = 0


@dataclass
class DnnlStep(Step):
    """`operands`: execution argument -> (description, view)."""

    op: dnnl.Op | None = None
    operands: dict[int, tuple[dnnl.Desc, View]] = field(default_factory=dict)


@dataclass
class StopStep(Step):
    """Ends the run when the number it reads is not 0: the graph reports an error, and nothing may be overwritten."""


@dataclass
class HostStep(Step):
    """`function(arrays)` gets the arrays of `reads` and returns those of `writes`."""

    function: Callable[[list[Any]], Any] | None = None
