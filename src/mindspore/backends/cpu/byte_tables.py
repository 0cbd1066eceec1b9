"""The kernel of `TableLookup`: bytes replaced by entries of a table of 256.

With AVX-512 VBMI the table lies in four registers: one instruction looks 64 bytes up in 128 entries by their lower seven bits, and the
highest bit chooses between the two halves. Elsewhere bytes are looked up in the cache, one by one. A lookup does not ask where its bytes
belong, so it goes through memory as it is laid out, and its result has the layout of its operand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mindspore.backends.cpu import jit, layout
from mindspore.backends.cpu.codegen import memory
from mindspore.backends.cpu.codegen.text import Function
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, own_share, pointers
from mindspore.compiler.fuse.loopir import Value
from mindspore.prims.quantised import TableLookup

_LANES = 64
_BYTES = f"<{_LANES} x i8>"


@dataclass(frozen=True)
class Lookup:
    """What a kernel depends on."""

    count: int
    in_registers: bool


def _write(lookup: Lookup) -> Function:
    f = Function()
    y, x, table = pointers(f, 3)
    step = _vectors(f, table) if lookup.in_registers else lambda source, target: _one_by_one(f, table, source, target)
    whole = lookup.count // _LANES
    low, high = own_share(f, whole)

    def block(number: str, _: list[str]) -> list[str]:
        step(memory.offset(f, x, number, _LANES), memory.offset(f, y, number, _LANES))
        return []

    f.loop(low, high, "1", [], block)
    if lookup.count % _LANES:
        f.when(f.op("icmp eq i64 %tid, 0"), lambda: _rest(f, table, x, y, whole * _LANES, lookup.count))
    return f


def _vectors(f: Function, table: str) -> Callable[[str, str], None]:
    parts = [f.op(f"load {_BYTES}, ptr {memory.offset(f, table, str(n), _LANES)}, align 1") for n in range(4)]

    def step(source: str, target: str) -> None:
        codes = f.op(f"load {_BYTES}, ptr {source}, align 1")
        halves = [_looked_up(f, codes, *parts[n : n + 2]) for n in (0, 2)]
        above = f.op(f"icmp slt {_BYTES} {codes}, zeroinitializer")
        found = f.op(f"select <{_LANES} x i1> {above}, {_BYTES} {halves[1]}, {_BYTES} {halves[0]}")
        f.do(f"store {_BYTES} {found}, ptr {target}, align 1")

    return step


def _looked_up(f: Function, codes: str, lower: str, upper: str) -> str:
    return f.call(_BYTES, "llvm.x86.avx512.vpermi2var.qi.512", (_BYTES, lower), (_BYTES, codes), (_BYTES, upper))


def _one_by_one(f: Function, table: str, source: str, target: str) -> None:
    for n in range(_LANES):
        _single(f, table, memory.offset(f, source, str(n), 1), memory.offset(f, target, str(n), 1))


def _rest(f: Function, table: str, x: str, y: str, low: int, high: int) -> None:
    def one(n: str, _: list[str]) -> list[str]:
        _single(f, table, memory.offset(f, x, n, 1), memory.offset(f, y, n, 1))
        return []

    f.loop(str(low), str(high), "1", [], one, known_nonempty=True)


def _single(f: Function, table: str, source: str, target: str) -> None:
    code = f.op(f"zext i8 {f.op(f'load i8, ptr {source}, align 1')} to i64")
    f.do(f"store i8 {f.op(f'load i8, ptr {memory.offset(f, table, code, 1)}, align 1')}, ptr {target}, align 1")


@handles(TableLookup)
def _lookup(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    x, table = operands
    dims = layout.dense(x) if x.dims is not None else None
    if dims is None or tuple(map(layout.merge, x.dims or ())) != dims:  # gaps
        x = lowering.plain(x)
        dims = layout.plain_dims(x.shape)
    target = lowering.result_view(items[0], dims, native=x.buffer.native)
    code = compiled(_write, Lookup(x.size, jit.has_byte_tables()))
    emit(lowering, "table lookup", code, [target], [x, lowering.plain(table)], x.size)
    lowering.views[items[0].id] = target
