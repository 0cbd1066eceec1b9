"""Max pooling of images whose channels lie side by side, and its gradient.

oneDNN's maxima pass over NaN, so that every result has to be looked at, and with few channels its gradient takes ten times as long
as it should. Here vectors run along the channels. The forward pass notes in a byte which element of its window each result
is: the first maximum, where NaN counts as larger than every number (`prims/pooling.py`). The gradient of an element is
the sum over the windows above it that chose it; no window is written by two threads. Row-major images in windows of 2x2 have a kernel of
their own (`pair_pools.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from mindspore.backends.cpu import jit
from mindspore.backends.cpu.codegen import memory
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import Function
from mindspore.backends.cpu.layout import View, dense, merge
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, moved, own_share, pointers
from mindspore.prims.window import Window

_FEWEST_CHANNELS = 4
_SMALL_IMAGE = 1 << 18
_MOST_TAPS = 25  # elements of a window, which the code names one by one


@dataclass(frozen=True)
class Places:
    """Steps between images, blocks of channels, rows and columns, in elements; channels of a block are neighbours."""

    steps: tuple[int, int, int, int]
    size: tuple[int, int]


class OwnPool(Protocol):
    """A pooling by a kernel of our own; `noted`: whether the chosen elements are wanted."""

    @property
    def noted(self) -> bool: ...

    @property
    def kernel(self) -> tuple[int, int]: ...

    def write_forward(self) -> Function: ...

    def write_backward(self) -> Function: ...


@dataclass(frozen=True)
class Pool:
    """A pooling of `blocks` blocks of `channels` channels each."""

    images: int
    blocks: int
    channels: int
    source: Places
    target: Places
    kernel: tuple[int, int]
    stride: tuple[int, int]
    before: tuple[int, int]
    noted: bool  # whether the chosen elements are wanted
    lanes: int

    @property
    def reach(self) -> tuple[int, int]:
        """How many windows lie above an element, per axis."""
        return -(-self.kernel[0] // self.stride[0]), -(-self.kernel[1] // self.stride[1])

    def write_forward(self) -> Function:
        return _Forward(self).write()

    def write_backward(self) -> Function:
        return _Backward(self).write()


def plan(lowering: Lowering, x: View, shape: tuple[int, ...], window: Window, noted: bool) -> tuple[Pool, View] | None:
    """How an image (N, C, H, W) is pooled to `shape`, and memory for the result; None where this has no way."""
    if x.dtype != "float32" or len(x.shape) != 4 or set(window.dilation) != {1} or math.prod(window.kernel) > _MOST_TAPS:
        return None
    if x.dims is None or dense(x) != tuple(map(merge, x.dims)):
        return None
    n, c, h, w = (merge(pairs) for pairs in x.dims)
    block = c[-1] if c else (1, 1)
    if len(c) not in (1, 2) or block[1] != 1 or any(len(d) > 1 for d in (n, h, w)) or block[0] < _FEWEST_CHANNELS:
        return None
    blocks, channels = x.shape[1] // block[0], block[0]
    first, second, third, fourth = (d[0][1] if d else 0 for d in (n, c[:-1], h, w))
    rows, columns = shape[2:]
    images = rows * columns * channels
    dims = (
        ((shape[0], images * blocks),), ((blocks, images), (channels, 1)), ((rows, columns * channels),), ((columns, channels),)
    )  # fmt: skip
    lanes = min(jit.vector_bits() // 32, 1 << (channels - 1).bit_length())
    pool = Pool(
        shape[0], blocks, channels,
        Places((first, second, third, fourth), (x.shape[2], x.shape[3])),
        Places((images * blocks, images, columns * channels, channels), (rows, columns)),
        (window.kernel[0], window.kernel[1]), (window.stride[0], window.stride[1]),
        (window.pads[0][0], window.pads[1][0]), noted, lanes,
    )  # fmt: skip
    return pool, lowering.allocate("float32", shape, tuple(map(merge, dims)), native=True)


def worth_moving(x: View) -> bool:
    """Whether channels had better be put side by side first: several of them, in an image that the nearest caches hold."""
    return x.dtype == "float32" and len(x.shape) == 4 and x.shape[1] >= _FEWEST_CHANNELS and x.size <= _SMALL_IMAGE


def forward(lowering: Lowering, pool: OwnPool, x: View, y: View) -> View | None:
    """Emit the pooling; the result tells which elements were chosen, if that is wanted."""
    chosen = lowering.allocate("uint8", (y.size,)) if pool.noted else None
    writes = [y] if chosen is None else [y, chosen]
    work = y.size * math.prod(pool.kernel)
    emit(lowering, "max_pool", compiled(type(pool).write_forward, pool), writes, [x], work)
    return chosen


def backward(lowering: Lowering, pool: OwnPool, dy: View, chosen: View, dx: View) -> None:
    """`dy` in the layout of the forward pass's result, `dx` in that of its operand."""
    emit(lowering, "max_pool_bwd", compiled(type(pool).write_backward, pool), [dx], [dy, chosen], 4 * dx.size)


