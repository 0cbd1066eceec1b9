"""What a fused kernel is.

A kernel walks over a rectangular space of `axes`. Every buffer is read or written at an address that is affine in the
position (one stride per axis, 0 for broadcasting), so transposed, sliced and blocked tensors need no special cases.
`code` is straight-line: each instruction defines one value per position. Reductions combine a value over all `reduce`
axes; what follows them lives on the remaining axes and may be combined with full-size values again (softmax,
normalisations), which makes the kernel walk over the reduced axes more than once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

REDUCTIONS = ("sum", "prod", "max", "min", "all", "any")


@dataclass(frozen=True)
class Axis:
    extent: int
    reduce: bool = False


@dataclass(frozen=True)
class Buffer:
    """A tensor in memory. `strides` are in elements, one per axis of the kernel."""

    dtype: str
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Instr:
    """One value. `op` is "load" (imm: buffer), "load_at" (imm: buffer and (stride, extent) per index operand), "const"
    (imm: number), "index" (imm: axis), "reduce" (imm: kind) or a name from `scalar.OPS`."""

    op: str
    dtype: str
    args: tuple[int, ...] = ()
    imm: Any = None


@dataclass(frozen=True)
class Kernel:
    axes: tuple[Axis, ...]
    buffers: tuple[Buffer, ...]
    code: tuple[Instr, ...]
    stores: tuple[tuple[int, int], ...]  # (buffer, value)
    dynamic: bool = False  # one axis whose extent is given when the kernel is called

    @property
    def reduces(self) -> bool:
        return any(axis.reduce for axis in self.axes)

    def size(self) -> int:
        n = 1
        for axis in self.axes:
            n *= axis.extent
        return n


def simplify(kernel: Kernel) -> Kernel:
    """Drop axes of extent 1 and merge neighbours that every buffer walks through as one; flat kernels become dynamic."""
    indexed = {i.imm for i in kernel.code if i.op == "index"}
    axes = list(kernel.axes)
    strides = [list(b.strides) for b in kernel.buffers]
    names = list(range(len(axes)))  # original axis each position stands for, for `index`
    position = 0
    while position < len(axes):
        if axes[position].extent == 1 and names[position] not in indexed:
            del axes[position], names[position]
            for row in strides:
                del row[position]
        else:
            position += 1
    position = len(axes) - 2
    while position >= 0:
        here, after = axes[position], axes[position + 1]
        free = names[position] not in indexed and names[position + 1] not in indexed
        if free and here.reduce == after.reduce and all(r[position] == r[position + 1] * after.extent for r in strides):
            axes[position + 1] = Axis(here.extent * after.extent, here.reduce)
            del axes[position], names[position]
            for row in strides:
                del row[position]
        position -= 1
        position = min(position, len(axes) - 2)
    if not axes:
        axes, names = [Axis(1)], [-1]
        for row in strides:
            row.append(0)
    renamed = {old: new for new, old in enumerate(names)}
    code = tuple(replace(i, imm=renamed[i.imm]) if i.op == "index" else i for i in kernel.code)
    if not any(a.reduce for a in axes):  # a reduction over nothing but extents of 1
        code = tuple(Instr("cast", i.dtype, i.args) if i.op == "reduce" else i for i in code)
    buffers = tuple(Buffer(b.dtype, tuple(s)) for b, s in zip(kernel.buffers, strides))
    dynamic = len(axes) == 1 and not indexed and not any(a.reduce for a in axes)
    return Kernel(tuple(axes), buffers, code, kernel.stores, dynamic)
