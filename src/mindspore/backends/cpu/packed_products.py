"""Kernels of `PackedProduct`: rows times panels of a packed weight (`prims/packed_product.py` has the layouts).

Threads share out the panels. A panel is read from memory once: while the tiles of rows go over it, each asks for a part of the next
panel, so that memory is busy all the time and not during the first tile alone (32 rows with 8 bits: half the time). Of a long prompt,
threads share out the rows instead: what a thread has made of its rows is then in its own cache for the product that follows, and the
panels, which all threads read at about the same time, are used often enough to pay for it. All sums of a tile are in registers, and
each is one chain over the inputs, so its bits depend on nothing else: neither on the number of rows nor on the number of threads.

With 8 and 4 bits, rows are rounded to 8 bits first: few of them by every thread for itself, which is cheaper than waiting; many are
shared out. Weights are unsigned bytes, which is what the instruction for four products at once (VNNI's vpdpbusd) wants of one operand;
the surplus, a multiple of the sum of a group's inputs, is where sums begin. Without VNNI the four products are two of 16-bit pairs, to
the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass

from mindspore.backends.cpu import jit, openmp
from mindspore.backends.cpu.codegen import memory
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import Function
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, own_share, pointers, scratch_of_thread
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims.packed_product import PANEL, PackedProduct, group_of

#: rows up to which every thread rounds all of them
_FEW_ROWS = 32
#: rows of a thread from which threads share out rows instead of panels
_ROWS_OF_A_THREAD = 64
_CACHE_LINE = 64
_LANES = 16
_VECTORS = PANEL // _LANES
_FLOATS, _INTS, _BYTES = f"<{_LANES} x float>", f"<{_LANES} x i32>", f"<{4 * _LANES} x i8>"


@dataclass(frozen=True)
class Product:
    """What a kernel depends on; `group`: inputs that share a scale, 0 for float32."""

    kind: str
    rows: int
    inputs: int
    outputs: int
    group: int
    bias: bool
    residual: bool
    registers: int
    vnni: bool
    threads: int

    @property
    def panels(self) -> int:
        return -(-self.outputs // PANEL)

    @property
    def tile(self) -> int:
        """Rows whose sums fit into the registers."""
        return 8 if self.registers == 512 else 2

    @property
    def halvings(self) -> int:
        """The tiles of rows ask for 1 / 2 ** halvings of the next panel each."""
        rows = self.rows // self.threads if self.by_rows else self.rows
        return (rows // self.tile or 1).bit_length() - 1

    @property
    def groups(self) -> int:
        return self.inputs // self.group

    @property
    def panel_bytes(self) -> int:
        return self.inputs * PANEL * {"float32": 8, "int8": 2, "int4": 1}[self.kind] // 2

    @property
    def row_bytes(self) -> int:
        """Of a rounded row: bytes, then a scale and a surplus per group."""
        return self.inputs + 8 * self.groups if self.group else 0

    @property
    def rounds_alone(self) -> bool:
        """Whether every thread rounds all rows."""
        return self.rows <= _FEW_ROWS

    @property
    def by_rows(self) -> bool:
        """Whether threads share out the rows, not the panels."""
        return self.rows >= _ROWS_OF_A_THREAD * self.threads and self.rows % self.tile == 0


def _write(product: Product) -> Function:
    return (_Rounded if product.group else _Plain)(product).write()


class _Plain:
    """Products of float32."""

    def __init__(self, product: Product):
        self.p = product
        self.f = Function()

    def write(self) -> Function:
        f, p = self.f, self.p
        self.target, self.x, self.weight, *others = pointers(f, 3 + bool(p.group) + p.bias + p.residual)
        self.scales = others.pop(0) if p.group else ""
        self.bias = others.pop(0) if p.bias else ""
        self.residual = others.pop(0) if p.residual else ""
        self.first, self.last = self._own_rows() if p.by_rows else ("0", str(p.rows))
        self._prepare()
        low, high = ("0", str(p.panels)) if p.by_rows else own_share(f, p.panels)
        f.loop(low, high, "1", [], self._panel)
        return f

    def _own_rows(self) -> tuple[str, str]:
        f, p = self.f, self.p
        low, high = (f.op(f"mul i64 {tile}, {p.tile}") for tile in own_share(f, p.rows // p.tile))
        return low, high

    def _prepare(self) -> None:
        """What comes before the panels."""

    def _panel(self, panel: str, _: list[str]) -> list[str]:
        f, p = self.f, self.p
        self.here = memory.offset(f, self.weight, panel, p.panel_bytes)
        column = f.op(f"mul i64 {panel}, {PANEL}")
        left = f.op(f"sub i64 {p.outputs}, {column}")
        self.masks = [
            Mask(_LANES) if p.outputs % PANEL == 0 else Mask.first(f, _LANES, f.op(f"sub i64 {left}, {n * _LANES}"))
            for n in range(_VECTORS)
        ]
        self.panel, self.column = panel, column
        whole = p.rows - p.rows % p.tile
        if p.by_rows:
            f.loop(self.first, self.last, str(p.tile), [], lambda row, _: self._tile(row, p.tile))
        elif whole:
            f.loop("0", str(whole), str(p.tile), [], lambda row, _: self._tile(row, p.tile))
        if p.rows % p.tile:
            self._tile(str(whole), p.rows % p.tile)
        return []

    def _tile(self, row: str, rows: int) -> list[str]:
        """Sums of some rows with the panel, and where they go."""
        f, p = self.f, self.p
        sums = self._sums(row, rows)
        for r in range(rows):
            line = memory.offset(f, self.target, f.op(f"add i64 {row}, {r}"), 4 * p.outputs)
            line = memory.offset(f, line, self.column, 4)
            for n, mask in enumerate(self.masks):
                total, place = sums[r * _VECTORS + n], _ahead(f, line, 4 * _LANES * n)
                if p.residual:
                    total = f.op(f"fadd {_FLOATS} {total}, {self._residual(row, r, n)}")
                memory.store(f, "float32", place, 1, mask, total)
        return []

    def _residual(self, row: str, r: int, n: int) -> str:
        f, p = self.f, self.p
        line = memory.offset(f, self.residual, f.op(f"add i64 {row}, {r}"), 4 * p.outputs)
        place = _ahead(f, memory.offset(f, line, self.column, 4), 4 * _LANES * n)
        return memory.load(f, "float32", place, 1, self.masks[n])

    def _first(self, rows: int) -> list[tuple[str, str]]:
        """Where sums begin: at the bias."""
        f = self.f
        if not self.p.bias:
            return [(_FLOATS, "zeroinitializer")] * (rows * _VECTORS)
        place = memory.offset(f, self.bias, self.column, 4)
        found = [memory.load(f, "float32", _ahead(f, place, 4 * _LANES * n), 1, m) for n, m in enumerate(self.masks)]
        return [(_FLOATS, value) for value in found] * rows

    def _ask_ahead(self, row: str, start: str, step: str) -> None:
        """Ask for this tile's part of the next panel; `start`: how far earlier steps have got, from the panel's beginning."""
        f, p = self.f, self.p
        row = f.op(f"sub i64 {row}, {self.first}") if p.by_rows else row
        share = 4 * PANEL >> p.halvings
        tile = memory.offset(f, _ahead(f, start, p.panel_bytes), row, (p.panel_bytes >> p.halvings) // p.tile)
        place = memory.offset(f, tile, step, share)
        for line in range(-(-share // _CACHE_LINE)):
            at = _ahead(f, place, line * _CACHE_LINE)
            f.call("void", "llvm.prefetch.p0", ("ptr", at), ("i32", "0"), ("i32", "2"), ("i32", "1"))

    def _sums(self, row: str, rows: int) -> list[str]:
        f, p = self.f, self.p
        lines = [memory.offset(f, self.x, f.op(f"add i64 {row}, {r}"), 4 * p.inputs) for r in range(rows)]

        def step(k: str, sums: list[str]) -> list[str]:
            place = memory.offset(f, self.here, k, 4 * PANEL)
            self._ask_ahead(row, self.here, k)
            across = [f.op(f"load {_FLOATS}, ptr {_ahead(f, place, 4 * _LANES * n)}, align 4") for n in range(_VECTORS)]
            found: list[str] = []
            for line in lines:
                one = f.op(f"load float, ptr {memory.offset(f, line, k, 4)}, align 4")
                factor = f.splat("float", one, _LANES)
                found += [f.intrinsic("fma", "float32", _LANES, factor, b, sums[len(found) + n]) for n, b in enumerate(across)]
            return found

        return f.loop("0", str(p.inputs), "1", self._first(rows), step, known_nonempty=True)


class _Rounded(_Plain):
    """Products of 8-bit rows with weights of 8 or 4 bits."""

    def _prepare(self) -> None:
        f, p = self.f, self.p
        if p.rounds_alone:
            self.rounded = scratch_of_thread(f, p.rows * p.row_bytes)
            f.loop("0", str(p.rows), "1", [], self._round_row, known_nonempty=True)
            return
        self.rounded = f.op("load ptr, ptr %args, align 8")
        if p.by_rows:
            f.loop(self.first, self.last, "1", [], self._round_row)
            return
        low, high = own_share(f, p.rows)
        f.loop(low, high, "1", [], self._round_row)
        f.when(f.op("icmp sgt i64 %threads, 1"), lambda: f.call("void", "GOMP_barrier"))

    def _round_row(self, row: str, _: list[str]) -> list[str]:
        f, p = self.f, self.p
        source = memory.offset(f, self.x, row, 4 * p.inputs)
        target = memory.offset(f, self.rounded, row, p.row_bytes)
        notes = _ahead(f, target, p.inputs)
        f.loop(
            "0", str(p.groups), "1", [],
            lambda g, _: self._round_group(memory.offset(f, source, g, 4 * p.group), memory.offset(f, target, g, p.group), notes, g),
            known_nonempty=True,
        )  # fmt: skip
        return []

    def _round_group(self, source: str, target: str, notes: str, group: str) -> list[str]:
        """Bytes, scale and surplus of one group of a row; a NaN gives a scale of NaN."""
        f, p = self.f, self.p
        values = [f.op(f"load {_FLOATS}, ptr {_ahead(f, source, 4 * at)}, align 4") for at in range(0, p.group, _LANES)]
        sizes = [f.intrinsic("fabs", "float32", _LANES, v) for v in values]
        while len(sizes) > 1:
            sizes = [f.intrinsic("maximum", "float32", _LANES, a, b) for a, b in zip(sizes[::2], sizes[1::2])]
        largest = f.call("float", f"llvm.vector.reduce.fmaximum.v{_LANES}f32", (_FLOATS, sizes[0]))
        scale = f.op(f"fdiv float {largest}, 1.270000e+02")
        empty = f.op(f"fcmp oeq float {scale}, 0.0")
        divisor = f.splat("float", f.op(f"select i1 {empty}, float 1.0, float {scale}"), _LANES)
        total = "zeroinitializer"
        for number, value in enumerate(values):
            near = f.intrinsic("rint", "float32", _LANES, f.op(f"fdiv {_FLOATS} {value}, {divisor}"))
            whole = f.op(f"fptosi {_FLOATS} {near} to {_INTS}")
            total = f.op(f"add {_INTS} {total}, {whole}")
            narrow = f.op(f"trunc {_INTS} {whole} to <{_LANES} x i8>")
            f.do(f"store <{_LANES} x i8> {narrow}, ptr {_ahead(f, target, number * _LANES)}, align 1")
        summed = f.call("i32", f"llvm.vector.reduce.add.v{_LANES}i32", (_INTS, total))
        surplus = f.op(f"mul i32 {summed}, {-128 if p.kind == 'int8' else -8}")
        f.do(f"store float {scale}, ptr {memory.offset(f, notes, group, 4)}, align 4")
        f.do(f"store i32 {surplus}, ptr {memory.offset(f, _ahead(f, notes, 4 * p.groups), group, 4)}, align 4")
        return []

    def _sums(self, row: str, rows: int) -> list[str]:
        f, p = self.f, self.p
        lines = [memory.offset(f, self.rounded, f.op(f"add i64 {row}, {r}"), p.row_bytes) for r in range(rows)]
        scales = memory.offset(f, self.scales, self.panel, 4 * PANEL * p.groups)

        def group(g: str, sums: list[str]) -> list[str]:
            whole = self._group_sums(row, g, lines)
            place = memory.offset(f, scales, g, 4 * PANEL)
            found: list[str] = []
            across = [f.op(f"load {_FLOATS}, ptr {_ahead(f, place, 4 * _LANES * n)}, align 4") for n in range(_VECTORS)]
            for line in lines:
                own = f.op(f"load float, ptr {memory.offset(f, _ahead(f, line, p.inputs), g, 4)}, align 4")
                for scale in across:
                    factor = f.op(f"fmul {_FLOATS} {scale}, {f.splat('float', own, _LANES)}")
                    exact = f.op(f"sitofp {_INTS} {whole[len(found)]} to {_FLOATS}")
                    found.append(f.intrinsic("fma", "float32", _LANES, exact, factor, sums[len(found)]))
            return found

        return f.loop("0", str(p.groups), "1", self._first(rows), group, known_nonempty=True)

    def _group_sums(self, row: str, g: str, lines: list[str]) -> list[str]:
        """The exact sums of a group's products."""
        f, p = self.f, self.p
        begin: list[tuple[str, str]] = []
        for line in lines:
            notes = _ahead(f, line, p.inputs + 4 * p.groups)
            surplus = f.op(f"load i32, ptr {memory.offset(f, notes, g, 4)}, align 4")
            begin += [(_INTS, f.splat("i32", surplus, _LANES))] * _VECTORS
        fours = 1 if p.kind == "int8" else 2  # of inputs in a byte's place
        weight = memory.offset(f, self.here, g, PANEL * p.group // fours)
        part = memory.offset(f, self.here, g, PANEL * p.group // fours >> p.halvings)
        inputs = [memory.offset(f, line, g, p.group) for line in lines]

        def step(k: str, sums: list[str]) -> list[str]:
            place = memory.offset(f, weight, k, 4 * PANEL)
            self._ask_ahead(row, part, k)
            across = [f.op(f"load {_INTS}, ptr {_ahead(f, place, 4 * _LANES * n)}, align 4") for n in range(_VECTORS)]
            for half in range(fours):
                parts = across if fours == 1 else [self._nibbles(word, half) for word in across]
                sums = self._add_fours(parts, inputs, k, fours, half, sums)
            return sums

        return f.loop("0", str(p.group // 4 // fours), "1", begin, step, known_nonempty=True)

    def _nibbles(self, word: str, half: int) -> str:
        f = self.f
        moved = f.op(f"lshr {_INTS} {word}, {f.splat('i32', '4', _LANES)}") if half else word
        return f.op(f"and {_INTS} {moved}, {f.splat('i32', str(0x0F0F0F0F), _LANES)}")

    def _add_fours(
        self, across: list[str], inputs: list[str], k: str, fours: int, half: int, sums: list[str]
    ) -> list[str]:
        f = self.f
        found: list[str] = []
        pairs = [] if self.p.vnni else [_pairs(f, word, signed=False) for word in across]
        for place in inputs:
            at = _ahead(f, memory.offset(f, place, k, 4 * fours), 4 * half)
            own = f.splat("i32", f.op(f"load i32, ptr {at}, align 4"), _LANES)
            if self.p.vnni:
                found += [_dot(f, sums[len(found) + n], word, own) for n, word in enumerate(across)]
            else:
                mine = _pairs(f, own, signed=True)
                found += [_dot_of_pairs(f, sums[len(found) + n], pair, mine) for n, pair in enumerate(pairs)]
        return found


def _ahead(f: Function, pointer: str, nbytes: int) -> str:
    return pointer if nbytes == 0 else f.op(f"getelementptr i8, ptr {pointer}, i64 {nbytes}")


def _dot(f: Function, total: str, unsigned: str, signed: str) -> str:
    a, b = (f.op(f"bitcast {_INTS} {word} to {_BYTES}") for word in (unsigned, signed))
    return f.call(_INTS, "llvm.x86.avx512.vpdpbusd.512", (_INTS, total), (_BYTES, a), (_BYTES, b))


_SHORTS = f"<{2 * _LANES} x i16>"


def _pairs(f: Function, word: str, signed: bool) -> tuple[str, str]:
    """The bytes 0 and 2, and 1 and 3, of each word of 32 bits as numbers of 16 bits."""
    shorts = f.op(f"bitcast {_INTS} {word} to {_SHORTS}")
    eight = f.splat("i16", "8", 2 * _LANES)
    shift = "ashr" if signed else "lshr"
    return f.op(f"{shift} {_SHORTS} {f.op(f'shl {_SHORTS} {shorts}, {eight}')}, {eight}"), f.op(
        f"{shift} {_SHORTS} {shorts}, {eight}"
    )


def _dot_of_pairs(f: Function, total: str, unsigned: tuple[str, str], signed: tuple[str, str]) -> str:
    for a, b in zip(unsigned, signed):
        total = f.op(f"add {_INTS} {total}, {_multiply_add(f, a, b)}")
    return total


def _multiply_add(f: Function, a: str, b: str) -> str:
    """Sums of neighbouring products of 16-bit numbers, by AVX2's instruction on both halves."""
    half = f"<{_LANES} x i16>"
    found = []
    for first in (0, _LANES):
        order = f"<{_LANES} x i32> <{', '.join(f'i32 {first + i}' for i in range(_LANES))}>"
        parts = [f.op(f"shufflevector {_SHORTS} {x}, {_SHORTS} poison, {order}") for x in (a, b)]
        found.append(f.call("<8 x i32>", "llvm.x86.avx2.pmadd.wd", *((half, part) for part in parts)))
    order = f"<{_LANES} x i32> <{', '.join(f'i32 {i}' for i in range(_LANES))}>"
    return f.op(f"shufflevector <8 x i32> {found[0]}, <8 x i32> {found[1]}, {order}")


@handles(PackedProduct)
def _packed_product(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    if jit.vector_bits() < 256:
        raise Unsupported("packed products without AVX2")
    prim = call.attr.prim
    if prim.kind == "bfloat16":
        raise Unsupported("packed products of bfloat16")
    reads = [lowering.plain(view) for view in operands]
    given = call.attr.arguments(reads)  # x, weight, scales, bias, residual
    rows, inputs = reads[0].shape
    group = 0 if prim.kind == "float32" else group_of(prim.kind, inputs)
    product = Product(
        prim.kind, rows, inputs, prim.outputs, group, given[3] is not None, given[4] is not None, jit.vector_bits(), jit.has_vnni(),
        openmp.threads(),
    )  # fmt: skip
    target = lowering.result_view(items[0])
    work = rows * inputs * prim.outputs
    name, code = f"packed product {prim.kind}", compiled(_write, product)
    nbytes = rows * product.row_bytes
    emit(
        lowering,
        name,
        code,
        [target],
        reads,
        work,
        **({"scratch": nbytes} if product.rounds_alone else {"shared": nbytes}),
    )
    lowering.views[items[0].id] = target