# -- kernels ----------------------------------------------------------------------------------------------------------
class _Writer:
    """What both directions share: loops over rows and vectors of channels."""

    def __init__(self, pool: Pool, walked: Places):
        self.p = pool
        self.f = Function()
        self.walked = walked  # the image whose elements are visited one by one
        self.floats, self.ints = f"<{pool.lanes} x float>", f"<{pool.lanes} x i32>"
        self.bools = f"<{pool.lanes} x i1>"

    def rows(self) -> None:
        """`self.element(bases, row, column, mask)` for all elements of this thread's rows; bases: of source and target."""
        f, p = self.f, self.p
        height, width = self.walked.size
        low, high = own_share(f, p.images * p.blocks * height)

        def row(number: str, _: list[str]) -> list[str]:
            plane, y = f.op(f"udiv i64 {number}, {height}"), f.op(f"urem i64 {number}, {height}")
            image, block = f.op(f"udiv i64 {plane}, {p.blocks}"), f.op(f"urem i64 {plane}, {p.blocks}")
            bases = [
                moved(f, moved(f, "0", image, places.steps[0]), block, places.steps[1]) for places in (p.source, p.target)
            ]

            def column(x: str, _: list[str]) -> list[str]:
                for start in range(0, p.channels, p.lanes):
                    count = min(p.lanes, p.channels - start)
                    mask = Mask(p.lanes) if count == p.lanes else Mask.first(f, p.lanes, count)
                    self.element([f.op(f"add i64 {b}, {start}") for b in bases], y, x, mask)
                return []

            f.loop("0", str(width), "1", [], column, known_nonempty=True)
            return []

        f.loop(low, high, "1", [], row)

    def element(self, bases: list[str], row: str, column: str, mask: Mask) -> None:
        raise NotImplementedError

    def place(self, base: str, places: Places, row: str, column: str) -> str:
        return moved(self.f, moved(self.f, base, row, places.steps[2]), column, places.steps[3])

    def load(self, dtype: str, base: str, place: str, mask: Mask) -> str:
        return memory.load(self.f, dtype, memory.offset(self.f, base, place, 4 if dtype == "float32" else 1), 1, mask)

    def select(self, kind: str, condition: str, yes: str, no: str) -> str:
        return self.f.op(f"select {self.bools} {condition}, {kind} {yes}, {kind} {no}")

    def inside(self, index: str, size: int) -> str:
        return self.f.op(f"icmp ult i64 {index}, {size}")


