"""3x3 convolutions by Winograd's minimal filtering, F(4x4, 3x3) (Lavin & Gray 2016).

The image is cut into overlapping tiles of 6x6 which, like the filters, are transformed by small constant matrices; then a
convolution is 36 matrix products, with a quarter of the multiplications, and another transform gives tiles of 4x4 of the
result. The gradient of the image is such a convolution with turned filters; the gradient of the filters multiplies
transformed images by transformed gradients.

Rounding errors grow with the size of the matrices' entries. Interpolating at 0, ±3/4, ±3/2 and infinity instead of the
usual ±1, ±2 keeps them at about five times those of a direct convolution, and all entries exact.

Tensors are in blocks of channels (nChw16c); transformed tiles lie as (36, tiles, channels). Between the 36 planes there is
a gap of one cache line, since strides of large powers of two would put them all into the same few places of the cache.

A NaN or an infinity would spread over its whole tile. The last transform notices results that are not finite, and the caller
then does the convolution again directly: each pass returns the byte that tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore._base import flags
from mindspore.backends.cpu import dnnl
from mindspore.backends.cpu.codegen.text import Function
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.postops import Post
from mindspore.backends.cpu.steps import DnnlStep
from mindspore.backends.cpu.written import compiled, emit, moved, own_share, pointers
from mindspore.compiler.fuse.loopir import Unsupported

OUT, TAPS = 4, 3
TILE = OUT + TAPS - 1
_PLANES = TILE * TILE
_POINTS = (0.0, 0.75, -0.75, 1.5, -1.5)
_GAP = 16


def _matrices() -> dict[str, np.ndarray]:
    """Cook-Toom matrices: y = A^T [(G g) * (B d)] in one dimension; rows of B and G are balanced by powers of two."""
    a, g, b = np.zeros((TILE, OUT)), np.zeros((TILE, TAPS)), np.zeros((TILE, TILE))
    for i, p in enumerate(_POINTS):
        others = [q for q in _POINTS if q != p]
        a[i] = [p**k for k in range(OUT)]
        g[i] = [p**k / np.prod([p - q for q in others]) for k in range(TAPS)]
        b[i, : len(others) + 1] = np.poly(others)[::-1]
    a[-1, -1] = g[-1, -1] = 1
    b[-1] = np.poly(_POINTS)[::-1]
    for i in range(TILE):
        scale = 2.0 ** np.round(np.log2(np.linalg.norm(g[i]) / np.linalg.norm(b[i])) / 2)
        b[i] *= scale
        g[i] /= scale
    return {"image": b, "filter": g, "result": a.T, "result_gradient": a, "filter_gradient": g.T}


MATRICES = _matrices()


@dataclass(frozen=True)
class Image:
    """The side of a transform that is an image: tiles of it may reach over its border."""

    size: tuple[int, int]
    before: tuple[int, ...]  # what was added to its upper left
    tiles: tuple[int, int]


@dataclass(frozen=True)
class Transform:
    """Multiplies squares of vectors by a matrix from both sides. Steps are in elements.

    `loops`: (extent, step of the source, step of the target) per outer loop; for images the last two loops walk the
    tiles. `taps`: steps between rows and columns of a square, in the source and in the target. `turned`: the source's
    squares are read backwards. `after`: "bias", "add" and "relu", applied to what is stored.
    """

    matrix: str
    lanes: int
    loops: tuple[tuple[int, int, int], ...]
    taps: tuple[tuple[int, int], tuple[int, int]]
    image: Image | None = None
    writes_image: bool = False
    turned: bool = False
    after: tuple[str, ...] = ()
    bias_steps: tuple[int, ...] = ()  # of the bias, per loop
    flag: str = ""  # of the byte that is the last operand: "clear" it, or "set" it if a result is not finite


def write(transform: Transform) -> Function:
    return _Writer(transform).write()


class _Writer:
    def __init__(self, transform: Transform):
        self.t = transform
        self.f = Function()
        self.kind = f"<{transform.lanes} x float>"
        self.matrix = MATRICES[transform.matrix]

    def write(self) -> Function:
        f, t = self.f, self.t
        more = sum(name != "relu" for name in t.after) + bool(t.flag)
        self.target, self.source, *self.operands = pointers(f, 2 + more)
        if t.flag == "clear":
            f.when(f.op("icmp eq i64 %tid, 0"), lambda: f.do(f"store i8 0, ptr {self.operands[-1]}, align 1"))
        if t.flag == "set":
            self.trouble = f.slot(self.kind)
            f.do(f"store {self.kind} zeroinitializer, ptr {self.trouble}, align 64")
        self.nowhere = f.slot(self.kind) if t.image else ""
        if t.image:
            f.do(f"store {self.kind} zeroinitializer, ptr {self.nowhere}, align 64")
        total = 1
        for extent, *_ in t.loops[:-1]:
            total *= extent
        low, high = own_share(f, total)
        f.loop(low, high, "1", [], self._row)
        if t.flag == "set":
            self._tell()
        return f

    def _tell(self) -> None:
        """Set the flag if a result times 0 was not 0."""
        f, lanes = self.f, self.t.lanes
        sums = f.op(f"load {self.kind}, ptr {self.trouble}, align 64")
        bad = f.op(f"fcmp uno {self.kind} {sums}, {sums}")
        some = f.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", (f"<{lanes} x i1>", bad))
        f.when(some, lambda: f.do(f"store i8 1, ptr {self.operands[-1]}, align 1"))

    def _row(self, number: str, _: list[str]) -> list[str]:
        f, t = self.f, self.t
        source = target = bias = "0"
        rest, indices = number, []
        steps = t.bias_steps or (0,) * len(t.loops)
        for (extent, from_step, to_step), bias_step in reversed(list(zip(t.loops[:-1], steps))):
            index, rest = f.op(f"urem i64 {rest}, {extent}"), f.op(f"udiv i64 {rest}, {extent}")
            indices.append(index)
            source, target = moved(f, source, index, from_step), moved(f, target, index, to_step)
            bias = moved(f, bias, index, bias_step)
        self.bias = bias
        extent, from_step, to_step = t.loops[-1]

        def square(index: str, _: list[str]) -> list[str]:
            places = moved(f, source, index, from_step), moved(f, target, index, to_step)
            self._square(*places, (indices[0], index) if indices else (index, index))
            return []

        f.loop("0", str(extent), "1", [], square, known_nonempty=True)
        return []

    # -- one square -----------------------------------------------------------------------------------------------
    def _square(self, source: str, target: str, tile: tuple[str, str]) -> None:
        t = self.t
        rows, columns = self.matrix.shape
        inside = self._inside(tile, rows if t.writes_image else columns) if t.image else None
        taps = [
            [self._load(source, r, c, None if t.writes_image else inside) for c in range(columns)]
            for r in range(columns)
        ]
        if t.turned:
            taps = [row[::-1] for row in taps[::-1]]
        half = [self._times([taps[r][c] for r in range(columns)]) for c in range(columns)]  # by column
        found = [self._times([half[k][r] for k in range(columns)]) for r in range(rows)]
        for r, row in enumerate(found):
            for c, value in enumerate(row):
                self._store(target, r, c, value, inside if t.writes_image else None)
        if t.flag == "set":
            self._look_at([value for row in found for value in row])

    def _look_at(self, results: list[str]) -> None:
        f = self.f
        zero = f.constant(0.0, "float32", self.t.lanes)
        sums = f.op(f"load {self.kind}, ptr {self.trouble}, align 64")
        for value in results:
            sums = f.intrinsic("fma", "float32", self.t.lanes, value, zero, sums)
        f.do(f"store {self.kind} {sums}, ptr {self.trouble}, align 64")

    def _times(self, vector: list[str]) -> list[str]:
        """The matrix times a vector of vectors."""
        return [self._sum([(k, v) for k, v in zip(row, vector) if k]) for row in self.matrix]

    def _sum(self, terms: list[tuple[float, str]]) -> str:
        f = self.f
        terms.sort(key=lambda t: abs(t[0]) != 1)
        factor, total = terms[0]
        if factor != 1:
            total = f.op(f"fmul {self.kind} {total}, {f.constant(factor, 'float32', self.t.lanes)}")
        for factor, value in terms[1:]:
            if abs(factor) == 1:
                total = f.op(f"{'fadd' if factor > 0 else 'fsub'} {self.kind} {total}, {value}")
            else:
                scale = f.constant(factor, "float32", self.t.lanes)
                total = f.intrinsic("fma", "float32", self.t.lanes, value, scale, total)
        return total

    # -- memory ---------------------------------------------------------------------------------------------------
    def _inside(self, tile: tuple[str, str], count: int) -> list[list[str]]:
        """Per axis, whether each of the tile's rows or columns lies within the image."""
        f, image = self.f, self.t.image
        assert image is not None
        found = []
        for index, size, before in zip(tile, image.size, image.before):
            first = f.op(f"mul i64 {index}, {OUT}")
            places = [f.op(f"add i64 {first}, {k - before}") for k in range(count)]
            found.append([f.op(f"icmp ult i64 {place}, {size}") for place in places])
        return found

    def _address(self, base: str, place: str, offset: int, inside: Any, r: int, c: int) -> str:
        f = self.f
        address = f.op(
            f"getelementptr float, ptr {base}, i64 {f.op(f'add i64 {place}, {offset}') if offset else place}"
        )
        if inside is None:
            return address
        both = f.op(f"and i1 {inside[0][r]}, {inside[1][c]}")
        return f.op(f"select i1 {both}, ptr {address}, ptr {self.nowhere}")

    def _offset(self, side: int, r: int, c: int) -> int:
        rows, columns = self.t.taps[side]
        offset = r * rows + c * columns
        if self.t.image and self.t.writes_image == bool(side):
            offset -= self.t.image.before[0] * rows + self.t.image.before[1] * columns
        return offset

    def _load(self, place: str, r: int, c: int, inside: Any) -> str:
        address = self._address(self.source, place, self._offset(0, r, c), inside, r, c)
        return self.f.op(f"load {self.kind}, ptr {address}, align 4")

    def _store(self, place: str, r: int, c: int, value: str, inside: Any) -> None:
        f, offset = self.f, self._offset(1, r, c)
        operands = iter(self.operands)
        for name in self.t.after:
            if name == "relu":
                negative = f.op(f"fcmp olt {self.kind} {value}, zeroinitializer")
                kind = f"<{self.t.lanes} x i1>"
                value = f.op(f"select {kind} {negative}, {self.kind} zeroinitializer, {self.kind} {value}")
                continue
            base = next(operands)
            if name == "bias":
                address = f.op(f"getelementptr float, ptr {base}, i64 {self.bias}")
            else:
                address = self._address(base, place, offset, inside, r, c)
            other = f.op(f"load {self.kind}, ptr {address}, align 4")
            value = f.op(f"fadd {self.kind} {value}, {other}")
        address = self._address(self.target, place, offset, inside, r, c)
        f.do(f"store {self.kind} {value}, ptr {address}, align 4")


