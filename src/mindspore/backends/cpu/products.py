"""Matrix products of the types that oneDNN does not multiply: float64 and integers.

The scheme is that of Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", 2008): a panel of the
right matrix, a few vectors wide, is packed so that it stays in the nearest cache; against it, tiles of a few rows of
the left matrix are multiplied with all sums of the tile in registers. Threads share out blocks of the result, so sums do
not depend on their number. Operands may have any strides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mindspore.backends.cpu import jit
from mindspore.backends.cpu.codegen import memory, scalar
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import ITEMSIZE, LLVM_TYPES, Function, is_float, vector
from mindspore.backends.cpu.dnnl import row_major
from mindspore.backends.cpu.layout import View, strides
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import (
    compiled,
    either,
    emit,
    moved,
    own_share,
    pointers,
    scratch_of_thread,
    smaller,
)
from mindspore.compiler.fuse.loopir import Unsupported, Value

TYPES = ("float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_DEPTH = 256  # of a packed panel
_TILES = 16  # of rows per block


@dataclass(frozen=True)
class Product:
    """Strides are in elements: (rows, columns) of a matrix; per batch dimension (extent, left, right, result)."""

    dtype: str
    sizes: tuple[int, int, int]  # m, n, k
    left: tuple[int, int]
    right: tuple[int, int]
    batch: tuple[tuple[int, int, int, int], ...]

    @property
    def lanes(self) -> int:
        """Elements of a vector register; fewer for narrow results."""
        lanes = jit.vector_bits() // 8 // ITEMSIZE[self.dtype]
        while lanes > self.sizes[1]:
            lanes //= 2
        return lanes

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and vectors whose sums fit into the registers."""
        return (8, 3) if jit.vector_bits() == 512 else (4, 3)

    @property
    def panel(self) -> int:
        return self.lanes * self.tile[1]

    @property
    def blocks(self) -> tuple[int, int]:
        """Of rows, and of columns."""
        m, n, _ = self.sizes
        return -(-m // (self.tile[0] * _TILES)), -(-n // self.panel)

    @property
    def units(self) -> int:
        rows, columns = self.blocks
        for extent, *_ in self.batch:
            rows *= extent
        return rows * columns

    @property
    def scratch(self) -> int:
        """Bytes of one thread's packed panel."""
        return _DEPTH * self.panel * ITEMSIZE[self.dtype]


def _write(product: Product) -> Function:
    return _Writer(product).write()


class _Writer:
    def __init__(self, product: Product):
        self.p = product
        self.f = Function()
        self.size = ITEMSIZE[product.dtype]
        self.kind = vector(LLVM_TYPES[product.dtype], product.lanes)

    def write(self) -> Function:
        f, p = self.f, self.p
        self.target, self.left, self.right = pointers(f, 3)
        self.packed = scratch_of_thread(f, p.scratch)
        low, high = own_share(f, p.units)
        f.loop(low, high, "1", [], self._unit)
        return f

    def _unit(self, number: str, _: list[str]) -> list[str]:
        """One block of the result: some rows of one panel."""
        f, p = self.f, self.p
        rows, panels = p.blocks
        panel, rest = f.op(f"urem i64 {number}, {panels}"), f.op(f"udiv i64 {number}, {panels}")
        block, rest = f.op(f"urem i64 {rest}, {rows}"), f.op(f"udiv i64 {rest}, {rows}")
        places = ["0", "0", "0"]
        for extent, *steps in reversed(p.batch):
            index, rest = f.op(f"urem i64 {rest}, {extent}"), f.op(f"udiv i64 {rest}, {extent}")
            places = [moved(f, place, index, step) for place, step in zip(places, steps)]
        column = f.op(f"mul i64 {panel}, {p.panel}")
        first = f.op(f"mul i64 {block}, {p.tile[0] * _TILES}")
        left = memory.offset(f, self.left, places[0], self.size)
        right = memory.offset(f, self.right, moved(f, places[1], column, p.right[1]), self.size)
        target = memory.offset(f, self.target, moved(f, places[2], column, 1), self.size)
        whole, rest_columns = divmod(p.sizes[1], p.panel)
        if whole and rest_columns:
            inside = f.op(f"icmp slt i64 {panel}, {whole}")
            either(
                f, inside,
                lambda: self._block(first, left, right, target, p.panel),
                lambda: self._block(first, left, right, target, rest_columns),
            )  # fmt: skip
        else:
            self._block(first, left, right, target, rest_columns or p.panel)
        return []

    def _masks(self, columns: int) -> list[Mask]:
        f, w = self.f, self.p.lanes
        counts = [min(w, columns - at) for at in range(0, columns, w)]
        return [Mask(w) if count == w else Mask.first(f, w, count) for count in counts]

    def _block(self, first: str, left: str, right: str, target: str, columns: int) -> None:
        f, p = self.f, self.p
        k, masks = p.sizes[2], self._masks(columns)
        self._slab(first, left, right, target, masks, "0", str(min(k, _DEPTH)), start=True)

        def later(at: str, _: list[str]) -> list[str]:
            stop = smaller(f, f.op(f"add i64 {at}, {_DEPTH}"), k)
            self._slab(first, left, right, target, masks, at, stop, start=False)
            return []

        if k > _DEPTH:
            f.loop(str(_DEPTH), str(k), str(_DEPTH), [], later)

    def _slab(
        self, first: str, left: str, right: str, target: str, masks: list[Mask], low: str, high: str, start: bool
    ) -> None:
        """Add the products of columns low..high of the left matrix; `start`: to nothing."""
        f, p = self.f, self.p
        w, height = p.lanes, p.tile[0]

        def pack(row: str, _: list[str]) -> list[str]:
            source = memory.offset(f, right, row, p.right[0] * self.size)
            place = memory.offset(f, self.packed, f.op(f"sub i64 {row}, {low}"), p.panel * self.size)
            for number, mask in enumerate(masks):
                at = memory.offset(f, source, "1", number * w * p.right[1] * self.size)
                value = memory.load(f, p.dtype, at, p.right[1], mask)
                memory.store(f, p.dtype, memory.offset(f, place, "1", number * w * self.size), 1, Mask(w), value)
            return []

        f.loop(low, high, "1", [], pack)
        m = p.sizes[0]
        stop = smaller(f, f.op(f"add i64 {first}, {height * _TILES}"), m)
        tiles = f.op(f"udiv i64 {f.op(f'sub i64 {stop}, {first}')}, {height}")
        whole = f.op(f"add i64 {first}, {f.op(f'mul i64 {tiles}, {height}')}")

        def tile(rows: int) -> Callable[[str, list[str]], list[str]]:
            def visit(row: str, _: list[str]) -> list[str]:
                self._tile(row, rows, left, target, masks, low, high, start)
                return []

            return visit

        f.loop(first, whole, str(height), [], tile(height))
        if m % height:
            f.loop(whole, stop, "1", [], tile(1))

    def _tile(
        self, row: str, rows: int, left: str, target: str, masks: list[Mask], low: str, high: str, start: bool
    ) -> None:
        f, p = self.f, self.p
        w = p.lanes
        lines = [memory.offset(f, left, f.op(f"add i64 {row}, {r}"), p.left[0] * self.size) for r in range(rows)]
        places = []
        for r in range(rows):
            line = memory.offset(f, target, f.op(f"add i64 {row}, {r}"), p.sizes[1] * self.size)
            places += [memory.offset(f, line, "1", n * w * self.size) for n in range(len(masks))]
        every = masks * rows
        zero = f.constant(0, p.dtype, w)
        sums = [zero if start else memory.load(f, p.dtype, at, 1, mask) for at, mask in zip(places, every)]

        def step(k: str, sums: list[str]) -> list[str]:
            packed = memory.offset(f, self.packed, f.op(f"sub i64 {k}, {low}"), p.panel * self.size)
            across = [
                memory.load(f, p.dtype, memory.offset(f, packed, "1", n * w * self.size), 1, Mask(w))
                for n in range(len(masks))
            ]
            found: list[str] = []
            for line in lines:
                one = memory.load(f, p.dtype, memory.offset(f, line, k, p.left[1] * self.size), 1, Mask(1))
                factor = f.splat(LLVM_TYPES[p.dtype], one, w)
                found += [self._add(sums[len(found) + n], factor, b) for n, b in enumerate(across)]
            return found

        carried = [(self.kind, s) for s in sums]
        for at, mask, total in zip(places, every, f.loop(low, high, "1", carried, step, known_nonempty=True)):
            memory.store(f, p.dtype, at, 1, mask, total)

    def _add(self, total: str, a: str, b: str) -> str:
        f, p = self.f, self.p
        if is_float(p.dtype):
            return f.intrinsic("fma", p.dtype, p.lanes, a, b, total)
        return scalar.OPS["add"](f, p.dtype, p.lanes, total, scalar.OPS["mul"](f, p.dtype, p.lanes, a, b))


def multiply(lowering: Lowering, x: View, y: View, item: Value) -> None:
    """The product of matrices (…, m, k) and (…, k, n), whose leading dimensions broadcast."""
    if x.dtype not in TYPES or y.dtype != x.dtype:
        raise Unsupported(f"products of {x.dtype}")
    x, y = (v if strides(v) is not None else lowering.plain(v) for v in (x, y))
    target = lowering.result_view(item)
    lead = len(item.shape) - 2
    steps = [_leading(v, lead) for v in (x, y)]
    batch = tuple(zip(item.shape[:-2], *steps, row_major(item.shape)[:lead]))
    left, right = strides(x), strides(y)
    assert left is not None and right is not None
    sizes = (item.shape[-2], item.shape[-1], x.shape[-1])
    product = Product(x.dtype, sizes, left[-2:], right[-2:], batch)  # type: ignore[arg-type]
    work = sizes[0] * sizes[1] * sizes[2] * max(1, target.size // max(1, sizes[0] * sizes[1]))
    name, code = f"product {x.dtype}", compiled(_write, product)
    emit(lowering, name, code, [target], [x, y], work if product.units > 1 else 0, product.scratch)
    lowering.views[item.id] = target


def _leading(view: View, count: int) -> tuple[int, ...]:
    """Strides along `count` batch dimensions, 0 where the view is repeated."""
    found = strides(view) or ()
    own = [s if d != 1 else 0 for s, d in zip(found[:-2], view.shape[:-2])]
    return (0,) * (count - len(own)) + tuple(own)