class _Forward(_Writer):
    def __init__(self, pool: Pool):
        super().__init__(pool, pool.target)

    def write(self) -> Function:
        f = self.f
        self.y, *chosen, self.x = pointers(f, 3 if self.p.noted else 2)
        self.chosen = chosen[0] if chosen else ""
        self.lowest = f.constant(float("-inf"), "float32", self.p.lanes)
        self.nowhere = f.slot(self.floats)
        f.do(f"store {self.floats} {self.lowest}, ptr {self.nowhere}, align 64")
        self.rows()
        return f

    def element(self, bases: list[str], row: str, column: str, mask: Mask) -> None:
        f, p = self.f, self.p
        axes = []
        for index, kernel, stride, before, size in zip((row, column), p.kernel, p.stride, p.before, p.source.size):
            first = f.op(f"sub i64 {f.op(f'mul i64 {index}, {stride}')}, {before}")
            places = [f.op(f"add i64 {first}, {k}") for k in range(kernel)]
            axes.append([(place, self.inside(place, size)) for place in places])
        best = where = ""
        for number, ((y, inside_y), (x, inside_x)) in enumerate((a, b) for a in axes[0] for b in axes[1]):
            address = memory.offset(f, self.x, self.place(bases[0], p.source, y, x), 4)
            both = f.op(f"and i1 {inside_y}, {inside_x}")
            address = f.op(f"select i1 {both}, ptr {address}, ptr {self.nowhere}")
            value = memory.load(f, "float32", address, 1, mask)
            if not number:
                best, where = value, f.splat("i32", "0", p.lanes)
                continue
            larger, number_before = f.op(f"fcmp ugt {self.floats} {value}, {best}"), f.op(f"fcmp ord {self.floats} {best}, {best}")
            better = f.op(f"and {self.bools} {larger}, {number_before}")
            best = self.select(self.floats, better, value, best)
            where = self.select(self.ints, better, f.splat("i32", str(number), p.lanes), where)
        target = self.place(bases[1], p.target, row, column)
        memory.store(f, "float32", memory.offset(f, self.y, target, 4), 1, mask, best)
        if p.noted:
            small = f.op(f"trunc {self.ints} {where} to <{p.lanes} x i8>")
            memory.store(f, "uint8", memory.offset(f, self.chosen, target, 1), 1, mask, small)


class _Backward(_Writer):
    def __init__(self, pool: Pool):
        super().__init__(pool, pool.source)

    def write(self) -> Function:
        self.dx, self.dy, self.chosen = pointers(self.f, 3)
        self.rows()
        return self.f

    def element(self, bases: list[str], row: str, column: str, mask: Mask) -> None:
        """Windows above an element begin at its place less 0, 1, … strides; it is their element of the number that is left."""
        f, p = self.f, self.p
        axes = []
        for index, kernel, stride, before, size, reach in zip(
            (row, column), p.kernel, p.stride, p.before, p.target.size, p.reach
        ):
            padded = f.op(f"add i64 {index}, {before}")
            last, rest = f.op(f"udiv i64 {padded}, {stride}"), f.op(f"urem i64 {padded}, {stride}")
            found = []
            for k in range(reach):
                window, tap = f.op(f"sub i64 {last}, {k}"), f.op(f"add i64 {rest}, {k * stride}")
                fits = f.op(f"and i1 {self.inside(window, size)}, {f.op(f'icmp ult i64 {tap}, {kernel}')}")
                found.append((f.op(f"select i1 {fits}, i64 {window}, i64 0"), tap, fits))
            axes.append(found)
        total = ""
        for (y, tap_y, fits_y), (x, tap_x, fits_x) in ((a, b) for a in axes[0] for b in axes[1]):
            place = self.place(bases[1], p.target, y, x)
            number = f.op(f"add i64 {f.op(f'mul i64 {tap_y}, {p.kernel[1]}')}, {tap_x}")
            fits = f.op(f"and i1 {fits_y}, {fits_x}")
            number = f.op(f"trunc i64 {f.op(f'select i1 {fits}, i64 {number}, i64 255')} to i8")
            chosen = self.load("uint8", self.chosen, place, mask)
            hit = f.op(f"icmp eq <{p.lanes} x i8> {chosen}, {f.splat('i8', number, p.lanes)}")
            share = self.select(self.floats, hit, self.load("float32", self.dy, place, mask), "zeroinitializer")
            total = share if not total else f.op(f"fadd {self.floats} {total}, {share}")
        target = self.place(bases[0], p.source, row, column)
        memory.store(f, "float32", memory.offset(f, self.dx, target, 4), 1, mask, total)
