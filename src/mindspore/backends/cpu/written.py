"""What kernels written by hand (scatters, scans, sorts, products) share: names, arguments, shares of threads, steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from mindspore.backends.cpu import jit, kernels, openmp
from mindspore.backends.cpu.codegen import loops
from mindspore.backends.cpu.codegen.text import Function
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.shelf import Shelf
from mindspore.backends.cpu.steps import KernelStep


class Compiled:
    """Machine code for one description; looks like a compiled kernel."""

    def __init__(self, name: str, ir: str):
        self.code = jit.Code(name, ir)

    @property
    def address(self) -> int:
        return self.code.address


_SHELF: Shelf[Compiled] = Shelf(64)


def compiled(write: Callable[[Any], Function], description: Any) -> Compiled:
    """The kernel that `write` writes for a description, which must say everything about it."""
    text = f"{write.__module__}.{write.__qualname__} {description!r}"
    name = "w" + hashlib.sha256(text.encode()).hexdigest()[:20]
    return _SHELF.get(name, lambda: Compiled(name, loops.module(name, write(description))))


def emit(
    lowering: Lowering, name: str, code: Compiled, writes: list[View], reads: list[View], work: int, scratch: int = 0,
    shared: int = 0,
) -> None:  # fmt: skip
    """A step whose operands are `writes`, then `reads`. `work`: elements times a rough cost, 0 if threads cannot share
    it; `scratch`: bytes per thread, `shared`: bytes for all of them, in their place."""
    threads = openmp.threads() if work > kernels.SERIAL_WORK else 1
    step = KernelStep(reads, writes, name, max(threads * scratch, shared))
    step.compiled, step.operands, step.threads = code, [*writes, *reads], threads  # type: ignore[assignment]
    lowering.emit(step)


# -- pieces of code -------------------------------------------------------------------------------------------------------
def pointers(f: Function, count: int) -> list[str]:
    """The addresses of the operands."""
    slots = (f.op(f"getelementptr i8, ptr %args, i64 {8 * (loops.FIRST_BUFFER + n)}") for n in range(count))
    return [f.op(f"load ptr, ptr {slot}, align 8") for slot in slots]


def scratch_of_thread(f: Function, nbytes: int) -> str:
    base = f.op("load ptr, ptr %args, align 8")
    return f.op(f"getelementptr i8, ptr {base}, i64 {f.op(f'mul i64 %tid, {nbytes}')}")


def own_share(f: Function, total: int) -> tuple[str, str]:
    """The part of range(total) that belongs to this thread."""
    others = f.op("sub i64 %threads, 1")
    chunk = f.op(f"udiv i64 {f.op(f'add i64 {total}, {others}')}, %threads")
    low = f.op(f"mul i64 %tid, {chunk}")
    return low, smaller(f, f.op(f"add i64 {low}, {chunk}"), total)


def smaller(f: Function, a: str, b: str | int) -> str:
    return f.op(f"select i1 {f.op(f'icmp slt i64 {a}, {b}')}, i64 {a}, i64 {b}")


def moved(f: Function, offset: str, index: str, step: int) -> str:
    """offset + index * step."""
    if step == 0:
        return offset
    scaled = index if step == 1 else f.op(f"mul i64 {index}, {step}")
    return scaled if offset == "0" else f.op(f"add i64 {offset}, {scaled}")


def either(f: Function, condition: str, yes: Callable[[], Any], no: Callable[[], Any]) -> None:
    """`if condition: yes() else: no()`."""
    f.when(condition, yes)
    f.when(f.op(f"xor i1 {condition}, true"), no)