# -- tensors in blocks of channels -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Blocked:
    """An image tensor (N, C, H, W) in blocks of channels."""

    shape: tuple[int, ...]
    lanes: int

    @classmethod
    def of(cls, desc: dnnl.Desc) -> Blocked:
        n, c, h, w = desc.shape
        blocks = desc.blocks
        if len(blocks) != 1 or blocks[0][0] != 1 or desc.padded_shape != desc.shape:
            raise Unsupported("an image that is not in blocks of channels")
        lanes = blocks[0][1]
        if desc.strides != (c * h * w, h * w * lanes, w * lanes, lanes):
            raise Unsupported("an image with gaps")
        return cls((n, c, h, w), lanes)

    def loops(self, tiles: tuple[int, int], channels: int, image_first: bool) -> tuple:
        """Over images, blocks of channels and tiles: steps in the image and in the planes of transformed tiles."""
        n, c, h, w = self.shape
        rows, columns = tiles
        inner = (OUT * w * self.lanes, OUT * self.lanes)
        steps = [
            (n, c * h * w, rows * columns * channels),
            (c // self.lanes, h * w * self.lanes, self.lanes),
            (rows, inner[0], columns * channels),
            (columns, inner[1], channels),
        ]
        return tuple((e, a, b) if image_first else (e, b, a) for e, a, b in steps)

    @property
    def taps(self) -> tuple[int, int]:
        return self.shape[3] * self.lanes, self.lanes


def filter_steps(desc: dnnl.Desc, outer: int) -> tuple[int, tuple, tuple[int, int]]:
    """Of filters (O, I, 3, 3) with vectors along `outer`: lanes, loops over both channel axes and steps between taps.

    The loops are (extent, step in the filters, how often the other axis' size, how often 1) along planes (other, outer).
    """
    blocks, strides = desc.blocks, desc.strides
    other = 1 - outer
    if [b[0] for b in blocks] != [other, outer] or desc.padded_shape != desc.shape:
        raise Unsupported("filters in another layout")
    (_, deep), (_, lanes) = blocks
    size = desc.shape[outer]
    loops = (
        (desc.shape[other] // deep, strides[other], deep * size),
        (desc.shape[outer] // lanes, strides[outer], lanes),
        (deep, lanes, size),
    )
    return lanes, loops, (strides[2], strides[3])


def tiles_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of tiles that cover an image (N, C, H, W)."""
    return -(-shape[2] // OUT), -(-shape[3] // OUT)


class Planes:
    """Transformed tiles or filters: 36 matrices of rows x columns."""

    def __init__(self, lowering: Lowering, rows: int, columns: int):
        self.rows, self.columns = rows, columns
        self.step = rows * columns + _GAP
        self.view = lowering.allocate("float32", (_PLANES * self.step,))

    @property
    def taps(self) -> tuple[int, int]:
        return TILE * self.step, self.step

    def desc(self, transposed: bool = False) -> dnnl.Desc:
        if transposed:
            return dnnl.Desc.strided((_PLANES, self.columns, self.rows), "float32", (self.step, 1, self.columns))
        return dnnl.Desc.strided((_PLANES, self.rows, self.columns), "float32", (self.step, self.columns, 1))


class Steps:
    """Emits the steps of such convolutions."""

    def __init__(self, lowering: Lowering):
        self.lowering = lowering
        self.flag = lowering.allocate("bool_", ())  # whether a result is not finite

    def transform(self, description: Transform, target: View, source: View, more: Sequence[View] = ()) -> None:
        name = f"winograd_{description.matrix}" + "".join("+" + a for a in description.after)
        if description.flag:
            more = [*more, self.flag]
        emit(self.lowering, name, compiled(write, description), [target], [source, *more], source.size * 4)

    def image(self, x: View, blocked: Blocked, before: tuple[int, ...], tiles: tuple[int, int], matrix: str) -> Planes:
        """Transformed tiles of an image (or, for the gradient of filters, of a gradient)."""
        n, c, h, w = blocked.shape
        planes = Planes(self.lowering, n * tiles[0] * tiles[1], c)
        loops = blocked.loops(tiles, c, image_first=True)
        image = Image((h, w), before, tiles)
        flag = "clear" if matrix == "image" else ""
        description = Transform(matrix, blocked.lanes, loops, (blocked.taps, planes.taps), image, flag=flag)
        self.transform(description, planes.view, x)
        return planes

    def filters(self, w: View, desc: dnnl.Desc, outer: int, turned: bool) -> Planes:
        """Transformed filters as (36, other channels, `outer` channels)."""
        lanes, loops, taps = filter_steps(desc, outer)
        planes = Planes(self.lowering, desc.shape[1 - outer], desc.shape[outer])
        self.transform(Transform("filter", lanes, loops, (taps, planes.taps), turned=turned), planes.view, w)
        return planes

    def product(self, left: Planes, right: Planes, transposed: bool = False) -> Planes:
        rows = left.columns if transposed else left.rows
        result = Planes(self.lowering, rows, right.columns)
        descs = left.desc(transposed), right.desc(), result.desc()
        op = dnnl.matmul(*descs)
        operands = {
            argument: (desc, planes.view)
            for argument, desc, planes in zip((dnnl.SRC, dnnl.WEIGHTS, dnnl.DST), descs, (left, right, result))
        }
        step = DnnlStep(
            [left.view, right.view], [result.view], f"winograd_matmul {op.implementation}", op.scratch_bytes
        )
        step.op, step.operands = op, operands
        self.lowering.emit(step)
        return result

    def result(
        self,
        planes: Planes,
        y: View,
        blocked: Blocked,
        tiles: tuple[int, int],
        after: tuple[str, ...],
        more: list[View],
    ) -> None:
        _, c, h, w = blocked.shape
        loops = blocked.loops(tiles, c, image_first=False)
        image = Image((h, w), (0, 0), tiles)
        description = Transform(
            "result", blocked.lanes, loops, (planes.taps, blocked.taps), image, True, False, after, (0, blocked.lanes, 0, 0),
            "set",
        )  # fmt: skip
        self.transform(description, y, planes.view, more)

    def filter_gradient(self, planes: Planes, dw: View, desc: dnnl.Desc) -> None:
        lanes, loops, taps = filter_steps(desc, 0)
        turned_loops = tuple((extent, to_step, from_step) for extent, from_step, to_step in loops)
        description = Transform("filter_gradient", lanes, turned_loops, (planes.taps, taps), flag="set")
        self.transform(description, dw, planes.view)


# -- the three passes ---------------------------------------------------------------------------------------------------
def forward(
    lowering: Lowering,
    op: dnnl.Op,
    window: dnnl.Window,
    reads: dict[int, View],
    y: View,
    posts: tuple[Post, ...],
    operands: list[View],
) -> View:
    """`op`: the direct convolution, whose layouts are used. `operands`: those of `posts`, in order."""
    steps = Steps(lowering)
    target = Blocked.of(op.desc(dnnl.DST))
    tiles = tiles_of(target.shape)
    source = Blocked.of(op.desc(dnnl.SRC))
    filters = steps.filters(reads[dnnl.WEIGHTS], op.desc(dnnl.WEIGHTS), 0, turned=False)
    image = steps.image(reads[dnnl.SRC], source, window.before, tiles, "image")
    after = tuple("bias" if p.per_channel else p.effect for p in posts)
    steps.result(steps.product(image, filters), y, target, tiles, after, operands)
    return steps.flag


def backward_data(lowering: Lowering, op: dnnl.Op, window: dnnl.Window, reads: dict[int, View], dx: View) -> View:
    steps = Steps(lowering)
    target = Blocked.of(op.desc(dnnl.DIFF_SRC))
    tiles = tiles_of(target.shape)
    source = Blocked.of(op.desc(dnnl.DIFF_DST))
    filters = steps.filters(reads[dnnl.WEIGHTS], op.desc(dnnl.WEIGHTS), 1, turned=True)
    before = tuple(TAPS - 1 - b for b in window.before)
    image = steps.image(reads[dnnl.DIFF_DST], source, before, tiles, "image")
    steps.result(steps.product(image, filters), dx, target, tiles, (), [])
    return steps.flag


def backward_weights(lowering: Lowering, op: dnnl.Op, window: dnnl.Window, reads: dict[int, View], dw: View) -> View:
    steps = Steps(lowering)
    gradient = Blocked.of(op.desc(dnnl.DIFF_DST))
    tiles = tiles_of(gradient.shape)
    image = steps.image(reads[dnnl.SRC], Blocked.of(op.desc(dnnl.SRC)), window.before, tiles, "image")
    factors = steps.image(reads[dnnl.DIFF_DST], gradient, (0, 0), tiles, "result_gradient")
    steps.filter_gradient(steps.product(image, factors, transposed=True), dw, op.desc(dnnl.DIFF_WEIGHTS))
    return steps.flag


# -- when ---------------------------------------------------------------------------------------------------------------
# Measured with ResNet-50's layers. Few tiles leave the products too small to outweigh reading 36 matrices of filters,
# the more so when these are larger than the cache.
_FEWEST_CHANNELS, _MOST_WASTE = 64, 1.35
_FEWEST_TILES, _ENOUGH_TILES, _LARGE_FILTERS = 12, 96, 256 * 256


def suits(
    lowering: Lowering,
    window: dnnl.Window,
    groups: int,
    op: dnnl.Op,
    arguments: tuple[int, int, int],
    posts: tuple[Post, ...] = (),
) -> bool:
    """Whether a convolution is faster this way: enough channels and enough tiles, filled well.

    `arguments`: of the direct convolution `op`: the image read, the filters, and the other image.
    """
    if not is_wanted(lowering) or groups != 1 or window.strides != (1, 1) or window.dilations != (1, 1):
        return False
    source, filters, target = map(op.desc, arguments)
    if source.dtype != "float32" or filters.shape[2:] != (TAPS, TAPS) or max(*window.before, *window.after) >= TAPS:
        return False
    if any(p.effect not in ("bias", "add", "relu") for p in posts):
        return False
    rows, columns = tiles_of(target.shape)
    waste = rows * columns * OUT * OUT / (target.shape[2] * target.shape[3])
    channels = source.shape[1], target.shape[1]
    if min(channels) < _FEWEST_CHANNELS or waste > _MOST_WASTE:
        return False
    enough = _FEWEST_TILES if channels[0] * channels[1] <= _LARGE_FILTERS else _ENOUGH_TILES
    if source.shape[0] * rows * columns < enough:
        return False
    try:
        Blocked.of(source), Blocked.of(target), filter_steps(filters, 1 if arguments[0] == dnnl.DIFF_DST else 0)
    except Unsupported:
        return False
    return True


def is_wanted(lowering: Lowering) -> bool:
    """Only where fusion is on, and unless a flag or the environment forbids it."""
    wanted = lowering.clustering.flags
    return wanted.opt_level >= 1 and wanted.winograd and flags.text("MS_DEV_CPU_WINOGRAD") != "0"
