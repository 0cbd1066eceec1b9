"""Collectives as native steps: functions of the MPI library, called by address from the table.

A sum over processes is begun where its operand is complete, and awaited before the first step that reads the result (see
`Lowering.emit`), so it travels while other steps compute. What nothing lies between is one blocking call. The first runs of
a graph compare its sequence of collectives with those of the other processes.

A message is copied and sent in the background (`outbox`), so two processes may send to each other before they receive, and memory is
free at once.

Short floats are summed in float32. MPI leaves open what the maximum with a NaN is; those, and types it does not know,
run on the host by the primitive's own rule.
"""

from __future__ import annotations

import hashlib
from typing import Any

from mindspore._base import mpi
from mindspore.backends.cpu import layout, outbox
from mindspore.backends.cpu.codegen.spec import Axis, Instr, Kernel
from mindspore.backends.cpu.codegen.spec import Buffer as Operand
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.steps import BeginStep, CallStep, CompareStep, Step
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.ir import AbstractTensor, AbstractTuple, CNode
from mindspore.prims import collective, exchange, world

_SHORT = ("float16", "bfloat16")
#: calls that are no part of the sequence that all members of a group have in common
_OF_ONE_PROCESS = ("MPI_Wait", "MPI_Test", outbox.POST, "MPI_Recv_c")


class _Collective:
    """One collective being lowered."""

    def __init__(self, lowering: Lowering, call: Value):
        transport = world.transport()
        if not isinstance(transport, world.NativeTransport):
            raise Unsupported("a transport without native functions")
        self.lowering, self.prim = lowering, call.attr.prim
        self.ranks = world.members(self.prim.group)
        self.size = len(self.ranks)
        self.transport = transport
        self.communicator = transport.communicator(self.ranks)
        self.location = _line(call.origin)

    def note(self, what: View | None) -> int:
        """What a process that waits here is said to wait for."""
        about = " ".join(str(getattr(self.prim, a)) for a in ("op", "root_rank") if hasattr(self.prim, a))
        kind = f"{what.dtype}{list(what.shape)}" if what is not None else ""
        return self.transport.note(self.prim.name, self.ranks, f"{about} {kind}".strip(), self.location)

    def step(self, function: str, reads: list[View], writes: list[View], arguments: list[Any]) -> CallStep:
        note = self.note(reads[0] if reads else None)
        return CallStep(reads, writes, self.prim.name, function=function, arguments=arguments, note=note, ranks=self.ranks)


def _line(origin: Any) -> str:
    """The innermost line of the user's program that a node comes from."""
    location = getattr(origin, "location", ())
    return f"{location[-1].file}:{location[-1].line}" if isinstance(origin, CNode) and location else ""


def _wire(view: View, op: str) -> str:
    """The element type in which MPI combines a tensor."""
    if op in ("max", "min") and "float" in view.dtype:
        raise Unsupported("maxima of floats")
    name = "float32" if view.dtype in _SHORT else view.dtype
    if name not in mpi.TYPES or (op == "avg" and "float" not in name):
        raise Unsupported(f"{op} of {view.dtype}")
    return name


def _scaled(lowering: Lowering, view: View, factor: float) -> None:
    """view = view * factor, in place."""
    flat = Operand(view.dtype, (1,))
    code = (Instr("load", view.dtype, (), 0), Instr("const", view.dtype, (), factor), Instr("mul", view.dtype, (0, 1)))
    lowering.kernel(Kernel((Axis(view.size),), (flat, flat), code, ((1, 2),)), [view, view], [view], [view], "average")


def _deliver(lowering: Lowering, result: View, item: Value) -> None:
    """Record a result, in the item's own element type."""
    lowering.views[item.id] = result if result.dtype == item.dtype else lowering.cast(result, item.dtype, item)


def _source(lowering: Lowering, view: View, wire: str) -> View:
    plain = lowering.plain(view)
    return plain if view.dtype == wire else lowering.plain(lowering.cast(plain, wire))


def _target(lowering: Lowering, item: Value, wire: str) -> View:
    return lowering.result_view(item) if item.dtype == wire else lowering.allocate(wire, item.shape)


def _reduction(here: _Collective, function: str, operand: View, item: Value) -> tuple[CallStep, View]:
    """A step that combines the numbers of all members, and where its result goes: MPI is told how many those are."""
    wire = _wire(operand, here.prim.op)
    source, target = _source(here.lowering, operand, wire), _target(here.lowering, item, wire)
    operation = mpi.OPERATIONS["sum" if here.prim.op == "avg" else here.prim.op]
    arguments = [source, target, target.size, mpi.TYPES[wire], operation, here.communicator]
    return here.step(function, [source], [target], arguments), target


