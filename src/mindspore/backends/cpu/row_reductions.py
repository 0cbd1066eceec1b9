"""Kernels of `RowNorm` and `RowPeak`: one thread per row, vectors of a row added up in order (`prims/row_reductions.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mindspore.backends.cpu.codegen import memory, vecmath
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import Function, number
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, own_share, pointers
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims.row_reductions import RowNorm, RowPeak

_LANES = 16
_FLOATS = f"<{_LANES} x float>"
_INTS = f"<{_LANES} x i32>"
_LOWEST = "0xFFF0000000000000"


@dataclass(frozen=True)
class Rows:
    count: int
    width: int


@dataclass(frozen=True)
class Norm:
    count: int
    width: int
    epsilon: float
    centred: bool
    shift: bool


def _along(f: Function, width: int, carried: list[tuple[str, str]], body: Callable[[str, Mask, list[str]], list[str]]) -> list[str]:
    """Go along a row, a vector at a time; the last one may be masked."""
    whole = width - width % _LANES
    values = [value for _, value in carried]
    if whole:
        values = f.loop("0", str(whole), str(_LANES), carried, lambda at, now: body(at, Mask(_LANES), now), known_nonempty=True)
    if width % _LANES:
        values = body(str(whole), Mask.first(f, _LANES, width % _LANES), values)
    return values


def _load(f: Function, pointer: str, at: str, mask: Mask) -> str:
    return memory.load(f, "float32", memory.offset(f, pointer, at, 4), 1, mask)


def _total(f: Function, value: str) -> str:
    return f.call("float", f"llvm.vector.reduce.fadd.v{_LANES}f32", ("float", "0.0"), (_FLOATS, value))


def _kept(f: Function, mask: Mask, value: str, other: str) -> str:
    """`other` in the lanes behind the end of the row."""
    if mask.lanes is None:
        return value
    return f.op(f"select <{_LANES} x i1> {mask.lanes}, {_FLOATS} {value}, {_FLOATS} {other}")


def _write_norm(norm: Norm) -> Function:
    f = Function()
    target, x, scale, *rest = pointers(f, 3 + norm.shift)
    low, high = own_share(f, norm.count)

    def row(number_: str, _: list[str]) -> list[str]:
        source, out = (memory.offset(f, pointer, number_, 4 * norm.width) for pointer in (x, target))
        _norm_row(f, norm, source, out, scale, rest[0] if rest else "")
        return []

    f.loop(low, high, "1", [], row)
    return f


def _norm_row(f: Function, norm: Norm, source: str, out: str, scale: str, shift: str) -> None:
    share = number(1.0 / norm.width, "float32")
    mean = ""
    if norm.centred:
        sums = _along(
            f, norm.width, [(_FLOATS, "zeroinitializer")],
            lambda at, mask, now: [f.op(f"fadd {_FLOATS} {now[0]}, {_load(f, source, at, mask)}")],
        )  # fmt: skip
        mean = f.splat("float", f.op(f"fmul float {_total(f, sums[0])}, {share}"), _LANES)

    def centred(at: str, mask: Mask) -> str:
        value = _load(f, source, at, mask)
        return _kept(f, mask, f.op(f"fsub {_FLOATS} {value}, {mean}"), "zeroinitializer") if mean else value

    def square(at: str, mask: Mask, now: list[str]) -> list[str]:
        value = centred(at, mask)
        return [f.intrinsic("fma", "float32", _LANES, value, value, now[0])]

    squares = _along(f, norm.width, [(_FLOATS, "zeroinitializer")], square)
    power = f.op(f"fadd float {f.op(f'fmul float {_total(f, squares[0])}, {share}')}, {number(norm.epsilon, 'float32')}")
    root = f.splat("float", f.intrinsic("sqrt", "float32", 1, power), _LANES)

    def store(at: str, mask: Mask, now: list[str]) -> list[str]:
        value = f.op(f"fmul {_FLOATS} {f.op(f'fdiv {_FLOATS} {centred(at, mask)}, {root}')}, {_load(f, scale, at, mask)}")
        if shift:
            value = f.op(f"fadd {_FLOATS} {value}, {_load(f, shift, at, mask)}")
        memory.store(f, "float32", memory.offset(f, out, at, 4), 1, mask, value)
        return now

    _along(f, norm.width, [], store)


def _write_peak(rows: Rows) -> Function:
    f = Function()
    places, totals, x = pointers(f, 3)
    low, high = own_share(f, rows.count)

    def row(number_: str, _: list[str]) -> list[str]:
        place, total = _peak_row(f, rows.width, memory.offset(f, x, number_, 4 * rows.width))
        f.do(f"store i32 {place}, ptr {memory.offset(f, places, number_, 4)}, align 4")
        f.do(f"store float {total}, ptr {memory.offset(f, totals, number_, 4)}, align 4")
        return []

    f.loop(low, high, "1", [], row)
    return f


def _peak_row(f: Function, width: int, source: str) -> tuple[str, str]:
    lowest = f.splat("float", _LOWEST, _LANES)
    lanes = f"<{', '.join(f'i32 {i}' for i in range(_LANES))}>"

    def best(at: str, mask: Mask, now: list[str]) -> list[str]:
        value = _kept(f, mask, _load(f, source, at, mask), lowest)
        here = f.op(f"add {_INTS} {f.splat('i32', f.op(f'trunc i64 {at} to i32'), _LANES)}, {lanes}")
        higher = f.op(f"fcmp ogt {_FLOATS} {value}, {now[0]}")
        return [
            f.op(f"select <{_LANES} x i1> {higher}, {_FLOATS} {value}, {_FLOATS} {now[0]}"),
            f.op(f"select <{_LANES} x i1> {higher}, {_INTS} {here}, {_INTS} {now[1]}"),
        ]

    tops, places = _along(f, width, [(_FLOATS, lowest), (_INTS, "zeroinitializer")], best)
    top = f.call("float", f"llvm.vector.reduce.fmax.v{_LANES}f32", (_FLOATS, tops))
    tops_ = f.splat("float", top, _LANES)
    among = f.op(f"fcmp oeq {_FLOATS} {tops}, {tops_}")
    late = f.splat("i32", str(2**31 - 1), _LANES)
    first = f.op(f"select <{_LANES} x i1> {among}, {_INTS} {places}, {_INTS} {late}")
    place = f.call("i32", f"llvm.vector.reduce.smin.v{_LANES}i32", (_INTS, first))
    known = f.op(f"select i1 {f.op(f'icmp slt i32 {place}, {width}')}, i32 {place}, i32 0")  # a row of NaN has no largest

    def add(at: str, mask: Mask, now: list[str]) -> list[str]:
        value = vecmath.exp(f, f.op(f"fsub {_FLOATS} {_load(f, source, at, mask)}, {tops_}"), _LANES)
        return [f.op(f"fadd {_FLOATS} {now[0]}, {_kept(f, mask, value, 'zeroinitializer')}")]

    sums = _along(f, width, [(_FLOATS, "zeroinitializer")], add)
    return known, f.op(f"fadd float {top}, {vecmath.log(f, _total(f, sums[0]), 1)}")


@handles(RowNorm)
def _row_norm(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim = call.attr.prim
    if prim.half:
        raise Unsupported("norms of rows to bfloat16")
    reads = [lowering.plain(view) for view in operands]
    target = lowering.result_view(items[0])
    count, width = target.shape
    norm = Norm(count, width, prim.epsilon, prim.centred, len(reads) == 3)
    emit(lowering, "row norm", compiled(_write_norm, norm), [target], reads, 4 * target.size if target.shape[0] > 1 else 0)
    lowering.views[items[0].id] = target


@handles(RowPeak)
def _row_peak(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    x = lowering.plain(operands[0])
    by_number = {item.attr: item for item in items}
    targets = [
        lowering.result_view(by_number[n]) if n in by_number else lowering.allocate(dtype, x.shape[:1])
        for n, dtype in enumerate(("int32", "float32"))
    ]
    emit(lowering, "row peak", compiled(_write_peak, Rows(x.shape[0], x.shape[1])), targets, [x], 20 * x.size if x.shape[0] > 1 else 0)
    for n, item in by_number.items():
        lowering.views[item.id] = targets[n]
