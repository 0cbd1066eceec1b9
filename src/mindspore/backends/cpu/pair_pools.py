"""Max pooling of row-major images by windows of 2x2 that do not overlap, and its gradient.

Vectors run along a row: of two rows twice as many elements are read as results are made, and the elements of even and of
odd places are told apart by shuffles. So nothing has to be moved to put channels side by side (`max_pools.py`), however many
there are and however large the image. Which element is chosen, and how that is noted, is the same there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mindspore.backends.cpu import jit
from mindspore.backends.cpu.codegen import memory
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import Function
from mindspore.backends.cpu.layout import View, is_plain
from mindspore.backends.cpu.written import own_share, pointers
from mindspore.prims.window import Window

_PAIRS = (2, 2)


@dataclass(frozen=True)
class PairPool:
    """A pooling to `rows` rows of `columns` results, all images and channels together."""

    rows: int
    columns: int
    noted: bool
    lanes: int

    @property
    def kernel(self) -> tuple[int, int]:
        return _PAIRS

    def write_forward(self) -> Function:
        return _Forward(self).write()

    def write_backward(self) -> Function:
        return _Backward(self).write()


def plan(x: View, shape: tuple[int, ...], window: Window, noted: bool) -> PairPool | None:
    """How an image (N, C, H, W) is pooled to `shape`; None where this has no way."""
    plain = x.dtype == "float32" and len(x.shape) == 4 and is_plain(x)
    pairs = tuple(window.kernel) == tuple(window.stride) == _PAIRS and set(window.dilation) == {1}
    if not (plain and pairs) or x.shape[2:] != (2 * shape[2], 2 * shape[3]) or any(lo or hi for lo, hi in window.pads):
        return None
    images, channels, rows, columns = shape
    lanes = max(2, min(jit.vector_bits() // 32, 1 << (columns - 1).bit_length()))
    return PairPool(images * channels * rows, columns, noted, lanes)


class _Writer:
    """What both directions share: loops over rows of results and vectors of them."""

    def __init__(self, pool: PairPool):
        self.p = pool
        self.f = Function()
        self.floats, self.twice = f"<{pool.lanes} x float>", f"<{2 * pool.lanes} x float>"

    def rows(self, vector: Callable[[str, tuple[str, str], Mask, Mask], None]) -> Function:
        """`vector(place of the results, places of the two rows above them, masks of results and of rows)` for all of them."""
        f, p = self.f, self.p
        low, high = own_share(f, p.rows)
        whole = p.columns - p.columns % p.lanes

        def row(number: str, _: list[str]) -> list[str]:
            base = f.op(f"mul i64 {number}, {p.columns}")

            def some(column: str, count: int) -> None:
                place = f.op(f"add i64 {base}, {column}")
                above = f.op(f"add i64 {f.op(f'mul i64 {base}, 4')}, {f.op(f'mul i64 {column}, 2')}")
                below = f.op(f"add i64 {above}, {2 * p.columns}")
                masks = [Mask(n * p.lanes) if count == p.lanes else Mask.first(f, n * p.lanes, n * count) for n in (1, 2)]
                vector(place, (above, below), masks[0], masks[1])

            def columns(column: str, _: list[str]) -> list[str]:
                some(column, p.lanes)
                return []

            if whole:
                f.loop("0", str(whole), str(p.lanes), [], columns, known_nonempty=True)
            if whole < p.columns:
                some(str(whole), p.columns - whole)
            return []

        f.loop(low, high, "1", [], row)
        return f

    def shuffle(self, kind: str, a: str, b: str, order: list[int]) -> str:
        return self.f.op(f"shufflevector {kind} {a}, {kind} {b}, <{len(order)} x i32> <{', '.join(f'i32 {i}' for i in order)}>")


class _Forward(_Writer):
    def write(self) -> Function:
        self.y, *chosen, self.x = pointers(self.f, 3 if self.p.noted else 2)
        self.chosen = chosen[0] if chosen else ""
        return self.rows(self._vector)

    def _vector(self, place: str, rows: tuple[str, str], mask: Mask, twice: Mask) -> None:
        f, lanes = self.f, self.p.lanes
        candidates = []
        for row in rows:
            pairs = memory.load(f, "float32", memory.offset(f, self.x, row, 4), 1, twice)
            candidates += [self.shuffle(self.twice, pairs, "poison", list(range(odd, 2 * lanes, 2))) for odd in (0, 1)]
        best, where = candidates[0], f.splat("i8", "0", lanes)
        for number, value in enumerate(candidates[1:], start=1):
            larger, known = f.op(f"fcmp ugt {self.floats} {value}, {best}"), f.op(f"fcmp ord {self.floats} {best}, {best}")
            better = f.op(f"and <{lanes} x i1> {larger}, {known}")  # NaN counts as larger than every number
            best = f.op(f"select <{lanes} x i1> {better}, {self.floats} {value}, {self.floats} {best}")
            if self.p.noted:
                numbers = f.splat("i8", str(number), lanes)
                where = f.op(f"select <{lanes} x i1> {better}, <{lanes} x i8> {numbers}, <{lanes} x i8> {where}")
        memory.store(f, "float32", memory.offset(f, self.y, place, 4), 1, mask, best)
        if self.p.noted:
            memory.store(f, "uint8", memory.offset(f, self.chosen, place, 1), 1, mask, where)


class _Backward(_Writer):
    def write(self) -> Function:
        self.dx, self.dy, self.chosen = pointers(self.f, 3)
        return self.rows(self._vector)

    def _vector(self, place: str, rows: tuple[str, str], mask: Mask, twice: Mask) -> None:
        f, lanes = self.f, self.p.lanes
        dy = memory.load(f, "float32", memory.offset(f, self.dy, place, 4), 1, mask)
        chosen = memory.load(f, "uint8", memory.offset(f, self.chosen, place, 1), 1, mask)
        shares = []
        for number in range(4):
            hit = f.op(f"icmp eq <{lanes} x i8> {chosen}, {f.splat('i8', str(number), lanes)}")
            shares.append(f.op(f"select <{lanes} x i1> {hit}, {self.floats} {dy}, {self.floats} zeroinitializer"))
        order = [i + odd for i in range(lanes) for odd in (0, lanes)]
        for row, even, odd in zip(rows, shares[::2], shares[1::2]):
            pairs = self.shuffle(self.floats, even, odd, order)
            memory.store(f, "float32", memory.offset(f, self.dx, row, 4), 1, twice, pairs)