@handles(collective.AllReduce)
def _all_reduce(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    here = _Collective(lowering, call)
    step, target = _reduction(here, "MPI_Allreduce_c", operands[0], items[0])
    if here.prim.op == "avg":
        lowering.emit(step)
        _scaled(lowering, target, 1.0 / here.size)
    else:
        lowering.begin(BeginStep.of(step, "MPI_Iallreduce_c", lowering.allocate("int64", ())))
    _deliver(lowering, target, items[0])


@handles(collective.ReduceScatter)
def _reduce_scatter(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    here = _Collective(lowering, call)
    step, target = _reduction(here, "MPI_Reduce_scatter_block_c", operands[0], items[0])
    lowering.emit(step)
    if here.prim.op == "avg":
        _scaled(lowering, target, 1.0 / here.size)
    _deliver(lowering, target, items[0])


def _nbytes(view: View) -> int:
    return view.size * layout.itemsize(view.dtype)


@handles(collective.AllGather)
def _all_gather(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    here = _Collective(lowering, call)
    source, target = lowering.plain(operands[0]), lowering.result_view(items[0])
    arguments = [source, _nbytes(source), mpi.BYTE, target, _nbytes(source), mpi.BYTE, here.communicator]
    lowering.emit(here.step("MPI_Allgather_c", [source], [target], arguments))
    lowering.views[items[0].id] = target


@handles(collective.Broadcast)
def _broadcast(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    here = _Collective(lowering, call)
    wanted = {item.attr: item for item in items}
    for number, operand in enumerate(operands):  # also those that nobody reads: the others wait for them
        item = wanted.get(number)
        target = lowering.result_view(item) if item is not None else lowering.allocate(operand.dtype, operand.shape)
        lowering.copy(operand, target)
        arguments = [target, _nbytes(target), mpi.BYTE, here.ranks.index(here.prim.root_rank), here.communicator]
        lowering.emit(here.step("MPI_Bcast_c", [target], [target], arguments))
        if item is not None:
            lowering.views[item.id] = target


@handles(exchange.AlltoAll)
def _all_to_all(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """Parts to the front, exchange, parts to where they are joined."""
    here = _Collective(lowering, call)
    shape, parts = operands[0].shape, here.size
    split, join = here.prim.split_dim % len(shape), here.prim.concat_dim % len(shape)
    cut = (*shape[:split], parts, shape[split] // parts, *shape[split + 1 :])
    source = lowering.plain(_moved(_reshaped(lowering, operands[0], cut), split, 0))
    target = lowering.allocate(source.dtype, source.shape)
    arguments = [
        source, _nbytes(source) // parts, mpi.BYTE, target, _nbytes(source) // parts, mpi.BYTE, here.communicator,
    ]  # fmt: skip
    lowering.emit(here.step("MPI_Alltoall_c", [source], [target], arguments))
    lowering.views[items[0].id] = _reshaped(lowering, _moved(target, 0, join), items[0].shape)


def _reshaped(lowering: Lowering, view: View, shape: tuple[int, ...]) -> View:
    wanted = Value("reshape", shape, view.dtype)
    seen = layout.apply(view, wanted)
    seen = seen if seen is not None else layout.apply(lowering.plain(view), wanted)
    assert seen is not None  # a row-major tensor has every shape
    return seen


def _moved(view: View, axis: int, to: int) -> View:
    """The view with one axis elsewhere."""
    order = [i for i in range(len(view.shape)) if i != axis]
    order.insert(to, axis)
    seen = layout.apply(view, Value("transpose", tuple(view.shape[i] for i in order), view.dtype, (), tuple(order)))
    if seen is None:
        raise Unsupported("a layout that cannot be transposed")
    return seen


@handles(collective.Barrier)
def _barrier(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    here = _Collective(lowering, call)
    lowering.emit(here.step("MPI_Barrier", [], [], [here.communicator]))
    for item in items:
        lowering.views[item.id] = lowering.view_of(Value("const", item.shape, item.dtype, (), 0))


# -- messages ---------------------------------------------------------------------------------------------------------
class _Messages(_Collective):
    """Messages of one operation. Those to the process itself stay on the host, which keeps them in a queue of its own."""

    def __init__(self, lowering: Lowering, call: Value, others: list[int]):
        super().__init__(lowering, call)
        if self.transport.rank in others or not all(0 <= rank < self.transport.size for rank in others):
            raise Unsupported("a message to the process itself")

    def send(self, view: View, to: int, tag: int) -> None:
        source = self.lowering.plain(view)
        arguments = [source, _nbytes(source), to, tag, mpi.WORLD, self.transport.outbox()]
        self._emit(outbox.POST, [source], [], arguments, f"{_kind(source)} to rank {to}", to)

    def receive(self, item: Value, source: int, tag: int) -> None:
        target = self.lowering.result_view(item)
        arguments = [target, _nbytes(target), mpi.BYTE, source, tag, mpi.WORLD, 0]
        self._emit("MPI_Recv_c", [], [target], arguments, f"{_kind(target)} from rank {source}", source)
        self.lowering.views[item.id] = target

    def _emit(self, function: str, reads: list[View], writes: list[View], arguments: list[Any], about: str, other: int) -> None:
        ranks = (self.transport.rank, other)
        note = self.transport.note(self.prim.name, ranks, about, self.location)
        step = CallStep(reads, writes, self.prim.name, function=function, arguments=arguments, note=note, ranks=ranks)
        self.lowering.emit(step)


def _kind(view: View) -> str:
    return f"{view.dtype}{list(view.shape)}"


@handles(exchange.Send)
def _send(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    _Messages(lowering, call, [prim.dest_rank]).send(operands[0], prim.dest_rank, prim.sr_tag)
    lowering.views[items[0].id] = operands[0]


@handles(exchange.Receive)
def _receive(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    _Messages(lowering, call, [prim.src_rank]).receive(items[0], prim.src_rank, prim.sr_tag)


@handles(exchange.Shift)
def _shift(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    before, after = call.attr.prim.neighbours()
    here = _Messages(lowering, call, [before, after])
    here.send(operands[0], after, 0)
    here.receive(items[0], before, 0)


@handles(exchange.NeighborExchange)
def _neighbours(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    here = _Messages(lowering, call, [*prim.send_rank_ids, *prim.recv_rank_ids])
    for operand, rank in zip(operands, prim.send_rank_ids):
        here.send(operand, rank, 0)
    wanted = _wanted(call, items)
    for number, rank in enumerate(prim.recv_rank_ids):
        here.receive(wanted[number], rank, 0)


@handles(exchange.BatchISendIRecv)
def _batch(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    here = _Messages(lowering, call, list(prim.remote_ranks))
    supply, wanted = iter(operands), _wanted(call, items)
    plan = list(enumerate(zip(prim.op_types, prim.remote_ranks)))
    for number, (kind, rank) in plan:
        if kind == "isend":
            operand = next(supply)
            here.send(operand, rank, 0)
            lowering.views[wanted[number].id] = operand
    for number, (kind, rank) in plan:
        if kind == "irecv":
            here.receive(wanted[number], rank, 0)


@handles(collective.After)
def _after(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """No step: those that there are keep their order."""
    lowering.views[items[0].id] = operands[0]


def _wanted(call: Value, items: list[Value]) -> dict[int, Value]:
    """All results by number: those that nobody reads have to be received, too."""
    return {item.attr: item for item in (*unread(call), *items)}


def unread(call: Value) -> list[Value]:
    """Values for the results of a collective that nobody reads; it happens all the same, since the others take part."""
    origin = call.origin.abstract if isinstance(call.origin, CNode) else None
    kinds = origin.elements if isinstance(origin, AbstractTuple) else (origin,)
    return [Value("item", k.shape, k.dtype.name, (call,), n) for n, k in enumerate(kinds) if isinstance(k, AbstractTensor)]


def compared(graph: str, steps: list[Step]) -> list[Step]:
    """The steps, led by one for each group that compares what its members are about to do."""
    by_group: dict[tuple[int, ...], list[CallStep]] = {}
    for step in steps:
        if isinstance(step, CallStep) and step.function not in _OF_ONE_PROCESS:
            by_group.setdefault(step.ranks, []).append(step)
    transport = world.transport()
    if not by_group or not isinstance(transport, world.NativeTransport):
        return steps
    first: list[Step] = []
    for ranks, calls in by_group.items():
        sequence = [transport.described(call.note) for call in calls]
        digest = int.from_bytes(hashlib.blake2b(repr(sequence).encode(), digest_size=7).digest(), "little")
        shown = ", ".join(sequence[:8]) + (", …" if len(sequence) > 8 else "")
        note = transport.note(f"the graph {graph!r}", ranks, f"{len(calls)} collectives: {shown}", "")
        first.append(CompareStep([], [], "compare", ranks=ranks, note=note, digest=digest))
    return _later(steps, len(first), first)


def _later(steps: list[Step], by: int, first: list[Step]) -> list[Step]:
    """Steps behind others: what they use is in use later by as many."""
    buffers = {id(b): b for s in steps for b in (*(v.buffer for v in s.views), *((s.scratch,) if s.scratch else ()))}
    for buffer in buffers.values():
        if buffer.first >= 0:
            buffer.first, buffer.last = buffer.first + by, buffer.last + by
    return [*first, *steps]
