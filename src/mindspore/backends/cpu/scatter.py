"""Adding rows at run-time positions: the gradient of an embedding.

`target[index[i]] += value[i]` for every i, in order. Threads share out the columns, so that no two write the same
element and the result does not depend on their number. Positions outside the target are skipped.
"""

from __future__ import annotations

import ctypes
import hashlib
from typing import TYPE_CHECKING, Any

from mindspore.backends.cpu import jit, kernels, openmp
from mindspore.backends.cpu.codegen import loops, memory, scalar
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import ITEMSIZE, Function, computed
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.shelf import Shelf
from mindspore.backends.cpu.steps import KernelStep
from mindspore.compiler.fuse.loopir import Unsupported, Value

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


class RowScatter:
    """A compiled scatter of rows of `columns` elements into `rows` rows; looks like a compiled kernel."""

    def __init__(self, dtype: str, index_dtype: str, rows: int, columns: int):
        key = f"scatter {dtype} {index_dtype} {rows} {columns}"
        name = "s" + hashlib.sha256(key.encode()).hexdigest()[:20]
        width = min(32, jit.vector_bits() // 16)
        self.code = jit.Code(name, _module(name, dtype, index_dtype, rows, columns, width))

    @property
    def address(self) -> int:
        return self.code.address

    def block(self, threads: int, extent: int, scratch: int, pointers: Any) -> Any:
        return (ctypes.c_int64 * (loops.FIRST_BUFFER + len(pointers)))(scratch, threads, extent, *pointers)


_SHELF: Shelf[RowScatter] = Shelf(32)


def _module(name: str, dtype: str, index_dtype: str, rows: int, columns: int, width: int) -> str:
    f = Function()
    slots = {}
    for number, label in enumerate(("target", "value", "index")):
        slot = f.op(f"getelementptr i8, ptr %args, i64 {8 * (loops.FIRST_BUFFER + number)}")
        slots[label] = f.op(f"load ptr, ptr {slot}, align 8")
    count = f.op(f"load i64, ptr {f.op('getelementptr i8, ptr %args, i64 16')}, align 8")
    steps = -(-columns // width)
    others = f.op("sub i64 %threads, 1")
    chunk = f.op(f"udiv i64 {f.op(f'add i64 {steps}, {others}')}, %threads")
    low = f.op(f"mul i64 %tid, {chunk}")
    end = f.op(f"add i64 {low}, {chunk}")
    high = f.op(f"select i1 {f.op(f'icmp slt i64 {end}, {steps}')}, i64 {end}, i64 {steps}")
    size = ITEMSIZE[dtype]

    def add(place: str, source: str, step: str, mask: Mask) -> None:
        at = f.op(f"mul i64 {step}, {width * size}")
        a, b = (f.op(f"getelementptr i8, ptr {p}, i64 {at}") for p in (place, source))
        total = scalar.OPS["add"](
            f, computed(dtype), width, memory.load(f, dtype, a, 1, mask), memory.load(f, dtype, b, 1, mask)
        )
        memory.store(f, dtype, a, 1, mask, total)

    def row(i: str, _: list[str]) -> list[str]:
        raw = memory.load(f, index_dtype, memory.offset(f, slots["index"], i, ITEMSIZE[index_dtype]), 1, Mask(1))
        position = scalar.cast(f, index_dtype, "int64", 1, raw)
        negative = f.op(f"icmp slt i64 {position}, 0")
        position = f.op(f"select i1 {negative}, i64 {f.op(f'add i64 {position}, {rows}')}, i64 {position}")
        inside = f.op(f"icmp ult i64 {position}, {rows}")

        def visit() -> None:
            place = memory.offset(f, slots["target"], position, columns * size)
            source = memory.offset(f, slots["value"], i, columns * size)

            def one(step: str, _: list[str]) -> list[str]:
                if columns % width == 0:
                    add(place, source, step, Mask(width))
                    return []
                whole = f.op(f"icmp slt i64 {step}, {columns // width}")
                f.when(whole, lambda: add(place, source, step, Mask(width)))
                rest = f.op(f"xor i1 {whole}, true")
                f.when(rest, lambda: add(place, source, step, Mask.first(f, width, columns % width)))
                return []

            f.loop(low, high, "1", [], one)

        f.when(inside, visit)
        return []

    f.loop("0", count, "1", [], row)
    return loops.module(name, f)


def add_rows(lowering: Any, prim: Primitive, x: View, value: View, indices: list[View], item: Value) -> None:
    """x with `value` added at rows given by one index tensor."""
    if not prim.accumulate or len(indices) != 1 or len(prim.spec) < 1 or "tensor" not in repr(prim.spec[0]):
        raise Unsupported("this way of setting items")
    if any(s != slice(None) for s in prim.spec[1:]) or not x.shape:
        raise Unsupported("this way of setting items")
    index = indices[0]
    region = index.shape + x.shape[1:]
    if value.shape != region or index.dtype not in ("int32", "int64") or x.dtype not in ("float32", "float64"):
        raise Unsupported("this way of setting items")
    target = lowering.result_view(item)
    lowering.copy(x, target)
    rows, columns = x.shape[0], target.size // x.shape[0]
    value, index = lowering.plain(value), lowering.plain(index)
    key = (x.dtype, index.dtype, rows, columns)
    compiled = _SHELF.get(key, lambda: RowScatter(*key))
    parallel = index.size * columns > kernels.SERIAL_WORK and columns >= 64
    step = KernelStep([value, index, target], [target], "scatter_add")
    step.compiled, step.operands = compiled, [target, value, index]  # type: ignore[assignment]
    step.threads, step.extent = openmp.threads() if parallel else 1, index.size
    lowering.emit(step)
    lowering.views[item.id] = target
