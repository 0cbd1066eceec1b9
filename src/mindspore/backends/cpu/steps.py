"""The steps of a compiled graph: generated kernels, oneDNN primitives, and host calls for the long tail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mindspore.backends.cpu.layout import Buffer, View

if TYPE_CHECKING:
    from mindspore.backends.cpu import dnnl


class MachineCode(Protocol):
    """A function in memory, which stays there while this object does."""

    @property
    def address(self) -> int: ...


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

    compiled: MachineCode | None = None
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
    """`function(arrays)` gets the arrays of `reads` and returns those of `writes`; `fill(arrays, places)` writes them in place instead."""

    function: Callable[[list[Any]], Any] | None = None
    fill: Callable[[list[Any], list[Any]], None] | None = None


@dataclass
class CallStep(Step):
    """A function of the MPI library. `arguments` are numbers, or views whose addresses are meant.

    `note`: the number by which the transport knows what is waited for; `ranks`: the group.
    """

    function: str = ""
    arguments: list[Any] = field(default_factory=list)
    note: int = 0
    ranks: tuple[int, ...] = ()


@dataclass
class BeginStep(CallStep):
    """Begins a collective; its `blocking` form would also wait. `request`: memory for the library's handle."""

    blocking: CallStep | None = None
    request: View | None = None

    @classmethod
    def of(cls, blocking: CallStep, function: str, request: View) -> BeginStep:
        arguments = [*blocking.arguments, request]
        return cls(
            blocking.reads, [*blocking.writes, request], f"begin:{blocking.name}", function=function,
            arguments=arguments, note=blocking.note, ranks=blocking.ranks, blocking=blocking, request=request,
        )  # fmt: skip

    @property
    def results(self) -> list[View]:
        assert self.blocking is not None
        return self.blocking.writes

    def nudge(self, flag: View) -> CallStep:
        """A step that lets the library get on with it: it does nothing between its calls."""
        assert self.request is not None
        return CallStep(
            [self.request], [self.request, flag], "nudge", function="MPI_Test", arguments=[self.request, flag, 0],
            note=self.note, ranks=self.ranks,
        )  # fmt: skip

    def wait(self) -> CallStep:
        """The step that waits for it. What it reads and writes must stay in place until then."""
        assert self.blocking is not None and self.request is not None
        return CallStep(
            [*self.reads, self.request], self.blocking.writes, f"await:{self.blocking.name}", function="MPI_Wait",
            arguments=[self.request, 0], note=self.note, ranks=self.ranks,
        )  # fmt: skip


@dataclass
class CompareStep(Step):
    """Compares the graph's collectives of a group with those of the other members, in its first runs."""

    ranks: tuple[int, ...] = ()
    note: int = 0
    digest: int = 0
