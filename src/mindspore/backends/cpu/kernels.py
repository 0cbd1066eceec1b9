"""Compiled kernels: made once per description, called with a block of addresses."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.backends.cpu import jit, openmp
from mindspore.backends.cpu.codegen import loops
from mindspore.backends.cpu.codegen.spec import Kernel, simplify
from mindspore.backends.cpu.shelf import Shelf

SERIAL_WORK = loops.SERIAL_WORK


class Compiled:
    """A kernel in machine code."""

    def __init__(self, kernel: Kernel, text: str):
        name = "k" + hashlib.sha256(text.encode()).hexdigest()[:20]
        plan = loops.compile_kernel(kernel, name, jit.vector_bits())
        self.code = jit.Code(name, plan.ir)
        self.scratch, self.tiles = plan.scratch, plan.tiles
        self.work = plan.work // max(1, kernel.size())  # per element

    @property
    def address(self) -> int:
        return self.code.address

    def threads(self, size: int) -> int:
        """How many threads to use for this many elements."""
        work = size * max(1, self.work)
        return 1 if work < SERIAL_WORK or self.tiles < 2 else openmp.threads()

    def block(self, threads: int, extent: int, scratch: int, pointers: Sequence[int]) -> Any:
        """The argument block: scratch memory, threads, dynamic extent, buffers."""
        return (ctypes.c_int64 * (loops.FIRST_BUFFER + len(pointers)))(scratch, threads, extent, *pointers)


_SHELF: Shelf[Compiled] = Shelf(256)


def _compiled(kernel: Kernel) -> Compiled:
    text = repr(kernel)  # tells constants apart that are equal: 0.0 and -0.0, 1 and 1.0
    return _SHELF.get(hashlib.sha256(text.encode()).digest(), lambda: Compiled(kernel, text))


def compile(kernel: Kernel) -> tuple[Compiled, int]:
    """Machine code for a kernel and the extent to pass; flat kernels of any length share one function."""
    kernel = simplify(kernel)
    extent = kernel.axes[0].extent
    if kernel.dynamic:
        stand_in = Kernel((kernel.axes[0].__class__(1 << 20),), kernel.buffers, kernel.code, kernel.stores, True)
        return _compiled(stand_in), extent
    return _compiled(kernel), extent


def call(kernel: Kernel, arrays: Sequence[np.ndarray], threads: int | None = None) -> None:
    """Run a kernel now on arrays whose first elements are the buffers' origins (tests and eager mode)."""
    compiled, extent = compile(kernel)
    count = threads or compiled.threads(kernel.size())
    scratch = np.empty(compiled.scratch(count) + 64, np.uint8)
    block = compiled.block(count, extent, -(-scratch.ctypes.data // 64) * 64, [a.ctypes.data for a in arrays])
    status = jit.callable_at(compiled.address)(ctypes.addressof(block))
    if status:
        raise RuntimeError(f"a kernel failed with status {status}")
