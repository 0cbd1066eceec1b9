"""Running sums, products, extrema and log-sums along an axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mindspore.backends.cpu import jit
from mindspore.backends.cpu.codegen import memory, scalar
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import (
    ITEMSIZE,
    LLVM_TYPES,
    MEMORY_TYPES,
    Function,
    computed,
    vector,
)
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, either, emit, own_share, pointers
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims import scan as scans
from mindspore.prims.primitive import Primitive

_COMBINE: dict[type[Primitive], str] = {
    scans.CumSum: "sum",
    scans.CumProd: "prod",
    scans.Cummax: "max",
    scans.Cummin: "min",
    scans.CumulativeLogsumexp: "logsumexp",
}


@dataclass(frozen=True)
class Scan:
    """Along the middle of (outer, steps, inner). Extrema also say where they were met, at ties the last."""

    dtype: str
    outer: int
    steps: int
    inner: int
    combine: str
    exclusive: bool = False
    reverse: bool = False

    @property
    def places(self) -> bool:
        return self.combine in ("max", "min")


def _log_of_sum(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    """log(exp(a) + exp(b)), also of infinities."""
    ops = scalar.OPS
    larger = ops["max"](f, dtype, width, a, b)
    decay = ops["exp"](
        f, dtype, width, ops["neg"](f, dtype, width, ops["abs"](f, dtype, width, _minus(f, dtype, width, a, b)))
    )
    total = ops["add"](f, dtype, width, larger, ops["log1p"](f, dtype, width, decay))
    doubled = ops["add"](f, dtype, width, a, f.constant(math.log(2), dtype, width))
    return scalar.select(f, dtype, width, scalar.compare(f, "eq", dtype, width, a, b), doubled, total)


def _minus(f: Function, dtype: str, width: int, a: str, b: str) -> str:
    return scalar.OPS["sub"](f, dtype, width, a, b)


def _combined(f: Function, scan: Scan, width: int, carried: str, value: str) -> str:
    dtype = computed(scan.dtype)
    if scan.combine == "logsumexp":
        return _log_of_sum(f, dtype, width, carried, value)
    return scalar.combine(f, scan.combine, dtype, width, carried, value)


def _write(scan: Scan) -> Function:
    f = Function()
    targets = pointers(f, 3 if scan.places else 2)
    source = targets.pop()
    dtype, width = computed(scan.dtype), _width(scan)
    strips = -(-scan.inner // width)
    start = -math.inf if scan.combine == "logsumexp" else scalar.identity(scan.combine, dtype)
    carried = [(vector(LLVM_TYPES[dtype], width), f.constant(start, dtype, width))]
    if scan.places:
        carried.append((vector("i64", width), f.constant(0, "int64", width)))

    def run(place: str, mask: Mask) -> None:
        """One strip of `width` columns, from the first step to the last."""

        def step(i: str, known: list[str]) -> list[str]:
            t = f.op(f"sub i64 {scan.steps - 1}, {i}") if scan.reverse else i
            at = f.op(f"add i64 {place}, {f.op(f'mul i64 {t}, {scan.inner}')}")
            value = memory.load(f, scan.dtype, memory.offset(f, source, at, ITEMSIZE[scan.dtype]), 1, mask)
            found = [_combined(f, scan, width, known[0], value)]
            if scan.places:
                hit = scalar.compare(f, "eq", dtype, width, value, found[0])
                if dtype.startswith("float"):  # NaN is the extreme from there on
                    lost = scalar.compare(f, "ne", dtype, width, value, value)
                    hit = f.op(f"or {vector('i1', width)} {hit}, {lost}")
                found.append(scalar.select(f, "int64", width, hit, f.splat("i64", t, width), known[1]))
            for target, kind, out in zip(targets, (scan.dtype, "int64"), known if scan.exclusive else found):
                memory.store(f, kind, memory.offset(f, target, at, ITEMSIZE[kind]), 1, mask, out)
            return found

        f.loop("0", str(scan.steps), "1", carried, step)

    def strip(i: str, _: list[str]) -> list[str]:
        row, part = f.op(f"udiv i64 {i}, {strips}"), f.op(f"urem i64 {i}, {strips}")
        place = f.op(f"mul i64 {row}, {scan.steps * scan.inner}")
        place = f.op(f"add i64 {place}, {f.op(f'mul i64 {part}, {width}')}")
        whole, rest = divmod(scan.inner, width)
        if not rest:
            run(place, Mask(width))
        else:
            inside = f.op(f"icmp slt i64 {part}, {whole}")
            either(f, inside, lambda: run(place, Mask(width)), lambda: run(place, Mask.first(f, width, rest)))
        return []

    low, high = own_share(f, scan.outer * strips)
    f.loop(low, high, "1", [], strip)
    return f


def _width(scan: Scan) -> int:
    if scan.inner < 8:
        return 1
    return min(32, jit.vector_bits() // (64 if scan.places or ITEMSIZE[scan.dtype] == 8 else 16))


@handles(*_COMBINE)
def _running(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, x = call.attr.prim, operands[0]
    combine = _COMBINE[type(prim)]
    if x.dtype not in MEMORY_TYPES or x.dtype == "bool_" or not x.shape:
        raise Unsupported(f"a running {combine} of {x.dtype}")
    axis = (prim.axis if combine in ("max", "min") else call.attr.template[1]) % len(x.shape)
    sizes = math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :])
    way = () if combine in ("max", "min") else (prim.exclusive, prim.reverse)
    scan = Scan(x.dtype, *sizes, combine, *way)
    source = lowering.plain(x)
    targets = _results(lowering, items, scan, x.shape)
    work = x.size * (16 if scan.combine == "logsumexp" else 1)
    emit(lowering, "scan", compiled(_write, scan), targets, [source], work)


def _results(lowering: Lowering, items: list[Value], scan: Scan, shape: tuple[int, ...]) -> list[View]:
    """Memory for the results, also for those that nobody reads."""
    found = {}
    for item in items:
        found[item.attr] = lowering.views[item.id] = lowering.result_view(item)
    kinds = (scan.dtype, "int64") if scan.places else (scan.dtype,)
    return [found.get(n) or lowering.allocate(kind, shape) for n, kind in enumerate(kinds)]
